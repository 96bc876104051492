//! Which release pip or uv takes, and which is the newest of what was wanted. Pure.
//!
//! Both leave out quietly what the running Python does not fit (Requires-Python), as npm does by `engines`.

use std::str::FromStr;

use pep440_rs::{Version, VersionSpecifiers};

use crate::version::Requirement;

use super::offer::{Conditions, Offer, Release};

/// What a spec asks for.
struct Wanted {
    specifiers: VersionSpecifiers,
    /// A specifier that names a pre-release lets them in.
    names_prerelease: bool,
    /// `==1.2.3`: the only way in which a yanked release is taken (PEP 592).
    exact: bool,
}

/// The newest of what was wanted, whatever runs it: the highest stable release that is not yanked.
pub(super) fn newest<'offer>(offer: &'offer Offer, wanted: &str) -> Option<&'offer Release> {
    highest(offer, &Wanted::read(wanted)?, |_release| true)
}

/// What a fresh installation of it would take.
pub(super) fn choice<'offer>(offer: &'offer Offer, wanted: &str, conditions: &Conditions) -> Option<&'offer Release> {
    highest(offer, &Wanted::read(wanted)?, |release| {
        fits(release, conditions) && conditions.is_in_time(release)
    })
}

/// Whether its Requires-Python takes the Python. An unknown version and a range that nobody can read fit.
pub(super) fn fits(release: &Release, conditions: &Conditions) -> bool {
    let (Some(range), Some(running)) = (&release.requires, &conditions.runtime) else {
        return true;
    };
    match Requirement::pep440(range) {
        Ok(range) => range.matches(running),
        Err(_not_a_range) => true,
    }
}

fn highest<'offer>(
    offer: &'offer Offer,
    wanted: &Wanted,
    allowed: impl Fn(&Release) -> bool,
) -> Option<&'offer Release> {
    let candidates: Vec<(Version, &Release)> = offer
        .releases
        .iter()
        .filter(|release| allowed(release))
        .filter_map(|release| Some((Version::from_str(&release.version).ok()?, release)))
        .filter(|(version, release)| wanted.specifiers.contains(version) && (wanted.exact || !release.yanked))
        .collect();
    let stable = |(version, _): &&(Version, &Release)| wanted.names_prerelease || !version.any_prerelease();
    let best = candidates.iter().filter(stable).max_by_key(|(version, _)| version);
    // Where there are only pre-releases both take one.
    let best = best.or_else(|| candidates.iter().max_by_key(|(version, _)| version));
    best.map(|(_, release)| *release)
}

impl Wanted {
    /// What follows the name: `>=1,<2`, `[extra]>=2`, `latest`, `1.2` (of `uvx name@1.2`), `*`.
    fn read(text: &str) -> Option<Self> {
        let text = text.split(';').next().unwrap_or_default().trim();
        let text = match text.strip_prefix('[') {
            Some(extras) => extras.split_once(']')?.1.trim(),
            None => text,
        };
        let text = text.trim_start_matches('(').trim_end_matches(')').trim();
        let typed = match text {
            "" | "*" | "latest" => String::new(),
            bare if bare.starts_with(|first: char| first.is_ascii_digit()) => format!("=={bare}"),
            specifiers => specifiers.to_owned(),
        };
        let specifiers = VersionSpecifiers::from_str(&typed).ok()?;
        Some(Self {
            names_prerelease: specifiers.iter().any(|specifier| specifier.version().any_prerelease()),
            exact: specifiers.len() == 1 && typed.starts_with("==") && !typed.ends_with('*'),
            specifiers,
        })
    }
}

#[cfg(test)]
mod tests;
