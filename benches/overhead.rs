//! What the client costs: 10,000 calls each against the same embedded echo server, in one run, in
//! turns of 1,000: a blocking ping-pong over two pipes without any runtime (the floor), and
//! mcp-smoke's own session with the wire log on. Prints the ratios of medians and p95s.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mcp_smoke::client::process;
use mcp_smoke::client::session::{FilledExpectation, FilledProbe, Session, SessionSpec, Stop};
use mcp_smoke::event::{Event, EventKind, RowId, SessionKind, Sink};
use mcp_smoke::plan::{Limits, Protocol};
use mcp_smoke::stats;

const TURNS: u32 = 10;
const CALLS_PER_TURN: u32 = 1000;
const LIMIT: Duration = Duration::from_mins(1);

fn main() {
    let floor_server = Floor::start();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (floor, ours, lines) = runtime.block_on(in_turns(floor_server));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let figures = |name: &str, samples: &[Duration]| {
        let micros = |value: Option<Duration>| value.unwrap_or_default().as_nanos() as f64 / 1000.0;
        let (median, p95) = (micros(stats::median(samples)), micros(stats::p95(samples)));
        println!(
            "{name:<10} n = {}  median {median:.1} us  p95 {p95:.1} us",
            samples.len()
        );
        (median, p95)
    };
    let (floor_median, floor_p95) = figures("floor", &floor);
    let (our_median, our_p95) = figures("session", &ours);
    println!(
        "wire log   {lines} lines, load {}",
        load.split(' ').next().unwrap_or("unknown")
    );
    println!(
        "mcp-smoke  {:.2}x median  {:.2}x p95",
        our_median / floor_median,
        our_p95 / floor_p95
    );
}

/// Both servers live side by side and are asked in turns, so that a busy moment hits both.
async fn in_turns(mut floor_server: Floor) -> (Vec<Duration>, Vec<Duration>, usize) {
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel::<Event>();
    let (counted, count) = mpsc::channel();
    // As in a run, another thread takes the wire lines and writes them.
    let log = thread::spawn(move || {
        let mut file = std::io::BufWriter::new(tempfile::tempfile().expect("a temporary file"));
        let mut lines = 0;
        while let Some(event) = events.blocking_recv() {
            if let EventKind::Wire(line) = event.kind {
                writeln!(file, "{}", line.text).expect("room for the wire log");
                lines += 1;
            }
        }
        counted.send(lines).expect("the bench waits");
    });
    let mut session = Session::open(spec(), Sink::new(RowId("bench".into()), sender), Stop::never()).await;
    session.list_tools().await;
    session.probe(&probe(0, 100)).await;
    floor_server.calls(100);
    let mut floor = Vec::new();
    for turn in 1..=TURNS {
        session.probe(&probe(turn as usize, CALLS_PER_TURN)).await;
        floor.extend(floor_server.calls(CALLS_PER_TURN));
    }
    let facts = session.close().await;
    let ours = facts
        .probes
        .into_iter()
        .skip(1)
        .flat_map(|probe| probe.samples)
        .collect();
    log.join().expect("the log thread ends");
    (floor, ours, count.recv().expect("a count"))
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

fn probe(index: usize, calls: u32) -> FilledProbe {
    FilledProbe {
        index,
        tool: "echo".into(),
        arguments: serde_json::json!({ "text": "calibration" }),
        calls,
        warmup: 0,
        timeout: LIMIT,
        expect: FilledExpectation {
            text: Some("calibration".into()),
            ..FilledExpectation::default()
        },
        concurrency: 1,
    }
}

/// The floor: write, read a line, nothing else.
struct Floor {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u32,
}

impl Floor {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-smoke"))
            .arg("echo-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the echo server starts");
        let stdin = child.stdin.take().expect("piped");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            child,
            stdin,
            stdout,
            id: 0,
        }
    }

    fn calls(&mut self, calls: u32) -> Vec<Duration> {
        let mut line = Vec::new();
        (0..calls)
            .map(|_| {
                self.id += 1;
                let request = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"calibration\"}}}}}}\n",
                    self.id
                );
                line.clear();
                let began = Instant::now();
                self.stdin.write_all(request.as_bytes()).expect("the server reads");
                self.stdout.read_until(b'\n', &mut line).expect("the server answers");
                began.elapsed()
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
