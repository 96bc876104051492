//! What a version is sorted by. Semver where the text is strictly semver, else PEP 440 (which holds dotted
//! numbers of any length); both end in one key, so that the order is total whatever is mixed.

use std::str::FromStr;

use pep440_rs::{LocalSegment, PrereleaseKind};

/// The sort key of a version. Fields in the order in which they weigh.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    epoch: u64,
    /// Without zeros at its end: `1.0` and `1.0.0` are one version.
    release: Vec<u64>,
    stage: Stage,
    post: Option<u64>,
    development: Development,
    local: Vec<Identifier>,
}

/// How far a release has come.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// `1.0.dev1` of PEP 440, which stands before every pre-release.
    Development,
    /// `1.0a1`, `1.0.0-alpha.1`.
    Before(Vec<Identifier>),
    /// The release itself and what comes after it.
    Released,
}

/// The `.devN` of PEP 440, lower than the same version without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Development {
    Number(u64),
    None,
}

/// One identifier of a pre-release or of a local version; numbers stand before words (semver 2.0, item 11).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Key {
    /// The key of a version without `v` in front; None for what is no version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(version) = semver::Version::parse(text) {
            return Some(Self::from_semver(&version));
        }
        let version = pep440_rs::Version::from_str(text).ok()?;
        Some(Self::from_pep440(&version))
    }

    fn from_semver(version: &semver::Version) -> Self {
        let stage = if version.pre.is_empty() {
            Stage::Released
        } else {
            Stage::Before(version.pre.split('.').flat_map(identifiers).collect())
        };
        Self {
            epoch: 0,
            release: release(&[version.major, version.minor, version.patch]),
            stage,
            post: None,
            development: Development::None,
            // Build metadata has no order (semver 2.0, item 10).
            local: Vec::new(),
        }
    }

    fn from_pep440(version: &pep440_rs::Version) -> Self {
        let stage = match (version.pre(), version.dev(), version.post()) {
            (Some(pre), _, _) => {
                let word = stage_word(pre.kind);
                Stage::Before(vec![Identifier::Word(word.to_owned()), Identifier::Number(pre.number)])
            }
            (None, Some(_), None) => Stage::Development,
            (None, _, _) => Stage::Released,
        };
        Self {
            epoch: version.epoch(),
            release: release(version.release()),
            stage,
            post: version.post(),
            development: version.dev().map_or(Development::None, Development::Number),
            local: version.local().iter().map(local_identifier).collect(),
        }
    }
}

fn release(numbers: &[u64]) -> Vec<u64> {
    let end = numbers
        .iter()
        .rposition(|number| *number != 0)
        .map_or(0, |last| last + 1);
    numbers[..end].to_vec()
}

fn stage_word(kind: PrereleaseKind) -> &'static str {
    match kind {
        PrereleaseKind::Alpha => "alpha",
        PrereleaseKind::Beta => "beta",
        PrereleaseKind::Rc => "rc",
    }
}

/// In a local version numbers stand after words (PEP 440), the other way round than in semver; a word is kept
/// apart by a mark that sorts it below every number's stand-in.
fn local_identifier(segment: &LocalSegment) -> Identifier {
    match segment {
        LocalSegment::String(word) => Identifier::Word(format!("0{word}")),
        LocalSegment::Number(number) => Identifier::Word(format!("1{number:020}")),
    }
}

/// An identifier of a semver pre-release. `rc10` is read as `rc`, `10` where the word is one of the usual
/// stages: by the letter of semver it would stand before `rc2`, and that would be called a downgrade.
fn identifiers(text: &str) -> Vec<Identifier> {
    if let Ok(number) = text.parse::<u64>() {
        return vec![Identifier::Number(number)];
    }
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let (word, digits) = text.split_at(text.len() - digits.len());
    let stage = match word {
        "a" | "alpha" => "alpha",
        "b" | "beta" => "beta",
        "c" | "rc" => "rc",
        "pre" | "preview" | "dev" | "canary" | "next" | "nightly" => word,
        _ => return vec![Identifier::Word(text.to_owned())],
    };
    match (digits, digits.parse::<u64>()) {
        ("", _) => vec![Identifier::Word(stage.to_owned())],
        (_, Ok(number)) => vec![Identifier::Word(stage.to_owned()), Identifier::Number(number)],
        (_, Err(_)) => vec![Identifier::Word(text.to_owned())],
    }
}
