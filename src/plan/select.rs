//! Which rows a run takes: NAME, NAME@RUNTIME, glob, tag:NAME; `!` in front leaves out.

use globset::{GlobBuilder, GlobMatcher};
use thiserror::Error;

use crate::manifest::closest;

/// Why no plan can be made: what was asked for does not fit the manifest.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// A selector that no row fits.
    #[error("no row matches `{}`{}", .selector.escape_debug(), .closest.as_ref().map(|closest| format!("; did you mean `{closest}`?")).unwrap_or_default())]
    NothingMatches {
        /// As typed.
        selector: String,
        /// The nearest server, row or tag.
        closest: Option<String>,
        /// The rows there are.
        rows: Vec<String>,
    },
    /// A glob that is none.
    #[error("`{}` is not a glob: {problem}", .selector.escape_debug())]
    BadGlob {
        /// As typed.
        selector: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Every row was left out.
    #[error("the selectors leave no row to run")]
    NothingLeft,
}

impl PlanError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NothingMatches { rows, .. } => {
                let shown = rows.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
                let more = if rows.len() > 12 { ", …" } else { "" };
                Some(format!(
                    "rows: {shown}{more} (`mcp-smoke list` shows all; tag:NAME selects by tag)"
                ))
            }
            Self::BadGlob { .. } => Some("`*` stands for any text, `?` for one character".to_owned()),
            Self::NothingLeft => None,
        }
    }
}

/// What a selector is held against.
pub(super) struct Candidate<'plan> {
    pub(super) id: String,
    pub(super) server: &'plan str,
    pub(super) tags: &'plan [String],
}

/// One selector, read.
struct Selector<'typed> {
    typed: &'typed str,
    leaves_out: bool,
    by_tag: bool,
    word: &'typed str,
    glob: GlobMatcher,
}

/// For each candidate whether it was selected.
pub(super) fn select(selectors: &[String], candidates: &[Candidate<'_>]) -> Result<Vec<bool>, PlanError> {
    let selectors = selectors
        .iter()
        .map(|typed| read(typed))
        .collect::<Result<Vec<_>, _>>()?;
    // Leaving out alone leaves out of everything.
    let mut selected = vec![selectors.iter().all(|selector| selector.leaves_out); candidates.len()];
    for selector in selectors.iter().filter(|selector| !selector.leaves_out) {
        mark(selector, candidates, &mut selected, true)?;
    }
    for selector in selectors.iter().filter(|selector| selector.leaves_out) {
        mark(selector, candidates, &mut selected, false)?;
    }
    if selected.contains(&true) || candidates.is_empty() {
        Ok(selected)
    } else {
        Err(PlanError::NothingLeft)
    }
}

fn read(typed: &str) -> Result<Selector<'_>, PlanError> {
    let (leaves_out, rest) = typed.strip_prefix('!').map_or((false, typed), |rest| (true, rest));
    let (by_tag, word) = rest.strip_prefix("tag:").map_or((false, rest), |tag| (true, tag));
    let glob = GlobBuilder::new(word).literal_separator(false).build();
    let glob = glob.map_err(|problem| PlanError::BadGlob {
        selector: typed.to_owned(),
        problem: problem.kind().to_string(),
    })?;
    Ok(Selector {
        typed,
        leaves_out,
        by_tag,
        word,
        glob: glob.compile_matcher(),
    })
}

fn mark(
    selector: &Selector<'_>,
    candidates: &[Candidate<'_>],
    selected: &mut [bool],
    value: bool,
) -> Result<(), PlanError> {
    let mut found = false;
    for (candidate, selected) in candidates.iter().zip(selected) {
        if fits(selector, candidate) {
            (*selected, found) = (value, true);
        }
    }
    if found {
        return Ok(());
    }
    Err(PlanError::NothingMatches {
        selector: selector.typed.to_owned(),
        closest: nearest(selector, candidates),
        rows: candidates.iter().map(|candidate| candidate.id.clone()).collect(),
    })
}

fn fits(selector: &Selector<'_>, candidate: &Candidate<'_>) -> bool {
    let word_fits = |word: &str| word == selector.word || selector.glob.is_match(word);
    if selector.by_tag {
        candidate.tags.iter().any(|tag| word_fits(tag))
    } else {
        word_fits(&candidate.id) || word_fits(candidate.server)
    }
}

fn nearest(selector: &Selector<'_>, candidates: &[Candidate<'_>]) -> Option<String> {
    if selector.by_tag {
        let tags = candidates
            .iter()
            .flat_map(|candidate| candidate.tags.iter().map(String::as_str));
        return closest(selector.word, tags).map(|tag| format!("tag:{tag}"));
    }
    let names = candidates
        .iter()
        .flat_map(|candidate| [candidate.server, candidate.id.as_str()]);
    let tag = || {
        candidates
            .iter()
            .flat_map(|candidate| candidate.tags)
            .find(|tag| *tag == selector.word)
    };
    let same_server = || {
        let server = selector.word.split('@').next()?;
        candidates
            .iter()
            .find(|candidate| candidate.server == server)
            .map(|candidate| candidate.id.clone())
    };
    same_server()
        .or_else(|| tag().map(|tag| format!("tag:{tag}")))
        .or_else(|| closest(selector.word, names).map(str::to_owned))
}
