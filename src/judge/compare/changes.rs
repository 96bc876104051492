//! The facts of a row held against those of one earlier moment, be it the lock or a run: each change with
//! its code, its severity and its sentence. It knows neither which moment that was nor what was accepted.

use std::collections::BTreeMap;

use super::tools::{self, Change, Tools};
use super::versions::{self, Step};
use crate::finding::{Code, Severity};
use crate::judge::sentences::Told;
use crate::judge::words::{code, line, names, plural_of, quote, shown};
use crate::lock::{PackageVersion, RowFacts};

/// How many differences of one tool are told.
const MOST_DIFFERENCES: usize = 4;

/// How the sentence of the row's own version begins.
pub(super) const VERSION: &str = "version ";

/// What of a row a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// The version, on disk or reported.
    Version,
    /// The reported name.
    Name,
    /// The interpreter.
    Runtime,
    /// The handshake and its revision.
    Protocol,
}

/// Changes of everything but the tools.
pub(super) fn of_identity(before: &RowFacts, now: &RowFacts, name_is_expected: bool) -> Vec<(Subject, Told)> {
    let mut changes = Vec::new();
    let mut add = |subject, told: Option<Told>| changes.extend(told.map(|told| (subject, told)));
    if let Some(told) = other_package(before, now) {
        add(Subject::Version, Some(told));
    } else {
        add(Subject::Version, direction(before, now));
        add(Subject::Version, reported_otherwise(before, now));
        add(Subject::Version, stale(before, now));
    }
    // With `expect.name` the other name is told against what is expected.
    if !name_is_expected {
        add(Subject::Name, name(before, now));
    }
    add(Subject::Runtime, runtime(before, now));
    add(Subject::Protocol, protocol(before, now));
    changes
}

fn other_package(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let (then, now) = (before.package.as_ref()?, now.package.as_ref()?);
    let words = |package: &PackageVersion| {
        let version = package.installed.as_deref().unwrap_or("of unknown version");
        line(&format!("{}:{} {version}", package.ecosystem.name(), package.name))
    };
    ((then.ecosystem, &then.name) != (now.ecosystem, &now.name)).then(|| {
        let (then, now) = (words(then), words(now));
        let message = format!("another package answers: {now} in place of {then}");
        Told::new(Code::VersionChanged, message).expected(then).actual(now)
    })
}

/// The version of the row, on disk where known on both sides.
fn direction(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let installed = versions::installed(before, now);
    let (then, new, which) = if installed.is_some() {
        (before.installed(), now.installed(), "installed")
    } else {
        let (then, now) = (&before.reported_version, &now.reported_version);
        (then.as_deref(), now.as_deref(), "reported")
    };
    let (then, new) = (version(then), version(new));
    let told = |code, verb: &str| {
        let message = format!("{VERSION}{verb} from {then} to {new} ({which})");
        Told::new(code, message).expected(then.clone()).actual(new.clone())
    };
    match versions::of_row(before, now) {
        Step::Same | Step::Unknown => None,
        Step::Up => Some(told(Code::VersionUpgraded, "rose")),
        Step::Other => Some(told(Code::VersionChanged, "changed")),
        Step::Down if versions::asked_for(before, now) => {
            let wanted = |facts: &RowFacts| code(facts.wanted().unwrap_or("*"));
            let mut told = told(Code::VersionDowngrade, "fell");
            let asked = format!(
                "; the manifest asks for {}, it asked for {} then)",
                wanted(now),
                wanted(before)
            );
            told.message.truncate(told.message.len() - ")".len());
            told.message.push_str(&asked);
            Some(told.severity(Severity::Warn))
        }
        Step::Down => Some(told(Code::VersionDowngrade, "fell")),
    }
}

/// What is reported went another way than what is on disk.
fn reported_otherwise(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let installed = versions::installed(before, now)?;
    let (then, new) = (before.reported_version.as_deref(), now.reported_version.as_deref());
    let (code, verb) = match (versions::step(then, new), installed) {
        // Told already: the row fell. Beside an upgrade another text without order is only natural.
        (_, Step::Down) | (Step::Same | Step::Unknown, _) | (Step::Up | Step::Other, Step::Up | Step::Other) => {
            return None;
        }
        (Step::Down, _) => (Code::VersionChanged, "fell"),
        (Step::Other, _) => (Code::VersionChanged, "changed"),
        (Step::Up, _) => (Code::VersionUpgraded, "rose"),
    };
    let (then, new) = (version(then), version(new));
    let disk = version(now.installed());
    let beside = if installed == Step::Same {
        format!("{disk} is still installed")
    } else {
        format!("{disk} is installed, {} then", version(before.installed()))
    };
    let message = format!("the reported version {verb} from {then} to {new}, while {beside},");
    Some(Told::new(code, message).expected(then).actual(new))
}

/// The package moved and what is reported did not: it is not what it says.
fn stale(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let moved = matches!(versions::installed(before, now)?, Step::Up | Step::Down | Step::Other);
    let (then, new) = (before.reported_version.as_deref(), now.reported_version.as_deref());
    let stands = versions::step(then, new) == Step::Same;
    let says_so = versions::step(new, now.installed()) == Step::Same;
    (moved && stands && !says_so).then(|| {
        let (reported, disk) = (version(new), version(now.installed()));
        let message = format!(
            "still reports version {reported}, while the package went from {} to {disk}",
            version(before.installed())
        );
        Told::new(Code::ReportedVersionStale, message)
            .expected(disk)
            .actual(reported)
    })
}

