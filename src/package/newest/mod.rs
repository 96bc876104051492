//! What the registry offers of a row's package, and why that is not what runs.
//!
//! Asked after everything is measured, through the package managers' own clients with the user's whole
//! environment; each package once in a run. Nothing here fails: a registry that does not answer leaves the
//! last answer, dated, or nothing. What npm and pip would choose is worked out from the answer by pure
//! functions, so that one answer serves rows on every runtime; nothing is installed for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::event::{Ecosystem, Launcher, Newest, RowId};
use crate::plan::RuntimeKind;

use super::{Environment, Interpreter, Npm, Trouble};

mod behind;
mod kept;
mod npm_choice;
mod npm_view;
mod offer;
mod pip_index;
mod pypi_choice;
mod uv_settings;
mod verdict;

#[cfg(all(test, unix))]
mod tests;

use offer::{Conditions, Offer, Until};
use uv_settings::UvSettings;
use verdict::Question;

/// For one package: two questions to npm on a slow network.
pub const ASK_LIMIT: Duration = Duration::from_secs(30);
/// Package managers wait for the network most of the time.
const AT_ONCE: usize = 4;

/// A row's package, as far as it is known before its registry is asked.
#[derive(Clone, Debug)]
pub struct Subject {
    /// npm or PyPI.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// What was wanted of it, as typed; `*` for a bare name.
    pub wanted: String,
    /// The version on disk.
    pub installed: Option<String>,
    /// Who put it there.
    pub origin: Origin,
    /// The Node or Python that a fresh installation would be for.
    pub runtime: Option<Interpreter>,
    /// Variables of the row that its own package runner sees: another registry, another cache.
    pub env: Vec<(String, String)>,
}

/// Who put a row's package where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// We did, into a folder of our own.
    Ours,
    /// The user, npx or uvx did.
    Theirs {
        /// What started the server.
        launcher: Launcher,
        /// Where the package lies.
        path: Option<PathBuf>,
        /// The folder in which the server was started.
        cwd: PathBuf,
    },
}

/// What the questions of a run share.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The state folder.
    pub state: PathBuf,
    /// The user's environment.
    pub environment: Environment,
    /// The limit of one question.
    pub limit: Duration,
    /// The time of asking.
    pub now: Timestamp,
    /// Ends the asking.
    pub cancel: CancellationToken,
}

/// What is known of a row in the end.
#[derive(Clone, Debug)]
pub struct Known {
    /// The row.
    pub row: RowId,
    /// What the registry offers.
    pub newest: Newest,
    /// Why it did not tell, or what else is worth a line in the log.
    pub note: Option<String>,
}

/// What a registry said.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Offer(Offer),
    /// It has no such package.
    Unknown,
}

/// Why it said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Silence {
    problem: String,
    last_lines: Vec<String>,
}

/// What is asked once: rows that share it share the answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Inquiry {
    ecosystem: Ecosystem,
    /// In the form in which names are compared.
    name: String,
    env: Vec<(String, String)>,
    /// The folder whose settings hold; ours has none.
    folder: PathBuf,
}

/// What asks.
enum Client {
    Npm(Npm),
    Pip {
        python: PathBuf,
        /// Where uv is what installs.
        uv: Option<UvSettings>,
        environment: Environment,
    },
}

/// What came of it.
#[derive(Clone, Debug, Default)]
struct Outcome {
    offer: Option<Offer>,
    as_of: Option<String>,
    until: Option<Until>,
    note: Option<String>,
}

/// Asks for every row. Gives what is known when all is answered, in the order of the rows.
pub async fn ask(subjects: Vec<(RowId, Subject)>, surroundings: &Surroundings) -> Vec<Known> {
    let mut inquiries: BTreeMap<Inquiry, Vec<Subject>> = BTreeMap::new();
    for (_, subject) in &subjects {
        inquiries
            .entry(Inquiry::of(subject, surroundings))
            .or_default()
            .push(subject.clone());
    }
    let outcomes = ask_all(inquiries, surroundings).await;
    let nothing = Outcome::default();
    subjects
        .into_iter()
        .map(|(row, subject)| {
            let outcome = outcomes.get(&Inquiry::of(&subject, surroundings)).unwrap_or(&nothing);
            Known {
                row,
                newest: newest(&subject, outcome, &surroundings.environment),
                note: outcome.note.clone(),
            }
        })
        .collect()
}

