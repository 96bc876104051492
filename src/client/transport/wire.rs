//! The wire log of one session: kept as bytes while something is being timed, handed over afterwards.

use std::time::Instant;

use crate::event::{Direction, EventKind, LogLine, LogSource, Sink, WireLine};

/// Handed over even while something is timed: such a flood spoils the figure anyway.
const MOST_KEPT: usize = 8 * 1024 * 1024;
/// More than this of a session is not logged; the log says so.
const MOST_LOGGED: usize = 256 * 1024 * 1024;
/// Lines that are no messages go to the row's log, too, but not without end.
const MOST_NOISE_LINES: u32 = 200;

/// Lines of the wire that are not handed over yet.
#[derive(Debug)]
pub struct WireLog {
    sink: Sink,
    session: u32,
    since: Instant,
    kept: Vec<Kept>,
    kept_bytes: usize,
    logged_bytes: usize,
    noise_lines: u32,
}

#[derive(Debug)]
enum Kept {
    Wire(Direction, Instant, Vec<u8>),
    Noise(Instant, String),
}

impl WireLog {
    /// A log whose times count from `since`.
    pub fn new(sink: Sink, session: u32, since: Instant) -> Self {
        Self {
            sink,
            session,
            since,
            kept: Vec::new(),
            kept_bytes: 0,
            logged_bytes: 0,
            noise_lines: 0,
        }
    }

    /// Keeps a line. Bytes are decoded when they are handed over.
    pub fn keep(&mut self, direction: Direction, at: Instant, line: Vec<u8>) {
        self.kept_bytes += line.len();
        self.kept.push(Kept::Wire(direction, at, line));
        if self.kept_bytes > MOST_KEPT {
            self.hand_over();
        }
    }

    /// Keeps a line of stdout that is no message, for the row's log.
    pub fn keep_noise(&mut self, at: Instant, text: &str) {
        self.noise_lines += 1;
        if self.noise_lines <= MOST_NOISE_LINES {
            self.kept.push(Kept::Noise(at, text.to_owned()));
        }
    }

    /// Hands everything over. Not to be called while something is timed.
    pub fn hand_over(&mut self) {
        self.kept_bytes = 0;
        for kept in std::mem::take(&mut self.kept) {
            match kept {
                Kept::Wire(direction, at, line) => self.send_wire(direction, at, &line),
                Kept::Noise(at, text) => self.send_line(LogSource::Stdout, at, text),
            }
        }
    }

    /// A line of our own for the row's log.
    pub fn note(&self, text: impl Into<String>) {
        self.send_line(LogSource::Runner, Instant::now(), text.into());
    }

    fn send_wire(&mut self, direction: Direction, at: Instant, line: &[u8]) {
        let logged_before = self.logged_bytes;
        self.logged_bytes = logged_before.saturating_add(line.len());
        if logged_before > MOST_LOGGED {
            return;
        }
        if self.logged_bytes > MOST_LOGGED {
            self.note("the wire log ends here: this session has sent too much to log");
            return;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        self.sink.send(EventKind::Wire(WireLine {
            session: self.session,
            at: at.saturating_duration_since(self.since),
            direction,
            text: String::from_utf8_lossy(line).into_owned(),
        }));
    }

    fn send_line(&self, source: LogSource, at: Instant, text: String) {
        let at = at.saturating_duration_since(self.since);
        self.sink.send(EventKind::Log(LogLine {
            source,
            at,
            session: self.session,
            text,
        }));
    }
}
