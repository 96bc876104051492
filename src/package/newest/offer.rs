//! What a registry offers of one package: its releases and its tags, in one shape for both ecosystems.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// All that a registry offers of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// npm's dist-tags.
    pub(super) tags: BTreeMap<String, String>,
    /// Every release, in any order.
    pub(super) releases: Vec<Release>,
}

/// One release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Release {
    /// Its version.
    pub(super) version: String,
    /// `engines.node` or Requires-Python.
    pub(super) requires: Option<String>,
    /// `engines.npm`.
    pub(super) requires_npm: Option<String>,
    /// Why it is deprecated, if it is.
    pub(super) deprecated: Option<String>,
    /// Whether it was yanked.
    pub(super) yanked: bool,
    /// When it was published.
    pub(super) published: Option<Timestamp>,
}

/// What a fresh installation would meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Conditions {
    /// The version of the Node or Python; unknown ones fit everything, since nothing is proved then.
    pub(super) runtime: Option<String>,
    /// The version of npm.
    pub(super) npm: Option<String>,
    /// The operator's own end of time.
    pub(super) until: Option<Until>,
}

/// Releases after a certain moment are out, because the operator says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Until {
    /// Which setting: `before`, `min-release-age`, `exclude-newer`.
    pub(super) setting: &'static str,
    /// Its value, as it was set.
    pub(super) value: String,
    /// The moment.
    pub(super) moment: Timestamp,
}

impl Offer {
    /// The release of exactly that version.
    pub(super) fn release(&self, version: &str) -> Option<&Release> {
        self.releases.iter().find(|release| release.version == version)
    }
}

impl Conditions {
    /// Whether the operator lets this release in. As for npm, one without a date is.
    pub(super) fn is_in_time(&self, release: &Release) -> bool {
        match (&self.until, release.published) {
            (Some(until), Some(published)) => published <= until.moment,
            (None, _) | (_, None) => true,
        }
    }
}
