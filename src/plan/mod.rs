//! The plan: manifest, flags and environment resolved into rows that can be run. After it nothing
//! is "unset" and no invalid state exists; what cannot be used is an [`Entry::Unusable`] row.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::event::{Ecosystem, RowId};
use crate::finding::{Code, SeverityChoice};
use crate::text::Mask;

mod addresses;
mod environment_file;
mod flags;
mod launch;
mod make;
mod resolve;
mod secrets;
mod select;
mod template;

pub use flags::{Environment, Flags};
pub use select::PlanError;
pub use template::{Fixture, Fixtures, JsonTemplate, Needs, Segment, Template};

/// All that a run needs to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The manifest as given.
    pub manifest: PathBuf,
    /// SHA-256 of its bytes, hex.
    pub manifest_sha256: String,
    /// Its folder, absolute.
    pub manifest_dir: PathBuf,
    /// What holds for the whole run.
    pub settings: Settings,
    /// The rows, in the order of the manifest; only selected ones.
    pub rows: Vec<Row>,
    /// Programs that rows may name in `requires`.
    pub programs: BTreeMap<String, Program>,
    /// Every secret that must not be written.
    pub mask: Mask,
    /// Keys that this build reads but does not act on yet: where, and which key.
    pub not_yet: Vec<String>,
}

/// What holds for the whole run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rows at a time, at least 1.
    pub jobs: usize,
    /// Older run folders are pruned.
    pub keep_runs: usize,
    /// The seed of the order of rows.
    pub seed: u64,
    /// What to do about packages.
    pub install: InstallMode,
    /// Whether missing programs are installed by their `install` commands.
    pub install_programs: bool,
    /// Whether warnings fail.
    pub strict: bool,
    /// Whether rows that are not in the lock fail.
    pub locked: bool,
    /// `--smoke`.
    pub smoke: bool,
    /// Where records go.
    pub reports: PathBuf,
    /// Where logs go.
    pub logs: PathBuf,
    /// Installed packages, runtimes, caches: `.mcp-smoke` in the current folder, absolute.
    pub state: PathBuf,
    /// What was set on the command line, for the record.
    pub flags: BTreeMap<String, Value>,
}

/// `--install`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallMode {
    /// Install what is not there.
    Missing,
    /// Install anew and flip.
    Update,
    /// Only look.
    Never,
}

impl InstallMode {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Update => "update",
            Self::Never => "never",
        }
    }
}

/// A program that rows may require.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name in `requires`.
    pub name: String,
    /// Any of these on PATH will do.
    pub any_of: Vec<String>,
    /// What a person would type to get it.
    pub hint: Option<String>,
    /// What `--install-programs` runs.
    pub install: Vec<Vec<String>>,
}

/// One server on one runtime.
#[derive(Clone, Debug)]
pub struct Row {
    /// `NAME@RUNTIME` or `NAME`.
    pub id: RowId,
    /// The manifest key.
    pub server: String,
    /// The title, or the key.
    pub title: String,
    /// The runtime it runs on.
    pub runtime: Option<Runtime>,
    /// Rows of one group get a table of their own.
    pub group: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Severities set for this row (defaults of the manifest merged in).
    pub severity: BTreeMap<Code, SeverityChoice>,
    /// What is expected of it.
    pub expect: Expectations,
    /// What to do with it.
    pub entry: Entry,
    /// The line of its `[servers.NAME]` in the manifest, 1-based.
    pub line: usize,
}

/// What to do with a row.
#[derive(Clone, Debug)]
pub enum Entry {
    /// It can be run.
    Run(Box<Launch>),
    /// `enabled = false`.
    Disabled,
    /// A `url` row; only stdio is supported yet. The URL, masked when printed.
    Remote(String),
    /// It cannot be used; the others run.
    Unusable(Vec<Problem>),
}

/// Why an entry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field: `env.TRACKER_API_TOKEN`, `args[3]`.
    pub field: String,
    /// What is wrong with it, "variable X is not set".
    pub problem: String,
}

/// A runtime of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its name: `node20`.
    pub name: String,
    /// What it is.
    pub kind: RuntimeKind,
    /// The range of versions, as typed.
    pub range: String,
}

