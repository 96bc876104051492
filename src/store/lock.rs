//! The lock on disk, beside its manifest: read as text, written whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::lock::Lock;

use super::{StoreProblem, refused, write};

/// The text of a lock; none if there is no such file.
pub fn read_lock(path: &Path) -> Result<Option<String>, StoreProblem> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(refused("read", path, problem)),
    }
}

/// Writes a lock in place of one of that text; false where another text stands there by now. What it holds
/// comes from a record, whose strings are masked by their places: masking the text here could hit the lock's
/// own words and checksums.
pub fn replace_lock(path: &Path, known: Option<&str>, lock: &Lock) -> Result<bool, StoreProblem> {
    // Somebody may have put a link there, to a file that is kept elsewhere.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // One writer at a time: whoever opens the folder may lock it. Where that cannot be, we write as we are.
    let turn = File::open(folder).ok();
    let _turn = turn.as_ref().and_then(|turn| turn.lock().ok());
    if read_lock(path)?.as_deref() != known {
        return Ok(false);
    }
    let mode = fs::metadata(path).ok().map(|metadata| metadata.permissions());
    if mode.as_ref().is_some_and(fs::Permissions::readonly) {
        let source = io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only");
        return Err(refused("write", path, source));
    }
    write::whole(path, lock.to_toml().as_bytes())?;
    if let Some(mode) = mode {
        fs::set_permissions(path, mode).map_err(|source| refused("write", path, source))?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::event::RowId;
    use crate::lock::{LockedRow, RowFacts};

    fn lock(rows: usize) -> Lock {
        let row = |number: usize| {
            let facts = RowFacts {
                package: None,
                reported_name: Some("example".to_owned()),
                reported_version: None,
                runtime: None,
                era: crate::event::Era::Initialize,
                protocol: "2025-11-25".to_owned(),
                tools: Some(std::collections::BTreeMap::new()),
            };
            let row = LockedRow {
                accepted_on: jiff::civil::date(2026, 11, 30),
                run: "20261130T021500Z".to_owned(),
                facts,
                accepted: Vec::new(),
            };
            (RowId(format!("row{number}")), row)
        };
        Lock {
            rows: (0..rows).map(row).collect(),
        }
    }

    #[test]
    fn who_reads_while_others_write_sees_a_whole_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("servers.lock");
        assert!(read_lock(&path).expect("no file is no problem").is_none());
        let write = |known: &mut Option<String>, rows: usize| {
            assert!(replace_lock(&path, known.as_deref(), &lock(rows)).expect("written"));
            *known = Some(lock(rows).to_toml());
        };
        let mut known = None;
        write(&mut known, 1);
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for rows in 0..30 {
                    write(&mut known, rows);
                }
            });
            while !writer.is_finished() {
                let text = read_lock(&path).expect("readable").expect("always there");
                assert!(Lock::parse(&text, &path).is_ok(), "{text}");
            }
        });
        let files = fs::read_dir(folder.path()).expect("listed").count();
        assert_eq!(files, 1, "nothing is left beside it");
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("servers.lock");
        assert!(replace_lock(&path, None, &lock(1)).expect("written"));
        assert!(
            !replace_lock(&path, None, &lock(2)).expect("asked"),
            "it did not see that one"
        );
        let text = read_lock(&path).expect("readable").expect("there");
        assert_eq!(text, lock(1).to_toml());
        assert!(replace_lock(&path, Some(&text), &lock(2)).expect("written"));
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_lock_stays_a_link_and_a_read_only_one_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let (real, path) = (folder.path().join("real.lock"), folder.path().join("servers.lock"));
        assert!(replace_lock(&real, None, &lock(1)).expect("written"));
        std::os::unix::fs::symlink(&real, &path).expect("linked");
        assert!(replace_lock(&path, Some(&lock(1).to_toml()), &lock(2)).expect("written"));
        assert!(path.is_symlink());
        assert_eq!(fs::read_to_string(&real).expect("readable"), lock(2).to_toml());
        let mut mode = fs::metadata(&real).expect("there").permissions();
        mode.set_readonly(true);
        fs::set_permissions(&real, mode).expect("set");
        assert!(replace_lock(&path, Some(&lock(2).to_toml()), &lock(3)).is_err());
        assert_eq!(fs::read_to_string(&real).expect("readable"), lock(2).to_toml());
    }
}
