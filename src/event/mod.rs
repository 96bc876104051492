//! What happens during a run, as facts: the one stream that progress, logs and the record are made from.
//! Nothing here judges: an [`Observation`] says what was seen, and `judge` decides what that is called
//! and how bad it is. Every string of an event can be visited, so that secrets are masked in one place.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

mod mask;
mod mask_seen;
mod mask_text;
#[cfg(test)]
pub(crate) mod samples;
mod seen;
#[cfg(test)]
mod tests;

pub use mask_text::{mask_json_line, mask_text, mask_value};
pub use seen::{Ending, Observation, Received, Seen};

/// `NAME@RUNTIME`, or `NAME` alone where no runtime is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub String);

impl fmt::Display for RowId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// One event of one row.
#[derive(Clone, Debug)]
pub struct Event {
    /// The row it is about.
    pub row: RowId,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// The row is being prepared or measured; a short present participle, "installing npm:x".
    Doing(String),
    /// A line for the row's log.
    Log(LogLine),
    /// A message on the wire, for the row's wire log.
    Wire(WireLine),
    /// The package manager ended; how long it took.
    Installed(Duration),
    /// A package of the manifest lies in place, installed now or earlier.
    PackageInPlace(PackageFacts),
    /// What the registry offers of the row's package, asked after its last session.
    Newest(Newest),
    /// The sessions of the row begin: the host's load just before.
    Measuring(HostLoad),
    /// How far a probe has come, told now and then (for progress only; the samples are in the session's facts).
    CallDone {
        /// The tool.
        tool: String,
        /// How many calls of this probe have ended.
        done: u32,
        /// How many there will be.
        of: u32,
    },
    /// A session ended, in whatever way.
    Session(Box<SessionFacts>),
    /// Something seen outside any session (prepare, row limits).
    Observed(Observation),
    /// The row was not run.
    Skipped(Skip),
    /// The row is over.
    RowDone,
}

/// A line of a row's log.
#[derive(Clone, Debug)]
pub struct LogLine {
    /// Who wrote it.
    pub source: LogSource,
    /// Time since the spawn of the session, or since the start of the preparation.
    pub at: Duration,
    /// Which session, counted from 1; 0 is the preparation.
    pub session: u32,
    /// The text without its line end; bytes that are no UTF-8 replaced.
    pub text: String,
}

/// Who wrote a line of a row's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// We did.
    Runner,
    /// The server, on stderr.
    Stderr,
    /// The server, on stdout, what was no message.
    Stdout,
    /// A package manager.
    Install,
}

/// A message on the wire.
#[derive(Clone, Debug)]
pub struct WireLine {
    /// Which session of the row, counted from 1.
    pub session: u32,
    /// Since spawn.
    pub at: Duration,
    /// Which way.
    pub direction: Direction,
    /// The line without its line end, lossily decoded.
    pub text: String,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server.
    In,
    /// To the server.
    Out,
}

/// The host's load at one moment; each unknown where the system does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLoad {
    /// Load average over one minute.
    pub load_average_1m: Option<f64>,
    /// `/proc/pressure/cpu`, `some avg10`.
    pub cpu_pressure_avg10: Option<f64>,
}

/// Why a row was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The word.
    pub reason: SkipReason,
    /// A sentence fragment that says it.
    pub message: String,
    /// The one command or change that would cure it.
    pub cure: Option<String>,
}

/// The words for a skipped row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// `enabled = false`.
    Disabled,
    /// `requires_host` cannot be resolved.
    Offline,
    /// A program it needs is not there.
    ProgramMissing,
    /// `--install never` and not installed.
    NotInstalled,
    /// A `url` row, while only stdio is supported.
    Remote,
    /// The run was interrupted before its turn.
    Interrupted,
}

impl SkipReason {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Disabled,
        Self::Offline,
        Self::ProgramMissing,
        Self::NotInstalled,
        Self::Remote,
        Self::Interrupted,
    ];

    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Offline => "offline",
            Self::ProgramMissing => "program-missing",
            Self::NotInstalled => "not-installed",
            Self::Remote => "remote",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Which of a row's sessions this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// The start after a fresh installation; judges nothing.
    FirstStart,
    /// A full session; repeats count from 1.
    Repeat(u32),
    /// Handshake and list only.
    ColdStart,
}

