//! Real processes, started, watched and ended: small scripts that do what servers do wrong.

mod ending;
mod starting;
mod watching;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::table::Table;
use super::{Command, ServerProcess, SpawnProblem, minimal_environment};
use crate::event::{Event, EventKind, LogLine, LogSource, RowId, ShutdownFacts, Sink};

/// No test waits longer for anything.
const LIMIT: Duration = Duration::from_secs(30);
/// A grace that is never used up by a server that ends by itself.
const LONG: Duration = Duration::from_secs(20);
/// A grace for servers that will not end.
const SHORT: Duration = Duration::from_millis(150);

/// A started script and what it says.
struct Server {
    process: ServerProcess,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    events: UnboundedReceiver<Event>,
}

impl Server {
    fn start(command: &Command) -> Result<Self, SpawnProblem> {
        let (sender, events) = unbounded_channel();
        let (process, pipes) = ServerProcess::spawn(command, Sink::new(RowId("row".to_owned()), sender), 1)?;
        Ok(Self {
            process,
            stdin: Some(pipes.stdin),
            stdout: BufReader::new(pipes.stdout),
            events,
        })
    }

    fn shell(script: &str) -> Self {
        Self::start(&command("sh", &["-c", script])).expect("sh can be started")
    }

    fn python(script: &str) -> Self {
        Self::start(&command("python3", &["-c", script])).expect("python3 can be started")
    }

    /// The next line on stdout.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = timeout(LIMIT, self.stdout.read_line(&mut line)).await;
        read.expect("a line comes in time").expect("stdout can be read");
        line.trim_end().to_owned()
    }

    /// The next line, which is a pid.
    async fn pid(&mut self) -> u32 {
        self.line().await.parse().expect("the script prints a pid")
    }

    async fn shutdown(&mut self, grace: Duration) -> ShutdownFacts {
        let stdin = self.stdin.take();
        timeout(LIMIT, self.process.shutdown(stdin, grace))
            .await
            .expect("a shutdown is bounded")
    }

    /// What came on stderr so far.
    fn logged(&mut self) -> Vec<LogLine> {
        let mut lines = Vec::new();
        while let Ok(event) = self.events.try_recv() {
            if let EventKind::Log(line) = event.kind
                && line.source == LogSource::Stderr
            {
                lines.push(line);
            }
        }
        lines
    }
}

fn command(program: &str, args: &[&str]) -> Command {
    Command {
        program: PathBuf::from(program),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: minimal_environment(),
        cwd: std::env::temp_dir(),
        owner: None,
    }
}

fn is_alive(pid: u32) -> bool {
    Table::read().live(pid).is_some()
}

/// Waits until the condition holds.
async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < LIMIT, "in vain: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}
