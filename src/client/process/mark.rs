//! The mark that every process of a session carries in its environment: who started it, and for which
//! row of which fleet. Text only; who carries one is for `family` and `earlier` to find out.

use std::fmt;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The variable that holds the mark: `<our pid>-<random>`, new for each session, and behind it
/// `-<fleet>-<row>` where the process belongs to a row.
pub const RUN_VARIABLE: &str = "MCP_SMOKE_RUN";

/// The bytes of a manifest's hash that tell one fleet from another.
const FLEET_BYTES: usize = 8;

/// The row whose servers these are, told from a row of the same name in another fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Of the manifest's absolute path, in hex: the path itself may hold anything and be long.
    fleet: String,
    row: String,
}

impl Owner {
    /// The row of that id in the fleet of that manifest, whose path is absolute.
    pub fn new(manifest: &Path, row: &str) -> Self {
        let hash = Sha256::digest(manifest.as_os_str().as_encoded_bytes());
        let mut fleet = String::new();
        for byte in hash.iter().take(FLEET_BYTES) {
            fleet.push_str(&format!("{byte:02x}"));
        }
        Self {
            fleet,
            row: row.to_owned(),
        }
    }
}

/// A value of [`RUN_VARIABLE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The mcp-smoke that started the session.
    pub(super) runner: u32,
    random: u64,
    /// Null for what belongs to no row, such as the echo server.
    pub(super) owner: Option<Owner>,
}

impl Mark {
    /// One that no other session has.
    pub(super) fn new(owner: Option<Owner>) -> Self {
        Self {
            runner: std::process::id(),
            random: fastrand::u64(..),
            owner,
        }
    }

    /// Null for everything that we would not have written.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '-');
        let mark = Self {
            runner: parts.next()?.parse().ok()?,
            random: u64::from_str_radix(parts.next()?, 16).ok()?,
            owner: match (parts.next(), parts.next()) {
                (Some(fleet), Some(row)) => Some(Owner {
                    fleet: fleet.to_owned(),
                    row: row.to_owned(),
                }),
                _ => None,
            },
        };
        (mark.to_string() == text).then_some(mark)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{:016x}", self.runner, self.random)?;
        match &self.owner {
            Some(Owner { fleet, row }) => write!(formatter, "-{fleet}-{row}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_from_session_to_session() {
        assert_ne!(Mark::new(None).to_string(), Mark::new(None).to_string());
    }

    #[test]
    fn a_mark_is_read_as_it_was_written_whatever_the_row_is_called() {
        for row in ["files", "files@node-20", "a-b--c", ""] {
            let mark = Mark::new(Some(Owner::new(Path::new("/fleet/servers.toml"), row)));
            assert_eq!(Mark::parse(&mark.to_string()), Some(mark));
        }
        let mark = Mark::new(None);
        assert_eq!(Mark::parse(&mark.to_string()), Some(mark));
    }

    #[test]
    fn what_we_would_not_have_written_is_no_mark() {
        for text in [
            "",
            "12",
            "12-",
            "x-0000000000000001",
            "12-1",
            "+12-0000000000000001",
            "012-0000000000000001",
            "12-000000000000000G",
            "12-0000000000000001-0123456789abcdef",
            "-12-0000000000000001",
        ] {
            assert_eq!(Mark::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_same_row_of_another_manifest_is_another_owner() {
        let owner = |manifest: &str, row: &str| Owner::new(Path::new(manifest), row);
        assert_eq!(owner("/a/servers.toml", "files"), owner("/a/servers.toml", "files"));
        assert_ne!(owner("/a/servers.toml", "files"), owner("/b/servers.toml", "files"));
        assert_ne!(
            owner("/a/servers.toml", "files"),
            owner("/a/servers.toml", "files@node-20")
        );
    }
}
