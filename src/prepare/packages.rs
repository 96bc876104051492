//! Puts packages in place: one folder for each runtime and list of packages, whichever rows name them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::event::{Ecosystem, PackageFacts, Seen, SkipReason};
use crate::package::{
    Environment, Errand, Installation, Interpreter, Npm, Place, Pypi, Scripts, Trouble, Venv, installed_npm,
    installed_pypi,
};
use crate::plan::{InstallMode, PackageSpec, RuntimeKind};

use super::installing::{Installing, NoLock};
use super::runtimes::Finder;
use super::voice::Voice;
use super::{Candidate, Readiness, Rows, Surroundings};

/// What is to be in one folder.
#[derive(Clone, Debug)]
struct Contents {
    packages: Vec<PackageSpec>,
    node: Option<Interpreter>,
    python: Option<Interpreter>,
}

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
) -> Result<(), Readiness> {
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
        Some(Outcome::NotInstalled) => Err(Readiness::not_installed(&contents.words())),
        Some(Outcome::Problem(Problem::NoInstaller(problem))) => Err(Readiness::skipped(
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
            Err(Readiness::Failed)
        }
        Some(Outcome::Problem(Problem::Cancelled)) | None => Err(Readiness::interrupted()),
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
        let earlier = self
            .place
            .current()
            .filter(|installation| self.contents.is_whole(&installation.folder));
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
                    self.voice.observed(self.contents.stale(&earlier.folder, &problem));
                    in_place(earlier, false)
                }
            },
        }
    }

    async fn install(&self) -> Result<Installation, Problem> {
        let _turn = self.installing.turn(&self.voice).await.map_err(Problem::from)?;
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
        let npm = Npm::of(node, &self.environment)
            .ok_or_else(|| Problem::NoInstaller(format!("there is no npm for Node {}", node.version)))?;
        Npm::make_project(folder).map_err(|error| io_problem("cannot write package.json", &error))?;
        let npm = npm.with_settings_of_default(folder, self.installing.cancel()).await;
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

impl Contents {
    /// What the row needs, on its own runtime where that can run it, else on the one at hand.
    async fn of(row: &Candidate<'_>, finder: &mut Finder<'_>) -> Result<Self, Readiness> {
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
    fn folder(&self, state: &Path) -> PathBuf {
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

    fn specs(&self, ecosystem: Ecosystem) -> Vec<String> {
        let packages = self.packages.iter().filter(|package| package.ecosystem == ecosystem);
        packages.map(|package| package.spec.clone()).collect()
    }

    /// `npm:x`, `pypi:a and pypi:b`.
    fn words(&self) -> String {
        let words = self
            .packages
            .iter()
            .map(|package| format!("{}:{}", package.ecosystem.name(), package.spec));
        words.collect::<Vec<_>>().join(" and ")
    }

    fn bin_folders(&self, folder: &Path) -> Vec<PathBuf> {
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

    fn installed(&self, folder: &Path) -> Vec<PackageFacts> {
        let venv = Venv::of(folder);
        let facts = self.packages.iter().filter_map(|package| match package.ecosystem {
            Ecosystem::Npm => installed_npm(folder, &package.name),
            Ecosystem::Pypi => installed_pypi(&venv, &package.name),
        });
        facts.collect()
    }

    /// Whether a finished installation is still as it was left.
    fn is_whole(&self, folder: &Path) -> bool {
        let has_modules = self.node.is_none() || folder.join("node_modules").is_dir();
        let has_venv = self.python.is_none() || Venv::of(folder).is_alive();
        has_modules && has_venv && self.installed(folder).len() == self.packages.len()
    }

    fn stale(&self, folder: &Path, problem: &Problem) -> Seen {
        let versions = self.installed(folder).into_iter().map(|package| package.version);
        Seen::InstallStale {
            what: self.words(),
            installed: versions.collect::<Vec<_>>().join(", "),
            problem: match problem {
                Problem::Cancelled => "interrupted".to_owned(),
                Problem::NoInstaller(problem) => problem.clone(),
                Problem::Failed { problem, last_lines } => {
                    let last = last_lines.last().map(|line| format!(": {line}")).unwrap_or_default();
                    format!("{problem}{last}")
                }
            },
        }
    }

    /// A row that names no runtime runs on the one its first package was installed for.
    fn complete_runtime(&self, row: &mut Candidate<'_>, environment: &Environment) {
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

async fn interpreter(
    row: &Candidate<'_>,
    kind: RuntimeKind,
    finder: &mut Finder<'_>,
) -> Result<Interpreter, Readiness> {
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
        Readiness::skipped(
            SkipReason::ProgramMissing,
            format!("there is no {name} on this machine to install its packages for"),
            Some(format!(
                "install {name} so that it is on PATH, or give the server a runtime in `runtimes`"
            )),
        )
    })
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
