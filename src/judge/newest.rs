//! What the registry offers, held against what is installed: held back, or merely behind.
//!
//! The facts come from the record; nothing is worked out anew, so a record is judged the same way years later.

use std::cmp::Ordering;

use crate::event::{Cause, Ecosystem};
use crate::finding::{Code, Severity};
use crate::judge::sentences::{Case, Told};
use crate::judge::words::line;
use crate::version::compare;

/// Causes that the operator set himself: known to him, and his to change.
const OWN_CAUSES: &[&str] = &["before", "min-release-age", "exclude-newer"];

/// The findings about the newest version; none where it is not known, or is not higher than what is installed.
pub(super) fn tell(case: Case<'_>) -> Vec<Told> {
    let package = &case.record.identity.package;
    let (Some(installed), Some(newest)) = (&package.installed, &package.newest.version) else {
        let told = |why: &String| {
            Told::new(
                Code::NewestUnknown,
                format!("what is newest is not known: {}", line(why)),
            )
        };
        return package.newest.unknown.iter().map(told).collect();
    };
    if compare(installed, newest) != Some(Ordering::Less) {
        return Vec::new();
    }
    let as_of = package.newest.as_of.as_ref();
    let start = format!(
        "{} is installed where {} is the newest{}",
        line(installed),
        line(newest),
        as_of.map(|day| format!(" (as of {day})")).unwrap_or_default()
    );
    let behind = package.newest.behind.as_ref();
    let told = match &package.newest.held_back {
        Some(cause) => {
            let held = held_back(case, &start, cause);
            let behind = behind.map(|cause| behind_newest(case, &start, Some(cause)));
            std::iter::once(held).chain(behind).collect()
        }
        None => vec![behind_newest(case, &start, behind)],
    };
    let both = |told: Told| told.expected(line(newest)).actual(line(installed));
    Vec::into_iter(told).map(both).collect()
}

fn held_back(case: Case<'_>, start: &str, cause: &Cause) -> Told {
    let newest = case
        .record
        .identity
        .package
        .newest
        .version
        .as_deref()
        .unwrap_or_default();
    let detail = cause.detail.as_deref().unwrap_or(cause.cause.as_str());
    let message = format!("{start}: {} {}", line(newest), line(detail));
    let severity = if OWN_CAUSES.contains(&cause.cause.as_str()) {
        Severity::Note
    } else {
        Code::HeldBack.default_severity()
    };
    Told::new(Code::HeldBack, message)
        .severity(severity)
        .hint(Some(cure(case, cause)))
}

fn behind_newest(case: Case<'_>, start: &str, cause: Option<&Cause>) -> Told {
    let detail = cause.and_then(|cause| cause.detail.as_deref());
    let message = match detail {
        Some(detail) => format!("{start}: {}", line(detail)),
        None => start.to_owned(),
    };
    let name = line(case.record.identity.package.name.as_deref().unwrap_or("it"));
    let word = cause.map(|cause| cause.cause.as_str());
    let hint = match word {
        Some("npx-cache") => Some(format!(
            "`npx {name}@latest` asks for the newest, or remove that folder"
        )),
        Some("uvx-cache") => Some(format!("`uvx {name}@latest` asks for the newest")),
        Some("uv-tool") => Some(format!(
            "`uv tool upgrade {name}` renews it, `uvx {name}@latest` leaves it aside"
        )),
        Some("global-install") => Some(format!("`npm install --global {name}@latest` renews it")),
        Some("parent-folder") => Some(format!(
            "renew it there, or write `npx {name}@latest`, which does not take it"
        )),
        Some(_) | None => is_ours(case).then(|| "`--install update` installs it anew".to_owned()),
    };
    Told::new(Code::BehindNewest, message).hint(hint)
}

/// Whether we installed it, so that installing anew is ours too.
fn is_ours(case: Case<'_>) -> bool {
    case.launch().is_some_and(|launch| !launch.packages.is_empty())
}

/// What would give the newest. Accepting the fact by the lock is always the other way.
fn cure(case: Case<'_>, cause: &Cause) -> String {
    let package = &case.record.identity.package;
    let requires = package.newest.requires.as_deref().map(line).unwrap_or_default();
    let kind = match package.ecosystem {
        Some(Ecosystem::Pypi) => "Python",
        Some(Ecosystem::Npm) | None => "Node",
    };
    let accept = "accept it with `mcp-smoke lock`";
    match cause.cause.as_str() {
        "engines"
            if cause
                .detail
                .as_deref()
                .is_some_and(|detail| detail.starts_with("needs npm")) =>
        {
            format!("run it with a newer npm, or {accept}")
        }
        "engines" | "requires-python" => format!("run it on a {kind} that fits {requires}, or {accept}"),
        "deprecated" => format!("wait for the release that replaces it, or {accept}"),
        own => format!("change `{own}` if it is no longer wanted, or {accept}"),
    }
}

#[cfg(test)]
mod tests;