/// Whether a registry can be asked for what was typed: not for folders, archives, repositories and aliases.
pub fn is_of_a_registry(wanted: &str) -> bool {
    !wanted.contains(['/', ':'])
}

async fn ask_all(
    inquiries: BTreeMap<Inquiry, Vec<Subject>>,
    surroundings: &Surroundings,
) -> BTreeMap<Inquiry, Outcome> {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut asking = JoinSet::new();
    for (inquiry, subjects) in inquiries {
        let (permits, surroundings) = (Arc::clone(&permits), surroundings.clone());
        asking.spawn(async move {
            let _turn = permits.acquire().await;
            let outcome = inquiry.outcome(&subjects, &surroundings).await;
            (inquiry, outcome)
        });
    }
    let mut outcomes = BTreeMap::new();
    while let Some(asked) = asking.join_next().await {
        // One that panicked leaves its rows without an answer, and the panic is printed.
        outcomes.extend(asked);
    }
    outcomes
}

fn newest(subject: &Subject, outcome: &Outcome, environment: &Environment) -> Newest {
    let Some(offer) = &outcome.offer else {
        return Newest::default();
    };
    let question = Question {
        ecosystem: subject.ecosystem,
        wanted: &subject.wanted,
        installed: subject.installed.as_deref(),
        conditions: Conditions {
            runtime: subject.runtime.as_ref().map(|runtime| runtime.version.clone()),
            npm: npm_version(subject, environment),
            until: outcome.until.clone(),
        },
    };
    let verdict = verdict::verdict(offer, &question);
    let behind = match &subject.origin {
        Origin::Theirs {
            launcher,
            path: Some(path),
            cwd,
        } if verdict.is_behind => behind::cause(subject.ecosystem, *launcher, path, cwd),
        Origin::Theirs { .. } | Origin::Ours => None,
    };
    Newest {
        as_of: verdict.newest.version.as_ref().and(outcome.as_of.clone()),
        behind,
        ..verdict.newest
    }
}

/// The version of the npm that would install for this row.
fn npm_version(subject: &Subject, environment: &Environment) -> Option<String> {
    let node = subject.runtime.as_ref().filter(|node| node.kind == RuntimeKind::Node)?;
    Npm::of(node, environment)?.version()
}

impl Inquiry {
    fn of(subject: &Subject, surroundings: &Surroundings) -> Self {
        Self {
            ecosystem: subject.ecosystem,
            name: super::identity::comparable_name(subject.ecosystem, &subject.name),
            env: subject.env.clone(),
            folder: match &subject.origin {
                Origin::Ours => surroundings.state.join("newest"),
                Origin::Theirs { cwd, .. } => cwd.clone(),
            },
        }
    }

    async fn outcome(&self, subjects: &[Subject], surroundings: &Surroundings) -> Outcome {
        let file = kept::file(&surroundings.state, self.ecosystem, &self.name, &self.env);
        let (asked, until) = match self.client(subjects, surroundings).await {
            Ok(client) => {
                let wanted: Vec<String> = subjects.iter().map(|subject| subject.wanted.clone()).collect();
                let asking = tokio::time::timeout(surroundings.limit, self.ask(&client, &wanted, surroundings));
                let (asked, until) = tokio::join!(asking, self.until(&client, surroundings));
                (
                    asked.unwrap_or_else(|_elapsed| Err(Silence::after(surroundings.limit))),
                    until,
                )
            }
            Err(silence) => (Err(silence), None),
        };
        let outcome = match asked {
            Ok(Answer::Offer(offer)) => {
                let kept = kept::keep(&file, &self.name, &offer, surroundings.now);
                Outcome {
                    offer: Some(offer),
                    note: kept
                        .err()
                        .map(|error| format!("cannot keep the registry's answer: {error}")),
                    ..Outcome::default()
                }
            }
            Ok(Answer::Unknown) => Outcome {
                note: Some(format!("the registry has no package called {}", self.name)),
                ..Outcome::default()
            },
            Err(silence) => self.remembered(&file, &silence),
        };
        Outcome { until, ..outcome }
    }

