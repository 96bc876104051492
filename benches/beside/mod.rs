//! What the benches share: the floor, the session that is held against it, and both over the same embedded
//! echo server. It prints nothing.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_smoke::client::process;
use mcp_smoke::client::session::{FilledExpectation, FilledProbe, Session, SessionSpec, Stop};
use mcp_smoke::event::{Event, EventKind, RowId, SessionKind, Sink};
use mcp_smoke::plan::{Limits, Protocol};

const LIMIT: Duration = Duration::from_mins(1);
/// What a pipe holds, and what the session reads at once.
const READ_SIZE: usize = 64 * 1024;

/// mcp-smoke's own session, its wire log on.
pub(crate) struct Ours {
    session: Session,
    sink: Sink,
    log: JoinHandle<usize>,
    caught_up: Receiver<()>,
    probes: usize,
}

impl Ours {
    /// Starts a server, shakes hands and lists, as every row does. As in a run, another thread takes the
    /// wire lines and writes them.
    pub(crate) async fn start() -> Self {
        let (sender, mut events) = tokio::sync::mpsc::unbounded_channel::<Event>();
        let (tell_caught_up, caught_up) = mpsc::channel();
        let log = thread::spawn(move || {
            let mut file = std::io::BufWriter::new(tempfile::tempfile().expect("a temporary file"));
            let mut lines = 0;
            while let Some(event) = events.blocking_recv() {
                match event.kind {
                    EventKind::Wire(line) => {
                        writeln!(file, "{}", line.text).expect("room for the wire log");
                        lines += 1;
                    }
                    // The mark behind a turn.
                    EventKind::RowDone => tell_caught_up.send(()).expect("the bench waits for it"),
                    _ => {}
                }
            }
            lines
        });
        let sink = Sink::new(RowId("bench".into()), sender);
        let mut session = Session::open(spec(), sink.clone(), Stop::never()).await;
        session.list_tools().await;
        Self {
            session,
            sink,
            log,
            caught_up,
            probes: 0,
        }
    }

    /// A turn of so many calls with this text; its samples come at the end. Returns when the wire log has
    /// caught up: its work must not fall into the floor's turn.
    pub(crate) async fn calls(&mut self, calls: u32, text: &str) {
        self.session.probe(&probe(self.probes, calls, text)).await;
        self.probes += 1;
        self.sink.send(EventKind::RowDone);
        self.caught_up.recv().expect("the log thread lives");
    }

    /// The samples of every turn, and how many lines the wire log has.
    pub(crate) async fn finish(self) -> (Vec<Vec<Duration>>, usize) {
        let facts = self.session.close().await;
        drop(self.sink);
        let samples = facts.probes.into_iter().map(|probe| probe.samples).collect();
        (samples, self.log.join().expect("the log thread ends"))
    }
}

fn spec() -> SessionSpec {
    SessionSpec {
        number: 1,
        kind: SessionKind::Repeat(1),
        attempt: 1,
        command: process::Command {
            program: env!("CARGO_BIN_EXE_mcp-smoke").into(),
            args: vec!["echo-server".into()],
            env: process::minimal_environment(),
            cwd: std::env::temp_dir(),
            owner: None,
        },
        protocol: Protocol::Initialize,
        limits: Limits {
            startup: LIMIT,
            list: LIMIT,
            shutdown_grace: LIMIT,
            row: LIMIT,
        },
    }
}

fn probe(index: usize, calls: u32, text: &str) -> FilledProbe {
    FilledProbe {
        index,
        tool: "echo".into(),
        arguments: serde_json::json!({ "text": text }),
        calls,
        warmup: 0,
        timeout: LIMIT,
        expect: FilledExpectation {
            text: Some(text.to_owned()),
            ..FilledExpectation::default()
        },
        concurrency: 1,
    }
}

/// The floor: write, read a line, nothing else.
pub(crate) struct Floor {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u32,
}

impl Floor {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-smoke"))
            .arg("echo-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the echo server starts");
        let stdin = child.stdin.take().expect("piped");
        let stdout = BufReader::with_capacity(READ_SIZE, child.stdout.take().expect("piped"));
        Self {
            child,
            stdin,
            stdout,
            id: 0,
        }
    }

    /// A turn of so many calls with this text, which needs no escapes.
    pub(crate) fn calls(&mut self, calls: u32, text: &str) -> Vec<Duration> {
        let mut line = Vec::new();
        (0..calls)
            .map(|_| {
                self.id += 1;
                let request = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"{text}\"}}}}}}\n",
                    self.id
                );
                line.clear();
                let began = Instant::now();
                self.stdin.write_all(request.as_bytes()).expect("the server reads");
                self.stdout.read_until(b'\n', &mut line).expect("the server answers");
                let took = began.elapsed();
                assert!(line.ends_with(b"}\n"), "the server is still there");
                took
            })
            .collect()
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
