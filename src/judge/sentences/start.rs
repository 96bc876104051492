//! Sentences for preparing, spawning and the handshake.

use std::time::Duration;

use crate::event::{Ending, HandshakeFacts, Received};
use crate::finding::{Code, Severity};
use crate::judge::hints;
use crate::judge::sentences::{Case, Told, rpc_words};
use crate::judge::words::{code, ending, last_words, line, quote, received};
use crate::text::duration_words;

pub(super) fn config_error(field: &str, problem: &str) -> Told {
    Told::new(
        Code::ConfigError,
        format!("{}: {}; it was not started", code(field), line(problem)),
    )
}

pub(super) fn install_failed(what: &str, problem: &str, last_lines: &[String]) -> Told {
    let tail = last_lines.iter().any(|line| !line.trim().is_empty());
    let words = if tail {
        format!("; {}", last_words(last_lines))
    } else {
        String::new()
    };
    Told::new(
        Code::InstallFailed,
        format!("could not install {}: {}{words}", code(what), line(problem)),
    )
    .hint(hints::from_stderr(last_lines, None))
}

pub(super) fn install_stale(what: &str, installed: &str, problem: &str) -> Told {
    let message = format!(
        "could not update {}: {}; the earlier installation runs, {}",
        code(what),
        line(problem),
        line(installed)
    );
    Told::new(Code::InstallStale, message).actual(line(installed))
}

pub(super) fn downloaded(text: &str) -> Told {
    let message = format!(
        "fetched packages while it started, so its cold start holds a download: {}",
        quote(text)
    );
    Told::new(Code::Downloaded, message)
}

pub(super) fn spawn_failed(program: &str, problem: &str, hint: Option<&str>) -> Told {
    Told::new(
        Code::SpawnFailed,
        format!("could not start {}: {}", code(program), line(problem)),
    )
    .hint(hint)
}

pub(super) fn exited_early(facts: &Ending, case: Case<'_>) -> Told {
    let silent = facts.last_lines.iter().all(|line| line.trim().is_empty());
    let message = format!(
        "{} before it answered {}; {}",
        ending(facts),
        case.handshake(),
        last_words(&facts.last_lines)
    );
    // Nobody here sends SIGKILL before a row's shutdown, and the kernel does it for one reason only.
    let killed = || {
        (facts.signal == Some(9) || facts.code == Some(137))
            .then(|| "nothing here killed it: running out of memory is the usual reason".to_owned())
    };
    let hint = hints::from_stderr(&facts.last_lines, case.launch())
        .or_else(|| {
            if silent {
                hints::from_launch(case.launch())
            } else {
                None
            }
        })
        .or_else(killed);
    Told::new(Code::ExitedEarly, message).hint(hint)
}

pub(super) fn init_timeout(limit: Duration, waited: &Received, hint: Option<&str>, case: Case<'_>) -> Told {
    let words: Vec<String> = waited.unfinished.iter().chain(&waited.last_stderr).cloned().collect();
    let hint = hint
        .map(str::to_owned)
        .or_else(|| hints::from_stderr(&words, case.launch()));
    let message = format!(
        "no answer to {} within {}: {}",
        case.handshake(),
        duration_words(limit),
        received(waited)
    );
    Told::new(Code::InitTimeout, message).hint(hint)
}

pub(super) fn init_error(number: i64, message: &str, case: Case<'_>) -> Told {
    let words = rpc_words(number, message);
    Told::new(
        Code::InitError,
        format!("{} was answered with {words}", case.handshake()),
    )
    .actual(words)
    .hint(hints::from_reply(message))
}

pub(super) fn invalid_initialize(problem: &str, case: Case<'_>) -> Told {
    Told::new(
        Code::InvalidInitialize,
        format!(
            "the answer to {} is no proper result: {}",
            case.handshake(),
            line(problem)
        ),
    )
}

pub(super) fn protocol_version(offered: &str, answered: &str) -> Told {
    let message = format!(
        "no revision in common: {} was offered, it answered {}",
        line(offered),
        line(answered)
    );
    Told::new(Code::ProtocolVersion, message)
        .expected(line(offered))
        .actual(line(answered))
        .hint(hints::revision(answered, offered))
}

/// A version that is there but empty is only a note: the official Python SDK reports it for every server
/// whose author gives none, the protocol allows it, and whoever runs the server cannot settle it. What the
/// manifest expects of it is judged all the same (`version-unverifiable`).
pub(super) fn identity_missing(field: &str, handshake: Option<&HandshakeFacts>) -> Told {
    let value = match field.rsplit('.').next() {
        Some("name") => handshake.and_then(|handshake| handshake.name.as_deref()),
        Some("version") => handshake.and_then(|handshake| handshake.version.as_deref()),
        Some(_) | None => None,
    };
    if value.is_none() {
        return Told::new(
            Code::IdentityMissing,
            format!("the handshake result has no {}", code(field)),
        );
    }
    let told = Told::new(Code::IdentityMissing, format!("{} is empty", code(field))).actual("(empty)");
    if field.ends_with(".version") {
        told.severity(Severity::Note)
    } else {
        told
    }
}
