//! Tonight's row held against the lock and against the last earlier run that saw it.
//!
//! What the lock has as it is tonight was accepted: that it differs from an earlier run is then a note.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::finding::{ALREADY, Code, Phase};
use crate::judge::Past;
use crate::judge::sentences::{Case, Told};
use crate::judge::words::code;
use crate::lock::{LockedRow, RowFacts};
use crate::record::RunRecord;
use crate::version;

use changes::Subject;
use tools::Change;

mod changes;
mod schema;
#[cfg(test)]
mod tests;
pub(super) mod tools;
pub(super) mod versions;

/// What is known of the row from one earlier moment.
struct Moment {
    /// "the lock of 2026-11-29".
    words: String,
    facts: RowFacts,
    /// Whether everything but the tools is held against it.
    identity: bool,
    /// Whether the tools are.
    tools: bool,
}

/// What of the lock is not as it is tonight.
struct OpenSinceLock {
    on: Date,
    subjects: Vec<Subject>,
    tools: BTreeMap<String, Change>,
}

/// The row's expectations that tell of the same things.
struct Expected<'row> {
    name: bool,
    tools: &'row [String],
}

/// All that changed since the lock and since the last run.
pub(super) fn hold(case: Case<'_>, past: &Past<'_>) -> Vec<Told> {
    let Some(now) = RowFacts::of(case.record) else {
        return Vec::new();
    };
    let expect = case.plan.map(|row| &row.expect);
    let expected = Expected {
        name: expect.is_some_and(|expect| expect.name.is_some()),
        tools: expect.map_or(&[], |expect| &expect.tools),
    };
    let mut found: Vec<(Told, Vec<String>)> = Vec::new();
    let mut add = |moment: &Moment, open: Option<&OpenSinceLock>| {
        for told in told_since(moment, &now, &expected, open) {
            match found.iter_mut().find(|(known, _)| is_the_same(known, &told)) {
                Some((_, since)) => since.push(moment.words.clone()),
                None => match found.iter_mut().find(|(known, _)| is_a_part(known, &told)) {
                    Some((_, since)) => {
                        let from = told.expected.unwrap_or_default();
                        since.push(format!("from {from} since {}", moment.words));
                    }
                    None => found.push((told, vec![moment.words.clone()])),
                },
            }
        }
    };
    let locked = past.lock.and_then(|lock| lock.rows.get(&case.record.id));
    let open = locked.map(|locked| OpenSinceLock::of(locked, &now));
    let lock = locked.map(Moment::of_lock);
    let runs = earlier(case, past.runs);
    if let Some(lock) = &lock {
        add(lock, None);
    }
    for moment in &runs {
        add(moment, open.as_ref());
    }
    let sentence = |(told, since): (Told, Vec<String>)| {
        let already = match (&lock, since.as_slice()) {
            (Some(lock), [only]) if *only == lock.words => already(&told, lock, &runs, &expected),
            _ => String::new(),
        };
        Told {
            message: format!("{} since {}{already}", told.message, since.join(" and ")),
            phase: Phase::Compare,
            ..told
        }
    };
    found.into_iter().map(sentence).collect()
}

/// The same said of two moments: in the same words, or of versions that are one (`v1.2.3`, `1.2.3`).
fn is_the_same(one: &Told, other: &Told) -> bool {
    let one_version = || {
        let (then, before) = (one.expected.as_deref()?, other.expected.as_deref()?);
        Some(version::compare(then, before)? == Ordering::Equal)
    };
    let same_step = one.code == other.code && one.severity == other.severity && one.accepted == other.accepted;
    one == other || (same_step && one.actual == other.actual && one_version() == Some(true))
}

/// A version that went the same way to the same place, from a later one.
fn is_a_part(whole: &Told, part: &Told) -> bool {
    let steps = [Code::VersionUpgraded, Code::VersionDowngrade];
    let to = |told: &Told| {
        let (version, to) = told.message.split_once(" to ")?;
        version.starts_with(changes::VERSION).then(|| to.to_owned())
    };
    let same = whole.code == part.code && whole.severity == part.severity && whole.accepted == part.accepted;
    same && steps.contains(&part.code) && to(whole).is_some() && to(whole) == to(part)
}