/// What a runtime is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuntimeKind {
    /// Node.js; the range is a semver range.
    Node,
    /// Python; the range is PEP 440.
    Python,
}

impl RuntimeKind {
    /// The word in every output and the key in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
        }
    }
}

/// All that starting and measuring a row takes.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Packages to be in place, in order; the first is the row's own.
    pub packages: Vec<PackageSpec>,
    /// The program, `~` expanded.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Environment of the row, added to the inherited one.
    pub env: Vec<(String, Template)>,
    /// Whether it inherits the whole environment or the minimal one.
    pub inherit: Inherit,
    /// Further names to pass on.
    pub env_pass: Vec<String>,
    /// Its working directory, absolute.
    pub cwd: Template,
    /// Programs it requires.
    pub requires: Vec<String>,
    /// A host whose name must resolve.
    pub requires_host: Option<String>,
    /// The protocol asked for.
    pub protocol: Protocol,
    /// The limits.
    pub limits: Limits,
    /// Full sessions, at least 1.
    pub repeats: u32,
    /// Sessions in all; those beyond `repeats` make handshake and list only.
    pub cold_starts: u32,
    /// Tries of a failing row beyond the first.
    pub retries: u32,
    /// Calls in flight at once.
    pub concurrency: u32,
    /// The probes, the timed one first; may be empty.
    pub probes: Vec<Probe>,
    /// Which fixtures its strings need.
    pub needs: Needs,
}

/// A package as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageSpec {
    /// npm or PyPI.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// What follows the name, as typed (`1.2.3`, `^2`, `latest`, `==1.0`, `[extra]>=2`); `*` for a bare name.
    pub wanted: String,
    /// The whole spec as the package manager gets it.
    pub spec: String,
}

/// What of our environment a server gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherit {
    /// `HOME LOGNAME PATH SHELL TERM USER`.
    Minimal,
    /// Everything.
    All,
}

/// Which handshake to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `initialize` first, `server/discover` on a fresh process if that fails.
    Auto,
    /// Only `initialize`, offering the newest revision of that era.
    Initialize,
    /// Only `server/discover`.
    Discover,
    /// `initialize` offering this revision (or `server/discover` for 2026-07-28).
    Revision(String),
}

/// The limits of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Spawn to handshake result.
    pub startup: Duration,
    /// The whole list.
    pub list: Duration,
    /// After stdin is closed, and again after SIGTERM.
    pub shutdown_grace: Duration,
    /// All sessions of the row.
    pub row: Duration,
}

/// One tool call with its expectation.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its name, or the tool's.
    pub name: String,
    /// The tool.
    pub tool: String,
    /// Its arguments; always an object.
    pub arguments: JsonTemplate,
    /// Calls that count, at least 1.
    pub calls: u32,
    /// Calls before them.
    pub warmup: u32,
    /// The limit of each call.
    pub timeout: Duration,
    /// What the reply must be.
    pub expect: ProbeExpectation,
}

/// What a reply must be; all given parts must hold.
#[derive(Clone, Debug, Default)]
pub struct ProbeExpectation {
    /// The reply's text contains this.
    pub text: Option<Template>,
    /// The reply's text does not contain this.
    pub not_text: Option<Template>,
    /// The reply's text matches this regular expression (checked by the manifest).
    pub matches: Option<String>,
    /// It is an error (`isError` or JSON-RPC) whose text contains this.
    pub error: Option<Template>,
    /// `structuredContent` contains this (objects by key, the rest equal).
    pub structured: Option<JsonTemplate>,
}

/// What is expected of a server.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// `serverInfo.name`.
    pub name: Option<String>,
    /// A range for the reported version.
    pub version: Option<String>,
    /// A range for the installed version.
    pub package_version: Option<String>,
    /// Tools that must be there.
    pub tools: Vec<String>,
    /// How many tools there are.
    pub tool_count: Option<usize>,
}

impl Row {
    /// The launch, if the row can be run.
    pub fn launch(&self) -> Option<&Launch> {
        match &self.entry {
            Entry::Run(launch) => Some(launch),
            Entry::Disabled | Entry::Remote(_) | Entry::Unusable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
