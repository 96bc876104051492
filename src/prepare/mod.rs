//! Everything a row needs before its first session: programs, runtimes, packages, a browser, fixtures.
//!
//! What is missing becomes a skip with its cure, what cannot be installed an observation; one row never
//! stops another. Nothing here starts a server or judges.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::event::{PackageFacts, RowId, RuntimeFacts, Sink, Skip, SkipReason};
use crate::package::Environment;
use crate::plan::{InstallMode, Launch, Plan, Row};

mod browser;
mod caches;
mod contents;
mod fixtures;
mod hosts;
mod installing;
mod packages;
mod programs;
mod runtime;
mod runtimes;
mod voice;

use installing::Installing;
use voice::Voice;

pub use fixtures::{Page, Scratch};

/// What came of preparing each row; rows that no plan can run are not in it.
pub type Prepared = BTreeMap<RowId, Readiness>;

/// Whether a row can be run.
#[derive(Clone, Debug)]
pub enum Readiness {
    /// It can.
    Ready(ReadyRow),
    /// Something it needs is not there; the caller sends the skip.
    Skipped(Skip),
    /// It failed; the observations were sent.
    Failed,
}

/// What a row that can be run was given.
#[derive(Clone, Debug, Default)]
pub struct ReadyRow {
    /// The bin folders of the row's packages, searched before PATH for its command.
    pub lookup: Vec<PathBuf>,
    /// Put before PATH in the server's environment: the runtime's bin folder.
    pub path_first: Vec<PathBuf>,
    /// Package caches of its own: `npm_config_cache`, `UV_CACHE_DIR`. The row's own `env` goes over it.
    pub env: Vec<(String, String)>,
    /// Whether it was just installed: it is to be started once before anything is measured.
    pub fresh: bool,
    /// What is installed of the packages it names, in their order.
    pub installed: Vec<PackageFacts>,
    /// A browser, if the row needs one.
    pub browser: Option<PathBuf>,
    /// The runtime it runs on.
    pub runtime: Option<RuntimeFacts>,
}

/// Why a row cannot be run.
#[derive(Clone, Debug)]
enum Refusal {
    Skipped(Skip),
    /// The observations were sent.
    Failed,
}

/// What all steps know.
struct Surroundings<'a> {
    plan: &'a Plan,
    environment: &'a Environment,
    cancel: &'a CancellationToken,
    installing: Installing,
}

/// A row on its way.
struct Candidate<'a> {
    row: &'a Row,
    launch: &'a Launch,
    voice: Voice,
    ready: ReadyRow,
}

/// The rows on their way, and those that are done with.
struct Rows<'a> {
    going: Vec<Candidate<'a>>,
    out: Prepared,
    cancel: CancellationToken,
}

/// Puts in place what the rows of the plan need. Never fails as a whole, and ends soon after `cancel`.
pub async fn prepare(plan: &Plan, sinks: &dyn Fn(&RowId) -> Sink, cancel: &CancellationToken) -> Prepared {
    prepare_in(plan, sinks, &Environment::ours(), cancel).await
}

async fn prepare_in(
    plan: &Plan,
    sinks: &dyn Fn(&RowId) -> Sink,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Prepared {
    let started = Instant::now();
    let surroundings = Surroundings {
        plan,
        environment,
        cancel,
        installing: Installing::new(&plan.settings.state, cancel),
    };
    let mut rows = Rows::new(plan, cancel, |row| Voice::new(sinks(row), started));
    programs::check(&surroundings, &mut rows).await;
    hosts::check(&mut rows).await;
    runtime::give(&surroundings, &mut rows).await;
    packages::give(&surroundings, &mut rows).await;
    browser::give(&surroundings, &mut rows).await;
    caches::give(plan, &mut rows);
    rows.finish()
}

impl<'a> Rows<'a> {
    fn new(plan: &'a Plan, cancel: &CancellationToken, voice: impl Fn(&RowId) -> Voice) -> Self {
        let going = plan.rows.iter().filter_map(|row| {
            Some(Candidate {
                row,
                launch: row.launch()?,
                voice: voice(&row.id),
                ready: ReadyRow::default(),
            })
        });
        Self {
            going: going.collect(),
            out: Prepared::new(),
            cancel: cancel.clone(),
        }
    }

    /// Takes rows out: those that `verdict` refuses.
    fn sort_out(&mut self, mut verdict: impl FnMut(&mut Candidate<'a>) -> Result<(), Refusal>) {
        for mut candidate in std::mem::take(&mut self.going) {
            let refusal = match verdict(&mut candidate) {
                Ok(()) => {
                    self.going.push(candidate);
                    continue;
                }
                // What was not found because its question was called off is not missing.
                Err(Refusal::Skipped(_)) if self.cancel.is_cancelled() => Refusal::interrupted(),
                Err(refusal) => refusal,
            };
            self.out.insert(candidate.row.id.clone(), refusal.into());
        }
    }

    fn finish(mut self) -> Prepared {
        for candidate in self.going {
            let readiness = if self.cancel.is_cancelled() {
                Refusal::interrupted().into()
            } else {
                Readiness::Ready(candidate.ready)
            };
            self.out.insert(candidate.row.id.clone(), readiness);
        }
        self.out
    }
}

impl From<Refusal> for Readiness {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Skipped(skip) => Self::Skipped(skip),
            Refusal::Failed => Self::Failed,
        }
    }
}

impl Refusal {
    fn skipped(reason: SkipReason, message: impl Into<String>, cure: Option<String>) -> Self {
        Self::Skipped(Skip {
            reason,
            message: message.into(),
            cure,
        })
    }

    fn interrupted() -> Self {
        Self::skipped(SkipReason::Interrupted, "the run was interrupted before its turn", None)
    }

    fn not_installed(what: &str) -> Self {
        let cure = Some("run without --install never".to_owned());
        Self::skipped(SkipReason::NotInstalled, format!("{what} is not installed"), cure)
    }
}

impl Surroundings<'_> {
    fn mode(&self) -> InstallMode {
        self.plan.settings.install
    }
}

/// A short name for what these texts say together.
fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    }
    let bytes: [u8; 32] = hasher.finalize().into();
    let [first, second, third, fourth, ..] = bytes;
    format!("{:08x}", u32::from_be_bytes([first, second, third, fourth]))
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
