//! The runs that lie in the folders: listed, read, and the oldest pruned. Only real folders that are
//! named like a run are ever looked at; a link or a file of that name is somebody else's.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::record::RunRecord;
use crate::record::json::from_json;

use super::latest::{self, LATEST};
use super::run_id::RunId;
use super::{Folders, RECORD, StoreProblem, refused};

/// The runs in a folder of reports or of logs, oldest first; none if there is no such folder.
pub fn runs(folder: &Path) -> Result<Vec<RunId>, StoreProblem> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(problem) => return Err(refused("list", folder, problem)),
    };
    let mut found: Vec<RunId> = entries
        .filter_map(Result::ok)
        // `file_type` does not follow links.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| RunId::parse(entry.file_name().to_str()?))
        .collect();
    found.sort();
    Ok(found)
}

/// The newest run in a folder of reports that has a record.
pub fn last_run(reports: &Path) -> Result<Option<RunId>, StoreProblem> {
    let mut all = runs(reports)?;
    all.retain(|id| reports.join(id.name()).join(RECORD).is_file());
    Ok(all.pop())
}

/// Reads the record of a run.
pub fn read_record(reports: &Path, run_id: &RunId) -> Result<RunRecord, StoreProblem> {
    read_record_file(&reports.join(run_id.name()).join(RECORD))
}

/// Reads a record wherever it lies.
pub fn read_record_file(path: &Path) -> Result<RunRecord, StoreProblem> {
    let text = fs::read_to_string(path).map_err(|source| refused("read", path, source))?;
    from_json(&text).map_err(|source| StoreProblem::Record {
        path: path.to_owned(),
        source,
    })
}

/// The record that a person means by `latest`, a run's id, or the path of a record or of its folder.
/// The folder of reports is looked at first, then the path as it is. Without a word it is the latest.
pub fn find_record(reports: &Path, run: Option<&Path>) -> Result<PathBuf, StoreProblem> {
    let run = run.unwrap_or(Path::new(LATEST));
    let named = run.to_str().and_then(|name| match name {
        LATEST => latest::target(reports).or_else(|| last_run(reports).ok().flatten()),
        name => RunId::parse(name),
    });
    let of_run = named.map(|run_id| reports.join(run_id.name()));
    let places = of_run.into_iter().chain([run.to_owned()]);
    for place in places {
        if place.is_dir() {
            return Ok(place.join(RECORD));
        }
        if place.is_file() {
            return Ok(place);
        }
    }
    let mut known = runs(reports)?;
    known.reverse();
    Err(StoreProblem::NoRun {
        run: run.to_owned(),
        reports: reports.to_owned(),
        known,
    })
}

/// Removes what is older than the newest `keep` runs from both folders. Goes on where one cannot be
/// removed, and tells of the first such.
pub(super) fn prune(folders: &Folders, kept: &BTreeSet<RunId>, keep: usize) -> Result<Vec<RunId>, StoreProblem> {
    let mut all: BTreeSet<RunId> = runs(&folders.reports)?.into_iter().collect();
    all.extend(runs(&folders.logs)?);
    all.extend(kept.iter().cloned());
    let surplus = all.len().saturating_sub(keep.max(1));
    let mut gone = Vec::new();
    let mut first_problem = None;
    for run_id in all.into_iter().take(surplus).filter(|run_id| !kept.contains(run_id)) {
        match remove(folders, &run_id) {
            Ok(()) => gone.push(run_id),
            Err(problem) => {
                first_problem.get_or_insert(problem);
            }
        }
    }
    first_problem.map_or(Ok(gone), Err)
}

/// Logs first: a record without logs is still worth something, logs without a record are not.
fn remove(folders: &Folders, run_id: &RunId) -> Result<(), StoreProblem> {
    for folder in [&folders.logs, &folders.reports] {
        let path = folder.join(run_id.name());
        match fs::remove_dir_all(&path) {
            Ok(()) => {}
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => return Err(refused("remove", &path, problem)),
        }
    }
    Ok(())
}
