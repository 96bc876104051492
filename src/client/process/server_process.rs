//! One server process, from spawn until nothing of it is left. How it is ended is `shutdown`'s.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::process::{Child, ChildStdin};

use super::family::Family;
use super::mark::Mark;
use super::resources::Usage;
use super::spawn::spawn;
use super::stderr::{LogContext, Stderr};
use super::system::{self, Signal};
use super::table::Table;
use super::{Command, Pipes, SpawnProblem, shutdown};
use crate::event::{Ending, ResourceFacts, ShutdownFacts, Sink};

/// A server process with everything it started.
///
/// Dropping it kills the group and all remembered descendants, unless it was shut down before.
#[derive(Debug)]
pub struct ServerProcess {
    pub(super) pid: u32,
    pub(super) spawned_at: Instant,
    pub(super) family: Family,
    pub(super) sink: Sink,
    pub(super) session: u32,
    /// When stdin was closed by a shutdown; kept, since a shutdown may be cut short by a kill.
    pub(super) stdin_closed_at: Option<Instant>,
    /// What the last shutdown found; nothing is left to do then.
    pub(super) finished: Option<ShutdownFacts>,
    child: Child,
    gone: Option<Gone>,
    stderr: Stderr,
    usage: Usage,
}

/// The process has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    pub(super) at: Instant,
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

impl Gone {
    /// Null if the system could not tell how.
    fn now(status: Option<ExitStatus>) -> Self {
        Self {
            at: Instant::now(),
            code: status.and_then(|status| status.code()),
            signal: status.and_then(system::ending_signal),
        }
    }
}

impl ServerProcess {
    /// Starts the command and hands its pipes out. Working directory and program are checked first, so
    /// that a failure says what is missing. Must be called within a tokio runtime with timers.
    pub fn spawn(command: &Command, sink: Sink, session: u32) -> Result<(Self, Pipes), SpawnProblem> {
        let mark = Mark::new(command.owner.clone()).to_string();
        let spawned = spawn(command, &mark)?;
        let context = LogContext {
            sink: sink.clone(),
            session,
            spawned_at: spawned.at,
        };
        let process = Self {
            pid: spawned.pid,
            spawned_at: spawned.at,
            family: Family::new(spawned.pid, mark),
            sink,
            session,
            stdin_closed_at: None,
            finished: None,
            child: spawned.child,
            gone: None,
            stderr: Stderr::read(spawned.stderr, context),
            usage: Usage::default(),
        };
        Ok((process, spawned.pipes))
    }

    /// The moment just before it was started.
    pub fn spawned_at(&self) -> Instant {
        self.spawned_at
    }

    /// Its pid, also the number of its group; stays the same when it is gone.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// At most ten lines, the oldest first; blank ones left out, an unfinished last one included.
    pub fn last_stderr_lines(&self) -> Vec<String> {
        self.stderr.last_lines()
    }

    /// Waits for its end, and then a short, bounded time for the rest of its stderr. May be dropped and
    /// called again at any time. The caller limits the wait.
    pub async fn wait(&mut self) -> Ending {
        let gone = self.wait_gone().await;
        self.stderr.settle().await;
        self.ending(gone)
    }

    /// Its end, if it has ended; does not wait, so the very last lines on stderr may be missing.
    pub fn ended(&mut self) -> Option<Ending> {
        self.gone_already().map(|gone| self.ending(gone))
    }

    /// Remembers everything that belongs to it now, also outside its group, and samples memory and CPU
    /// time. Reads the process table, so it belongs outside timed phases.
    pub fn look(&mut self) {
        let members = self.family.look(&Table::read());
        self.usage.sample(&members);
    }

    /// What the tree used, as far as the looks saw it: the largest sum of resident memory peaks, and
    /// the largest sum of CPU times, ended children that were waited for included. Null before the
    /// first look.
    pub fn resources(&self) -> Option<ResourceFacts> {
        self.usage.facts()
    }

    /// Ends it politely: closes stdin and waits `grace`, then SIGTERM to the group and `grace` again,
    /// then SIGKILL. Whatever it started and left is given a short moment and then ended too. Bounded.
    ///
    /// `stdin` is null if the pipe was closed before; the time runs from this call all the same.
    pub async fn shutdown(&mut self, stdin: Option<ChildStdin>, grace: Duration) -> ShutdownFacts {
        shutdown::shutdown(self, stdin, grace).await
    }

    /// Ends it and all it started at once, by SIGKILL. Bounded; may follow a shutdown that was dropped.
    pub async fn kill(&mut self) -> ShutdownFacts {
        shutdown::kill(self).await
    }

    /// Waits for the end of the process itself.
    pub(super) async fn wait_gone(&mut self) -> Gone {
        if let Some(gone) = self.gone {
            return gone;
        }
        // An error means that somebody else has waited for our child: it is gone, nobody knows how.
        let gone = Gone::now(self.child.wait().await.ok());
        *self.gone.insert(gone)
    }

    /// Whether it is gone, without waiting.
    pub(super) fn gone_already(&mut self) -> Option<Gone> {
        if self.gone.is_none() {
            self.gone = match self.child.try_wait() {
                Ok(None) => None,
                Ok(Some(status)) => Some(Gone::now(Some(status))),
                Err(_) => Some(Gone::now(None)),
            };
        }
        self.gone
    }

    /// Reads the rest of stderr and gives its tail to the log.
    pub(super) async fn finish_stderr(&mut self) {
        self.stderr.finish().await;
    }

    fn ending(&self, gone: Gone) -> Ending {
        Ending {
            code: gone.code,
            signal: gone.signal,
            last_lines: self.stderr.last_lines(),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if self.finished.is_some() {
            return;
        }
        for process in self.family.look_for_marks(&Table::read()) {
            system::signal_process(process.pid, Signal::Kill);
        }
        // Whoever was forked while the table was read. Not once the root is reaped: the number might be
        // somebody else's then, and its group was in the table.
        if self.gone.is_none() {
            system::signal_group(self.pid, Signal::Kill);
        }
    }
}
