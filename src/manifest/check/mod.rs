//! What a schema cannot express: durations, ranges, packages, placeholders, and names that must exist elsewhere
//! in the manifest. It walks the tree, not the deserialised manifest, so that a mistake of one kind hides none
//! of another; values of the wrong type are passed over, the schema tells of them.

mod probe;
mod server;
mod text;

use super::duration;
use super::mistake::Mistake;
use super::tree::{Entry, Node};

use crate::version::Requirement;

/// The keys that hold durations; the second may be zero.
const TIMEOUTS: [&str; 5] = [
    "startup_timeout",
    "list_timeout",
    "call_timeout",
    "row_timeout",
    "timeout",
];
const GRACE: &str = "shutdown_grace";

/// What the checks of a server look up in the rest of the manifest.
pub(super) struct Known<'tree> {
    pub(super) source: &'tree str,
    pub(super) runtimes: Vec<&'tree str>,
    pub(super) programs: Vec<&'tree str>,
}

/// Every mistake that only these checks find.
pub(super) fn check(root: &Node, source: &str) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let table = |key: &str| root.get(key).map(|entry| entry.value.entries()).unwrap_or_default();
    let programs = root
        .get("requires")
        .map(|entry| entry.value.items())
        .unwrap_or_default();
    let known = Known {
        source,
        runtimes: table("runtimes").iter().map(|entry| entry.key.as_str()).collect(),
        programs: programs
            .iter()
            .filter_map(|program| program.get("program")?.value.text())
            .collect(),
    };
    durations(table("defaults"), "", &mut mistakes);
    table("runtimes")
        .iter()
        .for_each(|runtime| runtime_range(runtime, &mut mistakes));
    twice(
        programs.iter().filter_map(|program| program.get("program")),
        "program",
        &mut mistakes,
    );
    table("servers")
        .iter()
        .for_each(|server| server::check(server, &known, &mut mistakes));
    dates(root, false, &mut mistakes);
    mistakes
}

/// The durations of a table; `prefix` stands before the key in messages.
fn durations(entries: &[Entry], prefix: &str, mistakes: &mut Vec<Mistake>) {
    for entry in entries {
        let may_be_zero = entry.key == GRACE;
        let Some(text) = entry
            .value
            .text()
            .filter(|_| may_be_zero || TIMEOUTS.contains(&entry.key.as_str()))
        else {
            continue;
        };
        let span = entry.value.span.clone();
        match duration::parse(text) {
            Ok(length) if length.is_zero() && !may_be_zero => {
                mistakes.push(
                    Mistake::new(span, format!("`{prefix}{}` must be longer than nothing", entry.key))
                        .label("no time at all"),
                );
            }
            Ok(_) => {}
            Err(wanted) => {
                let title = format!("`{prefix}{}`: \"{}\" is not a duration", entry.key, text.escape_debug());
                mistakes.push(Mistake::new(span, title).label("not a duration").help(wanted));
            }
        }
    }
}

fn runtime_range(runtime: &Entry, mistakes: &mut Vec<Mistake>) {
    for entry in runtime.value.entries() {
        let Some(text) = entry.value.text().filter(|text| !text.is_empty()) else {
            continue;
        };
        let range = match entry.key.as_str() {
            "node" => Requirement::npm(text),
            "python" => Requirement::pep440(text),
            _ => continue,
        };
        if let Err(problem) = range {
            let title = format!("`runtimes.{}.{}` is not a range", runtime.key, entry.key);
            mistakes.push(
                Mistake::new(entry.value.span.clone(), title)
                    .label("not a range")
                    .help(problem),
            );
        }
    }
}

/// Names that stand twice where each may stand once.
fn twice<'tree>(entries: impl Iterator<Item = &'tree Entry>, what: &str, mistakes: &mut Vec<Mistake>) {
    let mut seen: Vec<&str> = Vec::new();
    for entry in entries {
        let Some(name) = entry.value.text() else { continue };
        if seen.contains(&name) {
            let title = format!("there are two {what}s named `{}`", name.escape_debug());
            mistakes.push(Mistake::new(entry.value.span.clone(), title).label("named before"));
        }
        seen.push(name);
    }
}

/// Dates, which TOML has and JSON has not: fine inside the arguments of a call, where they become strings.
fn dates(node: &Node, allowed: bool, mistakes: &mut Vec<Mistake>) {
    if let super::tree::Content::Date(text) = &node.content
        && !allowed
    {
        let mistake = Mistake::new(node.span.clone(), "a date cannot stand here").label("expected a string");
        mistakes.push(mistake.help(format!("put it in quotes: \"{text}\"")));
    }
    for entry in node.entries() {
        dates(
            &entry.value,
            allowed || entry.key == "arguments" || entry.key == "structured",
            mistakes,
        );
    }
    node.items().iter().for_each(|item| dates(item, allowed, mistakes));
}
