//! Cuts a stream of bytes at `\n`, however it was cut into reads. Lines that are too long are dropped
//! up to their end, so that the ones after them are read again.

use std::io::BufRead;
use std::time::Instant;

use super::incoming::Arrival;

/// A line in the making.
#[derive(Debug)]
pub(super) struct Splitter {
    line: Vec<u8>,
    longest: usize,
    /// The line is too long; the rest of it is dropped.
    skipping: bool,
}

impl Splitter {
    pub(super) fn new(longest: usize) -> Self {
        Self {
            line: Vec::new(),
            longest,
            skipping: false,
        }
    }

    /// Takes what was read at once, at that moment.
    pub(super) fn feed(&mut self, mut read: &[u8], at: Instant, mut hand_over: impl FnMut(Arrival)) {
        while !read.is_empty() {
            // std's search for a byte is vectorised; on a slice it cannot fail.
            let before = read.len();
            if self.skipping {
                let all = read;
                let skipped = read.skip_until(b'\n').unwrap_or(before);
                self.skipping = !all[..skipped].ends_with(b"\n");
                continue;
            }
            read.read_until(b'\n', &mut self.line).unwrap_or(before);
            let ended = self.line.last() == Some(&b'\n');
            if self.line.len() > self.longest + usize::from(ended) {
                self.line = Vec::new();
                self.skipping = !ended;
                hand_over(Arrival::TooLong { at });
            } else if ended {
                self.line.pop();
                hand_over(Arrival::Line {
                    bytes: std::mem::take(&mut self.line),
                    at,
                    ended: true,
                });
            }
        }
    }

    /// The stream is over: hands the last line over if it has no end.
    pub(super) fn finish(&mut self, at: Instant, mut hand_over: impl FnMut(Arrival)) {
        if !self.line.is_empty() {
            hand_over(Arrival::Line {
                bytes: std::mem::take(&mut self.line),
                at,
                ended: false,
            });
        }
    }

    /// The line that has begun and not ended.
    pub(super) fn unfinished(&self) -> &[u8] {
        &self.line
    }
}
