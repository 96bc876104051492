//! Framing under any cut of the bytes, and pipes of a real process.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::incoming::{self, Arrival, Incoming};
use super::splitter::Splitter;
use super::*;

/// Lines and whether each had an end, `None` for one that was too long.
fn split(pieces: &[&[u8]], longest: usize) -> Vec<Option<(Vec<u8>, bool)>> {
    let mut splitter = Splitter::new(longest);
    let mut lines = Vec::new();
    let mut take = |arrival| match arrival {
        Arrival::Line { bytes, ended, .. } => lines.push(Some((bytes, ended))),
        Arrival::TooLong { .. } => lines.push(None),
    };
    for piece in pieces {
        splitter.feed(piece, Instant::now(), &mut take);
    }
    splitter.finish(Instant::now(), &mut take);
    lines
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(20), future)
            .await
            .expect("in time")
    })
}

#[test]
fn lines_end_at_newlines_and_the_rest_is_handed_over() {
    let lines = split(&[b"a\n\nb\r\n\xE2\x80", b"\xA8c"], 100);
    let expected = [("a", true), ("", true), ("b\r", true), ("\u{2028}c", false)];
    assert_eq!(
        lines,
        expected.map(|(text, ended)| Some((text.as_bytes().to_vec(), ended)))
    );
}

#[test]
fn a_line_beyond_the_limit_is_dropped_and_the_next_one_is_read() {
    let expected = [None, Some((b"abc".to_vec(), true)), None, Some((b"d".to_vec(), false))];
    assert_eq!(split(&[b"abcd\nabc\nabc", b"d", b"ef", b"gh\nd"], 3), expected);
    assert_eq!(split(&[b"abcd", b"\n", b"abc\nabcdefgh\nd"], 3), expected);
}

proptest! {
    #[test]
    fn lines_are_the_same_however_the_bytes_were_cut(
        text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..120),
        cuts in proptest::collection::vec(0usize..120, 0..12),
        longest in 1usize..40,
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts {
            pieces.push(&text[start..cut]);
            start = cut;
        }
        pieces.push(&text[start..]);
        prop_assert_eq!(split(&pieces, longest), split(&[&text], longest));
    }
}

const LINES: usize = 60;

#[test]
fn a_flood_waits_until_it_is_read_and_nothing_is_lost() {
    run(async {
        let incoming = std::sync::Arc::new(Incoming::default());
        let (mut server, stdout) = tokio::io::duplex(1 << 20);
        let reader = tokio::spawn(incoming::read(stdout, incoming.clone()));
        let flood = tokio::spawn(async move {
            let line = [vec![b'x'; (1 << 20) - 1], b"\n".to_vec()].concat();
            for _ in 0..LINES {
                server.write_all(&line).await.expect("the reader is there");
            }
        });
        while incoming.traffic().bytes < 2 * LONGEST_LINE as u64 {
            tokio::task::yield_now().await;
        }
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(
            incoming.traffic().bytes <= 2 * LONGEST_LINE as u64 + (2 << 20),
            "reading pauses"
        );
        let mut lines = 0;
        while incoming.next().await.is_some() {
            lines += 1;
        }
        assert_eq!(lines, LINES);
        flood.await.expect("ends");
        reader.await.expect("ends");
    });
}

#[test]
fn five_megabytes_go_both_ways_without_a_deadlock() {
    run(async {
        let mut child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("cat is there");
        let mut transport = Transport::new(child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let message = [vec![b'x'; 5 << 20], b"\n".to_vec()].concat();
        let wrote = transport.write(&message).await.expect("cat reads");
        let Some(Arrival::Line { bytes, at, ended }) = transport.next().await else {
            panic!("no line")
        };
        assert_eq!((bytes.len(), ended), (5 << 20, true));
        assert!(at >= wrote);
        drop(transport.take_stdin());
        assert_eq!(transport.next().await, None);
        assert!(matches!(transport.write(b"x\n").await, Err(WriteProblem::Closed)));
        child.wait().await.expect("cat ends");
    });
}

#[test]
fn after_a_message_that_was_cut_off_nothing_is_written() {
    run(async {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("sleep is there");
        let mut transport = Transport::new(child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let message = vec![b'x'; 5 << 20];
        let limit = Duration::from_millis(20);
        assert!(tokio::time::timeout(limit, transport.write(&message)).await.is_err());
        assert!(matches!(transport.write(b"x\n").await, Err(WriteProblem::CutOff)));
    });
}

#[test]
fn the_start_of_an_unfinished_line_is_shown() {
    run(async {
        let incoming = std::sync::Arc::new(Incoming::default());
        let (mut server, stdout) = tokio::io::duplex(1024);
        let reader = tokio::spawn(incoming::read(stdout, incoming.clone()));
        server
            .write_all(b"one\nOk to proceed? (y) ")
            .await
            .expect("the reader is there");
        let Some(Arrival::Line { bytes, .. }) = incoming.next().await else {
            panic!("no line")
        };
        assert_eq!(bytes, b"one");
        assert_eq!(incoming.traffic().unfinished, b"Ok to proceed? (y) ");
        drop(server);
        let Some(Arrival::Line { ended, .. }) = incoming.next().await else {
            panic!("no rest")
        };
        assert!(!ended);
        reader.await.expect("ends");
    });
}
