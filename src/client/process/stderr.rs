//! Reads a server's stderr from spawn to death, so that a full pipe never blocks it, and keeps what is
//! worth keeping: the first 64 KiB go to the log as they come, of the rest only the last 64 KiB, at the
//! end, after a line that says how much was left out.
//!
//! It never waits for the end of the pipe: processes that outlive the server may hold it open.
//!
//! Secrets are masked by whole lines later on, so a line that must be cut is cut between two words.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::event::{EventKind, LogLine, LogSource, Sink};

/// What goes to the log as it comes.
const HEAD_BYTES: usize = 64 * 1024;
/// What is kept of the rest.
const TAIL_BYTES: usize = 64 * 1024;
/// What is kept of one line.
const LINE_BYTES: usize = 16 * 1024;
/// How far back from the cut the end of a word is looked for.
const WORD_BYTES: usize = 4 * 1024;
/// The lines that a report shows of a server that died.
const LAST_LINES: usize = 10;
/// One read.
const READ_BYTES: usize = 64 * 1024;
/// After death, silence for so long means that nothing more comes…
const IDLE: Duration = Duration::from_millis(200);
/// … and no longer than this is waited, whoever writes.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// The stderr of one server, being read by a task of its own.
#[derive(Debug)]
pub(super) struct Stderr {
    log: watch::Receiver<StderrLog>,
    settled: bool,
    stop: Option<oneshot::Sender<()>>,
    reader: Option<JoinHandle<()>>,
}

/// What a line needs beside its text to be logged.
pub(super) struct LogContext {
    pub(super) sink: Sink,
    pub(super) session: u32,
    pub(super) spawned_at: Instant,
}

impl LogContext {
    fn send_all(&self, lines: Vec<Line>) {
        for line in lines {
            self.sink.send(EventKind::Log(LogLine {
                source: LogSource::Stderr,
                at: line.at,
                session: self.session,
                text: line.text,
            }));
        }
    }
}

impl Stderr {
    /// Starts reading, on the current runtime.
    pub(super) fn read(pipe: ChildStderr, context: LogContext) -> Self {
        let (sender, log) = watch::channel(StderrLog::default());
        let (stop, stopped) = oneshot::channel();
        let reader = tokio::spawn(read_to_end(pipe, context, sender, stopped));
        Self {
            log,
            settled: false,
            stop: Some(stop),
            reader: Some(reader),
        }
    }

    /// The last lines, oldest first; one that was not finished included.
    pub(super) fn last_lines(&self) -> Vec<String> {
        self.log.borrow().last_lines()
    }

    /// Once the process is gone: waits until what it wrote is read. Bounded, waits only once; may be
    /// dropped at any time.
    pub(super) async fn settle(&mut self) {
        if !self.settled {
            self.drain().await;
            self.settled = true;
        }
    }

    async fn drain(&mut self) {
        let all = async { while let Ok(Ok(())) = tokio::time::timeout(IDLE, self.log.changed()).await {} };
        // Both limits are a plain end: whatever came is kept.
        drop(tokio::time::timeout(DRAIN_LIMIT, all).await);
    }

    /// Reads what is left, stops reading and hands the kept tail to the log. Bounded.
    pub(super) async fn finish(&mut self) {
        self.drain().await;
        // The reader may have ended by itself; then nobody hears this.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(reader) = &mut self.reader {
            if tokio::time::timeout(DRAIN_LIMIT, &mut *reader).await.is_err() {
                reader.abort();
            }
            self.reader = None;
        }
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        if let Some(reader) = &self.reader {
            reader.abort();
        }
    }
}

async fn read_to_end(
    mut pipe: ChildStderr,
    context: LogContext,
    log: watch::Sender<StderrLog>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = tokio::select! {
            read = pipe.read(&mut buffer) => read.unwrap_or(0),
            _ = &mut stopped => 0,
        };
        if count == 0 {
            break;
        }
        let at = context.spawned_at.elapsed();
        let mut lines = Vec::new();
        log.send_modify(|log| lines = log.take(&buffer[..count], at));
        context.send_all(lines);
    }
    let mut lines = Vec::new();
    log.send_modify(|log| lines = log.close());
    context.send_all(lines);
}

/// A whole line and when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    at: Duration,
    text: String,
}

/// What was read so far; takes bytes, gives the lines to log now.
#[derive(Debug, Default)]
struct StderrLog {
    partial: Partial,
    after_carriage_return: bool,
    head_bytes: usize,
    tail: VecDeque<Line>,
    tail_bytes: usize,
    left_out: usize,
    last: VecDeque<String>,
}

/// The beginning of a line whose end has not come.
#[derive(Debug, Default)]
struct Partial {
    at: Duration,
    bytes: Vec<u8>,
    cut: usize,
}

impl Partial {
    fn push(&mut self, bytes: &[u8], at: Duration) {
        self.at = at;
        let kept = bytes.len().min(LINE_BYTES - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.cut += bytes.len() - kept;
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn text(&self) -> String {
        if self.cut == 0 {
            return String::from_utf8_lossy(&self.bytes).into_owned();
        }
        let kept = word_end(&self.bytes);
        let cut = self.bytes.len() - kept + self.cut;
        format!(
            "{} … {cut} bytes of this line left out …",
            String::from_utf8_lossy(&self.bytes[..kept])
        )
    }
}

/// The length without the last, cut word; all of it if that word is longer than any secret would be.
fn word_end(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(WORD_BYTES);
    let space = bytes[start..].iter().rposition(u8::is_ascii_whitespace);
    space.map_or(bytes.len(), |at| start + at)
}

impl StderrLog {
    fn take(&mut self, bytes: &[u8], at: Duration) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            match piece.split_last() {
                // The second half of CR LF.
                Some((b'\n', [])) if self.after_carriage_return => self.after_carriage_return = false,
                // A lone CR ends a line too: what a progress bar shows last is what one wants to read.
                Some((end @ (b'\n' | b'\r'), text)) => {
                    self.after_carriage_return = *end == b'\r';
                    self.partial.push(text, at);
                    lines.extend(self.end_line());
                }
                _ => {
                    self.after_carriage_return = false;
                    self.partial.push(piece, at);
                }
            }
        }
        lines
    }

