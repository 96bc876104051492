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
use crate::plan::{Expectations, Runtime, RuntimeKind};
use crate::text::Mask;
use crate::version::Requirement;

/// What was found in one session, or about the row as a whole.
pub(super) type Found = (Option<u32>, Told);

/// Executables that run servers written for them. Any other name is a program of its own, or docker,
/// and which interpreter is behind it, if any, nobody saw.
const INTERPRETERS: &[&str] = &["node", "python", "bun", "deno"];

/// Everything the row's expectations find. A secret in them is masked first, since it is masked in what was seen.
pub(super) fn hold(expect: &Expectations, mask: &Mask, sessions: &[&SessionFacts], case: Case<'_>) -> Vec<Found> {
    let expect = masked(expect, mask);
    let mut found = Vec::new();
    for session in sessions {
        let number = Some(session.number);
        if let Some(handshake) = &session.handshake {
            found.extend(name(&expect, handshake).map(|told| (number, told)));
            found.extend(reported_version(&expect, handshake).map(|told| (number, told)));
        }
        if let Some(tools) = session.tools.as_ref().filter(|_| whole_list(session)) {
            let listed: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            found.extend(removed_tools(&expect, &listed).map(|told| (number, told)));
            found.extend(tool_count(&expect, &listed).map(|told| (number, told)));
        }
        let ran = session.identity.as_ref().and_then(|identity| identity.runtime.as_ref());
        found.extend(runtime(case, ran).map(|told| (number, told)));
    }
    let answered = sessions.iter().any(|session| session.handshake.is_some());
    found.extend(package_version(&expect, case, answered).map(|told| (None, told)));
    found
}

fn masked(expect: &Expectations, mask: &Mask) -> Expectations {
    let apply = |text: &String| mask.apply(text).into_owned();
    Expectations {
        name: expect.name.as_ref().map(apply),
        version: expect.version.as_ref().map(apply),
        package_version: expect.package_version.as_ref().map(apply),
        tools: expect.tools.iter().map(apply).collect(),
        tool_count: expect.tool_count,
    }
}

fn name(expect: &Expectations, handshake: &HandshakeFacts) -> Option<Told> {
    let wanted = expect.name.as_ref()?;
    let reported = handshake.name.as_deref();
    if reported == Some(wanted.as_str()) {
        return None;
    }
    let message = match reported {
        Some(name) => format!("calls itself {}, expected {}", quote(name), quote(wanted)),
        None => format!("gives no name, expected {}", quote(wanted)),
    };
    let told = Told::new(Code::NameChanged, message).expected(line(wanted));
    Some(match reported {
        Some(name) => told.actual(shown(name)),
        None => told,
    })
}

fn reported_version(expect: &Expectations, handshake: &HandshakeFacts) -> Option<Told> {
    let wanted = expect.version.as_ref()?;
    let Some(reported) = handshake.version.as_deref() else {
        let message = format!("version {} is expected, and the server reports none", line(wanted));
        return Some(Told::new(Code::VersionUnverifiable, message).expected(line(wanted)));
    };
    if reported.trim().is_empty() {
        let message = format!(
            "version {} is expected, and the server reports an empty one",
            line(wanted)
        );
        return Some(
            Told::new(Code::VersionUnverifiable, message)
                .expected(line(wanted))
                .actual("(empty)"),
        );
    }
    (!fits(wanted, reported)).then(|| {
        let message = format!("reports version {}, expected {}", line(reported), line(wanted));
        Told::new(Code::VersionMismatch, message)
            .expected(line(wanted))
            .actual(line(reported))
    })
}

fn package_version(expect: &Expectations, case: Case<'_>, answered: bool) -> Option<Told> {
    let wanted = expect.package_version.as_ref()?;
    let package = &case.record.identity.package;
    let Some(installed) = package.installed.as_deref() else {
        let message = format!(
            "package version {} is expected, and no installed package was found",
            line(wanted)
        );
        return answered.then(|| Told::new(Code::VersionUnverifiable, message).expected(line(wanted)));
    };
    (!fits(wanted, installed)).then(|| {
        let name = package
            .name
            .as_deref()
            .map(|name| format!("{} ", code(name)))
            .unwrap_or_default();
        let message = format!("{name}{} is installed, expected {}", line(installed), line(wanted));
        let ours = case.launch().is_some_and(|launch| !launch.packages.is_empty());
        Told::new(Code::VersionMismatch, message)
            .expected(line(wanted))
            .actual(line(installed))
            .hint(ours.then_some("`--install update` installs it anew"))
    })
}

fn removed_tools(expect: &Expectations, listed: &BTreeSet<&str>) -> Option<Told> {
    let gone: Vec<&str> = expect
        .tools
        .iter()
        .map(String::as_str)
        .filter(|tool| !listed.contains(tool))
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
            .expected(gone.join(", "))
            .hint(near),
    )
}

fn tool_count(expect: &Expectations, listed: &BTreeSet<&str>) -> Option<Told> {
    let wanted = expect.tool_count.filter(|wanted| *wanted != listed.len())?;
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

/// Whether a version is in a range. A text that is no range asks for exactly that text.
fn fits(range: &str, version: &str) -> bool {
    range.trim() == version.trim() || Requirement::parse(range).is_ok_and(|range| range.matches(version))
}

fn runs_on(runtime: &Runtime, version: &str) -> bool {
    let range = match runtime.kind {
        RuntimeKind::Node => Requirement::npm(&runtime.range),
        RuntimeKind::Python => Requirement::pep440(&runtime.range),
    };
    range.is_ok_and(|range| range.matches(version))
}
