//! What the facts of a run amount to: findings, statuses, totals, the exit code.
//!
//! Pure: no clock, no files, no output. Everything it knows stands in the record and in the plan, so the
//! same record is judged the same way twice. It must not change a fact.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::event::{Observation, Seen, SessionFacts, SessionKind};
use crate::finding::{Code, Finding, Phase, Severity, SeverityChoice};
use crate::plan::{Entry, Plan, Row};
use crate::record::{RowRecord, RunRecord, Status};

use expectations::Found;
use sentences::{Case, Told};
use status::{Bar, Course};

mod disagreements;
mod expectations;
mod groups;
mod hints;
mod newest;
mod sentences;
mod status;
mod words;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;

/// Of one code a row gets no more findings than this; the last says how many more there would be. A server
/// with a thousand odd tools must not bury the rest of the report.
const MOST_OF_A_CODE: usize = 20;

/// What a row comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its findings: what fails first, then warnings, then notes, each in the order of the phases.
    pub findings: Vec<Finding>,
    /// How it came out.
    pub status: Status,
}

/// A finding and the sessions it holds for.
#[derive(Clone, Debug)]
struct Noted {
    told: Told,
    sessions: Vec<u32>,
}

/// Fills in the findings and the status of every row, the totals and the exit code. Judging a judged
/// record again gives the same.
pub fn judge(record: &mut RunRecord, plan: &Plan) {
    let bar = Bar::new(plan.settings.strict);
    let interrupted = record.interrupted;
    for row in &mut record.rows {
        let verdict = verdict(row, plan, interrupted, bar);
        row.findings = verdict.findings;
        row.status = verdict.status;
    }
    record.totals = status::totals(&record.rows);
    record.exit_code = status::exit_code(record, bar);
}

fn verdict(record: &RowRecord, plan: &Plan, interrupted: bool, bar: Bar) -> Verdict {
    let planned = plan.rows.iter().find(|planned| planned.id == record.id);
    let case = Case { plan: planned, record };
    // The start after an installation is not judged: first imports, byte-compiling and downloads fall there.
    let sessions: Vec<&SessionFacts> = record
        .sessions
        .iter()
        .filter(|session| session.kind != SessionKind::FirstStart)
        .collect();
    let course = course(record, planned);
    let mut noted = noted(case, plan, &sessions);
    noted.extend(skipped(record).map(Noted::of_row));
    noted.extend(newest::tell(case).into_iter().map(Noted::of_row));
    let answered = sessions.iter().any(|session| session.handshake.is_some());
    let silent = course == Course::Run && !answered;
    if silent && !noted.iter().any(|noted| tells_of_an_end(&noted.told)) {
        noted.push(Noted::of_row(never_answered(interrupted)));
    }
    // A row that never answered is never a pass: what says so can be lowered to a warning, and no further.
    let floor = silent.then_some(Severity::Warn);
    let severities = planned.map(|row| &row.severity);
    let judged = noted
        .into_iter()
        .filter_map(|noted| finding(noted, &sessions, severities, floor));
    let findings = in_order(judged.collect());
    let status = status::status(&findings, course, bar);
    Verdict { findings, status }
}

fn course(record: &RowRecord, plan: Option<&Row>) -> Course {
    let unusable = record
        .observations
        .iter()
        .any(|observation| matches!(observation.what, Seen::ConfigError { .. }))
        || plan.is_some_and(|row| matches!(row.entry, Entry::Unusable(_)));
    match (unusable, &record.skip) {
        (true, _) => Course::Unusable,
        (false, Some(_)) => Course::Skipped,
        (false, None) => Course::Run,
    }
}

/// Everything that can be said about a row, each thing once.
fn noted(case: Case<'_>, plan: &Plan, sessions: &[&SessionFacts]) -> Vec<Noted> {
    let mut outside = case.record.observations.clone();
    outside.extend(unusable_fields(case.plan, plan));
    let groups = groups::group(&outside, sessions);
    let mut noted: Vec<Noted> = groups
        .into_iter()
        .map(|group| Noted {
            told: sentences::tell(&group, case),
            sessions: group.sessions,
        })
        .collect();
    let mut found: Vec<Found> = expectations::hold(plan, sessions, case);
    let name_is_expected = case.plan.is_some_and(|row| row.expect.name.is_some());
    found.extend(disagreements::between(sessions, name_is_expected));
    for (session, told) in found {
        match noted.iter_mut().find(|noted| noted.told == told) {
            Some(known) => known.sessions.extend(session),
            None => noted.push(Noted {
                told,
                sessions: session.into_iter().collect(),
            }),
        }
    }
    noted
}

