//! What a person accepted is a note with its date; what is new keeps its severity.
//!
//! What can be accepted is a standing fact of versions and tools: one that will be there again tomorrow. A
//! change needs no acceptance of its own, since a lock that holds what is now knows of no change.

use jiff::civil::Date;

use crate::finding::{Code, Finding, Severity};
use crate::judge::sentences::{Case, Told};
use crate::judge::split::ON;
use crate::lock::{Accepted, Lock, LockedRow};
use crate::plan::Row;
use crate::record::RowRecord;

#[cfg(test)]
mod tests;

/// Findings of a judged row that a lock takes in: their codes, and what exactly is accepted of each.
pub fn acceptable(record: &RowRecord, plan: Option<&Row>) -> Vec<(Code, String)> {
    let case = Case { plan, record };
    let holds = |finding: &&Finding| finding.severity > Severity::Note || finding.accepted.is_some();
    let held_back = |finding: &Finding| finding.code == Code::HeldBack && holds(&finding);
    let settled = |finding: &Finding| finding.code == Code::VersionSplit && finding.accepted.is_some();
    let explained = (cause(case).is_some() && record.findings.iter().any(held_back))
        || (is_unknown(record) && record.findings.iter().any(settled));
    let mut facts: Vec<(Code, String)> = record
        .findings
        .iter()
        .filter(holds)
        .filter_map(|finding| {
            let fact = Fact {
                code: finding.code,
                expected: finding.expected.as_deref(),
                actual: finding.actual.as_deref(),
            };
            let words = if explained {
                fact.while_explained(case)
            } else {
                fact.alone(case)
            };
            Some((finding.code, words?))
        })
        .collect();
    facts.sort();
    facts.dedup();
    facts
}

/// The day on which this was accepted of the row, if it was.
pub(super) fn accepted(told: &Told, case: Case<'_>, lock: Option<&Lock>) -> Option<Date> {
    let locked = lock?.rows.get(&case.record.id)?;
    let fact = Fact {
        code: told.code,
        expected: told.expected.as_deref(),
        actual: told.actual.as_deref(),
    };
    let known = |words: Option<String>| locked.accepted(told.code, &words?);
    let explained = accepted_cause(case, locked).then(|| known(fact.while_explained(case)));
    known(fact.alone(case)).or(explained.flatten())
}

/// Whether the row is held back by a cause that was accepted. On a night without an answer of the registry it
/// is taken to be so still.
fn accepted_cause(case: Case<'_>, locked: &LockedRow) -> bool {
    let Some(cause) = cause(case) else {
        return is_unknown(case.record) && locked.accepted.iter().any(|known| known.code == Code::HeldBack);
    };
    locked.accepted(Code::HeldBack, cause).is_some()
}

/// Whether nobody could say tonight what is newest.
fn is_unknown(record: &RowRecord) -> bool {
    record.identity.package.newest.version.is_none()
}

/// What stays accepted of a row since its registry gave no answer: whether it is still held back, and what
/// that explains.
pub fn still_accepted<'lock>(record: &RowRecord, locked: &'lock LockedRow) -> impl Iterator<Item = &'lock Accepted> {
    let unknown = is_unknown(record);
    let kept = move |known: &&Accepted| unknown && known.code == Code::HeldBack;
    locked.accepted.iter().filter(kept)
}

fn cause(case: Case<'_>) -> Option<&str> {
    let held_back = case.record.identity.package.newest.held_back.as_ref();
    held_back.map(|held_back| held_back.cause.as_str())
}

/// A finding, as far as it says what stands.
#[derive(Clone, Copy)]
struct Fact<'told> {
    code: Code,
    expected: Option<&'told str>,
    actual: Option<&'told str>,
}

impl Fact<'_> {
    /// What is accepted of it; none for what is no standing fact of versions and tools.
    fn alone(self, case: Case<'_>) -> Option<String> {
        let expect = case.plan.map(|row| &row.expect);
        match self.code {
            // The cause, whatever the versions are: or each release would have to be accepted.
            Code::HeldBack => cause(case).map(str::to_owned),
            Code::VersionSplit => {
                let [here, there] = self.sides()?;
                Some(format!("{} and {}", here.0, there.0))
            }
            Code::VersionMismatch | Code::VersionUnverifiable | Code::RuntimeMismatch | Code::ToolCountChanged => {
                self.beside_expected()
            }
            Code::NameChanged if expect?.name.is_some() => self.beside_expected(),
            // What is gone since an earlier run expects nothing.
            Code::ToolRemoved if !expect?.tools.is_empty() => self.expected.map(|gone| format!("without {gone}")),
            _ => None,
        }
    }

    /// What is accepted while an accepted cause explains why the versions differ: the two rows.
    fn while_explained(self, case: Case<'_>) -> Option<String> {
        match self.code {
            Code::VersionSplit => {
                let [here, there] = self.sides()?;
                Some(format!("{} and {}", here.1, there.1))
            }
            _ => self.alone(case),
        }
    }

    /// Version and row of both sides of a split.
    fn sides(&self) -> Option<[(&str, &str); 2]> {
        Some([self.actual?.rsplit_once(ON)?, self.expected?.rsplit_once(ON)?])
    }

    fn beside_expected(self) -> Option<String> {
        let actual = self.actual.unwrap_or("(none)");
        self.expected.map(|expected| format!("{actual}, expected {expected}"))
    }
}
