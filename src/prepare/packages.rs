//! Puts packages in place: one folder for each runtime and list of packages, whichever rows name them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::event::{Ecosystem, Seen, SkipReason};
use crate::package::{
    Environment, Errand, Installation, Interpreter, Npm, Place, Pypi, Scripts, Trouble, Venv, telling_line,
};
use crate::plan::InstallMode;

use super::contents::Contents;
use super::installing::{Installing, NoLock};
use super::runtimes::Finder;
use super::voice::Voice;
use super::{Candidate, Refusal, Rows, Surroundings};

/// One folder to be filled, or to be looked at.
struct Job {
    contents: Contents,
    place: Place,
    mode: InstallMode,
    environment: Environment,
    installing: Installing,
    voice: Voice,
}

/// What came of it.
#[derive(Clone, Debug)]
enum Outcome {
    InPlace { folder: PathBuf, fresh: bool },
    NotInstalled,
    Problem(Problem),
}

/// Why it could not be installed.
#[derive(Clone, Debug)]
enum Problem {
    Cancelled,
    /// npm is not here.
    NoInstaller(String),
    Failed {
        problem: String,
        last_lines: Vec<String>,
    },
}

/// Gives rows their packages, and takes out those whose packages are not there.
pub(super) async fn give(surroundings: &Surroundings<'_>, rows: &mut Rows<'_>) {
    let mut finder = Finder::new(surroundings.environment, surroundings.cancel);
    let mut contents = Vec::new();
    for row in &rows.going {
        contents.push(Contents::of(row, &mut finder).await);
    }
    let mut folders: BTreeMap<PathBuf, (Contents, Vec<Voice>)> = BTreeMap::new();
    for (row, contents) in rows.going.iter().zip(&contents) {
        if let Ok(contents) = contents
            && !contents.packages.is_empty()
        {
            let folder = contents.folder(surroundings.installing.state());
            let entry = folders.entry(folder).or_insert_with(|| (contents.clone(), Vec::new()));
            entry.1.push(row.voice.clone());
        }
    }
    let outcomes = run_all(surroundings, folders).await;
    let mut contents = contents.into_iter();
    rows.sort_out(|row| {
        let contents = contents.next().expect("there is one for each row")?;
        if contents.packages.is_empty() {
            return Ok(());
        }
        let outcome = outcomes.get(&contents.folder(surroundings.installing.state()));
        take_over(row, &contents, outcome, surroundings.environment)
    });
}

/// Tells the row what came of its folder.
fn take_over(
    row: &mut Candidate<'_>,
    contents: &Contents,
    outcome: Option<&Outcome>,
    environment: &Environment,
) -> Result<(), Refusal> {
    match outcome {
        Some(Outcome::InPlace { folder, fresh }) => {
            row.ready.fresh = *fresh;
            row.ready.lookup = contents.bin_folders(folder);
            row.ready.installed = contents.installed(folder);
            for package in &row.ready.installed {
                row.voice.note(&format!(
                    "{}:{} {} is installed at {}",
                    package.ecosystem.name(),
                    package.name,
                    package.version,
                    package.path.display()
                ));
            }
            contents.complete_runtime(row, environment);
            Ok(())
        }
        Some(Outcome::NotInstalled) => Err(Refusal::not_installed(&contents.words())),
        Some(Outcome::Problem(Problem::NoInstaller(problem))) => Err(Refusal::skipped(
            SkipReason::ProgramMissing,
            problem.clone(),
            Some("install npm so that it is on PATH".to_owned()),
        )),
        Some(Outcome::Problem(Problem::Failed { problem, last_lines })) => {
            row.voice.observed(Seen::InstallFailed {
                what: contents.words(),
                problem: problem.clone(),
                last_lines: last_lines.clone(),
            });
            Err(Refusal::Failed)
        }
        Some(Outcome::Problem(Problem::Cancelled)) | None => Err(Refusal::interrupted()),
    }
}

async fn run_all(
    surroundings: &Surroundings<'_>,
    folders: BTreeMap<PathBuf, (Contents, Vec<Voice>)>,
) -> BTreeMap<PathBuf, Outcome> {
    let mut jobs = JoinSet::new();
    for (folder, (contents, voices)) in folders {
        let Some(voice) = Voice::of_all(&voices) else {
            continue;
        };
        let job = Job {
            contents,
            place: Place::new(folder.clone()),
            mode: surroundings.mode(),
            environment: surroundings.environment.clone(),
            installing: surroundings.installing.clone(),
            voice,
        };
        jobs.spawn(async move { (folder, job.run().await) });
    }
    let mut outcomes = BTreeMap::new();
    while let Some(done) = jobs.join_next().await {
        // A job that panicked has no outcome; its rows say "interrupted", and the panic is printed.
        outcomes.extend(done);
    }
    outcomes
}

