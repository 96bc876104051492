//! The earlier runs as one row sees them: only those that ended by themselves and had the row, newest
//! first, and how the row came out in each. What follows from them is decided elsewhere.

use std::time::Duration;

use crate::event::RowId;
use crate::finding::{Class, Code, Finding, Severity};
use crate::judge::Past;
use crate::record::{Host, Identity, RowRecord, RunRecord, Status};

/// The run that is judged, without its rows.
#[derive(Clone, Debug)]
pub(super) struct Tonight {
    pub(super) host: Host,
    pub(super) jobs: usize,
    pub(super) manifest_sha256: String,
    pub(super) interrupted: bool,
    /// What the client itself may have added to a call: the p95 of the calibration.
    pub(super) client_share: Option<Duration>,
}

/// One earlier run of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Night<'past> {
    pub(super) run: &'past RunRecord,
    pub(super) row: &'past RowRecord,
}

/// How a row came out as a server that works or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    Passed,
    Failed,
}

impl Tonight {
    pub(super) fn of(record: &RunRecord) -> Self {
        Self {
            host: record.host.clone(),
            jobs: record.jobs,
            manifest_sha256: record.manifest_sha256.clone(),
            interrupted: record.interrupted,
            client_share: record.calibration.as_ref().map(|calibration| calibration.p95),
        }
    }
}

impl Night<'_> {
    /// `2026-11-29`, in UTC as everything else.
    pub(super) fn date(self) -> String {
        self.run.started.strftime("%Y-%m-%d").to_string()
    }

    /// Null for a night that says nothing of it: skipped, or an entry that could not be used.
    pub(super) fn course(self) -> Option<Course> {
        let unusable = matches!(self.row.status, Status::Skip | Status::Error);
        let answered = self.row.identity.era.is_some();
        match (unusable, self.row.findings.iter().any(does_not_work)) {
            (true, _) => None,
            (false, true) => Some(Course::Failed),
            (false, false) => answered.then_some(Course::Passed),
        }
    }
}

/// The earlier nights of a row, newest first.
pub(super) fn nights<'past>(past: &Past<'past>, id: &RowId) -> Vec<Night<'past>> {
    let whole = past.runs.iter().filter(|run| !run.interrupted);
    whole
        .filter_map(|run| {
            let row = run.rows.iter().find(|row| row.id == *id)?;
            Some(Night { run, row })
        })
        .collect()
}

/// Whether a finding says that the row does not work, whatever its versions are.
pub(super) fn does_not_work(finding: &Finding) -> bool {
    finding.severity == Severity::Fail
        && finding.code.class() == Class::Behaviour
        && !matches!(finding.code, Code::ConfigError | Code::Interrupted | Code::RowSkipped)
}

/// Whether nothing that is known of both has changed: package, installed and reported version, runtime. A
/// row that did not start knows less, and is not another one for that.
pub(super) fn unchanged(one: &Identity, other: &Identity) -> bool {
    let facts = |identity: &Identity| {
        [
            identity.package.name.clone(),
            identity.package.installed.clone(),
            identity.reported_version.clone(),
            identity.runtime.as_ref().and_then(|runtime| runtime.version.clone()),
        ]
    };
    let agree = |pair: (Option<String>, Option<String>)| match pair {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => true,
    };
    facts(one).into_iter().zip(facts(other)).all(agree)
}
