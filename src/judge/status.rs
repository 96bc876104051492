//! From findings to the status of a row, the totals of a run and the exit code. It must not look at facts.

use crate::finding::{Class, Finding, Severity};
use crate::record::{RowRecord, RunRecord, Status, Totals};

/// Ctrl-C: 128 and the number of SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;
/// Nothing failed, and something ran.
const GOOD: u8 = 0;
/// Some row failed.
const FAILED: u8 = 1;
/// What failed works, and is not what it was or should be.
const WENT_BACKWARDS: u8 = 3;
/// Nothing ran.
const ALL_SKIPPED: u8 = 4;

/// From which severity on a finding fails its row. `--strict` does not touch the finding: the report still
/// says that it is a warning, and `fail` on the row says that warnings fail here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bar(Severity);

impl Bar {
    pub(super) fn new(strict: bool) -> Self {
        Self(if strict { Severity::Warn } else { Severity::Fail })
    }

    fn fails(self, finding: &Finding) -> bool {
        finding.severity >= self.0
    }
}

/// What else than its findings says how a row came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It was run, or something kept it from being run.
    Run,
    /// It was not run, with a reason.
    Skipped,
    /// Its entry cannot be used.
    Unusable,
}

/// The status of a row. A skipped row whose findings fail (by `[severity]`) is a failed row; it is never a pass.
pub(super) fn status(findings: &[Finding], course: Course, bar: Bar) -> Status {
    let failed = findings.iter().any(|finding| bar.fails(finding));
    match course {
        Course::Unusable => Status::Error,
        Course::Run | Course::Skipped if failed => Status::Fail,
        Course::Skipped => Status::Skip,
        Course::Run if findings.iter().any(|finding| finding.severity == Severity::Warn) => Status::Warn,
        Course::Run => Status::Pass,
    }
}

/// Rows by status.
pub(super) fn totals(rows: &[RowRecord]) -> Totals {
    let mut totals = Totals {
        rows: rows.len(),
        ..Totals::default()
    };
    for row in rows {
        let count = match row.status {
            Status::Pass => &mut totals.pass,
            Status::Warn => &mut totals.warn,
            Status::Fail => &mut totals.fail,
            Status::Skip => &mut totals.skip,
            Status::Error => &mut totals.error,
        };
        *count += 1;
    }
    totals
}

/// The exit code of the run, from rows whose statuses are known.
pub(super) fn exit_code(record: &RunRecord, bar: Bar) -> u8 {
    if record.interrupted {
        return INTERRUPTED;
    }
    let mut failed = record
        .rows
        .iter()
        .filter(|row| matches!(row.status, Status::Fail | Status::Error))
        .peekable();
    if failed.peek().is_some() {
        return if failed.all(|row| only_went_backwards(row, bar)) {
            WENT_BACKWARDS
        } else {
            FAILED
        };
    }
    // A run without rows has tested nothing either.
    if record.rows.iter().all(|row| row.status == Status::Skip) {
        ALL_SKIPPED
    } else {
        GOOD
    }
}

fn only_went_backwards(row: &RowRecord, bar: Bar) -> bool {
    // An entry that cannot be used is no matter of versions, whatever `[severity]` makes of its finding.
    let mut failing = row.findings.iter().filter(|finding| bar.fails(finding));
    row.status != Status::Error && failing.all(|finding| finding.code.class() == Class::VersionsAndTools)
}