/// All that one life of one server process showed.
#[derive(Clone, Debug)]
pub struct SessionFacts {
    /// Counted from 1 within the row, first starts included; the number in logs.
    pub number: u32,
    /// Which kind.
    pub kind: SessionKind,
    /// 1, or more on a retry.
    pub attempt: u32,
    /// Just before spawn to the first byte on stdout.
    pub first_byte: Option<Duration>,
    /// Just before spawn to the last byte of the handshake result.
    pub cold_start: Option<Duration>,
    /// Write of `tools/list` to the last byte of the last page.
    pub list: Option<Duration>,
    /// Just before spawn to gone, the shutdown included; null if it never started.
    pub lifetime: Option<Duration>,
    /// What the handshake told, null until it succeeded.
    pub handshake: Option<HandshakeFacts>,
    /// What really ran; looked at after the handshake.
    pub identity: Option<ProcessIdentity>,
    /// The tools, null until the list was read to its end (or as far as it could be).
    pub tools: Option<Vec<ToolFacts>>,
    /// One for each probe that was begun, in the order of the plan.
    pub probes: Vec<ProbeFacts>,
    /// How the process went; null if it never started.
    pub shutdown: Option<ShutdownFacts>,
    /// Memory and CPU time of the process tree, null where the system does not tell.
    pub resources: Option<ResourceFacts>,
    /// Everything out of the ordinary, in the order it was seen.
    pub observations: Vec<Observation>,
}

/// What a handshake of either era told.
#[derive(Clone, Debug, PartialEq)]
pub struct HandshakeFacts {
    /// Which handshake.
    pub era: Era,
    /// The revision we offered.
    pub requested: String,
    /// The revision that is spoken.
    pub negotiated: String,
    /// `serverInfo.name`, verbatim; null if missing.
    pub name: Option<String>,
    /// `serverInfo.title`.
    pub title: Option<String>,
    /// `serverInfo.version`, verbatim (may be empty); null if missing.
    pub version: Option<String>,
    /// `instructions`.
    pub instructions: Option<String>,
    /// `capabilities` as sent.
    pub capabilities: Value,
}

/// Which handshake a session used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// `initialize`, revisions up to 2025-11-25.
    Initialize,
    /// `server/discover`, 2026-07-28.
    Discover,
}

impl Era {
    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Discover => "discover",
        }
    }
}

/// What really ran, read from the live process tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The package that owns the running script.
    pub package: Option<PackageFacts>,
    /// The executable that runs it.
    pub runtime: Option<RuntimeFacts>,
    /// What started it.
    pub launcher: Launcher,
}

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFacts {
    /// Its ecosystem.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// The version on disk.
    pub version: String,
    /// Its folder (npm) or its `.dist-info` (PyPI).
    pub path: PathBuf,
}

/// Where packages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// npm.
    Npm,
    /// PyPI.
    Pypi,
}

impl Ecosystem {
    /// The prefix in a manifest and the word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
        }
    }
}

/// The interpreter that ran a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeFacts {
    /// `node`, `python`, or the file name of another executable.
    pub kind: String,
    /// What its `--version` said, without prefix; null if it said nothing usable.
    pub version: Option<String>,
    /// Its path.
    pub executable: PathBuf,
}

/// What the registry offers of a package, and why that is not what runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// The newest version of what was wanted; null where nobody ever answered.
    pub version: Option<String>,
    /// The day (YYYY-MM-DD) of an answer that is not of this run; null for a fresh one.
    pub as_of: Option<String>,
    /// What the newest needs: `engines.node` or `requires-python`.
    pub requires: Option<String>,
    /// Why the newest is deprecated, if it is.
    pub deprecated: Option<String>,
    /// Why a fresh install of what was wanted would still not give it, if that is proved.
    pub held_back: Option<Cause>,
    /// Why what runs is older although a fresh install would give the newest, where that is known.
    pub behind: Option<Cause>,
    /// Why nothing is known of it; null where something is.
    pub unknown: Option<String>,
}

