//! Every string of an event, masked, before anything can escape, cut or write it.
//!
//! Everything is taken apart field by field and without `..`, so that a new field or variant does not
//! compile until it is decided here whether it can hold a secret. Numbers are never touched. The row's
//! id is not either: it is a key of the manifest, names the row's files, and ties an event to its row.

use std::path::PathBuf;

use serde_json::Value;

use super::mask_text::{mask_json_line, mask_string, mask_value};
use super::{
    Cause, Event, EventKind, HandshakeFacts, HostLoad, LogLine, Newest, Observation, PackageFacts, ProbeFacts,
    ProcessIdentity, ResourceFacts, RuntimeFacts, SessionFacts, ShutdownFacts, Skip, ToolFacts, WireLine,
};
use crate::text::Mask;

/// Replaces secrets in the parts that events are made of.
#[derive(Clone, Copy)]
pub(super) struct Masker<'mask>(pub(super) &'mask Mask);

impl Event {
    /// Replaces every secret in every string of the event.
    pub fn mask(&mut self, mask: &Mask) {
        let Self { row: _, kind } = self;
        Masker(mask).kind(kind);
    }
}

impl Observation {
    /// Replaces every secret in every string of the observation.
    pub fn mask(&mut self, mask: &Mask) {
        Masker(mask).observation(self);
    }
}

impl Newest {
    /// Replaces every secret in every string of the registry's answer.
    pub fn mask(&mut self, mask: &Mask) {
        Masker(mask).newest(self);
    }
}

impl SessionFacts {
    /// Replaces every secret in every string of the session's facts.
    pub fn mask(&mut self, mask: &Mask) {
        Masker(mask).session(self);
    }
}

impl Masker<'_> {
    fn kind(self, kind: &mut EventKind) {
        match kind {
            EventKind::Doing(what) => self.text(what),
            EventKind::Log(line) => self.log_line(line),
            EventKind::Wire(line) => self.wire_line(line),
            EventKind::PackageInPlace(package) => self.package(package),
            EventKind::Newest(newest) => self.newest(newest),
            EventKind::CallDone { tool, done: _, of: _ } => self.text(tool),
            EventKind::Session(session) => self.session(session),
            EventKind::Observed(observation) => self.observation(observation),
            EventKind::Skipped(skip) => self.skip(skip),
            EventKind::Installed(_)
            | EventKind::RowDone
            | EventKind::Measuring(HostLoad {
                load_average_1m: _,
                cpu_pressure_avg10: _,
            }) => {}
        }
    }

    fn newest(self, newest: &mut Newest) {
        let Newest {
            version,
            as_of: _,
            requires,
            deprecated,
            held_back,
            behind,
            unknown,
        } = newest;
        for text in [version, requires, deprecated, unknown] {
            self.optional(text);
        }
        for Cause { cause: _, detail } in [held_back, behind].into_iter().flatten() {
            self.optional(detail);
        }
    }

    fn log_line(self, line: &mut LogLine) {
        let LogLine {
            source: _,
            at: _,
            session: _,
            text,
        } = line;
        self.text(text);
    }

    fn wire_line(self, line: &mut WireLine) {
        let WireLine {
            session: _,
            at: _,
            direction: _,
            text,
        } = line;
        if let std::borrow::Cow::Owned(masked) = mask_json_line(text, self.0) {
            *text = masked;
        }
    }

    fn skip(self, skip: &mut Skip) {
        let Skip {
            reason: _,
            message,
            cure,
        } = skip;
        self.text(message);
        self.optional(cure);
    }

    fn session(self, session: &mut SessionFacts) {
        let SessionFacts {
            number: _,
            kind: _,
            attempt: _,
            first_byte: _,
            cold_start: _,
            list: _,
            lifetime: _,
            handshake,
            identity,
            tools,
            probes,
            shutdown,
            resources,
            observations,
        } = session;
        if let Some(handshake) = handshake {
            self.handshake(handshake);
        }
        if let Some(identity) = identity {
            self.identity(identity);
        }
        for tool in tools.iter_mut().flatten() {
            self.tool(tool);
        }
        for probe in probes {
            self.probe(probe);
        }
        if let Some(shutdown) = shutdown {
            self.shutdown(shutdown);
        }
        if let Some(ResourceFacts {
            peak_rss_bytes: _,
            cpu: _,
        }) = resources
        {}
        for observation in observations {
            self.observation(observation);
        }
    }

    fn handshake(self, handshake: &mut HandshakeFacts) {
        let HandshakeFacts {
            era: _,
            requested,
            negotiated,
            name,
            title,
            version,
            instructions,
            capabilities,
        } = handshake;
        self.text(requested);
        self.text(negotiated);
        for part in [name, title, version, instructions] {
            self.optional(part);
        }
        self.json(capabilities);
    }

    fn identity(self, identity: &mut ProcessIdentity) {
        let ProcessIdentity {
            package,
            runtime,
            launcher: _,
        } = identity;
        if let Some(package) = package {
            self.package(package);
        }
        if let Some(runtime) = runtime {
            self.runtime(runtime);
        }
    }

    fn package(self, package: &mut PackageFacts) {
        let PackageFacts {
            ecosystem: _,
            name,
            version,
            path,
        } = package;
        self.text(name);
        self.text(version);
        self.path(path);
    }

    fn runtime(self, runtime: &mut RuntimeFacts) {
        let RuntimeFacts {
            kind,
            version,
            executable,
        } = runtime;
        self.text(kind);
        self.optional(version);
        self.path(executable);
    }

    fn tool(self, tool: &mut ToolFacts) {
        let ToolFacts {
            name,
            description,
            input_schema,
            output_schema,
            annotations,
        } = tool;
        self.text(name);
        self.optional(description);
        for value in [input_schema, output_schema, annotations].into_iter().flatten() {
            self.json(value);
        }
    }

    fn probe(self, probe: &mut ProbeFacts) {
        let ProbeFacts {
            index: _,
            first: _,
            samples: _,
            calls: _,
            failures: _,
            refused: _,
            reply,
        } = probe;
        self.optional(reply);
    }

    fn shutdown(self, shutdown: &mut ShutdownFacts) {
        let ShutdownFacts {
            took: _,
            step: _,
            exit_code: _,
            signal: _,
            survivors,
            left_over,
        } = shutdown;
        self.texts(survivors);
        self.texts(left_over);
    }

    fn observation(self, observation: &mut Observation) {
        let Observation {
            phase: _,
            probe: _,
            what,
        } = observation;
        self.seen(what);
    }

    pub(super) fn text(self, text: &mut String) {
        mask_string(text, self.0);
    }

    pub(super) fn texts(self, texts: &mut [String]) {
        for text in texts {
            self.text(text);
        }
    }

    pub(super) fn optional(self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn json(self, value: &mut Value) {
        mask_value(value, self.0);
    }

    /// A path that holds a secret becomes text; any other keeps its bytes.
    fn path(self, path: &mut PathBuf) {
        let mut text = path.to_string_lossy().into_owned();
        if mask_string(&mut text, self.0) {
            *path = PathBuf::from(text);
        }
    }
}
