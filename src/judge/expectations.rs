//! What the manifest expects of a server, held against what each of its sessions showed.
//!
//! What was not reached is not judged: a server that never answered has failed already, and nothing is
//! known of its version. Earlier runs and the lock are none of this file's business.

use std::collections::BTreeSet;

use crate::event::{HandshakeFacts, RuntimeFacts, Seen, SessionFacts};
use crate::finding::Code;
use crate::judge::hints;
use crate::judge::sentences::{Case, Told};
use crate::judge::words::{code, line, names, plural_of, quote, shown};
use crate::plan::{Plan, Runtime, RuntimeKind};
use crate::version::Requirement;

/// What was found in one session, or about the row as a whole.
pub(super) type Found = (Option<u32>, Told);

/// Executables that run servers written for them. Any other name is a program of its own, or docker,
/// and which interpreter is behind it, if any, nobody saw.
const INTERPRETERS: &[&str] = &["node", "python", "bun", "deno"];

/// What the manifest wants, as it is and as it may be shown: what was seen is masked already, so a secret in
/// an expectation is compared both ways and written one way only.
struct Wanted {
    real: String,
    shown: String,
}

/// The row's expectations.
struct Expected {
    name: Option<Wanted>,
    version: Option<Wanted>,
    package_version: Option<Wanted>,
    tools: Vec<Wanted>,
    tool_count: Option<usize>,
}

/// Everything the row's expectations find.
pub(super) fn hold(plan: &Plan, sessions: &[&SessionFacts], case: Case<'_>) -> Vec<Found> {
    let Some(expected) = Expected::of(plan, case) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for session in sessions {
        let number = Some(session.number);
        if let Some(handshake) = &session.handshake {
            found.extend(name(&expected, handshake).map(|told| (number, told)));
            found.extend(reported_version(&expected, handshake).map(|told| (number, told)));
        }
        if let Some(tools) = session.tools.as_ref().filter(|_| whole_list(session)) {
            let listed: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            found.extend(removed_tools(&expected, &listed).map(|told| (number, told)));
            found.extend(tool_count(&expected, &listed).map(|told| (number, told)));
        }
        let ran = session.identity.as_ref().and_then(|identity| identity.runtime.as_ref());
        found.extend(runtime(case, ran).map(|told| (number, told)));
    }
    let answered = sessions.iter().any(|session| session.handshake.is_some());
    found.extend(package_version(&expected, case, answered).map(|told| (None, told)));
    found
}

fn name(expected: &Expected, handshake: &HandshakeFacts) -> Option<Told> {
    let wanted = expected.name.as_ref()?;
    let reported = handshake.name.as_deref();
    if reported.is_some_and(|name| wanted.is(name)) {
        return None;
    }
    let message = match reported {
        Some(name) => format!("calls itself {}, expected {}", quote(name), quote(&wanted.shown)),
        None => format!("gives no name, expected {}", quote(&wanted.shown)),
    };
    let told = Told::new(Code::NameChanged, message).expected(line(&wanted.shown));
    Some(match reported {
        Some(name) => told.actual(shown(name)),
        None => told,
    })
}

fn reported_version(expected: &Expected, handshake: &HandshakeFacts) -> Option<Told> {
    let wanted = expected.version.as_ref()?;
    let range = line(&wanted.shown);
    let Some(reported) = handshake.version.as_deref() else {
        let message = format!("version {range} is expected, and the server reports none");
        return Some(Told::new(Code::VersionUnverifiable, message).expected(range));
    };
    if reported.trim().is_empty() {
        let message = format!("version {range} is expected, and the server reports an empty one");
        return Some(
            Told::new(Code::VersionUnverifiable, message)
                .expected(range)
                .actual("(empty)"),
        );
    }
    (!wanted.holds(reported)).then(|| {
        let message = format!("reports version {}, expected {range}", line(reported));
        Told::new(Code::VersionMismatch, message)
            .expected(range)
            .actual(line(reported))
    })
}

fn package_version(expected: &Expected, case: Case<'_>, answered: bool) -> Option<Told> {
    let wanted = expected.package_version.as_ref()?;
    let range = line(&wanted.shown);
    let package = &case.record.identity.package;
    let Some(installed) = package.installed.as_deref() else {
        let message = format!("package version {range} is expected, and no installed package was found");
        return answered.then(|| Told::new(Code::VersionUnverifiable, message).expected(range));
    };
    (!wanted.holds(installed)).then(|| {
        let name = package
            .name
            .as_deref()
            .map(|name| format!("{} ", code(name)))
            .unwrap_or_default();
        let message = format!("{name}{} is installed, expected {range}", line(installed));
        let ours = case.launch().is_some_and(|launch| !launch.packages.is_empty());
        Told::new(Code::VersionMismatch, message)
            .expected(range)
            .actual(line(installed))
            .hint(ours.then_some("`--install update` installs it anew"))
    })
}

