//! What the steps of preparing have to say to the rows they work for.

use std::time::{Duration, Instant};

use crate::event::{EventKind, LogLine, LogSource, Observation, Seen, Sink};
use crate::finding::Phase;

/// The sinks of one row, or of several that share what is being done.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    sinks: Vec<Sink>,
    started: Instant,
}

impl Voice {
    pub(super) fn new(sink: Sink, started: Instant) -> Self {
        Self {
            sinks: vec![sink],
            started,
        }
    }

    /// One that speaks to all of these; none for none.
    pub(super) fn of_all<'a>(voices: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut voices = voices.into_iter();
        let mut all = voices.next()?.clone();
        all.sinks.extend(voices.flat_map(|voice| voice.sinks.iter().cloned()));
        Some(all)
    }

    pub(super) fn doing(&self, what: &str) {
        self.note(what);
        self.send(&EventKind::Doing(what.to_owned()));
    }

    pub(super) fn note(&self, text: &str) {
        for sink in &self.sinks {
            sink.note(0, self.started.elapsed(), text);
        }
    }

    /// A line of a package manager's output.
    pub(super) fn line(&self, text: &str) {
        self.send(&EventKind::Log(LogLine {
            source: LogSource::Install,
            at: self.started.elapsed(),
            session: 0,
            text: text.to_owned(),
        }));
    }

    pub(super) fn installed(&self, took: Duration) {
        self.send(&EventKind::Installed(took));
    }

    pub(super) fn observed(&self, what: Seen) {
        self.send(&EventKind::Observed(Observation {
            phase: Phase::Prepare,
            probe: None,
            what,
        }));
    }

    fn send(&self, kind: &EventKind) {
        for sink in &self.sinks {
            sink.send(kind.clone());
        }
    }
}
