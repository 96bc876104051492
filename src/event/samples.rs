//! One event of every kind, with a given text in every string that it has; for tests.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Cause, Direction, Ecosystem, Ending, Era, Event, EventKind, HandshakeFacts, HostLoad, Launcher, LogLine, LogSource,
    Newest, Observation, PackageFacts, ProbeFacts, ProcessIdentity, Received, ResourceFacts, RowId, RuntimeFacts, Seen,
    SessionFacts, SessionKind, ShutdownFacts, ShutdownStep, Skip, SkipReason, ToolFacts, WireLine,
};
use crate::finding::Phase;

const TIME: Duration = Duration::from_millis(3);

pub(crate) fn event(kind: EventKind) -> Event {
    Event {
        row: RowId("row".to_owned()),
        kind,
    }
}

/// Every kind; the wire line holds the text as a string in JSON.
pub(crate) fn every_kind(text: &str) -> Vec<Event> {
    let line = |source| {
        EventKind::Log(LogLine {
            source,
            at: TIME,
            session: 1,
            text: text.to_owned(),
        })
    };
    let mut kinds = vec![
        EventKind::Doing(text.to_owned()),
        line(LogSource::Runner),
        line(LogSource::Stderr),
        line(LogSource::Stdout),
        line(LogSource::Install),
        wire(text.to_owned()),
        wire(value(text).to_string()),
        wire(json!({"id": 7, "result": value(text)}).to_string()),
        wire(format!("{{\"cut\": {}", Value::from(text))),
        EventKind::Installed(TIME),
        EventKind::PackageInPlace(package(text)),
        EventKind::Newest(newest(text)),
        EventKind::Measuring(HostLoad::default()),
        EventKind::CallDone {
            tool: text.to_owned(),
            done: 1,
            of: 2,
        },
        EventKind::Session(Box::new(session(text))),
        EventKind::Skipped(Skip {
            reason: SkipReason::Offline,
            message: text.to_owned(),
            cure: Some(text.to_owned()),
        }),
        EventKind::RowDone,
    ];
    kinds.extend(every_sight(text).into_iter().map(|what| {
        EventKind::Observed(Observation {
            phase: Phase::Call,
            probe: None,
            what,
        })
    }));
    kinds.into_iter().map(event).collect()
}

pub(crate) fn wire(text: String) -> EventKind {
    EventKind::Wire(WireLine {
        session: 1,
        at: TIME,
        direction: Direction::In,
        text,
    })
}

fn value(text: &str) -> Value {
    json!({text: [text, {"deep": {"deeper": text}}, json!({"again": text}).to_string()], "number": 1_234_567})
}

fn newest(text: &str) -> Newest {
    let cause = || {
        Some(Cause {
            cause: "engines".to_owned(),
            detail: Some(text.to_owned()),
        })
    };
    Newest {
        version: Some(text.to_owned()),
        as_of: None,
        requires: Some(text.to_owned()),
        deprecated: Some(text.to_owned()),
        held_back: cause(),
        behind: cause(),
        unknown: Some(text.to_owned()),
    }
}

pub(crate) fn package(text: &str) -> PackageFacts {
    PackageFacts {
        ecosystem: Ecosystem::Npm,
        name: text.to_owned(),
        version: text.to_owned(),
        path: PathBuf::from(text),
    }
}

/// A session with everything in it.
pub(crate) fn session(text: &str) -> SessionFacts {
    let some = || Some(text.to_owned());
    SessionFacts {
        number: 1,
        kind: SessionKind::Repeat(1),
        attempt: 1,
        first_byte: Some(TIME),
        cold_start: Some(2 * TIME),
        list: Some(TIME),
        lifetime: None,
        handshake: Some(HandshakeFacts {
            era: Era::Initialize,
            requested: text.to_owned(),
            negotiated: text.to_owned(),
            name: some(),
            title: some(),
            version: some(),
            instructions: some(),
            capabilities: value(text),
        }),
        identity: Some(ProcessIdentity {
            package: Some(package(text)),
            runtime: Some(RuntimeFacts {
                kind: text.to_owned(),
                version: some(),
                executable: PathBuf::from(text),
            }),
            launcher: Launcher::Direct,
        }),
        tools: Some(vec![ToolFacts {
            name: text.to_owned(),
            description: some(),
            input_schema: Some(value(text)),
            output_schema: Some(value(text)),
            annotations: Some(value(text)),
        }]),
        probes: vec![ProbeFacts {
            index: 0,
            first: Some(TIME),
            samples: vec![TIME, 2 * TIME],
            calls: 2,
            failures: 0,
            refused: false,
            reply: some(),
        }],
        shutdown: Some(ShutdownFacts {
            took: Some(TIME),
            step: ShutdownStep::StdinClosed,
            exit_code: Some(0),
            signal: None,
            survivors: vec![text.to_owned()],
            left_over: vec![text.to_owned()],
        }),
        resources: Some(ResourceFacts {
            peak_rss_bytes: 1_000_000,
            cpu: TIME,
        }),
        observations: every_sight(text)
            .into_iter()
            .map(|what| Observation {
                phase: Phase::List,
                probe: Some(0),
                what,
            })
            .collect(),
    }
}

