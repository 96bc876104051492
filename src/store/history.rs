//! The earlier runs of a manifest, newest first and not more than are looked at. The records are the
//! history; one that cannot be read is named and passed over, and never stops a run.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};

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

/// The newest runs of a manifest, at most [`MOST_RUNS`], of those that began before the one that is named: a
/// record from a night on which the clock was wrong is not what came before.
pub fn earlier_runs(reports: &Path, manifest: &Path, before: Option<&RunId>) -> Result<Earlier, StoreProblem> {
    let mut earlier = Earlier::default();
    let file = manifest_file(manifest);
    for run_id in runs(reports)?.iter().rev() {
        if earlier.runs.len() == MOST_RUNS {
            break;
        }
        // A run that was killed has left no record, and one that goes on beside us has none yet.
        if before.is_some_and(|before| run_id >= before) || !reports.join(run_id.name()).join(RECORD).is_file() {
            continue;
        }
        match read_record(reports, run_id) {
            Ok(record) if is_of(&record, manifest, file.as_deref()) => earlier.runs.push(record),
            Ok(_) => {}
            Err(problem) => earlier.passed_over.push(problem),
        }
    }
    Ok(earlier)
}

/// The newest runs of a manifest up to this moment.
pub fn runs_so_far(reports: &Path, manifest: &Path) -> Result<Earlier, StoreProblem> {
    // Several may have begun in this very second.
    let next = RunId::of(Timestamp::now() + 1.second());
    earlier_runs(reports, manifest, Some(&next))
}

/// Where a manifest is, links resolved.
pub fn manifest_file(manifest: &Path) -> Option<PathBuf> {
    manifest.canonicalize().ok()
}

/// Whether a run was of this manifest: the same file, however it was named. One that is named alike, and is not
/// where it was any more, was moved.
pub fn is_of(record: &RunRecord, manifest: &Path, file: Option<&Path>) -> bool {
    match (&record.manifest_file, file) {
        (Some(then), Some(now)) if then == now => true,
        (Some(then), Some(_)) if then.is_file() => false,
        _ => plain(&record.manifest) == plain(manifest),
    }
}

/// `./servers.toml` is `servers.toml`.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != std::path::Component::CurDir)
        .collect()
}
