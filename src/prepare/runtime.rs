//! Gives each row the runtime it names: found, or installed under the state folder.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::{Seen, SkipReason};
use crate::package::{Interpreter, Place};
use crate::plan::{InstallMode, Runtime, RuntimeKind};

use super::installing::NoLock;
use super::runtimes::{self, Finder, Missing};
use super::voice::Voice;
use super::{Refusal, Rows, Surroundings};

/// What came of looking for a runtime.
enum Outcome {
    Found(Interpreter),
    NotInstalled,
    Missing(Missing),
}

/// Gives rows their runtime, and takes out those for which there is none.
pub(super) async fn give(surroundings: &Surroundings<'_>, rows: &mut Rows<'_>) {
    let mut finder = Finder::new(surroundings.environment, surroundings.cancel);
    let mut outcomes: BTreeMap<(RuntimeKind, String), Outcome> = BTreeMap::new();
    for row in &rows.going {
        let Some(runtime) = &row.row.runtime else {
            continue;
        };
        let key = (runtime.kind, runtime.range.clone());
        if outcomes.contains_key(&key) {
            continue;
        }
        let concerned = rows
            .going
            .iter()
            .filter(|row| row.row.runtime.as_ref() == Some(runtime));
        let voice = Voice::of_all(concerned.map(|row| &row.voice)).unwrap_or_else(|| row.voice.clone());
        let outcome = surroundings.runtime(runtime, &mut finder, &voice).await;
        outcomes.insert(key, outcome);
    }
    rows.sort_out(|row| {
        let Some(runtime) = &row.row.runtime else {
            return Ok(());
        };
        let key = (runtime.kind, runtime.range.clone());
        match outcomes.get(&key) {
            Some(Outcome::Found(interpreter)) => {
                row.voice.note(&format!(
                    "{} is {} {} at {}",
                    runtime.name,
                    runtime.kind.name(),
                    interpreter.version,
                    interpreter.executable.display()
                ));
                row.ready.path_first = vec![interpreter.bin_folder().to_owned()];
                row.ready.runtime = Some(interpreter.facts());
                Ok(())
            }
            Some(Outcome::NotInstalled) => Err(Refusal::not_installed(&words(runtime))),
            Some(Outcome::Missing(missing)) => Err(refuse(runtime, missing, &row.voice)),
            None => Err(Refusal::interrupted()),
        }
    });
}

impl Surroundings<'_> {
    async fn runtime(&self, runtime: &Runtime, finder: &mut Finder<'_>, voice: &Voice) -> Outcome {
        let (kind, range) = (runtime.kind, runtime.range.as_str());
        if let Some(interpreter) = finder.find(kind, range).await {
            return Outcome::Found(interpreter);
        }
        let place = runtimes::place_of(self.installing.state(), kind, range);
        let earlier = match place.current() {
            Some(installation) => runtimes::installed(finder, kind, range, &installation).await,
            None => None,
        };
        match (self.mode(), earlier) {
            (InstallMode::Missing | InstallMode::Never, Some(earlier)) => Outcome::Found(earlier),
            (InstallMode::Never, None) => Outcome::NotInstalled,
            (InstallMode::Missing, None) => match self.install_runtime(runtime, &place, finder, voice).await {
                Ok(interpreter) => Outcome::Found(interpreter),
                Err(missing) => Outcome::Missing(missing),
            },
            (InstallMode::Update, earlier) => {
                match (self.install_runtime(runtime, &place, finder, voice).await, earlier) {
                    (Ok(interpreter), _) => Outcome::Found(interpreter),
                    (Err(missing @ Missing::Cancelled), _) | (Err(missing), None) => Outcome::Missing(missing),
                    (Err(missing), Some(earlier)) => {
                        voice.observed(Seen::InstallStale {
                            what: words(runtime),
                            installed: earlier.version.clone(),
                            problem: problem_of(&missing),
                        });
                        Outcome::Found(earlier)
                    }
                }
            }
        }
    }

    async fn install_runtime(
        &self,
        runtime: &Runtime,
        place: &Place,
        finder: &mut Finder<'_>,
        voice: &Voice,
    ) -> Result<Interpreter, Missing> {
        let _turn = self.installing.turn(voice).await.map_err(Missing::from)?;
        let (kind, range) = (runtime.kind, runtime.range.as_str());
        if self.mode() == InstallMode::Missing
            && let Some(installation) = place.current()
            && let Some(interpreter) = runtimes::installed(finder, kind, range, &installation).await
        {
            // Another run that held the lock did it meanwhile.
            return Ok(interpreter);
        }
        voice.doing(&format!("installing {}", words(runtime)));
        let failed = |problem: String| Missing::Failed {
            problem,
            last_lines: Vec::new(),
        };
        let draft = place
            .begin()
            .map_err(|error| failed(format!("cannot make its folder: {error}")))?;
        let folder = draft.folder();
        let mut on_line = |line: &str| voice.line(line);
        let took: Duration =
            runtimes::install(kind, range, &folder, self.environment, &mut on_line, self.cancel).await?;
        voice.note(&format!("installed {} in {:.1} s", words(runtime), took.as_secs_f64()));
        let installation = draft
            .finish()
            .map_err(|error| failed(format!("cannot finish its folder: {error}")))?;
        let interpreter = runtimes::installed(finder, kind, range, &installation).await;
        interpreter.ok_or_else(|| failed(format!("what was installed is not {} or does not run", words(runtime))))
    }
}

impl From<NoLock> for Missing {
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

fn refuse(runtime: &Runtime, missing: &Missing, voice: &Voice) -> Refusal {
    match missing {
        Missing::Cancelled => Refusal::interrupted(),
        Missing::Installer { problem, cure } => {
            Refusal::skipped(SkipReason::ProgramMissing, problem.clone(), Some(cure.clone()))
        }
        Missing::Failed { problem, last_lines } => {
            voice.observed(Seen::InstallFailed {
                what: words(runtime),
                problem: problem.clone(),
                last_lines: last_lines.clone(),
            });
            Refusal::Failed
        }
    }
}

fn problem_of(missing: &Missing) -> String {
    match missing {
        Missing::Cancelled => "interrupted".to_owned(),
        Missing::Installer { problem, .. } | Missing::Failed { problem, .. } => problem.clone(),
    }
}

/// `Node 24`, `Python >=3.10`.
fn words(runtime: &Runtime) -> String {
    let kind = match runtime.kind {
        RuntimeKind::Node => "Node",
        RuntimeKind::Python => "Python",
    };
    format!("{kind} {}", runtime.range)
}