    fn remembered(&self, file: &Path, silence: &Silence) -> Outcome {
        let last = kept::last(file, &self.name);
        let dated = |(offer, asked): (Offer, Timestamp)| (offer, asked.strftime("%Y-%m-%d").to_string());
        let (offer, as_of) = last.map(dated).unzip();
        let words = as_of.as_ref().map(|day| format!("; its answer of {day} stands in"));
        Outcome {
            note: Some(format!(
                "the registry was asked for {} and did not tell: {}{}",
                self.name,
                silence.words(),
                words.unwrap_or_default()
            )),
            offer,
            as_of,
            until: None,
        }
    }

    /// What asks: npm or Python of the first row that has one, else those on PATH.
    async fn client(&self, subjects: &[Subject], surroundings: &Surroundings) -> Result<Client, Silence> {
        let environment = self.environment(surroundings);
        self.make_folder(surroundings)?;
        let interpreter = subjects.iter().find_map(|subject| subject.runtime.clone());
        let on_path = |kind, name: &str| {
            Some(Interpreter {
                kind,
                version: String::new(),
                executable: environment.program(name)?,
            })
        };
        match self.ecosystem {
            Ecosystem::Npm => {
                let node = interpreter.or_else(|| on_path(RuntimeKind::Node, "node"));
                let npm = node.and_then(|node| Npm::of(&node, &environment));
                let npm = npm.ok_or_else(|| Silence::of("there is no npm to ask with"))?;
                Ok(Client::Npm(
                    npm.with_settings_of_default(&self.folder, &surroundings.cancel).await,
                ))
            }
            Ecosystem::Pypi => {
                let python = interpreter.or_else(|| on_path(RuntimeKind::Python, "python3"));
                let python = python.ok_or_else(|| Silence::of("there is no Python to ask with"))?;
                Ok(Client::Pip {
                    python: python.executable,
                    uv: environment.program("uv").map(|_uv| UvSettings::read(&environment)),
                    environment,
                })
            }
        }
    }

    async fn ask(&self, client: &Client, wanted: &[String], surroundings: &Surroundings) -> Result<Answer, Silence> {
        let cancel = &surroundings.cancel;
        match client {
            Client::Npm(npm) => npm_view::ask(npm, &self.name, wanted, &self.folder, cancel).await,
            Client::Pip {
                python,
                uv,
                environment,
            } => {
                let place = (environment, self.folder.as_path());
                pip_index::ask(python, &self.name, uv.as_ref(), place, cancel).await
            }
        }
    }

    async fn until(&self, client: &Client, surroundings: &Surroundings) -> Option<Until> {
        match client {
            Client::Npm(npm) => npm_view::until(npm, &self.folder, surroundings.now, &surroundings.cancel).await,
            Client::Pip { uv, .. } => uv.as_ref()?.until(surroundings.now),
        }
    }

    /// The user's, with what the row sets on top: that is what its own npx or uvx sees.
    fn environment(&self, surroundings: &Surroundings) -> Environment {
        let users = surroundings.environment.clone();
        self.env
            .iter()
            .fold(users, |environment, (name, value)| environment.with(name, value))
    }

    /// Our folder is a project of its own, or npm would climb to the user's.
    fn make_folder(&self, surroundings: &Surroundings) -> Result<(), Silence> {
        if self.folder != surroundings.state.join("newest") {
            return Ok(());
        }
        let made = std::fs::create_dir_all(&self.folder).and_then(|()| Npm::make_project(&self.folder));
        made.map_err(|error| Silence::of(format!("cannot make {}: {error}", self.folder.display())))
    }
}

impl Silence {
    fn of(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            last_lines: Vec::new(),
        }
    }

    fn after(limit: Duration) -> Self {
        Self::of(format!("no answer within {} s", limit.as_secs_f64()))
    }

    fn says(&self, word: &str) -> bool {
        self.last_lines.iter().any(|line| line.contains(word))
    }

    fn words(&self) -> String {
        let npm = self.last_lines.iter().find(|line| line.contains("npm error "));
        let telling = npm.or_else(|| self.last_lines.last());
        match telling {
            Some(line) => format!("{} ({})", self.problem, line.trim()),
            None => self.problem.clone(),
        }
    }
}

impl From<Trouble> for Silence {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Cancelled => Self::of("interrupted"),
            Trouble::Failed { problem, last_lines } => Self { problem, last_lines },
        }
    }
}
