//! Looks for an interpreter: on PATH, then in the folders of version managers. Asks each executable once
//! for its version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::package::{Environment, Errand, Interpreter};
use crate::plan::RuntimeKind;

use super::managers::{self, Candidate};
use super::range::{Version, fits};
use super::shim;

/// Interpreters answer in a tenth of a second; a loaded machine takes longer.
const VERSION_LIMIT: Duration = Duration::from_secs(20);
/// `python3.N` on PATH, where plain `python3` does not fit; Debian and Homebrew have them.
const PYTHON_MINORS: std::ops::RangeInclusive<u32> = 8..=20;

/// Finds interpreters, and remembers what it was told.
pub(in crate::prepare) struct Finder<'a> {
    environment: &'a Environment,
    cancel: &'a CancellationToken,
    resolved: BTreeMap<PathBuf, Option<PathBuf>>,
    versions: BTreeMap<PathBuf, Option<String>>,
}

impl<'a> Finder<'a> {
    pub(in crate::prepare) fn new(environment: &'a Environment, cancel: &'a CancellationToken) -> Self {
        Self {
            environment,
            cancel,
            resolved: BTreeMap::new(),
            versions: BTreeMap::new(),
        }
    }

    /// The one to use for that range.
    pub(in crate::prepare) async fn find(&mut self, kind: RuntimeKind, range: &str) -> Option<Interpreter> {
        match self.on_path(kind, range).await {
            Some(interpreter) => Some(interpreter),
            None => self.in_managers(kind, range).await,
        }
    }

    /// The first of these that works and fits. They are in order of preference.
    pub(in crate::prepare) async fn first_of(
        &mut self,
        kind: RuntimeKind,
        range: &str,
        candidates: Vec<Candidate>,
    ) -> Option<Interpreter> {
        for candidate in candidates {
            let may_fit = candidate.hint.as_ref().is_none_or(|hint| hint_fits(kind, range, hint));
            if may_fit && let Some(interpreter) = self.ask(kind, range, candidate.executable).await {
                return Some(interpreter);
            }
        }
        None
    }

    /// That executable, if it works and fits.
    pub(in crate::prepare) async fn ask(
        &mut self,
        kind: RuntimeKind,
        range: &str,
        executable: PathBuf,
    ) -> Option<Interpreter> {
        let version = self.version(kind, &executable).await?;
        fits(kind, range, &version).then_some(Interpreter {
            kind,
            version,
            executable,
        })
    }

    async fn on_path(&mut self, kind: RuntimeKind, range: &str) -> Option<Interpreter> {
        for name in names(kind) {
            for program in self.environment.programs(&name) {
                let Some(executable) = self.resolve(kind, program).await else {
                    continue;
                };
                if let Some(interpreter) = self.ask(kind, range, executable).await {
                    return Some(interpreter);
                }
            }
        }
        None
    }

    async fn in_managers(&mut self, kind: RuntimeKind, range: &str) -> Option<Interpreter> {
        let candidates = managers::candidates(kind, self.environment);
        self.first_of(kind, range, candidates).await
    }

    async fn resolve(&mut self, kind: RuntimeKind, program: PathBuf) -> Option<PathBuf> {
        if let Some(known) = self.resolved.get(&program) {
            return known.clone();
        }
        let executable = shim::resolve(kind, &program, self.environment, self.cancel).await;
        self.resolved.insert(program, executable.clone());
        executable
    }

    async fn version(&mut self, kind: RuntimeKind, executable: &Path) -> Option<String> {
        if let Some(known) = self.versions.get(executable) {
            return known.clone();
        }
        let errand = Errand {
            program: executable.to_owned(),
            arguments: vec!["--version".into()],
            environment: self.environment.clone(),
            folder: executable.parent()?.to_owned(),
            limit: VERSION_LIMIT,
        };
        let done = errand.run(&mut |_line| {}, self.cancel).await.ok();
        let version = done.and_then(|done| read_version(kind, &done.output));
        self.versions.insert(executable.to_owned(), version.clone());
        version
    }
}

/// The names it may have on PATH, the usual first.
fn names(kind: RuntimeKind) -> Vec<String> {
    match kind {
        RuntimeKind::Node => vec!["node".to_owned(), "nodejs".to_owned()],
        RuntimeKind::Python => {
            let plain = ["python3", "python"].map(str::to_owned);
            let minors = PYTHON_MINORS.rev().map(|minor| format!("python3.{minor}"));
            plain.into_iter().chain(minors).collect()
        }
    }
}

/// `v20.20.2`, `Python 3.11.7`.
fn read_version(kind: RuntimeKind, output: &str) -> Option<String> {
    let line = output.lines().map(str::trim).find(|line| !line.is_empty())?;
    let version = match kind {
        RuntimeKind::Node => line.strip_prefix('v')?,
        RuntimeKind::Python => line.strip_prefix("Python ")?.split_whitespace().next()?,
    };
    Version::parse(kind, version).map(|_| version.to_owned())
}

fn hint_fits(kind: RuntimeKind, range: &str, hint: &Version) -> bool {
    let text = match hint {
        Version::Node(version) => version.to_string(),
        Version::Python(version) => version.to_string(),
    };
    fits(kind, range, &text)
}

#[cfg(unix)]
#[cfg(test)]
#[path = "finder_tests.rs"]
mod tests;