fn name(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let words = |facts: &RowFacts| facts.reported_name.as_deref().map_or("(none)".to_owned(), quote);
    let (then, new) = (words(before), words(now));
    (before.reported_name != now.reported_name).then(|| {
        let message = format!("the reported name changed from {then} to {new}");
        Told::new(Code::NameChanged, message).expected(then).actual(new)
    })
}

fn runtime(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let (then, new) = (before.runtime.as_ref()?, now.runtime.as_ref()?);
    let versions = then.version.as_deref().zip(new.version.as_deref());
    let other = versions.is_some_and(|(then, new)| versions::step(Some(then), Some(new)) != Step::Same);
    (then.kind != new.kind || other).then(|| {
        let words = |kind: &str, version: Option<&str>| line(&format!("{kind} {}", version.unwrap_or("(unknown)")));
        let then = words(&then.kind, then.version.as_deref());
        let new = words(&new.kind, new.version.as_deref());
        let message = format!("the runtime changed from {then} to {new}");
        Told::new(Code::RuntimeChanged, message).expected(then).actual(new)
    })
}

/// A revision has no code of its own: what is spoken is part of the version that answers.
fn protocol(before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let words = |facts: &RowFacts| line(&format!("{} {}", facts.era.name(), facts.protocol));
    let (then, new) = (words(before), words(now));
    (then != new).then(|| {
        let message = format!("the protocol changed from {then} to {new}");
        let told = Told::new(Code::VersionChanged, message).expected(then).actual(new);
        match versions::of_row(before, now) {
            Step::Up => told.severity(Severity::Note),
            Step::Same | Step::Down | Step::Other | Step::Unknown => told,
        }
    })
}

/// What the changes of tools are called. `told_already` are expected tools whose absence is told elsewhere.
pub(super) fn of_tools(
    changes: &BTreeMap<String, Change>,
    before: &RowFacts,
    now: &RowFacts,
    told_already: &[String],
) -> Vec<Told> {
    let step = versions::of_row(before, now);
    let though = match step {
        Step::Same => format!(", though the version is still {},", version(now.version())),
        Step::Up | Step::Down | Step::Other | Step::Unknown => String::new(),
    };
    let of_kind = |wanted: fn(&Change) -> bool| -> Vec<&str> {
        let those = changes.iter().filter(|(_, change)| wanted(change));
        those.map(|(name, _)| name.as_str()).collect()
    };
    let mut told = Vec::new();
    let mut gone = of_kind(|change| *change == Change::Removed);
    gone.retain(|name| !told_already.iter().any(|expected| expected == name));
    told.extend(removed(&gone, before, now));
    for (name, change) in changes {
        told.extend(match change {
            Change::Narrowed(how) => Some(Told::new(
                Code::ToolSchemaChanged,
                format!("{}: {}{though}", code(name), first(how)),
            )),
            Change::Drifted(how) => Some(Told::new(
                Code::ToolDrift,
                format!("{} changed: {}{though}", code(name), first(how)),
            )),
            Change::Added | Change::Removed | Change::Reworded => None,
        });
    }
    let reworded = of_kind(|change| *change == Change::Reworded);
    if !reworded.is_empty() {
        let verb = if reworded.len() == 1 { "is" } else { "are" };
        let message = format!("{} {verb} worded otherwise{though}", names(reworded));
        let reworded = Told::new(Code::ToolReworded, message);
        told.push(match step {
            Step::Up => reworded.severity(Severity::Note),
            Step::Same | Step::Down | Step::Other | Step::Unknown => reworded,
        });
    }
    let added = of_kind(|change| *change == Change::Added);
    if !added.is_empty() {
        let verb = if added.len() == 1 { "is" } else { "are" };
        let message = format!("{} {verb} new{though}", names(added));
        let code = match step {
            Step::Same => Code::ToolDrift,
            Step::Up | Step::Down | Step::Other | Step::Unknown => Code::ToolAdded,
        };
        told.push(Told::new(code, message));
    }
    told
}

fn removed(gone: &[&str], before: &RowFacts, now: &RowFacts) -> Option<Told> {
    let (then, new) = (before.tools.as_ref()?, now.tools.as_ref()?);
    if gone.is_empty() {
        return None;
    }
    let verb = if gone.len() == 1 { "is" } else { "are" };
    let counts = format!("{}, {} then", plural_of(new.len(), "tool", "tools"), then.len());
    let message = format!("{} {verb} gone ({counts})", names(gone.iter().copied()));
    let told = Told::new(Code::ToolRemoved, message).actual(counts);
    let hints = gone.iter().filter_map(|name| renamed(name, then, new));
    Some(told.hint(hints.reduce(|all, hint| format!("{all}; {hint}"))))
}

fn renamed(name: &str, then: &Tools, new: &Tools) -> Option<String> {
    let as_now = tools::renamed(then.get(name)?, then, new)?;
    Some(format!(
        "{} is the same but for its name as {} was",
        code(as_now),
        code(name)
    ))
}

fn first(how: &[String]) -> String {
    let text = how
        .iter()
        .take(MOST_DIFFERENCES)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    match how.len().saturating_sub(MOST_DIFFERENCES) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

fn version(version: Option<&str>) -> String {
    version.map_or_else(|| "(none)".to_owned(), shown)
}
