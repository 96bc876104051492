//! The earlier runs of a manifest, newest first and not more than are looked at. The records are the
//! history; one that cannot be read is named and passed over, and never stops a run.

use std::path::{Path, PathBuf};

use crate::record::RunRecord;

use super::run_id::RunId;
use super::{RECORD, StoreProblem, read_record, runs};

/// No more runs are looked at: two months of nights.
pub const MOST_RUNS: usize = 60;

/// What is known of earlier runs.
#[derive(Debug, Default)]
pub struct Earlier {
    /// Their records, newest first, interrupted ones among them.
    pub runs: Vec<RunRecord>,
    /// The runs whose records could not be read, and why.
    pub passed_over: Vec<StoreProblem>,
}

/// The newest runs of a manifest, at most [`MOST_RUNS`], one (that which is under way) left out. A manifest
/// is the same if it is named by the same path.
pub fn earlier_runs(reports: &Path, manifest: &Path, but: Option<&RunId>) -> Result<Earlier, StoreProblem> {
    let mut earlier = Earlier::default();
    let manifest = plain(manifest);
    for run_id in runs(reports)?.iter().rev() {
        if earlier.runs.len() == MOST_RUNS {
            break;
        }
        // A run that was killed has left no record, and one that goes on beside us has none yet.
        if but == Some(run_id) || !reports.join(run_id.name()).join(RECORD).is_file() {
            continue;
        }
        match read_record(reports, run_id) {
            Ok(record) if plain(&record.manifest) == manifest => earlier.runs.push(record),
            Ok(_) => {}
            Err(problem) => earlier.passed_over.push(problem),
        }
    }
    Ok(earlier)
}

/// `./servers.toml` is `servers.toml`.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != std::path::Component::CurDir)
        .collect()
}
