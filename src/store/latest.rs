//! `latest`, which points to the newest run: a symbolic link that is replaced in one step, or a file
//! that holds the run's name where links cannot be had.

use std::fs;
use std::io;
use std::path::Path;

use super::run_id::RunId;
use super::{StoreProblem, refused, write};

pub(super) const LATEST: &str = "latest";

/// Lets `latest` point to a run, unless it points to a newer one that is there.
pub(super) fn point(reports: &Path, run_id: &RunId) -> Result<(), StoreProblem> {
    let link = reports.join(LATEST);
    if target(reports).is_some_and(|newest| newest > *run_id && reports.join(newest.name()).is_dir()) {
        return Ok(());
    }
    let beside = write::beside(&link);
    // One of an earlier process of our number, ended half-way.
    drop(fs::remove_file(&beside));
    match make_link(&run_id.name(), &beside) {
        Ok(()) => fs::rename(&beside, &link).map_err(|source| {
            drop(fs::remove_file(&beside));
            refused("replace", &link, source)
        }),
        Err(_) => write::whole(&link, format!("{run_id}\n").as_bytes()),
    }
}

/// The run that `latest` points to, if it is one.
fn target(reports: &Path) -> Option<RunId> {
    let link = reports.join(LATEST);
    let name = match fs::read_link(&link) {
        Ok(target) => target.to_str()?.to_owned(),
        Err(_) => fs::read_to_string(&link).ok()?,
    };
    RunId::parse(name.trim())
}

#[cfg(unix)]
fn make_link(target: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn make_link(_target: &str, _link: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
