//! Asks the package index what it offers, through pip: its configuration, proxies, certificates and passwords
//! hold. Where uv is what installs, what uv was told about indexes is handed on to pip.
//!
//! uv has no command that lists releases, and pip's own (`pip index versions`) tells neither what was yanked nor
//! what needs another Python; so pip's client reads the index, by a few lines of Python.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::package::{Environment, Errand};

use super::offer::{Offer, Release};
use super::uv_settings::UvSettings;
use super::{ASK_LIMIT, Answer, Silence};

const SCRIPT: &str = include_str!("pypi_index.py");
/// Many files of many releases.
const LONGEST_ANSWER: usize = 32 * 1024 * 1024;

/// What the script prints.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Printed {
    known: bool,
    releases: Vec<PrintedRelease>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintedRelease {
    version: String,
    requires: Vec<Option<String>>,
    yanked: bool,
    published: Option<String>,
}

/// Everything the index offers of that project.
pub(super) async fn ask(
    python: &Path,
    name: &str,
    uv: Option<&UvSettings>,
    (environment, folder): (&Environment, &Path),
    cancel: &CancellationToken,
) -> Result<Answer, Silence> {
    let errand = Errand {
        program: python.to_owned(),
        arguments: arguments(name, uv),
        environment: environment.clone().with("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        folder: PathBuf::from(folder),
        limit: ASK_LIMIT,
    };
    let output = errand.answer(LONGEST_ANSWER, cancel).await.map_err(Silence::from)?;
    let printed: Printed = serde_json::from_str(&output)
        .map_err(|error| Silence::of(format!("pip's answer is no JSON of ours: {error}")))?;
    Ok(if printed.known {
        Answer::Offer(Offer {
            releases: printed.releases.into_iter().map(Release::from).collect(),
            ..Offer::default()
        })
    } else {
        Answer::Unknown
    })
}

fn arguments(name: &str, uv: Option<&UvSettings>) -> Vec<OsString> {
    let mut words = vec!["-c", SCRIPT, "--quiet", "--retries", "1", "--timeout", "15"];
    if let Some(uv) = uv {
        if let Some(index) = &uv.index {
            words.extend(["--index-url", index]);
        }
        for index in &uv.further {
            words.extend(["--extra-index-url", index]);
        }
    }
    words.extend(["--", name]);
    words.into_iter().map(OsString::from).collect()
}

impl From<PrintedRelease> for Release {
    fn from(printed: PrintedRelease) -> Self {
        // A file without the field fits every Python, and then so does the release.
        let all: Option<Vec<String>> = printed.requires.into_iter().collect();
        Self {
            version: printed.version,
            requires: all.and_then(|all| all.into_iter().next()),
            yanked: printed.yanked,
            published: printed.published.and_then(|moment| moment.parse().ok()),
            ..Self::default()
        }
    }
}
