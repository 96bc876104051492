//! Which way a version went. What is on disk counts where both sides know it, else what was reported.

use std::cmp::Ordering;

use crate::event::Ecosystem;
use crate::lock::RowFacts;
use crate::version::{Requirement, compare};

/// Which way it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is the same, `v` in front or not.
    Same,
    /// It rose.
    Up,
    /// It fell.
    Down,
    /// It is another, and there is no order between them; or it came, or it went.
    Other,
    /// Neither side knows one.
    Unknown,
}

/// The step from one version to another; an empty one is none.
pub(crate) fn step(before: Option<&str>, now: Option<&str>) -> Step {
    let known = |version: Option<&str>| version.is_some_and(|version| !version.trim().is_empty());
    match (before.filter(|_| known(before)), now.filter(|_| known(now))) {
        (None, None) => Step::Unknown,
        (Some(before), Some(now)) => match compare(now, before) {
            Some(Ordering::Less) => Step::Down,
            Some(Ordering::Equal) => Step::Same,
            Some(Ordering::Greater) => Step::Up,
            None => Step::Other,
        },
        (None, Some(_)) | (Some(_), None) => Step::Other,
    }
}

/// The step of what is on disk; none unless both sides know it, of the same package.
pub(crate) fn installed(before: &RowFacts, now: &RowFacts) -> Option<Step> {
    let same = same_package(before, now);
    let versions = before.installed().zip(now.installed()).filter(|_| same);
    versions.map(|(before, now)| step(Some(before), Some(now)))
}

/// The step of the row: of what is on disk where it is known, else of what was reported.
pub(crate) fn of_row(before: &RowFacts, now: &RowFacts) -> Step {
    installed(before, now).unwrap_or_else(|| step(before.reported_version.as_deref(), now.reported_version.as_deref()))
}

/// Whether one package answered both times, as far as that is known.
pub(crate) fn same_package(before: &RowFacts, now: &RowFacts) -> bool {
    match (&before.package, &now.package) {
        (Some(before), Some(now)) => (before.ecosystem, &before.name) == (now.ecosystem, &now.name),
        (None, _) | (_, None) => true,
    }
}

/// Whether the manifest itself asks for less than it did: it asks for something else now, which the
/// version of then does not satisfy.
pub(crate) fn asked_for(before: &RowFacts, now: &RowFacts) -> bool {
    let (Some(then), Some(wanted), Some(version)) = (before.wanted(), now.wanted(), before.version()) else {
        return false;
    };
    if then.trim() == wanted.trim() {
        return false;
    }
    let range = match now.package.as_ref().map(|package| package.ecosystem) {
        Some(Ecosystem::Npm) => Requirement::npm(wanted),
        Some(Ecosystem::Pypi) => Requirement::pep440(without_extras(wanted)),
        None => return false,
    };
    // What is no range is a tag: another one than before was asked for.
    range.map_or(true, |range| !range.matches(version))
}

/// `[cli]>=2` without `[cli]`.
fn without_extras(wanted: &str) -> &str {
    let rest = wanted.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let rest = rest.map_or(wanted, |(_, rest)| rest).trim();
    if rest.is_empty() { "*" } else { rest }
}
