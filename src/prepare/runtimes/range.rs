//! Which versions a runtime's range takes in: npm's ranges for Node, PEP 440 for Python.

use std::cmp::Ordering;

use crate::plan::RuntimeKind;
use crate::version::Requirement;

/// A version, in the order of its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::prepare) enum Version {
    /// Of Node.
    Node(node_semver::Version),
    /// Of Python.
    Python(pep440_rs::Version),
}

impl Version {
    /// Reads `20.1.0`, `v20.1.0`, `3.12.1`; a folder's name may be an incomplete one: `20`.
    pub(super) fn parse(kind: RuntimeKind, text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        match kind {
            RuntimeKind::Node => text.parse().ok().map(Self::Node),
            RuntimeKind::Python => text.parse().ok().map(Self::Python),
        }
    }

    /// Stable before pre-releases, then the higher.
    pub(super) fn preference(&self, other: &Self) -> Ordering {
        let stable = (!self.is_prerelease()).cmp(&!other.is_prerelease());
        stable.then_with(|| self.cmp(other))
    }

    fn is_prerelease(&self) -> bool {
        match self {
            Self::Node(version) => version.is_prerelease(),
            Self::Python(version) => version.any_prerelease(),
        }
    }
}

/// Whether the range takes in the version. A range that cannot be read takes in nothing; the manifest
/// has been checked for those.
pub(super) fn fits(kind: RuntimeKind, range: &str, version: &str) -> bool {
    let required = match kind {
        _ if range.trim().is_empty() => return Version::parse(kind, version).is_some(),
        RuntimeKind::Node => Requirement::npm(range),
        RuntimeKind::Python => Requirement::pep440(range),
    };
    Version::parse(kind, version).is_some() && required.is_ok_and(|required| required.matches(version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RuntimeKind::{Node, Python};

    #[test]
    fn ranges_are_those_of_their_ecosystem() {
        for (kind, range, version, expected) in [
            (Node, "20", "20.20.2", true),
            (Node, "20", "24.1.0", false),
            (Node, "^20.19.0 || >=22.12", "22.11.0", false),
            (Node, ">=22 <25", "24.22.3", true),
            (Node, "*", "18.0.0", true),
            (Python, ">=3.10", "3.11.7", true),
            (Python, ">=3.10,<3.13", "3.13.1", false),
            (Python, "3.12", "3.12.4", true),
            (Python, "3.12", "3.13.0", false),
            (Python, "3.12.*", "3.12.4", true),
            (Python, "==3.12.4", "3.12.4", true),
            (Python, "", "3.8.0", true),
            (Python, "nonsense", "3.8.0", false),
        ] {
            assert_eq!(fits(kind, range, version), expected, "{range} {version}");
        }
    }

    #[test]
    fn a_stable_version_is_preferred_to_a_higher_pre_release() {
        let version = |text| Version::parse(Python, text).unwrap();
        assert_eq!(version("3.13.1").preference(&version("3.14.0a1")), Ordering::Greater);
        assert_eq!(version("3.13.1").preference(&version("3.12.9")), Ordering::Greater);
    }
}
