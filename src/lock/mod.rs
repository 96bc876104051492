//! The lock, `servers.lock`: what a person last accepted of each row, kept beside the manifest and made to
//! be reviewed in a pull request. It neither judges nor touches the disk: a record goes in, text comes out,
//! and the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::civil::Date;

use crate::event::RowId;
use crate::finding::Code;

mod facts;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use facts::{PackageVersion, RowFacts, RuntimeVersion};

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
    /// What it was; its tools are always known.
    pub facts: RowFacts,
    /// Findings that were accepted and may come back, sorted.
    pub accepted: Vec<Accepted>,
}

/// A finding that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    /// Its code.
    pub code: Code,
    /// What exactly was accepted, in the words in which `judge` compares it: a cause, a pair of versions or rows.
    pub fact: String,
    /// The day.
    pub on: Date,
}

impl Lock {
    /// Where the lock of a manifest lies: beside it, `.lock` for `.toml`.
    pub fn path_beside(manifest: &Path) -> PathBuf {
        manifest.with_extension("lock")
    }

    /// Rows of the lock that are not among these, all of the manifest's.
    pub fn gone_from<'rows>(&self, rows: impl IntoIterator<Item = &'rows RowId>) -> Vec<RowId> {
        let known: BTreeSet<&RowId> = rows.into_iter().collect();
        self.rows.keys().filter(|id| !known.contains(id)).cloned().collect()
    }
}

impl LockedRow {
    /// The day on which this was accepted, if it was.
    pub fn accepted(&self, code: Code, fact: &str) -> Option<Date> {
        let known = self
            .accepted
            .iter()
            .find(|known| known.code == code && known.fact == fact);
        known.map(|known| known.on)
    }
}
