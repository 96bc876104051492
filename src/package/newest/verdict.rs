//! From an offer to what is said of a row: the newest, and why a fresh installation would not give it. Pure.

use std::cmp::Ordering;

use crate::event::{Cause, Ecosystem, Newest};
use crate::version::compare;

use super::offer::{Conditions, Offer, Release};
use super::{npm_choice, pypi_choice};

/// What is known of a row's package before its registry is asked.
#[derive(Clone, Debug)]
pub(super) struct Question<'row> {
    pub(super) ecosystem: Ecosystem,
    pub(super) wanted: &'row str,
    pub(super) installed: Option<&'row str>,
    pub(super) conditions: Conditions,
}

/// What the offer means for the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) newest: Newest,
    /// Whether a fresh installation would give something higher than what is installed.
    pub(super) is_behind: bool,
}

/// Holds the offer against the row.
pub(super) fn verdict(offer: &Offer, question: &Question<'_>) -> Verdict {
    let Question {
        ecosystem,
        wanted,
        installed,
        conditions,
    } = question;
    let (newest, fresh) = match ecosystem {
        Ecosystem::Npm => (
            npm_choice::newest(offer, wanted),
            npm_choice::choice(offer, wanted, conditions),
        ),
        Ecosystem::Pypi => (
            pypi_choice::newest(offer, wanted),
            pypi_choice::choice(offer, wanted, conditions),
        ),
    };
    let Some(newest) = newest else {
        return Verdict::default();
    };
    let is_lower = |one: &str, other: &str| compare(one, other) == Some(Ordering::Less);
    // What lies above the newest, or is the newest, is not held back.
    let is_old = installed.is_none_or(|installed| is_lower(installed, &newest.version));
    let fresh_is_old = fresh.is_none_or(|fresh| is_lower(&fresh.version, &newest.version));
    let held_back = (is_old && fresh_is_old).then(|| cause(newest, *ecosystem, conditions));
    let reachable = fresh.unwrap_or(newest);
    Verdict {
        is_behind: installed.is_some_and(|installed| is_lower(installed, &reachable.version)),
        newest: Newest {
            version: Some(newest.version.clone()),
            as_of: None,
            requires: newest.requires.clone(),
            deprecated: newest.deprecated.clone(),
            held_back: held_back.flatten(),
            behind: None,
            unknown: None,
        },
    }
}

/// Why a fresh installation does not take this release. The details complete the sentence "VERSION …".
fn cause(release: &Release, ecosystem: Ecosystem, conditions: &Conditions) -> Option<Cause> {
    let told = |cause: &str, detail: String| {
        Some(Cause {
            cause: cause.to_owned(),
            detail: Some(detail),
        })
    };
    let runtime = conditions.runtime.as_deref().unwrap_or_default();
    let requires = release.requires.as_deref().unwrap_or_default();
    match ecosystem {
        Ecosystem::Npm if !npm_choice::engine_fits(release.requires.as_deref(), conditions.runtime.as_deref()) => {
            return told(
                "engines",
                format!("needs Node {requires} and this row runs Node {runtime}"),
            );
        }
        Ecosystem::Npm if !npm_choice::fits(release, conditions) => {
            let needs = release.requires_npm.as_deref().unwrap_or_default();
            let npm = conditions.npm.as_deref().unwrap_or_default();
            return told("engines", format!("needs npm {needs} and this row has npm {npm}"));
        }
        Ecosystem::Pypi if !pypi_choice::fits(release, conditions) => {
            return told(
                "requires-python",
                format!("needs Python {requires} and this row runs Python {runtime}"),
            );
        }
        Ecosystem::Npm | Ecosystem::Pypi => {}
    }
    if let Some(reason) = &release.deprecated {
        return told("deprecated", format!("is deprecated ({})", reason.trim()));
    }
    let until = conditions.until.as_ref().filter(|_| !conditions.is_in_time(release))?;
    let published = release.published.map(|moment| moment.strftime("%Y-%m-%d").to_string());
    told(
        until.setting,
        format!(
            "was published on {} and your `{}` is {}",
            published.unwrap_or_default(),
            until.setting,
            until.value
        ),
    )
}

#[cfg(test)]
mod tests;