fn removed_tools(expected: &Expected, listed: &BTreeSet<&str>) -> Option<Told> {
    let is_listed = |wanted: &Wanted| listed.contains(wanted.real.as_str()) || listed.contains(wanted.shown.as_str());
    let gone: Vec<&str> = expected
        .tools
        .iter()
        .filter(|wanted| !is_listed(wanted))
        .map(|wanted| wanted.shown.as_str())
        .collect();
    if gone.is_empty() {
        return None;
    }
    let verb = if gone.len() == 1 { "is" } else { "are" };
    let message = format!(
        "{} {verb} expected and not among the {} it lists",
        names(gone.iter().copied()),
        plural_of(listed.len(), "tool", "tools")
    );
    let near = if let [only] = gone.as_slice() {
        hints::near_name(only, listed.iter().copied())
    } else {
        None
    };
    Some(
        Told::new(Code::ToolRemoved, message)
            .expected(line(&gone.join(", ")))
            .hint(near),
    )
}

fn tool_count(expected: &Expected, listed: &BTreeSet<&str>) -> Option<Told> {
    let wanted = expected.tool_count.filter(|wanted| *wanted != listed.len())?;
    let message = format!("lists {}, expected {wanted}", plural_of(listed.len(), "tool", "tools"));
    Some(
        Told::new(Code::ToolCountChanged, message)
            .expected(wanted.to_string())
            .actual(listed.len().to_string()),
    )
}

/// A row that names a runtime says what it runs on: another version of it is a mismatch, and another
/// interpreter too. A version that nobody could read is shown as unknown and is no mismatch.
fn runtime(case: Case<'_>, ran: Option<&RuntimeFacts>) -> Option<Told> {
    let wanted = case.plan?.runtime.as_ref()?;
    let ran = ran.filter(|ran| INTERPRETERS.contains(&ran.kind.as_str()))?;
    let version = ran.version.as_deref();
    if ran.kind == wanted.kind.name() && version.is_none_or(|version| runs_on(wanted, version)) {
        return None;
    }
    let expected = format!("{} {}", wanted.kind.name(), line(&wanted.range));
    let actual = format!("{} {}", line(&ran.kind), line(version.unwrap_or("of unknown version")));
    let message = format!(
        "ran on {actual} ({}), expected {expected} ({})",
        line(&ran.executable.to_string_lossy()),
        line(&wanted.name)
    );
    Some(
        Told::new(Code::RuntimeMismatch, message)
            .expected(expected)
            .actual(actual),
    )
}

/// A list that was cut short says nothing about what is missing from it.
fn whole_list(session: &SessionFacts) -> bool {
    !session.observations.iter().any(|observation| {
        matches!(
            observation.what,
            Seen::ListError { .. } | Seen::ListTimeout { .. } | Seen::ListTooLong { .. }
        )
    })
}

fn runs_on(runtime: &Runtime, version: &str) -> bool {
    let range = match runtime.kind {
        RuntimeKind::Node => Requirement::npm(&runtime.range),
        RuntimeKind::Python => Requirement::pep440(&runtime.range),
    };
    range.is_ok_and(|range| range.matches(version))
}

impl Wanted {
    fn new(plan: &Plan, text: &str) -> Self {
        Self {
            real: text.to_owned(),
            shown: plan.mask.apply(text).into_owned(),
        }
    }

    /// Whether it is this text.
    fn is(&self, seen: &str) -> bool {
        self.real == seen || self.shown == seen
    }

    /// Whether a version is in this range. What is no range asks for exactly its text.
    fn holds(&self, version: &str) -> bool {
        self.is(version) || Requirement::parse(&self.real).is_ok_and(|range| range.matches(version))
    }
}

impl Expected {
    fn of(plan: &Plan, case: Case<'_>) -> Option<Self> {
        let expect = &case.plan?.expect;
        let wanted = |text: &String| Wanted::new(plan, text);
        Some(Self {
            name: expect.name.as_ref().map(wanted),
            version: expect.version.as_ref().map(wanted),
            package_version: expect.package_version.as_ref().map(wanted),
            tools: expect.tools.iter().map(wanted).collect(),
            tool_count: expect.tool_count,
        })
    }
}

#[cfg(test)]
mod tests;
