//! The environment of what we start ourselves, as a value: package managers get all of the user's, and a
//! test can make up its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A complete environment.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The environment of this process.
    pub fn ours() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
        }
    }

    /// The value of a variable; an empty one counts as unset.
    pub fn value(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value.as_os_str())
    }

    /// The value of a variable that holds an absolute path.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.value(name)?);
        path.is_absolute().then_some(path)
    }

    /// The user's home.
    pub fn home(&self) -> Option<PathBuf> {
        self.folder("HOME").or_else(|| self.folder("USERPROFILE"))
    }

    /// The same with one variable set.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The same with this folder before all others on PATH.
    #[must_use]
    pub fn with_path_first(self, folder: &Path) -> Self {
        let folders = std::iter::once(folder.to_owned()).chain(self.path());
        match std::env::join_paths(folders) {
            Ok(path) => self.with("PATH", path),
            // A folder whose name holds the separator cannot be on PATH at all.
            Err(_) => self,
        }
    }

    /// The absolute folders of PATH, in order. Relative ones mean another folder to every process.
    pub fn path(&self) -> Vec<PathBuf> {
        let path = self.value("PATH").unwrap_or_default();
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .collect()
    }

    /// Every executable of that name on PATH, in order.
    pub fn programs(&self, name: &str) -> Vec<PathBuf> {
        let Ok(path) = std::env::join_paths(self.path()) else {
            return Vec::new();
        };
        which::which_in_global(name, Some(path)).map_or_else(|_| Vec::new(), Iterator::collect)
    }

    /// The first executable of that name on PATH.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        self.programs(name).into_iter().next()
    }

    /// Every variable with its value.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