    /// The line is complete: it is due now, or kept in the tail.
    fn end_line(&mut self) -> Option<Line> {
        let partial = std::mem::take(&mut self.partial);
        let line = Line {
            at: partial.at,
            text: partial.text(),
        };
        if !line.text.trim().is_empty() {
            self.last.push_back(line.text.clone());
            if self.last.len() > LAST_LINES {
                self.last.pop_front();
            }
        }
        let size = line.text.len() + 1;
        if self.tail.is_empty() && self.left_out == 0 && self.head_bytes + size <= HEAD_BYTES {
            self.head_bytes += size;
            return Some(line);
        }
        self.tail_bytes += size;
        self.tail.push_back(line);
        while self.tail_bytes > TAIL_BYTES
            && let Some(oldest) = self.tail.pop_front()
        {
            self.tail_bytes -= oldest.text.len() + 1;
            self.left_out += oldest.text.len() + 1;
        }
        None
    }

    /// Nothing more comes: the tail, after a line that says what is missing before it.
    fn close(&mut self) -> Vec<Line> {
        let unfinished = if self.partial.is_empty() { None } else { self.end_line() };
        let mut lines: Vec<Line> = self.tail.drain(..).collect();
        self.tail_bytes = 0;
        if self.left_out > 0 {
            let at = lines.first().map_or(Duration::ZERO, |line| line.at);
            let text = format!("… {} bytes left out …", self.left_out);
            lines.insert(0, Line { at, text });
            self.left_out = 0;
        }
        lines.extend(unfinished);
        lines
    }

    fn last_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.last.iter().cloned().collect();
        let unfinished = self.partial.text();
        if !unfinished.trim().is_empty() {
            lines.push(unfinished);
        }
        let surplus = lines.len().saturating_sub(LAST_LINES);
        lines.drain(..surplus);
        lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_oneof};
    use proptest::{collection, prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// All lines that would be logged, in order, for these reads.
    fn logged(reads: &[&[u8]]) -> Vec<String> {
        let mut log = StderrLog::default();
        let mut lines: Vec<Line> = reads.iter().flat_map(|bytes| log.take(bytes, Duration::ZERO)).collect();
        lines.extend(log.close());
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_end_in_lf_cr_or_both_and_the_last_needs_no_end() {
        assert_eq!(logged(&[b"a\nb\r\nc\rd"]), ["a", "b", "c", "d"]);
        assert_eq!(logged(&[b"b\r", b"\nc\n"]), ["b", "c"]);
        assert_eq!(logged(&[b"a\n\n", b"\n"]), ["a", "", ""]);
        assert!(logged(&[]).is_empty());
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        assert_eq!(logged(&[b"caf\xe9\n"]), ["caf\u{fffd}"]);
    }

    #[test]
    fn a_very_long_line_is_cut_before_a_word_so_that_no_part_of_a_secret_is_left() {
        let line = format!("{} key=secret{}", "x ".repeat(LINE_BYTES / 2 - 4), "y".repeat(100));
        let [shown] = &logged(&[line.as_bytes()])[..] else {
            panic!("one line is expected");
        };
        assert!(!shown.contains("key"), "{shown}");
        assert!(shown.ends_with("… 111 bytes of this line left out …"), "{shown}");
    }

    #[test]
    fn of_a_flood_the_head_and_the_tail_are_kept() {
        let line = [b'e'; 99];
        let mut log = StderrLog::default();
        let mut head = Vec::new();
        for _ in 0..10_000 {
            head.extend(log.take(&[&line[..], b"\n"].concat(), Duration::ZERO));
        }
        let tail = log.close();
        assert_eq!((head.len(), tail.len()), (655, 656));
        assert_eq!(tail[0].text, format!("… {} bytes left out …", (10_000 - 2 * 655) * 100));
        assert_eq!(log.last_lines().len(), LAST_LINES);
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(48))]

        #[test]
        fn how_the_bytes_were_split_into_reads_makes_no_difference(
            pieces in collection::vec(prop_oneof![Just("\r\n"), Just("\n"), Just("\r"), Just("word"), Just("")], 0..40),
            cut in 0_usize..100,
        ) {
            let text = pieces.concat();
            let (before, after) = text.as_bytes().split_at(cut.min(text.len()));
            prop_assert_eq!(logged(&[before, after]), logged(&[text.as_bytes()]));
        }

        #[test]
        fn what_is_kept_is_bounded_whatever_comes(
            reads in collection::vec((0_usize..40_000, 0_u8..3), 0..30).prop_map(|reads| {
                reads.into_iter().map(|(length, end)| [vec![b'z'; length], vec![b'\n'; usize::from(end)]].concat())
                    .collect::<Vec<_>>()
            }),
        ) {
            let reads: Vec<&[u8]> = reads.iter().map(Vec::as_slice).collect();
            let size: usize = logged(&reads).iter().map(|line| line.len() + 1).sum();
            prop_assert!(size <= HEAD_BYTES + TAIL_BYTES + 2 * LINE_BYTES);
        }
    }
}
