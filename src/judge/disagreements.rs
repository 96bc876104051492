//! Sessions of one row that do not show the same: a list that flaps, a version that changes under way.
//!
//! The first session that answered is the one the tables show; each later one is held against it.
//! Which of them is right is not decided here.

use std::collections::BTreeMap;

use crate::event::{HandshakeFacts, ProcessIdentity, SessionFacts, ToolFacts};
use crate::finding::Code;
use crate::judge::expectations::Found;
use crate::judge::sentences::Told;
use crate::judge::words::{line, names, plural_of, quote, shown};

/// Everything that a later session shows otherwise than the first.
pub(super) fn between(sessions: &[&SessionFacts], name_is_expected: bool) -> Vec<Found> {
    let mut found = Vec::new();
    let mut first_answer: Option<&HandshakeFacts> = None;
    let mut first_list: Option<&Vec<ToolFacts>> = None;
    let mut first_identity: Option<&ProcessIdentity> = None;
    for session in sessions {
        let mut add = |told: Option<Told>| found.extend(told.map(|told| (Some(session.number), told)));
        if let Some(later) = &session.handshake {
            let first = *first_answer.get_or_insert(later);
            // With `expect.name` the other name is told already, against what is expected.
            add(if name_is_expected {
                None
            } else {
                other_name(first, later)
            });
            add(other_version(first, later));
            add(other_handshake(first, later));
        }
        if let Some(later) = &session.tools {
            add(other_tools(first_list.get_or_insert(later), later));
        }
        if let Some(later) = &session.identity {
            let first = *first_identity.get_or_insert(later);
            add(other_package(first, later));
            add(other_runtime(first, later));
        }
    }
    found
}

fn other_name(first: &HandshakeFacts, later: &HandshakeFacts) -> Option<Told> {
    let (then, now) = (text(first.name.as_deref()), text(later.name.as_deref()));
    (first.name != later.name).then(|| {
        let message = format!(
            "calls itself {} in the first session and {} in a later one",
            quote(&then),
            quote(&now)
        );
        Told::new(Code::NameChanged, message).expected(then).actual(now)
    })
}

fn other_version(first: &HandshakeFacts, later: &HandshakeFacts) -> Option<Told> {
    let (then, now) = (text(first.version.as_deref()), text(later.version.as_deref()));
    (first.version != later.version).then(|| {
        let message = format!("reports version {then} in the first session and {now} in a later one");
        Told::new(Code::VersionChanged, message).expected(then).actual(now)
    })
}

fn other_handshake(first: &HandshakeFacts, later: &HandshakeFacts) -> Option<Told> {
    let words = |facts: &HandshakeFacts| format!("{} {}", facts.era.name(), line(&facts.negotiated));
    let (then, now) = (words(first), words(later));
    (then != now).then(|| {
        let message = format!("speaks {then} in the first session and {now} in a later one");
        Told::new(Code::Flaky, message).expected(then).actual(now)
    })
}

/// Order of tools and of keys is no difference.
fn other_tools(first: &[ToolFacts], later: &[ToolFacts]) -> Option<Told> {
    let (then, now) = (by_name(first), by_name(later));
    let gone: Vec<&str> = then.keys().filter(|name| !now.contains_key(*name)).copied().collect();
    let new: Vec<&str> = now.keys().filter(|name| !then.contains_key(*name)).copied().collect();
    let changed: Vec<&str> = then
        .iter()
        .filter(|(name, tool)| now.get(*name).is_some_and(|other| other != *tool))
        .map(|(name, _)| *name)
        .collect();
    let parts: Vec<String> = [
        ("only in the first", gone),
        ("only in the later", new),
        ("described otherwise", changed),
    ]
    .into_iter()
    .filter(|(_, listed)| !listed.is_empty())
    .map(|(what, listed)| format!("{what}: {}", names(listed)))
    .collect();
    (!parts.is_empty()).then(|| {
        let (then, now) = (
            plural_of(then.len(), "tool", "tools"),
            plural_of(now.len(), "tool", "tools"),
        );
        let message = format!(
            "lists {then} in the first session and {now} in a later one; {}",
            parts.join("; ")
        );
        Told::new(Code::ToolDrift, message).expected(then).actual(now)
    })
}

fn other_package(first: &ProcessIdentity, later: &ProcessIdentity) -> Option<Told> {
    let (then, now) = (first.package.as_ref()?, later.package.as_ref()?);
    ((&then.name, &then.version) != (&now.name, &now.version)).then(|| {
        let (then, now) = (
            format!("{} {}", line(&then.name), line(&then.version)),
            format!("{} {}", line(&now.name), line(&now.version)),
        );
        let message = format!("{then} answered in the first session and {now} in a later one");
        Told::new(Code::VersionChanged, message).expected(then).actual(now)
    })
}

fn other_runtime(first: &ProcessIdentity, later: &ProcessIdentity) -> Option<Told> {
    let (then, now) = (first.runtime.as_ref()?, later.runtime.as_ref()?);
    // An executable that did not tell its version in time has not changed.
    let same_version = then.version.is_none() || now.version.is_none() || then.version == now.version;
    (then.kind != now.kind || !same_version).then(|| {
        let words =
            |kind: &str, version: Option<&str>| line(&format!("{kind} {}", version.unwrap_or("of unknown version")));
        let (then, now) = (
            words(&then.kind, then.version.as_deref()),
            words(&now.kind, now.version.as_deref()),
        );
        let message = format!("ran on {then} in the first session and on {now} in a later one");
        Told::new(Code::RuntimeChanged, message).expected(then).actual(now)
    })
}

fn by_name(tools: &[ToolFacts]) -> BTreeMap<&str, &ToolFacts> {
    tools.iter().map(|tool| (tool.name.as_str(), tool)).collect()
}

/// A value of the handshake as tables show it.
fn text(value: Option<&str>) -> String {
    value.map_or_else(|| "(none)".to_owned(), shown)
}

#[cfg(test)]
mod tests;
