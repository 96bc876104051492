//! Runs a session against `tests/fixtures/faulty.py`, or against a few lines of Python.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use crate::client::process::{Command, minimal_environment};
use crate::client::session::{FilledExpectation, FilledProbe, Session, SessionSpec, Stop};
use crate::event::{Event, EventKind, RowId, Seen, SessionFacts, SessionKind, Sink};
use crate::plan::{Limits, Protocol};

/// What a test sees of a session.
pub(super) struct Ran {
    pub(super) facts: SessionFacts,
    pub(super) events: Vec<EventKind>,
}

/// A session to be run.
pub(super) struct Case {
    pub(super) spec: SessionSpec,
    pub(super) stop: Stop,
    pub(super) probe: FilledProbe,
}

/// A mode of the fixture, with generous limits: they are only waited for where a test shortens them.
pub(super) fn case(mode: &[&str]) -> Case {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/faulty.py");
    let script = script.to_string_lossy().into_owned();
    let args = std::iter::once(script)
        .chain(mode.iter().map(ToString::to_string))
        .collect();
    python(args)
}

/// A server of its own: Python that reads messages as `message` and answers with `reply(result)`,
/// `refuse(code, text)` and `put(text)`.
pub(super) fn script(on_message: &str) -> Case {
    let prelude = concat!(
        "import json, sys, time, os\n",
        "def put(text): sys.stdout.write(text); sys.stdout.flush()\n",
        "def send(value): put(json.dumps(value) + '\\n')\n",
        "def reply(result, id=None): send({'jsonrpc': '2.0', 'id': message['id'] if id is None else id, 'result': result})\n",
        "def refuse(code, text, data=None): send({'jsonrpc': '2.0', 'id': message.get('id'), 'error': {'code': code, 'message': text, 'data': data}})\n",
        "def text(text): reply({'content': [{'type': 'text', 'text': text}]})\n",
        "def welcome(**more): reply({'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}, **more})\n",
        "def tools(*names, **more): reply({'tools': [{'name': name, 'inputSchema': {'type': 'object'}} for name in names], **more})\n",
        "calls = 0\n",
        "for line in sys.stdin:\n",
        "    message = json.loads(line)\n",
        "    method = message.get('method')\n",
        "    calls += method == 'tools/call'\n",
    );
    let body = on_message.replace('\n', "\n    ");
    python(vec!["-c".to_owned(), format!("{prelude}    {body}\n")])
}

/// The usual beginning of such a server's messages.
pub(super) const USUAL: &str = "if method == 'initialize': welcome()\nelif method == 'tools/list': tools('echo')\n";

fn python(args: Vec<String>) -> Case {
    let long = Duration::from_secs(20);
    Case {
        spec: SessionSpec {
            number: 1,
            kind: SessionKind::Repeat(1),
            attempt: 1,
            command: Command {
                program: "python3".into(),
                args,
                env: minimal_environment(),
                cwd: std::env::temp_dir(),
                owner: None,
            },
            protocol: Protocol::Auto,
            limits: Limits {
                startup: long,
                list: long,
                shutdown_grace: Duration::from_secs(5),
                row: long,
            },
        },
        stop: Stop::never(),
        probe: FilledProbe {
            index: 0,
            tool: "echo".to_owned(),
            arguments: json!({ "text": "grüße" }),
            calls: 3,
            warmup: 0,
            timeout: long,
            expect: FilledExpectation {
                text: Some("grüße".to_owned()),
                ..FilledExpectation::default()
            },
            concurrency: 1,
        },
    }
}

impl Case {
    pub(super) fn startup(mut self, milliseconds: u64) -> Self {
        self.spec.limits.startup = Duration::from_millis(milliseconds);
        self
    }

    pub(super) fn list_limit(mut self, milliseconds: u64) -> Self {
        self.spec.limits.list = Duration::from_millis(milliseconds);
        self
    }

    pub(super) fn grace(mut self, milliseconds: u64) -> Self {
        self.spec.limits.shutdown_grace = Duration::from_millis(milliseconds);
        self
    }

    pub(super) fn call_limit(mut self, milliseconds: u64) -> Self {
        self.probe.timeout = Duration::from_millis(milliseconds);
        self
    }

    pub(super) fn calls(mut self, calls: u32) -> Self {
        self.probe.calls = calls;
        self
    }

    pub(super) fn protocol(mut self, protocol: Protocol) -> Self {
        self.spec.protocol = protocol;
        self
    }

    pub(super) fn expecting(mut self, expect: FilledExpectation) -> Self {
        self.probe.expect = expect;
        self
    }

    /// Handshake, list, the probe, end.
    pub(super) fn run(self) -> Ran {
        let (sender, mut receiver) = unbounded_channel();
        let sink = Sink::new(RowId("row".to_owned()), sender);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let facts = runtime.block_on(async {
            let session = async {
                let mut session = Session::open(self.spec, sink, self.stop).await;
                session.list_tools().await;
                session.probe(&self.probe).await;
                session.close().await
            };
            tokio::time::timeout(Duration::from_mins(1), session)
                .await
                .expect("no session hangs")
        });
        let mut events = Vec::new();
        while let Ok(Event { kind, .. }) = receiver.try_recv() {
            events.push(kind);
        }
        Ran { facts, events }
    }
}

impl Ran {
    /// What was seen, by the names of the variants.
    pub(super) fn seen(&self) -> BTreeSet<String> {
        let name = |what: &Seen| {
            let text = format!("{what:?}");
            text.split([' ', '{', '(']).next().expect("a name").to_owned()
        };
        self.facts
            .observations
            .iter()
            .map(|observation| name(&observation.what))
            .collect()
    }

    /// Everything seen, in debug form.
    pub(super) fn told(&self) -> String {
        format!("{:?}", self.facts.observations)
    }

    pub(super) fn assert_seen(&self, names: &[&str]) {
        let expected: BTreeSet<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(self.seen(), expected, "{}", self.told());
    }

    pub(super) fn assert_told(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.told().contains(part), "{part:?} is not in {}", self.told());
        }
    }

    /// Init, list and number of samples.
    pub(super) fn figures(&self) -> (bool, bool, usize) {
        let samples = self.facts.probes.iter().map(|probe| probe.samples.len()).sum();
        (self.facts.cold_start.is_some(), self.facts.list.is_some(), samples)
    }

    /// What the server was sent, as JSON.
    pub(super) fn sent(&self) -> Vec<Value> {
        let lines = self.events.iter().filter_map(|event| match event {
            EventKind::Wire(line) if line.direction == crate::event::Direction::Out => Some(&line.text),
            _ => None,
        });
        lines
            .map(|line| serde_json::from_str(line).expect("we send JSON"))
            .collect()
    }

    pub(super) fn tools(&self) -> Vec<&str> {
        self.facts
            .tools
            .iter()
            .flatten()
            .map(|tool| tool.name.as_str())
            .collect()
    }
}
