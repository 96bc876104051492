//! One row while its facts come in, and what becomes of them at the end.
//!
//! The start after a fresh installation judges nothing: its time is kept as `first_start` and it is not
//! among the sessions. Only where no other session followed is it all that is known of the row: then
//! who answered and which tools there are come from it, and what it saw is not dropped, or a server
//! that never started would come out clean.

use std::path::PathBuf;
use std::time::Duration;

use crate::event::{
    HostLoad, Newest, Observation, PackageFacts, ResourceFacts, Seen, SessionFacts, SessionKind, Skip, SkipReason,
};
use crate::finding::Phase;
use crate::plan::{Entry, Launch, Row};

use super::{RowRecord, Status, identity, probes, tries};

/// The facts of one row so far.
#[derive(Debug)]
pub(super) struct RowDraft {
    row: Row,
    log: PathBuf,
    skip: Option<Skip>,
    install: Option<Duration>,
    packages: Vec<PackageFacts>,
    newest: Newest,
    first_start: Option<SessionFacts>,
    sessions: Vec<SessionFacts>,
    load: Option<HostLoad>,
    observations: Vec<Observation>,
    done: bool,
}

impl RowDraft {
    pub(super) fn new(row: Row, log: PathBuf) -> Self {
        Self {
            row,
            log,
            skip: None,
            install: None,
            packages: Vec::new(),
            newest: Newest::default(),
            first_start: None,
            sessions: Vec::new(),
            load: None,
            observations: Vec::new(),
            done: false,
        }
    }

    /// The package manager ended; a row with several packages calls it more than once.
    pub(super) fn installed(&mut self, took: Duration) {
        self.install = Some(self.install.unwrap_or_default() + took);
    }

    pub(super) fn package_in_place(&mut self, package: PackageFacts) {
        self.packages.push(package);
    }

    pub(super) fn newest(&mut self, newest: Newest) {
        self.newest = newest;
    }

    /// Only the load before the first session is that of a host we have not loaded ourselves.
    pub(super) fn measuring(&mut self, load: HostLoad) {
        self.load.get_or_insert(load);
    }

    pub(super) fn session(&mut self, session: SessionFacts) {
        match session.kind {
            SessionKind::FirstStart => {
                self.first_start.get_or_insert(session);
            }
            SessionKind::Repeat(_) | SessionKind::ColdStart => self.sessions.push(session),
        }
    }

    pub(super) fn observed(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    pub(super) fn skipped(&mut self, skip: Skip) {
        self.skip.get_or_insert(skip);
    }

    pub(super) fn done(&mut self) {
        self.done = true;
    }

    pub(super) fn finish(mut self, interrupted: bool) -> RowRecord {
        self.adopt_first_start();
        self.close(interrupted);
        // What a try saw that failed and was made again comes after what the good one saw.
        let (counted, given_up) = tries(&self.sessions);
        let all: Vec<&SessionFacts> = counted.into_iter().chain(given_up).chain(&self.first_start).collect();
        let mut identity = identity::of(&self.row, &all, &self.packages);
        identity.package.newest = self.newest;
        RowRecord {
            identity,
            tools: all
                .iter()
                .find_map(|session| session.tools.as_ref())
                .map(|tools| tools.iter().map(Into::into).collect()),
            concurrency: self.row.launch().map_or(1, |launch| launch.concurrency),
            probes: probes::pool(self.row.launch().map_or(&[], |launch| &launch.probes), &self.sessions),
            resources: largest(&self.sessions),
            first_start: self.first_start.as_ref().and_then(|session| session.cold_start),
            command: self.row.launch().map(command_line),
            status: match (&self.row.entry, &self.skip) {
                (Entry::Unusable(_), _) => Status::Error,
                (_, Some(_)) => Status::Skip,
                (_, None) => Status::Pass,
            },
            id: self.row.id,
            server: self.row.server,
            title: self.row.title,
            runtime: self.row.runtime.map(|runtime| runtime.name),
            group: self.row.group,
            skip: self.skip,
            install: self.install,
            sessions: self.sessions,
            load: self.load.unwrap_or_default(),
            observations: self.observations,
            findings: Vec::new(),
            log: self.log,
        }
    }

    /// What the first start saw counts if nothing followed it, unless we ended it ourselves.
    fn adopt_first_start(&mut self) {
        if self.sessions.is_empty()
            && !self.saw(|what| matches!(what, Seen::Interrupted))
            && let Some(first_start) = &self.first_start
        {
            let seen = first_start.observations.iter().cloned();
            self.observations.splice(0..0, seen);
        }
    }

    /// A row that cannot have been run says why, and one without an end is never taken for a good one.
    fn close(&mut self, interrupted: bool) {
        match &self.row.entry {
            Entry::Disabled => {
                self.skip.get_or_insert_with(|| Skip {
                    reason: SkipReason::Disabled,
                    message: "disabled in the manifest".to_owned(),
                    cure: Some("take `enabled = false` out of its entry".to_owned()),
                });
            }
            Entry::Remote(_) => {
                self.skip.get_or_insert_with(|| Skip {
                    reason: SkipReason::Remote,
                    message: "reached by `url`; only servers on stdio are run so far".to_owned(),
                    cure: None,
                });
            }
            Entry::Unusable(problems) => {
                if !self.saw(|what| matches!(what, Seen::ConfigError { .. })) {
                    let problems = problems.iter().map(|problem| Observation {
                        phase: Phase::Prepare,
                        probe: None,
                        what: Seen::ConfigError {
                            field: problem.field.clone(),
                            problem: problem.problem.clone(),
                        },
                    });
                    self.observations.extend(problems);
                }
            }
            Entry::Run(_) => self.close_run(interrupted),
        }
    }

    fn close_run(&mut self, interrupted: bool) {
        let nothing = self.sessions.is_empty() && self.observations.is_empty();
        if self.skip.is_some() || (self.done && !nothing) {
            return;
        }
        let began = self.load.is_some() || self.first_start.is_some() || !nothing;
        if interrupted && !began {
            self.skip = Some(Skip {
                reason: SkipReason::Interrupted,
                message: "the run was interrupted before its turn".to_owned(),
                cure: None,
            });
        } else if !self.saw(|what| matches!(what, Seen::Interrupted | Seen::RowTimeout { .. })) {
            self.observations.push(Observation {
                phase: if began { Phase::Call } else { Phase::Prepare },
                probe: None,
                what: Seen::Interrupted,
            });
        }
    }

    fn saw(&self, wanted: impl Fn(&Seen) -> bool) -> bool {
        self.observations.iter().any(|observation| wanted(&observation.what))
    }
}

/// Plainly joined: quoting could tear a secret that is still to be masked.
fn command_line(launch: &Launch) -> String {
    let words = std::iter::once(&launch.command).chain(&launch.args);
    words.map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The largest of each figure over all sessions that told one.
fn largest(sessions: &[SessionFacts]) -> Option<ResourceFacts> {
    sessions
        .iter()
        .filter_map(|session| session.resources)
        .reduce(|one, other| ResourceFacts {
            peak_rss_bytes: one.peak_rss_bytes.max(other.peak_rss_bytes),
            cpu: one.cpu.max(other.cpu),
        })
}
