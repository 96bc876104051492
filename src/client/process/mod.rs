//! A server's process: started without a shell in a group of its own, its stderr drained from spawn to
//! death, its whole tree watched, measured and ended. Nothing of it may outlive its session.
//!
//! What must not happen here: reading the protocol (stdout is handed out untouched), judging (all of it
//! is facts), and waiting without a limit.
//!
//! Finding what a server started takes three looks, since none sees everything. The process group
//! holds what did not leave it. The parents in the process table, looked at while the server lives,
//! show browsers and others that took a session of their own. Whoever was forked twice and handed to
//! init before any look is found by a mark: every server gets the environment variable
//! [`RUN_VARIABLE`], new for each session, as the only one beside those that were asked for. Processes
//! are remembered with their start time, so that a reused pid is never taken for one of ours.
//!
//! Who empties its environment as well is found only because orphans become our children: `orphans`.
//!
//! The same mark tells what a run left that was killed itself: [`end_what_killed_runs_left`].

mod command_line;
mod earlier;
mod environment;
mod family;
mod mark;
mod orphans;
mod program;
mod resources;
mod server_process;
mod shutdown;
mod spawn;
mod stderr;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "not_unix.rs"]
mod system;
mod table;
#[cfg(all(test, unix))]
mod tests;

use std::path::PathBuf;

use tokio::process::{ChildStdin, ChildStdout};

pub use earlier::{Remains, end_what_killed_runs_left};
pub use environment::minimal_environment;
pub use mark::{Owner, RUN_VARIABLE};
pub use orphans::adopt_orphans;
pub use program::find_program;
pub use server_process::ServerProcess;
pub use table::{LiveProcess, live_tree};

/// What to start, all of it resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program: a path, or a bare name that is looked up on the `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments, as they are; no shell reads them.
    pub args: Vec<String>,
    /// The complete environment; nothing is inherited. [`RUN_VARIABLE`] is added to it.
    pub env: Vec<(String, String)>,
    /// The working directory; a relative `program` with a slash starts here too.
    pub cwd: PathBuf,
    /// The row it is started for; null for what belongs to none.
    pub owner: Option<Owner>,
}

/// Why a program could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SpawnProblem {
    /// The program as it was asked for.
    pub program: String,
    /// What is wrong, as a lower-case fragment that names the path.
    pub problem: String,
    /// What would cure it.
    pub hint: Option<String>,
}

/// The two pipes that the protocol runs over.
#[derive(Debug)]
pub struct Pipes {
    /// To the server; closing it asks the server to end.
    pub stdin: ChildStdin,
    /// From the server.
    pub stdout: ChildStdout,
}
