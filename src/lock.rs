//! The lock, `servers.lock`: what a person last accepted of each row, kept beside the manifest and made to
//! be reviewed in a pull request. It is told here what it holds; it neither judges nor touches the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::civil::Date;

use crate::event::{Ecosystem, Era, RowId};
use crate::finding::Code;
use crate::record::ToolRecord;

/// What was accepted, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// Every locked row.
    pub rows: BTreeMap<RowId, LockedRow>,
}

/// What was accepted of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct LockedRow {
    /// The day on which it was accepted as it stands here.
    pub accepted_on: Date,
    /// The run that saw it.
    pub run: String,
    /// The package that answered, where one did.
    pub package: Option<LockedPackage>,
    /// `serverInfo.name`.
    pub reported_name: Option<String>,
    /// `serverInfo.version`.
    pub reported_version: Option<String>,
    /// What ran it.
    pub runtime: Option<LockedRuntime>,
    /// The handshake.
    pub era: Era,
    /// The revision that was spoken.
    pub protocol: String,
    /// Findings that were accepted and may come back.
    pub accepted: Vec<Accepted>,
    /// Its tools, sorted by name; schemas and annotations in canonical JSON.
    pub tools: Vec<ToolRecord>,
}

/// The package that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedPackage {
    /// npm or PyPI.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// What was asked for.
    pub wanted: Option<String>,
    /// The version on disk.
    pub installed: Option<String>,
}

/// The interpreter that ran a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedRuntime {
    /// `node`, `python`, or the file name of another executable.
    pub kind: String,
    /// Its version, where it told one.
    pub version: Option<String>,
}

/// A finding that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    /// Its code.
    pub code: Code,
    /// What exactly was accepted, in a form that `judge` compares: a cause, a pair of versions or rows.
    pub fact: String,
    /// The day.
    pub on: Date,
}

impl Lock {
    /// Where the lock of a manifest lies: beside it, `.lock` for `.toml`.
    pub fn path_beside(manifest: &Path) -> PathBuf {
        manifest.with_extension("lock")
    }
}
