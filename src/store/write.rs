//! Files written whole or not at all: beside their place first, then renamed into it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{StoreProblem, refused};

/// Writes a file of these bytes; who reads it sees the old one or the new one, never a part.
pub(super) fn whole(path: &Path, bytes: &[u8]) -> Result<(), StoreProblem> {
    replace(path, |file| {
        file.write_all(bytes)?;
        // A name that is on disk before its content survives a power cut as an empty file.
        file.sync_all()
    })
}

/// Writes a file by `write` beside its place and renames it; leaves nothing behind where that fails.
pub(super) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), StoreProblem> {
    let beside = beside(path);
    let written = File::create(&beside)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        // What could not be written may not be removable either; the first failure is the one to tell.
        drop(fs::remove_file(&beside));
        refused("write", path, source)
    })
}

/// A name in the same folder (renaming works only within a file system), hidden, and ours alone.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}
