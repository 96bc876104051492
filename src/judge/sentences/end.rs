//! Sentences for how a server or a row went, and for sessions that disagree.

use std::time::Duration;

use crate::event::{Ending, ShutdownStep};
use crate::finding::{Code, Phase};
use crate::judge::hints;
use crate::judge::sentences::{Case, Told};
use crate::judge::words::{ending, last_words, line, names, plural_of, shown};
use crate::text::duration_words;

pub(super) fn server_died(facts: &Ending, phase: Phase, case: Case<'_>) -> Told {
    let when = match phase {
        Phase::List => "before tools/list was answered",
        Phase::Call => "before a call was answered",
        Phase::Prepare | Phase::Spawn | Phase::Initialize => "after the handshake",
        Phase::Shutdown | Phase::Compare => "before its stdin was closed",
    };
    let message = format!("the server {} {when}; {}", ending(facts), last_words(&facts.last_lines));
    Told::new(Code::ServerDied, message).hint(hints::from_stderr(&facts.last_lines, case.launch()))
}

pub(super) fn unclean_shutdown(step: ShutdownStep, survivors: &[String]) -> Told {
    let own = match step {
        ShutdownStep::Terminated => Some("did not end when its stdin was closed: it took SIGTERM"),
        ShutdownStep::Killed => Some("did not end when its stdin was closed, nor on SIGTERM: it took SIGKILL"),
        ShutdownStep::StdinClosed | ShutdownStep::AlreadyGone => None,
    };
    let left = (!survivors.is_empty()).then(|| {
        let listed = names(survivors.iter().map(String::as_str));
        format!(
            "left {} behind, ended by us: {listed}",
            plural_of(survivors.len(), "process", "processes")
        )
    });
    let message = match (&own, left) {
        (Some(own), Some(left)) => format!("{own}; it {left}"),
        (Some(own), None) => (*own).to_owned(),
        (None, Some(left)) => left,
        (None, None) => "did not end by itself".to_owned(),
    };
    let told = Told::new(Code::UncleanShutdown, message);
    if own.is_some() {
        told.expected(ShutdownStep::StdinClosed.name()).actual(step.name())
    } else {
        told
    }
}

/// What is to be done about a process that does not end.
const BY_HAND: &str = "end it by hand: it may hold a port, a lock or memory of the next run";

pub(super) fn left_over(processes: &[String]) -> Told {
    let listed = names(processes.iter().map(String::as_str));
    let message = format!("{} could not be ended: {listed}", count(processes));
    Told::new(Code::LeftOver, message).hint(Some(BY_HAND))
}

pub(super) fn left_by_killed_run(ended: &[String], left_over: &[String]) -> Told {
    let listed = |processes: &[String]| names(processes.iter().map(String::as_str));
    let message = match (ended, left_over) {
        (_, []) => format!(
            "an earlier run that was killed left {} running, ended by us: {}",
            count(ended),
            listed(ended)
        ),
        ([], _) => format!(
            "an earlier run that was killed left {} running that could not be ended: {}",
            count(left_over),
            listed(left_over)
        ),
        (_, _) => format!(
            "an earlier run that was killed left {} running; ended by us: {}; could not be ended: {}",
            plural_of(ended.len() + left_over.len(), "process", "processes"),
            listed(ended),
            listed(left_over)
        ),
    };
    Told::new(Code::LeftOver, message).hint(Some(if left_over.is_empty() {
        "stop a run with Ctrl-C or SIGTERM: it takes its servers along then"
    } else {
        BY_HAND
    }))
}

fn count(processes: &[String]) -> String {
    plural_of(processes.len(), "process", "processes")
}

pub(super) fn row_timeout(limit: Duration) -> Told {
    Told::new(
        Code::RowTimeout,
        format!(
            "the row took longer than its limit of {}; what was left of it was not run",
            duration_words(limit)
        ),
    )
    .hint(Some("raise `row_timeout`, or ask for fewer `calls` or `repeats`"))
}

pub(super) fn interrupted() -> Told {
    Told::new(
        Code::Interrupted,
        "interrupted while it ran; what was left of it was not run",
    )
}

pub(super) fn session_disagrees(what: &str, first: &str, later: &str) -> Told {
    let code = match what {
        "name" => Code::NameChanged,
        "version" | "package" => Code::VersionChanged,
        "runtime" => Code::RuntimeChanged,
        "tools" => Code::ToolDrift,
        // Any other disagreement between two lives of the same server: it is not the same twice.
        _ => Code::Flaky,
    };
    let message = format!(
        "a later session disagrees with the first: {} was {}, then {}",
        line(what),
        shown(first),
        shown(later)
    );
    Told::new(code, message).expected(shown(first)).actual(shown(later))
}
