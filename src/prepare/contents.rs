//! What is to be in one folder of installed packages, and what is in it.

use std::path::{Path, PathBuf};

use crate::event::{Ecosystem, PackageFacts, Seen, SkipReason};
use crate::package::{Environment, Interpreter, Npm, Venv, installed_npm, installed_pypi};
use crate::plan::{PackageSpec, RuntimeKind};

use super::runtimes::Finder;
use super::{Candidate, Refusal};

/// What is to be in one folder.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub(super) packages: Vec<PackageSpec>,
    pub(super) node: Option<Interpreter>,
    pub(super) python: Option<Interpreter>,
}

impl Contents {
    /// What the row needs, on its own runtime where that can run it, else on the one at hand.
    pub(super) async fn of(row: &Candidate<'_>, finder: &mut Finder<'_>) -> Result<Self, Refusal> {
        let packages = row.launch.packages.clone();
        let (mut node, mut python) = (None, None);
        for package in &packages {
            let (kind, slot) = match package.ecosystem {
                Ecosystem::Npm => (RuntimeKind::Node, &mut node),
                Ecosystem::Pypi => (RuntimeKind::Python, &mut python),
            };
            if slot.is_none() {
                *slot = Some(interpreter(row, kind, finder).await?);
            }
        }
        Ok(Self { packages, node, python })
    }

    /// Short, because the first lines of console scripts hold it, and their length is limited.
    pub(super) fn folder(&self, state: &Path) -> PathBuf {
        let mut texts = Vec::new();
        for interpreter in self.node.iter().chain(&self.python) {
            texts.push(interpreter.kind.name().to_owned());
            texts.push(interpreter.version.clone());
        }
        // A virtual environment leads to one executable; a node_modules folder does not.
        let executable = self
            .python
            .as_ref()
            .map(|python| python.executable.to_string_lossy().into_owned());
        texts.extend(executable);
        texts.extend(
            self.packages
                .iter()
                .map(|package| format!("{}:{}", package.ecosystem.name(), package.spec)),
        );
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let name = self.packages.first().map_or("", |package| package.name.as_str());
        let name: String = name
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
            .take(28)
            .collect();
        state.join("packages").join(format!("{name}-{}", super::digest(&texts)))
    }

    pub(super) fn specs(&self, ecosystem: Ecosystem) -> Vec<String> {
        let packages = self.packages.iter().filter(|package| package.ecosystem == ecosystem);
        packages.map(|package| package.spec.clone()).collect()
    }

    /// `npm:x`, `pypi:a and pypi:b`.
    pub(super) fn words(&self) -> String {
        let words = self
            .packages
            .iter()
            .map(|package| format!("{}:{}", package.ecosystem.name(), package.spec));
        words.collect::<Vec<_>>().join(" and ")
    }

    pub(super) fn bin_folders(&self, folder: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for package in &self.packages {
            let bin = match package.ecosystem {
                Ecosystem::Npm => Npm::bin_folder(folder),
                Ecosystem::Pypi => Venv::of(folder).bin_folder(),
            };
            if !folders.contains(&bin) {
                folders.push(bin);
            }
        }
        folders
    }

    pub(super) fn installed(&self, folder: &Path) -> Vec<PackageFacts> {
        let venv = Venv::of(folder);
        let facts = self.packages.iter().filter_map(|package| match package.ecosystem {
            Ecosystem::Npm => installed_npm(folder, &package.name),
            Ecosystem::Pypi => installed_pypi(&venv, &package.name),
        });
        facts.collect()
    }

    /// Whether a finished installation is still as it was left.
    pub(super) fn is_whole(&self, folder: &Path) -> bool {
        let has_modules = self.node.is_none() || folder.join("node_modules").is_dir();
        let has_venv = self.python.is_none() || Venv::of(folder).is_alive();
        has_modules && has_venv && self.installed(folder).len() == self.packages.len()
    }

    /// That an update failed, and what is there runs.
    pub(super) fn stale(&self, folder: &Path, problem: String) -> Seen {
        let versions = self.installed(folder).into_iter().map(|package| package.version);
        Seen::InstallStale {
            what: self.words(),
            installed: versions.collect::<Vec<_>>().join(", "),
            problem,
        }
    }

    /// A row that names no runtime runs on the one its first package was installed for.
    pub(super) fn complete_runtime(&self, row: &mut Candidate<'_>, environment: &Environment) {
        let first = match self.packages.first().map(|package| package.ecosystem) {
            Some(Ecosystem::Npm) => &self.node,
            Some(Ecosystem::Pypi) => &self.python,
            None => &None,
        };
        if let (None, Some(interpreter)) = (&row.ready.runtime, first) {
            row.ready.runtime = Some(interpreter.facts());
            // Where PATH leads to it anyway, its folder must not push others aside.
            if !interpreter.is_first_on_path(environment) {
                row.ready.path_first = vec![interpreter.bin_folder().to_owned()];
            }
        }
    }
}

async fn interpreter(row: &Candidate<'_>, kind: RuntimeKind, finder: &mut Finder<'_>) -> Result<Interpreter, Refusal> {
    if let Some(facts) = &row.ready.runtime
        && facts.kind == kind.name()
        && let Some(version) = &facts.version
    {
        return Ok(Interpreter {
            kind,
            version: version.clone(),
            executable: facts.executable.clone(),
        });
    }
    finder.find(kind, "*").await.ok_or_else(|| {
        let name = kind.name();
        Refusal::skipped(
            SkipReason::ProgramMissing,
            format!("there is no {name} on this machine to install its packages for"),
            Some(format!(
                "install {name} so that it is on PATH, or give the server a runtime in `runtimes`"
            )),
        )
    })
}
