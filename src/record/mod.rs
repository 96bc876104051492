//! The record: the facts and findings of a run. Built from events, written as versioned JSON
//! (`json/`), read back as the history of later runs. It does not judge.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::event::{
    Ecosystem, HostLoad, Launcher, Newest, Observation, ResourceFacts, RowId, RuntimeFacts, SessionFacts, Skip,
};
use crate::finding::Finding;

mod builder;
mod host;
mod identity;
pub mod json;
mod mask;
mod precision;
mod probes;
mod row;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
mod tool;
mod tries;

pub use builder::{RecordBuilder, RunHeader};
pub use tool::ToolRecord;
pub(crate) use tool::{canonical, sha256};
pub use tries::tries;

/// The facts and findings of a run.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// The version of mcp-smoke that measured.
    pub tool_version: String,
    /// UTC start, `20261130T021500Z`, with a suffix if taken.
    pub id: String,
    /// When it started.
    pub started: jiff::Timestamp,
    /// When it ended.
    pub finished: jiff::Timestamp,
    /// The manifest as given.
    pub manifest: PathBuf,
    /// Where that is on this machine, links resolved: the same manifest may be named in several ways.
    pub manifest_file: Option<PathBuf>,
    /// SHA-256 of its bytes.
    pub manifest_sha256: String,
    /// Rows that the lock has and the manifest no longer.
    pub gone: Vec<RowId>,
    /// Rows at a time.
    pub jobs: usize,
    /// The seed of the order of rows.
    pub seed: u64,
    /// `--partition`.
    pub partition: Option<String>,
    /// What was set on the command line.
    pub settings: BTreeMap<String, Value>,
    /// The machine.
    pub host: Host,
    /// The embedded echo server, measured by the same code; null if it could not be.
    pub calibration: Option<Calibration>,
    /// The rows, in the order of the manifest.
    pub rows: Vec<RowRecord>,
    /// Rows by status.
    pub totals: Totals,
    /// What the process exits with.
    pub exit_code: u8,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
}

/// The machine, each part as far as the system tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// A stable, anonymous id.
    pub id: Option<String>,
    /// Name and version of the system.
    pub os: Option<String>,
    /// The kernel.
    pub kernel: Option<String>,
    /// The model of the processor.
    pub cpu: Option<String>,
    /// Its logical cores.
    pub logical_cpus: Option<usize>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Virtual machine or container.
    pub virtualization: Option<String>,
    /// 1, 5 and 15 minutes, at the start.
    pub load_average: Option<[f64; 3]>,
}

/// What the client itself costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// How many calls.
    pub samples: usize,
    /// Their median.
    pub median: Duration,
    /// Their 95th percentile, nearest rank.
    pub p95: Duration,
}

/// Rows by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the statuses' own names")]
pub struct Totals {
    pub rows: usize,
    pub pass: usize,
    pub warn: usize,
    pub fail: usize,
    pub skip: usize,
    pub error: usize,
}

/// How a row came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Nothing to say, or notes only.
    Pass,
    /// Some warning.
    Warn,
    /// Some finding fails.
    Fail,
    /// Not run, on purpose or for want of something.
    Skip,
    /// The entry cannot be used; counts as failed.
    Error,
}

impl Status {
    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::Error => "error",
        }
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct RowRecord {
    /// `NAME@RUNTIME` or `NAME`.
    pub id: RowId,
    /// The manifest key.
    pub server: String,
    /// The title, or the key.
    pub title: String,
    /// The runtime's name.
    pub runtime: Option<String>,
    /// The group.
    pub group: Option<String>,
    /// Command and arguments as the manifest has them, fixtures not filled in, secrets masked: what "the
    /// same command" means from one night to the next. Null in records of earlier builds.
    pub command: Option<String>,
    /// How it came out; `judge` says.
    pub status: Status,
    /// Why it was not run.
    pub skip: Option<Skip>,
    /// Who answered.
    pub identity: Identity,
    /// Package manager started to ended, if it ran.
    pub install: Option<Duration>,
    /// The cold start of the start after a fresh installation.
    pub first_start: Option<Duration>,
    /// The sessions that count, in order (the start after an installation is not among them).
    pub sessions: Vec<SessionFacts>,
    /// Calls that its probes had in flight at once: 1 unless its manifest says otherwise.
    pub concurrency: u32,
    /// The first session's tools.
    pub tools: Option<Vec<ToolRecord>>,
    /// Every probe of the plan, over all repeats.
    pub probes: Vec<ProbeRecord>,
    /// The largest of all sessions.
    pub resources: Option<ResourceFacts>,
    /// Just before its sessions.
    pub load: HostLoad,
    /// What was seen outside sessions.
    pub observations: Vec<Observation>,
    /// What `judge` makes of it all.
    pub findings: Vec<Finding>,
    /// Its log, as written into the record.
    pub log: PathBuf,
}

/// Who answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// `serverInfo.name`.
    pub reported_name: Option<String>,
    /// `serverInfo.title`.
    pub reported_title: Option<String>,
    /// `serverInfo.version`.
    pub reported_version: Option<String>,
    /// The package.
    pub package: PackageIdentity,
    /// The executable that ran it.
    pub runtime: Option<RuntimeFacts>,
    /// What started it.
    pub launcher: Option<Launcher>,
    /// `initialize` or `discover`.
    pub era: Option<crate::event::Era>,
    /// What the manifest asked for: a revision, `initialize` or `discover`; null where it left the choice to us.
    pub pinned: Option<String>,
    /// The revision we offered.
    pub requested: Option<String>,
    /// The revision that was spoken.
    pub negotiated: Option<String>,
}

/// Which package answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageIdentity {
    /// npm or PyPI.
    pub ecosystem: Option<Ecosystem>,
    /// Its name.
    pub name: Option<String>,
    /// As typed in the manifest, or in the npx or uvx spec; `*` for a bare name.
    pub wanted: Option<String>,
    /// The version on disk.
    pub installed: Option<String>,
    /// What the registry offers.
    pub newest: Newest,
    /// How it was found.
    pub source: Option<PackageSource>,
    /// Where it lies.
    pub path: Option<PathBuf>,
}

/// How a package was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// From the live process tree.
    Walk,
    /// No package owns the script; the manifest's first `package` fills in.
    Manifest,
}

/// One probe over all repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRecord {
    /// Its name, or the tool's.
    pub name: String,
    /// The tool.
    pub tool: String,
    /// What came of it; null if no call was made.
    pub outcome: Option<Outcome>,
    /// Calls that were to count in each session; null in records of earlier builds.
    pub planned_calls: Option<u32>,
    /// Calls before them in each session, which do not count; null in records of earlier builds.
    pub warmup: Option<u32>,
    /// Calls that counted.
    pub calls: u32,
    /// Calls that did not end as expected.
    pub failures: u32,
    /// The first session's first call.
    pub first: Option<Duration>,
    /// All samples of all repeats, in order.
    pub samples: Vec<Duration>,
    /// The start of the first reply.
    pub reply: Option<String>,
}

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every call ended as expected.
    Ok,
    /// Every call was refused, as expected.
    Refused,
    /// Some call did not end as expected.
    Failed,
}

impl Outcome {
    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}
