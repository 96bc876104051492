//! What a version must be: an npm range, PEP 440 specifiers, or either. Ranges are checked strictly, since the
//! parsers behind them are lenient; versions are read kindly, since servers report `v1.2` as often as `1.2.0`.

use std::str::FromStr;
use std::sync::LazyLock;

use pep440_rs::VersionSpecifiers;
use regex::Regex;

use super::bare;

/// One comparator of an npm range. Node's own parser takes nearly any text, so the shape is checked first.
static NPM_COMPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    let version = r"v?(?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?";
    let pattern = format!(
        r"^\s*(?:{version}\s+-\s+{version}|(?:(?:>=|<=|>|<|=|\^|~>|~)?\s*{version})(?:\s+(?:>=|<=|>|<|=|\^|~>|~)?\s*{version})*)\s*$"
    );
    Regex::new(&pattern).expect("the pattern is fixed and tested")
});

/// What a version must be.
#[derive(Clone, Debug)]
pub struct Requirement {
    npm: Option<node_semver::Range>,
    pep440: Option<VersionSpecifiers>,
    any: bool,
}

impl Requirement {
    /// A range of either kind: `>=2026`, `*`, `^1.2`, `1.x || 2.x`, `~=1.0`, `==1.0.*`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::any());
        }
        let (npm, pep440) = (npm_range(text), specifiers(text));
        if npm.is_none() && pep440.is_none() {
            return Err(not_a_range(
                text,
                "a range such as `>=1.2`, `^1.2`, `~=1.2`, `==1.2.*` or `*`",
            ));
        }
        Ok(Self {
            npm,
            pep440,
            any: false,
        })
    }

    /// An npm range: `^1.2`, `20`, `>=1 <2`, `1.x || 2.x`, `*`.
    pub fn npm(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::any());
        }
        let Some(range) = npm_range(text) else {
            return Err(not_a_range(text, "an npm range such as `20`, `^1.2`, `>=1 <2` or `*`"));
        };
        Ok(Self {
            npm: Some(range),
            pep440: None,
            any: false,
        })
    }

    /// PEP 440 specifiers: `>=3.10`, `~=1.0`, `==1.0.*`, `*`; a bare `3.12` or `3.12.*` stands for `==3.12.*`.
    pub fn pep440(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::any());
        }
        let bare = text.strip_suffix(".*").unwrap_or(text);
        let is_number = !bare.is_empty() && bare.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        let found = if is_number {
            specifiers(&format!("=={bare}.*"))
        } else {
            specifiers(text)
        };
        let Some(found) = found else {
            return Err(not_a_range(
                text,
                "a PEP 440 range such as `>=3.10`, `~=1.2`, `==1.2.*` or `*`",
            ));
        };
        Ok(Self {
            npm: None,
            pep440: Some(found),
            any: false,
        })
    }

    fn any() -> Self {
        Self {
            npm: None,
            pep440: None,
            any: true,
        }
    }

    /// Whether every version will do (`*`).
    pub fn is_any(&self) -> bool {
        self.any
    }

    /// Whether the version fits. What is no version fits `*` only. As for npm, a pre-release fits a semver range
    /// only where the range names one of the same release.
    pub fn matches(&self, version: &str) -> bool {
        if self.any {
            return true;
        }
        let version = bare(version);
        if let (Some(range), Ok(version)) = (&self.npm, node_semver::Version::parse(version)) {
            return range.satisfies(&version);
        }
        let Ok(version) = pep440_rs::Version::from_str(version) else {
            return false;
        };
        match (&self.pep440, &self.npm) {
            (Some(specifiers), _) => specifiers.contains(&padded(version)),
            (None, Some(range)) => satisfies(range, &version),
            (None, None) => false,
        }
    }
}

/// The same version with zeros for missing parts: `==3.12.*` would take a bare `3` otherwise.
fn padded(version: pep440_rs::Version) -> pep440_rs::Version {
    let mut release = version.release().to_vec();
    while release.len() < 6 {
        release.push(0);
    }
    version.with_release(release)
}

fn not_a_range(text: &str, wanted: &str) -> String {
    format!("`{}` is not a range of versions; write {wanted}", text.escape_debug())
}

fn npm_range(text: &str) -> Option<node_semver::Range> {
    let well_formed = text.split("||").all(|part| NPM_COMPARATOR.is_match(part));
    if !well_formed {
        return None;
    }
    node_semver::Range::parse(text).ok()
}

fn specifiers(text: &str) -> Option<VersionSpecifiers> {
    if text.is_empty() {
        return None;
    }
    VersionSpecifiers::from_str(text).ok()
}

/// Whether a version that is not semver fits an npm range: missing parts are zeros, a fourth part lies between
/// two patches (so both must fit), and a pre-release of PEP 440 is spelled as semver does.
fn satisfies(range: &node_semver::Range, version: &pep440_rs::Version) -> bool {
    let part = |index: usize| version.release().get(index).copied().unwrap_or(0);
    let (major, minor, patch) = (part(0), part(1), part(2));
    let stage = match (version.pre(), version.dev()) {
        (Some(pre), _) => format!("-{}.{}", pre.kind, pre.number),
        (None, Some(number)) => format!("-dev.{number}"),
        (None, None) => String::new(),
    };
    let fits = |patch: u64| {
        node_semver::Version::parse(format!("{major}.{minor}.{patch}{stage}"))
            .is_ok_and(|version| range.satisfies(&version))
    };
    let between = version.release().iter().skip(3).any(|number| *number != 0);
    fits(patch) && (!between || patch.checked_add(1).is_some_and(fits))
}
