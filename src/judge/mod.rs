//! What the facts of a run amount to: findings, statuses, totals, the exit code.
//!
//! Pure: no clock, no files, no output. Everything it knows stands in the record and in the plan, so the
//! same record is judged the same way twice. It must not change a fact.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::event::{Observation, RowId, Seen, SessionFacts, SessionKind, SkipReason};
use crate::finding::{Code, Finding, Phase, Severity, SeverityChoice};
use crate::lock::Lock;
use crate::plan::{Entry, Plan, Row};
use crate::record::{RowRecord, RunRecord, Status};

use expectations::Found;
use flaky::Tries;
use nights::{Tonight, nights};
use sentences::{Case, Told};
use status::{Bar, Course};

mod acceptance;
mod compare;
mod disagreements;
mod expectations;
mod flaky;
mod groups;
mod hints;
pub mod latency;
mod newest;
mod nights;
mod sentences;
mod split;
mod status;
mod words;

pub use acceptance::{acceptable, still_accepted};
pub use compare::tools::{Change as ToolChange, Tools, changes as tool_changes};

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

/// What is known from before the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past<'past> {
    /// What was accepted of the rows; null without a lock.
    pub lock: Option<&'past Lock>,
    /// Earlier runs of the same manifest, newest first.
    pub runs: &'past [RunRecord],
}

/// A finding and the sessions it holds for.
#[derive(Clone, Debug)]
struct Noted {
    told: Told,
    sessions: Vec<u32>,
}

/// Fills in the findings and the status of every row, the totals and the exit code. Judging a judged
/// record again gives the same.
pub fn judge(record: &mut RunRecord, plan: &Plan, past: &Past<'_>) {
    let bar = Bar::new(plan.settings.strict);
    let night = Night {
        plan,
        past,
        tonight: Tonight::of(record),
        splits: split::between(&record.rows),
        bar,
    };
    for row in &mut record.rows {
        let verdict = verdict(row, &night);
        row.findings = verdict.findings;
        row.status = verdict.status;
    }
    record.totals = status::totals(&record.rows);
    record.exit_code = status::exit_code(record, bar);
}

/// What all rows of a run are judged by.
struct Night<'night> {
    plan: &'night Plan,
    past: &'night Past<'night>,
    tonight: Tonight,
    /// Rows that are behind another one of the same package.
    splits: BTreeMap<RowId, Told>,
    bar: Bar,
}

fn verdict(record: &RowRecord, night: &Night<'_>) -> Verdict {
    let (plan, past, tonight) = (night.plan, night.past, &night.tonight);
    let planned = plan.rows.iter().find(|planned| planned.id == record.id);
    let case = Case { plan: planned, record };
    let tries = Tries::of(&record.sessions);
    let sessions = &tries.counted;
    let course = course(record, planned);
    let mut noted = noted(case, plan, sessions);
    for (sessions, told) in tries.leave(case) {
        add(&mut noted, sessions, told);
    }
    noted.extend(skipped(record, past).map(Noted::of_row));
    noted.extend(compare::hold(case, past).into_iter().map(Noted::of_row));
    noted.extend(night.splits.get(&record.id).cloned().map(Noted::of_row));
    noted.extend(not_in_lock(case, night).map(Noted::of_row));
    let nights = nights(past, &record.id);
    noted.extend(latency::against(record, tonight, &nights).map(Noted::of_row));
    noted.extend(newest::tell(case).into_iter().map(Noted::of_row));
    let answered = sessions.iter().any(|session| session.handshake.is_some());
    let silent = course == Course::Run && !answered;
    if silent && !noted.iter().any(|noted| tells_of_an_end(&noted.told)) {
        noted.push(Noted::of_row(never_answered(tonight.interrupted)));
    }
    // A row that never answered is never a pass: what says so can be lowered to a warning, and no further.
    let floor = silent.then_some(Severity::Warn);
    let severities = planned.map(|row| &row.severity);
    let judged = |noted: Noted| finding(noted.accepted(case, past), sessions, severities, floor);
    let mut findings: Vec<Finding> = noted.into_iter().filter_map(judged).collect();
    if course == Course::Run && !tonight.interrupted {
        findings.extend(
            flaky::across(record, &findings, tonight, &nights)
                .map(Noted::of_row)
                .and_then(judged),
        );
    }
    findings = in_order(findings);
    tries.count(&mut findings, case);
    flaky::remember(&mut findings, record, tonight, &nights);
    let status = status::status(&findings, course, night.bar);
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
        add(&mut noted, session.into_iter().collect(), told);
    }
    noted
}

/// The same thing seen again is the same thing.
fn add(noted: &mut Vec<Noted>, sessions: Vec<u32>, told: Told) {
    match noted.iter_mut().find(|noted| noted.told == told) {
        Some(known) => known.sessions.extend(sessions),
        None => noted.push(Noted { told, sessions }),
    }
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

/// Nobody has accepted it yet. With `--locked` that fails.
fn not_in_lock(case: Case<'_>, night: &Night<'_>) -> Option<Told> {
    let told = compare::not_in_lock(case, night.past)?;
    Some(if night.plan.settings.locked {
        told.severity(Severity::Fail)
    } else {
        told
    })
}

fn skipped(record: &RowRecord, past: &Past<'_>) -> Option<Told> {
    let skip = record.skip.as_ref()?;
    let message = format!("not run ({}): {}", skip.reason.name(), words::line(&skip.message));
    // Who locked a row wants to know when it is no longer looked at.
    let locked = past.lock.is_some_and(|lock| lock.rows.contains_key(&record.id));
    let severity = if locked && skip.reason != SkipReason::Disabled {
        Severity::Warn
    } else {
        Code::RowSkipped.default_severity()
    };
    Some(
        Told::new(Code::RowSkipped, message)
            .severity(severity)
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
    // What was accepted is a note, however severe its code is in this manifest.
    let asked = match told.accepted {
        Some(_) => asked.map(|_| Severity::Note),
        None => asked,
    };
    let on = told.accepted.map(|on| on.to_string());
    let accepted = on.as_ref().map(|on| format!(" (accepted on {on})")).unwrap_or_default();
    Some(Finding {
        code: told.code,
        severity: asked.max(floor)?,
        phase: told.phase,
        message: told.message + &in_sessions + &accepted,
        expected: told.expected,
        actual: told.actual,
        hint: told.hint,
        accepted: on,
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

    /// The same, as a note if it was accepted.
    fn accepted(mut self, case: Case<'_>, past: &Past<'_>) -> Self {
        if self.told.accepted.is_none()
            && let Some(on) = acceptance::accepted(&self.told, case, past.lock)
        {
            self.told = self.told.accepted(on);
        }
        self
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
