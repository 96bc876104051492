//! The last answer of a registry, kept under `<state>/newest` for a night on which it does not answer.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::Ecosystem;

use super::offer::{Offer, Release};

/// Format 1 of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptV1 {
    format: u32,
    name: String,
    asked: String,
    tags: BTreeMap<String, String>,
    releases: Vec<ReleaseV1>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseV1 {
    version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requires: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requires_npm: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deprecated: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    yanked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published: Option<String>,
}

/// Where the answers about one package lie. `client` is what else tells one registry from another.
pub(super) fn file(state: &Path, ecosystem: Ecosystem, name: &str, client: &[(String, String)]) -> PathBuf {
    let mut hasher = Sha256::new();
    let texts = client.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    for text in std::iter::once(name).chain(texts) {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    let [first, second, third, fourth, ..] = digest;
    let digest = u32::from_be_bytes([first, second, third, fourth]);
    let readable: String = name
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
        .take(60)
        .collect();
    let folder = state.join("newest").join(ecosystem.name());
    folder.join(format!("{readable}-{digest:08x}.json"))
}

/// Keeps an answer. A reader sees the one before or this one, never half of it.
pub(super) fn keep(file: &Path, name: &str, offer: &Offer, asked: Timestamp) -> io::Result<()> {
    let kept = KeptV1 {
        format: 1,
        name: name.to_owned(),
        asked: asked.to_string(),
        tags: offer.tags.clone(),
        releases: offer.releases.iter().map(ReleaseV1::from).collect(),
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    // Two runs at once may keep the same answer.
    let new = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, serde_json::to_vec(&kept)?)?;
    fs::rename(new, file)
}

/// The answer that was kept, and when it was given. A damaged file, or one of a later format, is none.
pub(super) fn last(file: &Path, name: &str) -> Option<(Offer, Timestamp)> {
    let kept: KeptV1 = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    if kept.format != 1 || kept.name != name {
        return None;
    }
    let offer = Offer {
        tags: kept.tags,
        releases: kept.releases.into_iter().map(Release::from).collect(),
    };
    Some((offer, kept.asked.parse().ok()?))
}

impl From<&Release> for ReleaseV1 {
    fn from(release: &Release) -> Self {
        Self {
            version: release.version.clone(),
            requires: release.requires.clone(),
            requires_npm: release.requires_npm.clone(),
            deprecated: release.deprecated.clone(),
            yanked: release.yanked,
            published: release.published.map(|moment| moment.to_string()),
        }
    }
}

impl From<ReleaseV1> for Release {
    fn from(kept: ReleaseV1) -> Self {
        Self {
            version: kept.version,
            requires: kept.requires,
            requires_npm: kept.requires_npm,
            deprecated: kept.deprecated,
            yanked: kept.yanked,
            published: kept.published.and_then(|moment| moment.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_back_as_it_was_and_a_damaged_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path(), Ecosystem::Npm, "@scope/x", &[]);
        assert_eq!(last(&file, "@scope/x"), None);
        let offer = Offer {
            tags: BTreeMap::from([("latest".to_owned(), "2.0.0".to_owned())]),
            releases: vec![
                Release {
                    version: "2.0.0".to_owned(),
                    requires: Some(">=22".to_owned()),
                    requires_npm: Some(">=10".to_owned()),
                    deprecated: Some("bad".to_owned()),
                    yanked: true,
                    published: Some(Timestamp::UNIX_EPOCH),
                },
                Release {
                    version: "1.0.0".to_owned(),
                    ..Release::default()
                },
            ],
        };
        keep(&file, "@scope/x", &offer, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(last(&file, "@scope/x"), Some((offer, Timestamp::UNIX_EPOCH)));
        assert_eq!(last(&file, "other"), None);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"format\":1", "\"format\":2")).unwrap();
        assert_eq!(last(&file, "@scope/x"), None);
        fs::write(&file, &text[..20]).unwrap();
        assert_eq!(last(&file, "@scope/x"), None);
    }

    #[test]
    fn another_registry_has_another_file() {
        let one = file(Path::new("/state"), Ecosystem::Npm, "x", &[]);
        let client = [("npm_config_registry".to_owned(), "http://127.0.0.1:1".to_owned())];
        assert_ne!(one, file(Path::new("/state"), Ecosystem::Npm, "x", &client));
        assert_ne!(one, file(Path::new("/state"), Ecosystem::Pypi, "x", &[]));
    }
}
