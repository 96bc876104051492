//! The lock on disk, beside its manifest: read as text, written whole or not at all.

use std::fs;
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

/// Writes a lock. What it holds comes from a record, whose strings are masked by their places: masking the
/// text here could hit the lock's own words and checksums.
pub fn write_lock(path: &Path, lock: &Lock) -> Result<(), StoreProblem> {
    write::whole(path, lock.to_toml().as_bytes())
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
        write_lock(&path, &lock(1)).expect("written");
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for rows in 0..30 {
                    write_lock(&path, &lock(rows)).expect("written");
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
}
