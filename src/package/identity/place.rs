//! Where a command line is to be understood: the folder and the environment it runs in.
//!
//! Everything here looks at files only; nothing is started.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder and the environment of a command or of a live process.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Its working folder.
    pub(super) cwd: PathBuf,
    /// Its environment.
    pub(super) environment: Vec<(String, String)>,
}

impl Place {
    /// The value of a variable; of several, the last.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a variable whose name is matched without regard to case, as npm does.
    pub(super) fn variable_in_any_case(&self, name: &str) -> Option<&str> {
        let same = |key: &str| key.eq_ignore_ascii_case(name);
        let found = self.environment.iter().rev().find(|(key, _)| same(key));
        found.map(|(_, value)| value.as_str())
    }

    /// The same place with these variables set on top.
    pub(super) fn with(&self, variables: &[(String, String)]) -> Self {
        let mut place = self.clone();
        place.environment.extend_from_slice(variables);
        place
    }

    /// A path as this place understands it.
    pub(super) fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        self.cwd.join(path)
    }

    /// The folders of `PATH`, in order.
    pub(super) fn path_folders(&self) -> Vec<PathBuf> {
        let path = self.variable("PATH").unwrap_or_default();
        std::env::split_paths(path).map(|folder| self.resolve(folder)).collect()
    }

    /// Every file that a program name can mean, the one that would be taken first.
    pub(super) fn programs(&self, name: &str) -> Vec<PathBuf> {
        if name.is_empty() {
            return Vec::new();
        }
        let candidates = if name.contains('/') {
            vec![self.resolve(name)]
        } else {
            self.path_folders().iter().map(|folder| folder.join(name)).collect()
        };
        candidates.into_iter().filter(|file| is_program(file)).collect()
    }
}

/// The last part of a program's path, without the endings that Windows adds.
pub(super) fn program_name(program: impl AsRef<Path>) -> String {
    let name = program.as_ref().file_name().and_then(OsStr::to_str).unwrap_or_default();
    let bare = [".exe", ".cmd"].iter().find_map(|ending| name.strip_suffix(ending));
    bare.unwrap_or(name).to_owned()
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}