/// What holds against the lock and held in an earlier run already is not new.
fn already(told: &Told, lock: &Moment, runs: &[Moment], expected: &Expected<'_>) -> String {
    let held = runs.iter().find(|run| {
        let then = told_since(lock, &run.facts, expected, None);
        then.iter().any(|known| is_the_same(known, told))
    });
    held.map_or_else(String::new, |run| format!("{ALREADY}{}", run.words))
}

/// Everything that changed since one moment; what the lock has as it is now is accepted.
fn told_since(moment: &Moment, now: &RowFacts, expected: &Expected<'_>, open: Option<&OpenSinceLock>) -> Vec<Told> {
    let before = &moment.facts;
    let mut found = Vec::new();
    if moment.identity {
        for (subject, told) in changes::of_identity(before, now, expected.name) {
            found.push(match open {
                Some(open) if !open.subjects.contains(&subject) => told.accepted(open.on),
                Some(_) | None => told,
            });
        }
    }
    if let (true, Some(then), Some(new)) = (moment.tools, &before.tools, &now.tools) {
        let (fresh, accepted): (BTreeMap<_, _>, BTreeMap<_, _>) = tools::changes(then, new)
            .into_iter()
            .partition(|(name, _)| open.is_none_or(|open| open.tools.contains_key(name)));
        found.extend(changes::of_tools(&fresh, before, now, expected.tools));
        let accepted = changes::of_tools(&accepted, before, now, expected.tools);
        found.extend(accepted.into_iter().filter_map(|told| Some(told.accepted(open?.on))));
    }
    found
}

/// The last run that saw the row, and the last that read its list: mostly the same. An interrupted run, and
/// a list that was empty, are nothing to hold a row against.
fn earlier(case: Case<'_>, runs: &[RunRecord]) -> Vec<Moment> {
    let mut seen = runs.iter().filter(|run| !run.interrupted).filter_map(|run| {
        let row = run.rows.iter().find(|row| row.id == case.record.id)?;
        Some((run.started, RowFacts::of(row)?))
    });
    let listed = |facts: &RowFacts| facts.tools.as_ref().is_some_and(|tools| !tools.is_empty());
    let mut moments = Vec::new();
    let Some((started, facts)) = seen.next() else {
        return moments;
    };
    let both = listed(&facts);
    moments.push(Moment {
        words: run_words(started),
        facts,
        identity: true,
        tools: both,
    });
    if !both && let Some((started, facts)) = seen.find(|(_, facts)| listed(facts)) {
        moments.push(Moment {
            words: run_words(started),
            facts,
            identity: false,
            tools: true,
        });
    }
    moments
}

fn run_words(started: Timestamp) -> String {
    format!("the run of {}", started.strftime("%Y-%m-%d %H:%M UTC"))
}

impl Moment {
    fn of_lock(locked: &LockedRow) -> Self {
        Self {
            words: format!("the lock of {}", locked.accepted_on),
            facts: locked.facts.clone(),
            identity: true,
            tools: true,
        }
    }
}

impl OpenSinceLock {
    fn of(locked: &LockedRow, now: &RowFacts) -> Self {
        let identity = changes::of_identity(&locked.facts, now, false);
        let tools = locked.facts.tools.as_ref().zip(now.tools.as_ref());
        Self {
            on: locked.accepted_on,
            subjects: identity.into_iter().map(|(subject, _)| subject).collect(),
            tools: tools.map(|(then, new)| tools::changes(then, new)).unwrap_or_default(),
        }
    }
}

/// A row that answered and that nobody has accepted yet.
pub(super) fn not_in_lock(case: Case<'_>, past: &Past<'_>) -> Option<Told> {
    let known = past.lock?.rows.contains_key(&case.record.id);
    let answered = case.record.identity.era.is_some();
    (answered && !known).then(|| {
        let seen = earlier(case, past.runs);
        let already = seen
            .first()
            .map_or_else(String::new, |run| format!("{ALREADY}{}", run.words));
        let message = format!("not in the lock: nobody has accepted it as it is{already}");
        Told::new(Code::NotInLock, message).hint(Some(format!(
            "{} takes it in",
            code(&format!("mcp-smoke lock {}", case.record.id))
        )))
    })
}
