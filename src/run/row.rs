//! What a row goes through, from its first session to its last: fixtures laid out, process started,
//! handshake, who it is, tools, probes, shutdown. Nothing here can fail; what goes wrong is in the facts.

use std::collections::VecDeque;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::client::process::{Command, Owner, Remains, end_what_killed_runs_left};
use crate::client::session::{Session, SessionSpec, Stop, protocol_of_next};
use crate::event::{EventKind, Observation, ProcessIdentity, Seen, SessionFacts, SessionKind, Sink, Skip, SkipReason};
use crate::finding::Phase;
use crate::package::identity;
use crate::plan::{Launch, Plan, Protocol};
use crate::prepare::{ReadyRow, Scratch};

use super::Interruption;
use super::host_load;
use super::launch;
use super::retry::went_wrong;

/// Everything that one row needs while it is measured.
pub(super) struct Measurement {
    pub(super) plan: Arc<Plan>,
    /// Its place in the plan.
    pub(super) row: usize,
    pub(super) ready: ReadyRow,
    /// The address of the `${http}` page, where some row needs it.
    pub(super) page: Option<String>,
    pub(super) sink: Sink,
    pub(super) interruption: Interruption,
}

impl Measurement {
    /// Whose its servers are, whichever way the manifest's folder was written.
    fn owner(&self) -> Owner {
        let folder = &self.plan.manifest_dir;
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        let manifest = folder.join(self.plan.manifest.file_name().unwrap_or_default());
        Owner::new(&manifest, &self.plan.rows[self.row].id.0)
    }

    /// Its servers may still hold what the first session needs, if the run that started them was killed.
    async fn clear_away(&self) {
        let remains = end_what_killed_runs_left(&self.owner()).await;
        if !remains.is_empty() {
            let Remains { ended, left_over } = remains;
            observe(self, Phase::Prepare, Seen::LeftByKilledRun { ended, left_over });
        }
    }
}

/// A row between its first session and its last.
pub(super) struct Course {
    measurement: Measurement,
    /// The sessions still to come.
    to_come: VecDeque<Try>,
    /// How many sessions there were; the number of the next is one more.
    lived: u32,
    /// How many sessions that failed may still be lived again.
    retries: u32,
    protocol: Protocol,
    /// What its sessions took so far; those of other rows in between do not count.
    spent: Duration,
    /// Whether it had a session.
    begun: bool,
}

/// A session to be lived, for the first time or again.
#[derive(Clone, Copy)]
struct Try {
    kind: SessionKind,
    attempt: u32,
}

impl Course {
    /// A row before its first session. Null if its entry cannot be run.
    pub(super) fn begin(measurement: Measurement) -> Option<Self> {
        let launch = measurement.plan.rows[measurement.row].launch()?;
        let protocol = launch.protocol.clone();
        let retries = launch.retries;
        let first = |kind| Try { kind, attempt: 1 };
        let to_come = sessions(launch, measurement.ready.fresh)
            .into_iter()
            .map(first)
            .collect();
        if let Some(package) = measurement.ready.installed.first() {
            measurement.sink.send(EventKind::PackageInPlace(package.clone()));
        }
        measurement.sink.send(EventKind::Measuring(host_load::read()));
        Some(Self {
            measurement,
            to_come,
            lived: 0,
            retries,
            protocol,
            spent: Duration::ZERO,
            begun: false,
        })
    }

    /// Lives through its next session. False when the row is over.
    pub(super) async fn next(&mut self) -> bool {
        if self.measurement.interruption.came() {
            return self.interrupted();
        }
        let Some(this) = self.to_come.pop_front() else {
            return false;
        };
        if !self.begun {
            self.measurement.clear_away().await;
        }
        let plan = Arc::clone(&self.measurement.plan);
        let Some(launch) = plan.rows[self.measurement.row].launch() else {
            return false;
        };
        let began = Instant::now();
        let left = launch.limits.row.saturating_sub(self.spent);
        let Interruption { wind_down, kill } = self.measurement.interruption.clone();
        let stop = Stop::new(wind_down, kill, Some(began + left));
        self.lived += 1;
        let lived = session(
            &self.measurement,
            launch,
            (this, self.lived),
            self.protocol.clone(),
            &stop,
        )
        .await;
        self.spent += began.elapsed();
        self.begun = true;
        let goes_on = match lived {
            // Without fixtures, which was said.
            None => false,
            Some(Lived { facts, cut_short }) => {
                let opened = facts.handshake.is_some();
                let again = went_wrong(&facts) && !cut_short && self.try_again(this, opened);
                self.protocol = protocol_of_next(&self.protocol, &facts);
                self.measurement.sink.send(EventKind::Session(Box::new(facts)));
                if cut_short && !self.measurement.interruption.came() {
                    observe(
                        &self.measurement,
                        Phase::Call,
                        Seen::RowTimeout {
                            limit: launch.limits.row,
                        },
                    );
                }
                // One that did not start would only take its limit again and again.
                again || opened && !cut_short
            }
        };
        if self.measurement.interruption.came() {
            self.interrupted()
        } else {
            goes_on
        }
    }

