//! `flaky`: a row that passes and fails while nothing about it changes, by its retries tonight or by its
//! earlier nights; and what a row that fails tonight is told of the last time it passed.

use crate::event::SessionFacts;
use crate::finding::{Code, Finding, Severity};
use crate::judge::groups;
use crate::judge::nights::{Course, Night, Tonight, does_not_work, unchanged};
use crate::judge::sentences::{self, Case, Told};
use crate::judge::words::{code, line};
use crate::record::{Identity, RowRecord, tries};
use crate::text::counted;

#[cfg(test)]
mod tests;

/// How many nights are looked at, tonight among them: what has settled since is nobody's trouble any more.
const WINDOW: usize = 10;
/// Pass, fail, pass: one change alone is a failure or a repair.
const CHANGES: usize = 2;

/// The sessions of a row that were lived again after they had failed, and those that count.
#[derive(Debug)]
pub(super) struct Tries<'facts> {
    /// The last try of each session.
    pub(super) counted: Vec<&'facts SessionFacts>,
    /// The tries before it.
    given_up: Vec<&'facts SessionFacts>,
}

impl<'facts> Tries<'facts> {
    /// Parts the sessions of a row, in their order.
    pub(super) fn of(sessions: &'facts [SessionFacts]) -> Self {
        let (counted, given_up) = tries(sessions);
        Self { counted, given_up }
    }

    /// What the tries that were given up leave to say, with the sessions: that the row is flaky, if the
    /// last try went well, and everything that is no reason to fail. Why they failed is no finding of its
    /// own: where the last try failed too, that one tells.
    pub(super) fn leave(&self, case: Case<'_>) -> Vec<(Vec<u32>, Told)> {
        let mut left = Vec::new();
        let mut first_reason = None;
        for group in groups::group(&[], &self.given_up) {
            let told = sentences::tell(&group, case);
            if told.severity < Severity::Fail {
                left.push((group.sessions, told));
            } else {
                first_reason.get_or_insert(told);
            }
        }
        let mut retried = self.counted.iter().copied().filter(|session| session.attempt > 1);
        if let Some(session) = retried.clone().next()
            && retried.all(|session| went_well(session, case))
        {
            left.push((Vec::new(), passed_on_a_retry(session.attempt, first_reason)));
        }
        left
    }

    /// Adds to the first finding that says why the row does not work how often it was tried, where no try helped.
    pub(super) fn count(&self, findings: &mut [Finding], case: Case<'_>) {
        let failed = self.counted.iter().filter(|session| !went_well(session, case));
        let tried = failed.map(|session| session.attempt).max().unwrap_or_default();
        if let Some(finding) = findings.iter_mut().find(|finding| does_not_work(finding))
            && tried > 1
        {
            finding.message = format!("{}; tried {tried} times, and no try went well", finding.message);
        }
    }
}

/// Whether a session answered and nothing that was seen in it fails.
fn went_well(session: &SessionFacts, case: Case<'_>) -> bool {
    let groups = groups::group(&[], &[session]);
    let mut told = groups.iter().map(|group| sentences::tell(group, case));
    session.handshake.is_some() && told.all(|told| told.severity < Severity::Fail)
}

fn passed_on_a_retry(attempt: u32, reason: Option<Told>) -> Told {
    let message = match &reason {
        Some(reason) => format!("passed on try {attempt} only; before that: {}", line(&reason.message)),
        None => format!("passed on try {attempt} only; the start after its installation had failed"),
    };
    let told = Told::new(Code::Flaky, message);
    match reason {
        Some(reason) => told.phase(reason.phase).hint(reason.hint),
        None => told,
    }
}