/// Everything that can be seen.
pub(crate) fn every_sight(text: &str) -> Vec<Seen> {
    let mut all = early_sights(text);
    all.extend(late_sights(text));
    all
}

fn received(text: &str) -> Received {
    Received {
        bytes: 7,
        noise_lines: 1,
        other_messages: 2,
        unfinished: Some(text.to_owned()),
        last_stderr: Some(text.to_owned()),
    }
}

fn ending(text: &str) -> Ending {
    Ending {
        code: Some(3),
        signal: None,
        last_lines: vec![text.to_owned(), text.to_owned()],
    }
}

fn early_sights(text: &str) -> Vec<Seen> {
    let own = || text.to_owned();
    vec![
        Seen::ConfigError {
            field: own(),
            problem: own(),
        },
        Seen::InstallFailed {
            what: own(),
            problem: own(),
            last_lines: vec![own()],
        },
        Seen::InstallStale {
            what: own(),
            installed: own(),
            problem: own(),
        },
        Seen::Downloaded { line: own() },
        Seen::SpawnFailed {
            program: own(),
            problem: own(),
            hint: Some(own()),
        },
        Seen::ExitedEarly { ending: ending(text) },
        Seen::ServerDied { ending: ending(text) },
        Seen::InitTimeout {
            limit: TIME,
            received: received(text),
            hint: Some(own()),
        },
        Seen::InitError {
            code: -1,
            message: own(),
        },
        Seen::InvalidInitialize { problem: own() },
        Seen::ProtocolVersion {
            offered: own(),
            answered: own(),
        },
        Seen::IdentityMissing { field: own() },
        Seen::ListError {
            code: -1,
            message: own(),
        },
        Seen::ListTimeout {
            limit: TIME,
            received: received(text),
        },
        Seen::ListTooLong { pages: 1, tools: 2 },
        Seen::PaginationLoop {
            cursor: own(),
            tools: 2,
        },
        Seen::ListInvalid { problem: own() },
        Seen::ToolInvalid {
            tool: own(),
            problem: own(),
        },
        Seen::ToolDuplicate { tool: own(), times: 2 },
        Seen::NoTools { declared: true },
        Seen::ToolMissing { tool: own(), listed: 3 },
    ]
}

fn late_sights(text: &str) -> Vec<Seen> {
    let own = || text.to_owned();
    let (failures, calls) = (1, 2);
    vec![
        Seen::ToolError {
            tool: own(),
            text: own(),
            failures,
            calls,
        },
        Seen::RpcError {
            tool: own(),
            code: -1,
            message: own(),
            failures,
            calls,
        },
        Seen::RateLimited {
            tool: own(),
            text: own(),
            failures,
            calls,
        },
        Seen::CallTimeout {
            tool: own(),
            limit: TIME,
            received: received(text),
            failures,
            calls,
        },
        Seen::CallUnsupported {
            tool: own(),
            needs: own(),
            failures,
            calls,
        },
        Seen::UnexpectedResult {
            tool: own(),
            expected: own(),
            actual: own(),
            failures,
            calls,
        },
        Seen::CallInvalid {
            tool: own(),
            problem: own(),
        },
        Seen::SoftError {
            tool: own(),
            text: own(),
        },
        Seen::StdoutNoise { first: own(), lines: 1 },
        Seen::StrayMessage {
            first: own(),
            messages: 1,
        },
        Seen::BadEncoding {
            excerpt: own(),
            messages: 1,
        },
        Seen::BadFraming {
            looks_like: own(),
            excerpt: own(),
        },
        Seen::OutputLimit { limit: 9 },
        Seen::IdMismatch {
            expected: own(),
            actual: own(),
            tolerated: true,
        },
        Seen::ServerRequestRefused {
            method: own(),
            times: 1,
        },
        Seen::UncleanShutdown {
            step: ShutdownStep::Killed,
            survivors: vec![own()],
        },
        Seen::LeftOver { processes: vec![own()] },
        Seen::LeftByKilledRun {
            ended: vec![own()],
            left_over: vec![own()],
        },
        Seen::RowTimeout { limit: TIME },
        Seen::Interrupted,
        Seen::SessionDisagrees {
            what: own(),
            first: own(),
            later: own(),
        },
    ]
}