/// A proved cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The word: `engines`, `requires-python`, `deprecated`, `before`, `min-release-age`, `exclude-newer`,
    /// `npx-cache`, `uvx-cache`, `uv-tool`, `global-install`, `parent-folder`.
    pub cause: String,
    /// The facts: the range and the running version, the date, the folder.
    pub detail: Option<String>,
}

/// What started a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// The program itself (`env` and `python -m` included).
    Direct,
    /// `npx` or `npm exec`.
    Npx,
    /// `uvx` or `uv tool run`.
    Uvx,
    /// `sh -c`, `bash -c`.
    Shell,
    /// `docker run`, `podman run`.
    Docker,
}

impl Launcher {
    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Npx => "npx",
            Self::Uvx => "uvx",
            Self::Shell => "shell",
            Self::Docker => "docker",
        }
    }
}

/// One tool as listed.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFacts {
    /// Its name.
    pub name: String,
    /// Its description; null if there is none.
    pub description: Option<String>,
    /// `inputSchema`; null if missing.
    pub input_schema: Option<Value>,
    /// `outputSchema`.
    pub output_schema: Option<Value>,
    /// `annotations`.
    pub annotations: Option<Value>,
}

/// What one probe showed in one session.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeFacts {
    /// Its place in the row's plan.
    pub index: usize,
    /// The very first call (warm-up included); null if that failed.
    pub first: Option<Duration>,
    /// Calls that ended as expected, warm-up left out.
    pub samples: Vec<Duration>,
    /// Calls made, warm-up left out.
    pub calls: u32,
    /// Calls that did not end as expected, failed warm-up calls included.
    pub failures: u32,
    /// Whether the calls that counted were refused, as expected.
    pub refused: bool,
    /// The start of the first reply's text (or error).
    pub reply: Option<String>,
}

/// How a process went.
#[derive(Clone, Debug, PartialEq)]
pub struct ShutdownFacts {
    /// Stdin closed to process gone; null if it was gone already.
    pub took: Option<Duration>,
    /// The step that ended it.
    pub step: ShutdownStep,
    /// Its exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Descendants that outlived it and were ended by us: pid and command line.
    pub survivors: Vec<String>,
    /// Those that could not be ended.
    pub left_over: Vec<String>,
}

/// The step of the ladder that ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownStep {
    /// Closing stdin was enough.
    StdinClosed,
    /// It took SIGTERM.
    Terminated,
    /// It took SIGKILL.
    Killed,
    /// It had gone before.
    AlreadyGone,
}

impl ShutdownStep {
    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::StdinClosed => "stdin-closed",
            Self::Terminated => "terminated",
            Self::Killed => "killed",
            Self::AlreadyGone => "already-gone",
        }
    }
}

/// What a process tree used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceFacts {
    /// The largest sum of the resident sets seen.
    pub peak_rss_bytes: u64,
    /// User and system time of all processes of the tree.
    pub cpu: Duration,
}

/// Where events go. Cheap to clone; never blocks; a closed receiver is no error.
#[derive(Clone, Debug)]
pub struct Sink {
    row: RowId,
    sender: UnboundedSender<Event>,
}

impl Sink {
    /// A sink for one row.
    pub fn new(row: RowId, sender: UnboundedSender<Event>) -> Self {
        Self { row, sender }
    }

    /// Hands an event over.
    pub fn send(&self, kind: EventKind) {
        let event = Event {
            row: self.row.clone(),
            kind,
        };
        // The receiver only goes away when the run is torn down; nobody is left to tell.
        drop(self.sender.send(event));
    }

    /// A line of our own for the row's log.
    pub fn note(&self, session: u32, at: Duration, text: impl Into<String>) {
        self.send(EventKind::Log(LogLine {
            source: LogSource::Runner,
            at,
            session,
            text: text.into(),
        }));
    }
}