/// The finding for a row that has passed and failed over the last nights with nothing about it changed.
pub(super) fn across(row: &RowRecord, findings: &[Finding], tonight: &Tonight, nights: &[Night<'_>]) -> Option<Told> {
    if findings.iter().any(|finding| finding.code == Code::Flaky) {
        return None;
    }
    let course = if findings.iter().any(does_not_work) {
        Course::Failed
    } else {
        Course::Passed
    };
    let before: Vec<(Course, Night<'_>)> = nights
        .iter()
        .take_while(|night| {
            let same = unchanged(&row.identity, &night.row.identity) && same_spec(&row.identity, &night.row.identity);
            same && same_command(row, tonight, **night)
        })
        .filter_map(|night| Some((night.course()?, *night)))
        .take(WINDOW - 1)
        .collect();
    let courses: Vec<Course> = std::iter::once(course)
        .chain(before.iter().map(|(course, _)| *course))
        .collect();
    let changes = courses.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if changes < CHANGES {
        return None;
    }
    let failed = courses.iter().filter(|course| **course == Course::Failed).count();
    let last = if course == Course::Failed {
        "tonight".to_owned()
    } else {
        let last = before.iter().find(|(course, _)| *course == Course::Failed);
        last.map_or_else(String::new, |(_, night)| format!("on {}", night.date()))
    };
    let message = format!(
        "failed on {failed} of its last {}, the last time {last}, with the same command, package and runtime",
        counted(courses.len(), "night")
    );
    Some(Told::new(Code::Flaky, message))
}

/// Adds to the first finding that says why the row does not work when it last did.
pub(super) fn remember(findings: &mut [Finding], row: &RowRecord, tonight: &Tonight, nights: &[Night<'_>]) {
    let Some(finding) = findings.iter_mut().find(|finding| does_not_work(finding)) else {
        return;
    };
    let comparable = nights.iter().filter(|night| same_command(row, tonight, **night));
    let mut failed_since = 0;
    for night in comparable {
        match night.course() {
            Some(Course::Passed) => {
                let said = passed(*night, failed_since, &row.identity);
                finding.message = format!("{}; {said}", finding.message);
                return;
            }
            Some(Course::Failed) => failed_since += 1,
            None => {}
        }
    }
}

/// When it passed, by the same command only where the same was asked for and ran on the same runtime.
fn passed(night: Night<'_>, failed_since: usize, now: &Identity) -> String {
    let (date, then) = (night.date(), &night.row.identity);
    let runtimes = runtime(then).zip(runtime(now));
    let same = same_spec(then, now) && runtimes.is_none_or(|(then, now)| then == now);
    let with = if same { " with the same command" } else { "" };
    let changes = changes(then, now);
    let since = if changes.is_empty() {
        String::new()
    } else {
        format!(", {}", changes.join(", "))
    };
    match failed_since {
        0 => format!("it passed on {date}{with}{since}"),
        nights => format!(
            "it last passed on {date}{with}{since}, and has failed on {} since",
            counted(nights, "night")
        ),
    }
}

/// What differs, where both are known: `then on node 22.1.0, now 24.1.0`.
fn changes(then: &Identity, now: &Identity) -> Vec<String> {
    let package = |identity: &Identity| {
        let package = &identity.package;
        Some(format!(
            "{} {}",
            package.name.as_deref()?,
            package.installed.as_deref()?
        ))
    };
    let facts = [(package(then), package(now)), (runtime(then), runtime(now))];
    facts
        .into_iter()
        .filter_map(|(then, now)| Some((then?, now?)))
        .filter(|(then, now)| then != now)
        .map(|(then, now)| format!("then {}, now {}", line(&then), line(&now)))
        .chain(specs(then, now).map(|(then, now)| format!("asked for as {} then, as {} now", code(&then), code(&now))))
        .collect()
}

fn runtime(identity: &Identity) -> Option<String> {
    let runtime = identity.runtime.as_ref()?;
    Some(format!("{} {}", runtime.kind, runtime.version.as_deref()?))
}

/// Whether the manifest asked for the same package in the same way, as far as that is known.
fn same_spec(then: &Identity, now: &Identity) -> bool {
    specs(then, now).is_none()
}

/// What was asked for then and now, where it is not the same: `demo 1.4.0`.
fn specs(then: &Identity, now: &Identity) -> Option<(String, String)> {
    let spec = |identity: &Identity| {
        let package = &identity.package;
        Some(format!("{} {}", package.name.as_deref()?, package.wanted.as_deref()?))
    };
    let specs = spec(then).zip(spec(now));
    specs.filter(|(then, now)| then != now)
}

/// Records of earlier builds do not hold the command; there an unchanged manifest must do.
fn same_command(row: &RowRecord, tonight: &Tonight, night: Night<'_>) -> bool {
    match (&row.command, &night.row.command) {
        (Some(now), Some(then)) => now == then,
        (None, _) | (_, None) => tonight.manifest_sha256 == night.run.manifest_sha256,
    }
}
