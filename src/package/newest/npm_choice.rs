//! Which release npm takes, and which is the newest of what was wanted. Pure.
//!
//! The choice is that of npm-pick-manifest 11.0.3, whose rule nobody is told of: a bare name is the range
//! `*`, not the tag `latest`, and of a range npm quietly takes the best that fits the Node that runs it.

use std::cmp::Reverse;

use node_semver::Version;

use crate::version::Requirement;

use super::offer::{Conditions, Offer, Release};

/// What a spec asks for, as npm-package-arg reads it.
enum Wanted<'text> {
    Version(Version),
    Range(Range),
    Tag(&'text str),
}

/// A range of npm's; `*` takes no pre-releases.
struct Range {
    requirement: Requirement,
    any: bool,
}

/// The newest of what was wanted, whatever runs it: of a typed tag that tag's version; else what `latest`
/// names if it satisfies, else the highest stable release that does.
pub(super) fn newest<'offer>(offer: &'offer Offer, wanted: &str) -> Option<&'offer Release> {
    match read(wanted) {
        Wanted::Tag(tag) => offer.release(offer.tags.get(tag)?),
        Wanted::Version(version) => exactly(offer, &version),
        Wanted::Range(range) => latest(offer).filter(|release| range.takes_latest(release)).or_else(|| {
            let stable = offer.releases.iter().filter(|release| range.takes(release));
            let stable = stable.filter(|release| parsed(release).is_some_and(|version| !version.is_prerelease()));
            stable.max_by_key(|release| parsed(release))
        }),
    }
}

/// What `npm install` of it would take.
pub(super) fn choice<'offer>(offer: &'offer Offer, wanted: &str, conditions: &Conditions) -> Option<&'offer Release> {
    match read(wanted) {
        Wanted::Tag(tag) => {
            let release = offer.release(offer.tags.get(tag)?)?;
            if conditions.is_in_time(release) {
                return Some(release);
            }
            let version = &release.version;
            best(offer, &Range::parse(&format!("<={version}"))?, conditions)
        }
        Wanted::Version(version) => exactly(offer, &version).filter(|release| conditions.is_in_time(release)),
        Wanted::Range(range) => {
            let latest = latest(offer).filter(|release| range.takes_latest(release));
            let good = |release: &&Release| {
                conditions.is_in_time(release) && fits(release, conditions) && release.deprecated.is_none()
            };
            latest.filter(good).or_else(|| best(offer, &range, conditions))
        }
    }
}

/// Whether its engines take the Node and the npm. An unknown version and a range that nobody can read fit.
pub(super) fn fits(release: &Release, conditions: &Conditions) -> bool {
    engine_fits(release.requires.as_deref(), conditions.runtime.as_deref())
        && engine_fits(release.requires_npm.as_deref(), conditions.npm.as_deref())
}

pub(super) fn engine_fits(range: Option<&str>, running: Option<&str>) -> bool {
    let (Some(range), Some(running)) = (range.filter(|range| !range.trim().is_empty()), running) else {
        return true;
    };
    // npm lets a pre-release of Node count as its release (`includePrerelease`).
    let running = running.trim_start_matches('v');
    let release = running.split(['-', '+']).next().unwrap_or(running);
    Requirement::npm(range).is_ok_and(|range| range.matches(release)) || Requirement::npm(range).is_err()
}

/// Best by npm's order: not deprecated and fitting, then fitting, then not deprecated, then the highest.
fn best<'offer>(offer: &'offer Offer, range: &Range, conditions: &Conditions) -> Option<&'offer Release> {
    let candidates = offer.releases.iter().filter(|release| conditions.is_in_time(release));
    let candidates = candidates.filter(|release| range.takes(release));
    let order = |release: &&Release| {
        let (fits, kept) = (fits(release, conditions), release.deprecated.is_none());
        Reverse((fits && kept, fits, kept, parsed(release)))
    };
    candidates.min_by_key(order)
}

fn exactly<'offer>(offer: &'offer Offer, version: &Version) -> Option<&'offer Release> {
    let mut releases = offer.releases.iter();
    releases.find(|release| parsed(release).as_ref() == Some(version))
}

fn latest(offer: &Offer) -> Option<&Release> {
    offer.release(offer.tags.get("latest")?)
}

fn read(wanted: &str) -> Wanted<'_> {
    let wanted = wanted.trim();
    let bare = wanted.trim_start_matches(['=', 'v']).trim();
    let is_full = bare.split(['-', '+']).next().is_some_and(|release| {
        let parts: Vec<&str> = release.split('.').collect();
        parts.len() == 3 && parts.iter().all(|part| part.parse::<u64>().is_ok())
    });
    if let Some(version) = Version::parse(bare).ok().filter(|_| is_full) {
        return Wanted::Version(version);
    }
    match Range::parse(wanted) {
        Some(range) => Wanted::Range(range),
        None => Wanted::Tag(wanted),
    }
}

fn parsed(release: &Release) -> Option<Version> {
    Version::parse(&release.version).ok()
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let any = matches!(text.trim(), "" | "*" | "x" | "X");
        let requirement = Requirement::npm(if any { "*" } else { text }).ok()?;
        Some(Self { requirement, any })
    }

    fn takes(&self, release: &Release) -> bool {
        match parsed(release) {
            Some(version) if self.any => !version.is_prerelease(),
            Some(_) => self.requirement.matches(&release.version),
            None => false,
        }
    }

    /// The tag `latest` is taken for `*` even where it names a pre-release.
    fn takes_latest(&self, release: &Release) -> bool {
        self.any || self.takes(release)
    }
}

#[cfg(test)]
mod tests;
