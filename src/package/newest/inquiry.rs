//! One question to one registry, on behalf of all rows that share it: who asks, what came of it, and what
//! stands in where nothing did.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::event::Ecosystem;
use crate::package::{Environment, Interpreter, Npm, identity};
use crate::plan::RuntimeKind;

use super::offer::{Offer, Until};
use super::uv_settings::UvSettings;
use super::{Answer, Once, Origin, Silence, Subject, Surroundings, kept, npm_view, pip_index};

/// What is asked once: rows that share it share the answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inquiry {
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
pub(super) struct Outcome {
    pub(super) offer: Option<Offer>,
    pub(super) as_of: Option<String>,
    pub(super) until: Option<Until>,
    pub(super) note: Option<String>,
    pub(super) nothing_to_know: bool,
}

impl Inquiry {
    pub(super) fn of(subject: &Subject, surroundings: &Surroundings) -> Self {
        Self {
            ecosystem: subject.ecosystem,
            name: identity::comparable_name(subject.ecosystem, &subject.name),
            env: subject.env.clone(),
            folder: match &subject.origin {
                // A folder that is laid out for each session only has no settings.
                Origin::Theirs { cwd, .. } if cwd.is_dir() => cwd.clone(),
                Origin::Theirs { .. } | Origin::Ours => surroundings.state.join("newest"),
            },
        }
    }

    pub(super) async fn outcome(&self, subjects: &[Subject], surroundings: &Surroundings) -> Outcome {
        let file = kept::file(&surroundings.state, self.ecosystem, &self.name, &self.env);
        let (asked, until) = match self.client(subjects, surroundings).await {
            Ok(client) => {
                let wanted: Vec<String> = subjects.iter().map(|subject| subject.wanted.clone()).collect();
                let until = self.until(&client, surroundings).await;
                let dated = until.is_some();
                let asking = self.ask(&client, &wanted, dated, surroundings);
                let asked = tokio::time::timeout(surroundings.limit, asking).await;
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
            Ok(Answer::Unknown) => {
                let had_it = kept::last(&file, &self.name).is_some();
                let still = if had_it { "no longer has a" } else { "has no" };
                Outcome {
                    note: Some(format!("the registry {still} package called {}", self.name)),
                    // What was never published has no newest release, and nobody misses one.
                    nothing_to_know: !had_it,
                    ..Outcome::default()
                }
            }
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
            ..Outcome::default()
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
                let npm = match node {
                    Some(node) => self.npm(&node, &environment, surroundings).await,
                    None => None,
                };
                npm.map(Client::Npm)
                    .ok_or_else(|| Silence::of("there is no npm to ask with"))
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

    async fn npm(&self, node: &Interpreter, environment: &Environment, surroundings: &Surroundings) -> Option<Npm> {
        let find_out = async {
            let npm = Npm::of(node, environment)?;
            Some(npm.with_settings_of_default(&self.folder, &surroundings.cancel).await)
        };
        self.once(&surroundings.clients.npms, &node.executable, find_out).await
    }

    /// What is known of this client, or is found out now.
    async fn once<Value: Clone>(
        &self,
        known: &Once<Value>,
        node: &Path,
        find_out: impl Future<Output = Value>,
    ) -> Value {
        // Held while it is found out: the others wait for the same.
        let mut known = known.lock().await;
        let who = (node.to_owned(), self.env.clone(), self.folder.clone());
        if let Some(value) = known.get(&who) {
            return value.clone();
        }
        let value = find_out.await;
        known.insert(who, value.clone());
        value
    }

    async fn ask(
        &self,
        client: &Client,
        wanted: &[String],
        dated: bool,
        surroundings: &Surroundings,
    ) -> Result<Answer, Silence> {
        let cancel = &surroundings.cancel;
        match client {
            Client::Npm(npm) => npm_view::ask(npm, &self.name, wanted, dated, &self.folder, cancel).await,
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
            Client::Npm(npm) => {
                let find_out = npm_view::until(npm, &self.folder, surroundings.now, &surroundings.cancel);
                self.once(&surroundings.clients.untils, npm.node(), find_out).await
            }
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
