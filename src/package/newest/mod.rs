//! What the registry offers of a row's package, and why that is not what runs.
//!
//! Asked after everything is measured, through the package managers' own clients with the user's whole
//! environment; each package once in a run. Nothing here fails: a registry that does not answer leaves the
//! last answer, dated, or nothing. What npm and pip would choose is worked out from the answer by pure
//! functions, so that one answer serves rows on every runtime; nothing is installed for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::event::{Ecosystem, Launcher, Newest, RowId};
use crate::plan::RuntimeKind;

use super::{Environment, Interpreter, Npm, Trouble, telling_line};

mod behind;
mod inquiry;
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

use inquiry::{Inquiry, Outcome};
use offer::{Conditions, Offer, Until};
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
    /// What is found out about the clients that ask.
    pub clients: Clients,
}

/// Clients and their settings, each found out once in a run: npm takes longer to start than to ask.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    npms: Once<Option<Npm>>,
    untils: Once<Option<Until>>,
}

/// Values by who asks, with which variables, in which folder.
type Once<Value> = Arc<Mutex<BTreeMap<(PathBuf, Vec<(String, String)>, PathBuf), Value>>>;

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
        return Newest {
            unknown: outcome.note.clone().filter(|_| !outcome.nothing_to_know),
            ..Newest::default()
        };
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
        match telling_line(&self.last_lines) {
            Some(line) => format!("{} ({line})", self.problem),
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
