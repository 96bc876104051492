//! Where version managers keep what they installed. Only folders are listed here; whether an executable
//! works, it is asked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::package::Environment;
use crate::plan::RuntimeKind;

use super::range::Version;

/// An executable that a version manager installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::prepare) struct Candidate {
    pub(super) executable: PathBuf,
    /// The version that its folder's name says; a hint only.
    pub(super) hint: Option<Version>,
}

/// A folder with one subfolder a version, and where the executable lies in each.
struct Shelf {
    folder: PathBuf,
    /// Relative to a version's folder; the first that exists is taken.
    executables: &'static [&'static str],
}

const NODE: &[&str] = &["bin/node"];
const FNM: &[&str] = &["installation/bin/node"];
const PYTHON: &[&str] = &["bin/python3", "bin/python", "python.exe"];

/// All that version managers have of this kind, the best hint first, those without a hint last.
pub(super) fn candidates(kind: RuntimeKind, environment: &Environment) -> Vec<Candidate> {
    let shelves = match kind {
        RuntimeKind::Node => node_shelves(environment),
        RuntimeKind::Python => python_shelves(environment),
    };
    let mut seen = BTreeSet::new();
    let mut candidates: Vec<Candidate> = shelves.iter().flat_map(|shelf| on_shelf(kind, shelf)).collect();
    candidates.retain(|candidate| seen.insert(candidate.executable.clone()));
    candidates.sort_by(|one, other| match (&one.hint, &other.hint) {
        (Some(one), Some(other)) => other.preference(one),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    candidates
}

fn node_shelves(environment: &Environment) -> Vec<Shelf> {
    let folders = Folders { environment };
    let mut shelves = Vec::new();
    let mut add = |folder: Option<PathBuf>, below: &str, executables| {
        shelves.extend(folder.map(|folder| Shelf {
            folder: folder.join(below),
            executables,
        }));
    };
    add(folders.set_or("NVM_DIR", ".nvm"), "versions/node", NODE);
    add(folders.config("nvm"), "versions/node", NODE);
    add(environment.folder("FNM_DIR"), "node-versions", FNM);
    add(folders.data("fnm"), "node-versions", FNM);
    add(folders.in_home(".fnm"), "node-versions", FNM);
    add(folders.in_home("Library/Application Support/fnm"), "node-versions", FNM);
    add(folders.set_or("VOLTA_HOME", ".volta"), "tools/image/node", NODE);
    add(
        environment.folder("MISE_DATA_DIR").or_else(|| folders.data("mise")),
        "installs/node",
        NODE,
    );
    add(folders.set_or("ASDF_DATA_DIR", ".asdf"), "installs/nodejs", NODE);
    add(folders.set_or("NODENV_ROOT", ".nodenv"), "versions", NODE);
    shelves
}

fn python_shelves(environment: &Environment) -> Vec<Shelf> {
    let folders = Folders { environment };
    let uv = environment.folder("UV_PYTHON_INSTALL_DIR");
    let mut shelves = Vec::new();
    let mut add = |folder: Option<PathBuf>, below: &str| {
        shelves.extend(folder.map(|folder| Shelf {
            folder: folder.join(below),
            executables: PYTHON,
        }));
    };
    add(folders.set_or("PYENV_ROOT", ".pyenv"), "versions");
    add(
        uv.or_else(|| folders.data("uv").map(|folder| folder.join("python"))),
        "",
    );
    add(
        environment.folder("MISE_DATA_DIR").or_else(|| folders.data("mise")),
        "installs/python",
    );
    add(folders.set_or("ASDF_DATA_DIR", ".asdf"), "installs/python");
    shelves
}

/// What lies in a folder of Pythons that uv installed.
pub(super) fn in_uv_folder(folder: &Path) -> Vec<Candidate> {
    let shelf = Shelf {
        folder: folder.to_owned(),
        executables: PYTHON,
    };
    on_shelf(RuntimeKind::Python, &shelf)
}

/// The folders in which managers keep things unless they are told otherwise.
struct Folders<'a> {
    environment: &'a Environment,
}

impl Folders<'_> {
    fn in_home(&self, below: &str) -> Option<PathBuf> {
        Some(self.environment.home()?.join(below))
    }

    fn set_or(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.environment.folder(variable).or_else(|| self.in_home(below_home))
    }

    fn data(&self, name: &str) -> Option<PathBuf> {
        Some(self.set_or("XDG_DATA_HOME", ".local/share")?.join(name))
    }

    fn config(&self, name: &str) -> Option<PathBuf> {
        Some(self.set_or("XDG_CONFIG_HOME", ".config")?.join(name))
    }
}

fn on_shelf(kind: RuntimeKind, shelf: &Shelf) -> Vec<Candidate> {
    let Ok(entries) = fs::read_dir(&shelf.folder) else {
        return Vec::new();
    };
    // `latest`, `20` and the like are links to the folder of a full version.
    let folders = entries.filter_map(|entry| entry.ok()?.path().canonicalize().ok());
    folders
        .filter_map(|folder| candidate(kind, &folder, shelf.executables))
        .collect()
}

fn candidate(kind: RuntimeKind, folder: &Path, executables: &[&str]) -> Option<Candidate> {
    let name = folder.file_name()?.to_string_lossy().into_owned();
    if is_another_implementation(&name) {
        return None;
    }
    let executable = executables
        .iter()
        .map(|below| folder.join(below))
        .find(|path| path.is_file())?;
    // uv: cpython-3.12.11-linux-x86_64-gnu
    let version = name.strip_prefix("cpython-").and_then(|rest| rest.split('-').next());
    let hint = Version::parse(kind, version.unwrap_or(&name));
    Some(Candidate { executable, hint })
}

/// Other interpreters than a user means by "Python 3.12": `PyPy` and the like, free-threaded builds.
fn is_another_implementation(name: &str) -> bool {
    let starts = [
        "pypy",
        "graalpy",
        "graalpython",
        "jython",
        "micropython",
        "stackless",
        "cinder",
        ".",
    ];
    starts.iter().any(|start| name.starts_with(start)) || name.contains("freethreaded") || is_free_threaded(name)
}

/// pyenv and mise: 3.13.1t
fn is_free_threaded(name: &str) -> bool {
    let digits = name.strip_suffix('t').or_else(|| name.strip_suffix("t-dev"));
    digits.is_some_and(|digits| digits.ends_with(|last: char| last.is_ascii_digit()))
}