/// The plan's own reasons; where the run has observed them too they fall together.
fn unusable_fields(row: Option<&Row>, plan: &Plan) -> Vec<Observation> {
    let Some(Entry::Unusable(problems)) = row.map(|row| &row.entry) else {
        return Vec::new();
    };
    let masked = |text: &str| plan.mask.apply(text).into_owned();
    problems
        .iter()
        .map(|problem| Observation {
            phase: Phase::Prepare,
            probe: None,
            what: Seen::ConfigError {
                field: masked(&problem.field),
                problem: masked(&problem.problem),
            },
        })
        .collect()
}

fn skipped(record: &RowRecord) -> Option<Told> {
    let skip = record.skip.as_ref()?;
    let message = format!("not run ({}): {}", skip.reason.name(), words::line(&skip.message));
    Some(
        Told::new(Code::RowSkipped, message)
            .phase(Phase::Prepare)
            .hint(skip.cure.clone()),
    )
}

/// Whether it can be the reason why a row did not answer.
fn tells_of_an_end(told: &Told) -> bool {
    told.severity == Severity::Fail || told.code == Code::Interrupted
}

fn never_answered(interrupted: bool) -> Told {
    let told = if interrupted {
        Told::new(Code::Interrupted, "interrupted before a session of it had answered")
    } else {
        // Whoever prepares or runs a row says why it has no session; this speaks up where nobody did.
        Told::new(Code::SpawnFailed, "no session of it answered, and nothing says why").hint(Some(
            "this is a mistake in mcp-smoke: please report it with the row's log",
        ))
    };
    told.phase(Phase::Spawn)
}

fn finding(
    noted: Noted,
    sessions: &[&SessionFacts],
    severities: Option<&BTreeMap<Code, SeverityChoice>>,
    floor: Option<Severity>,
) -> Option<Finding> {
    let in_sessions = noted.in_sessions(sessions);
    let told = noted.told;
    let asked = match severities.and_then(|severities| severities.get(&told.code)) {
        None => Some(told.severity),
        Some(SeverityChoice::Fail) => Some(Severity::Fail),
        Some(SeverityChoice::Warn) => Some(Severity::Warn),
        Some(SeverityChoice::Note) => Some(Severity::Note),
        Some(SeverityChoice::Ignore) => None,
    };
    let floor = floor.filter(|_| tells_of_an_end(&told));
    Some(Finding {
        code: told.code,
        severity: asked.max(floor)?,
        phase: told.phase,
        message: told.message + &in_sessions,
        expected: told.expected,
        actual: told.actual,
        hint: told.hint,
        accepted: None,
    })
}

fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    // A stable sort: within a phase things stay in the order in which they were seen.
    findings.sort_by_key(|finding| (Reverse(finding.severity), finding.phase));
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    for finding in &findings {
        *counts.entry(finding.code).or_default() += 1;
    }
    let mut kept: BTreeMap<Code, usize> = BTreeMap::new();
    findings.retain_mut(|finding| {
        let kept = kept.entry(finding.code).or_default();
        *kept += 1;
        let more = counts[&finding.code].saturating_sub(MOST_OF_A_CODE);
        if *kept == MOST_OF_A_CODE && more > 0 {
            finding.message = format!("{} (and {more} more like it)", finding.message);
        }
        *kept <= MOST_OF_A_CODE
    });
    findings
}

impl Noted {
    fn of_row(told: Told) -> Self {
        Self {
            told,
            sessions: Vec::new(),
        }
    }

    /// ` (in 2 of 3 sessions)`, where there are several. Only full sessions make calls.
    fn in_sessions(&self, sessions: &[&SessionFacts]) -> String {
        let could = |session: &&&SessionFacts| match session.kind {
            SessionKind::FirstStart => false,
            SessionKind::Repeat(_) => true,
            SessionKind::ColdStart => self.told.phase != Phase::Call,
        };
        let all = sessions.iter().filter(could).count();
        if all < 2 || self.sessions.is_empty() {
            return String::new();
        }
        format!(" (in {} of {all} sessions)", self.sessions.len())
    }
}