    /// Puts a failed session in front of those to come once more, if it may be. The start after an
    /// installation counts for nothing and is not repeated: where it did not even open, the first session
    /// that counts is the second try.
    fn try_again(&mut self, failed: Try, opened: bool) -> bool {
        let is_first_start = failed.kind == SessionKind::FirstStart;
        if self.retries == 0 || (is_first_start && opened) {
            return false;
        }
        self.retries -= 1;
        if is_first_start {
            if let Some(next) = self.to_come.front_mut() {
                next.attempt += 1;
            }
        } else {
            self.to_come.push_front(Try {
                attempt: failed.attempt + 1,
                ..failed
            });
        }
        true
    }

    /// Ctrl-C ends a row, or keeps it from being begun.
    fn interrupted(&self) -> bool {
        if self.begun {
            observe(&self.measurement, Phase::Call, Seen::Interrupted);
        } else {
            self.measurement.sink.send(EventKind::Skipped(not_begun()));
        }
        false
    }
}

/// Why a row has no session after Ctrl-C.
pub(super) fn not_begun() -> Skip {
    Skip {
        reason: SkipReason::Interrupted,
        message: "the run was interrupted before its turn".into(),
        cure: None,
    }
}

/// The sessions of a row: after a fresh installation one that counts for nothing, then the full
/// ones, then those with handshake and list only.
fn sessions(launch: &Launch, fresh: bool) -> Vec<SessionKind> {
    let first = fresh.then_some(SessionKind::FirstStart);
    let full = (1..=launch.repeats).map(SessionKind::Repeat);
    let cold = (launch.repeats..launch.cold_starts).map(|_| SessionKind::ColdStart);
    first.into_iter().chain(full).chain(cold).collect()
}

/// A session that ran to its shutdown.
struct Lived {
    facts: SessionFacts,
    /// Whether it was told to stop before it was through.
    cut_short: bool,
}

/// One session, from its fixtures to its shutdown. Null if the fixtures could not be laid out.
async fn session(
    measurement: &Measurement,
    launch: &Launch,
    (Try { kind, attempt }, number): (Try, u32),
    protocol: Protocol,
    stop: &Stop,
) -> Option<Lived> {
    let scratch = match Scratch::lay_out(&launch.needs, &measurement.ready, measurement.page.as_deref()) {
        Ok(scratch) => scratch,
        Err(error) => {
            let what = Seen::ConfigError {
                field: "fixtures".into(),
                problem: format!("{error:#}"),
            };
            observe(measurement, Phase::Prepare, what);
            return None;
        }
    };
    let command = Command {
        owner: Some(measurement.owner()),
        ..launch::command(launch, &measurement.ready, scratch.fixtures())
    };
    tell_command(measurement, number, Try { kind, attempt }, &command);
    let spec = SessionSpec {
        number,
        kind,
        attempt,
        command: command.clone(),
        protocol,
        limits: launch.limits,
    };
    let mut session = Session::open(spec, measurement.sink.clone(), stop.clone()).await;
    if let Some(pid) = session.pid().filter(|_| session.is_open()) {
        session.set_identity(identity::identify(pid, &command).await);
    }
    session.list_tools().await;
    for (index, probe) in launch.probes.iter().enumerate() {
        let mut filled = launch::probe(index, probe, launch.concurrency, scratch.fixtures());
        match kind {
            SessionKind::Repeat(_) => session.probe(&filled).await,
            SessionKind::FirstStart if index == 0 => {
                (filled.calls, filled.warmup) = (1, 0);
                session.probe(&filled).await;
            }
            SessionKind::FirstStart | SessionKind::ColdStart => break,
        }
    }
    let cut_short = stop.is_due();
    let mut facts = session.close().await;
    if facts.shutdown.is_some() && facts.identity.is_none() {
        facts.identity = Some(prepared_identity(&measurement.ready, &command));
    }
    Some(Lived { facts, cut_short })
}

/// Who a server that never answered would have been: its row's runtime, as far as that was prepared.
fn prepared_identity(ready: &ReadyRow, command: &Command) -> ProcessIdentity {
    ProcessIdentity {
        package: None,
        runtime: ready.runtime.clone(),
        launcher: identity::launcher_of(command),
    }
}

/// The log tells what exactly was started; of the environment only the names.
fn tell_command(measurement: &Measurement, number: u32, this: Try, command: &Command) {
    let what = match this.kind {
        SessionKind::FirstStart => "first start after the installation".to_owned(),
        SessionKind::Repeat(repeat) => format!("repeat {repeat}"),
        SessionKind::ColdStart => "handshake and list only".to_owned(),
    };
    let again = match this.attempt {
        1 => String::new(),
        attempt => format!(", try {attempt}"),
    };
    let names: Vec<&str> = command.env.iter().map(|(name, _)| name.as_str()).collect();
    let words = std::iter::once(command.program.to_string_lossy().into_owned()).chain(command.args.iter().cloned());
    let line = shlex::try_join(words.collect::<Vec<_>>().iter().map(String::as_str))
        .unwrap_or_else(|_| format!("{} {:?}", command.program.display(), command.args));
    for text in [
        format!("session {number}: {what}{again}"),
        format!("command: {line}"),
        format!("in {}", command.cwd.display()),
        format!("environment: {}", names.join(" ")),
    ] {
        measurement.sink.note(number, Duration::ZERO, text);
    }
}

fn observe(measurement: &Measurement, phase: Phase, what: Seen) {
    measurement.sink.send(EventKind::Observed(Observation {
        phase,
        probe: None,
        what,
    }));
}