impl Job {
    async fn run(&self) -> Outcome {
        let earlier = self.in_use();
        match (self.mode, earlier) {
            (InstallMode::Missing | InstallMode::Never, Some(earlier)) => in_place(earlier, false),
            (InstallMode::Never, None) => Outcome::NotInstalled,
            (InstallMode::Missing, None) => match self.install().await {
                Ok(installation) => in_place(installation, true),
                Err(problem) => Outcome::Problem(problem),
            },
            (InstallMode::Update, earlier) => match (self.install().await, earlier) {
                (Ok(installation), _) => in_place(installation, true),
                (Err(Problem::Cancelled), _) => Outcome::Problem(Problem::Cancelled),
                (Err(problem), None) => Outcome::Problem(problem),
                (Err(problem), Some(earlier)) => {
                    self.voice
                        .observed(self.contents.stale(&earlier.folder, problem.words()));
                    in_place(earlier, false)
                }
            },
        }
    }

    fn in_use(&self) -> Option<Installation> {
        let current = self.place.current()?;
        self.contents.is_whole(&current.folder).then_some(current)
    }

    async fn install(&self) -> Result<Installation, Problem> {
        let _turn = self.installing.turn(&self.voice).await.map_err(Problem::from)?;
        if self.mode == InstallMode::Missing
            && let Some(installation) = self.in_use()
        {
            // Another run that held the lock did it meanwhile.
            return Ok(installation);
        }
        self.voice.doing(&format!("installing {}", self.contents.words()));
        let draft = self
            .place
            .begin()
            .map_err(|error| io_problem("cannot make its folder", &error))?;
        let folder = draft.folder();
        let mut took = Duration::ZERO;
        if let Some(node) = &self.contents.node {
            took += self.install_npm(node, &folder).await?;
        }
        if let Some(python) = &self.contents.python {
            took += self.install_pypi(python, &folder).await?;
        }
        let installation = draft
            .finish()
            .map_err(|error| io_problem("cannot finish its folder", &error))?;
        self.voice.installed(took);
        Ok(installation)
    }

    async fn install_npm(&self, node: &Interpreter, folder: &Path) -> Result<Duration, Problem> {
        let npm = self.installing.npm(node, &self.environment, folder).await;
        let npm = npm.ok_or_else(|| Problem::NoInstaller(format!("there is no npm for Node {}", node.version)))?;
        Npm::make_project(folder).map_err(|error| io_problem("cannot write package.json", &error))?;
        let specs = self.contents.specs(Ecosystem::Npm);
        self.run_errand(&npm.install(&specs, Scripts::AsConfigured, folder))
            .await
    }

    async fn install_pypi(&self, python: &Interpreter, folder: &Path) -> Result<Duration, Problem> {
        let pypi = Pypi::of(python, &self.environment);
        let venv = Venv::of(folder);
        let made = self.run_errand(&pypi.make(&venv)).await?;
        let specs = self.contents.specs(Ecosystem::Pypi);
        Ok(made + self.run_errand(&pypi.install(&specs, &venv)).await?)
    }

    async fn run_errand(&self, errand: &Errand) -> Result<Duration, Problem> {
        self.voice.line(&format!("$ {}", errand.command_line()));
        match errand
            .run(&mut |line| self.voice.line(line), self.installing.cancel())
            .await
        {
            Ok(done) => Ok(done.took),
            Err(Trouble::Cancelled) => Err(Problem::Cancelled),
            Err(Trouble::Failed { problem, last_lines }) => Err(Problem::Failed { problem, last_lines }),
        }
    }
}

impl Problem {
    fn words(self) -> String {
        match self {
            Self::Cancelled => "interrupted".to_owned(),
            Self::NoInstaller(problem) => problem,
            Self::Failed { problem, last_lines } => {
                let telling = telling_line(&last_lines).map(|line| format!(": {line}"));
                problem + &telling.unwrap_or_default()
            }
        }
    }
}

impl From<NoLock> for Problem {
    fn from(problem: NoLock) -> Self {
        match problem {
            NoLock::Cancelled => Self::Cancelled,
            NoLock::Failed(problem) => Self::Failed {
                problem,
                last_lines: Vec::new(),
            },
        }
    }
}

fn in_place(installation: Installation, fresh: bool) -> Outcome {
    Outcome::InPlace {
        folder: installation.folder,
        fresh,
    }
}

fn io_problem(what: &str, error: &std::io::Error) -> Problem {
    Problem::Failed {
        problem: format!("{what}: {error}"),
        last_lines: Vec::new(),
    }
}
