//! Every observation's sentence, as one page to read; and the hints, with the evidence that brings them.

use std::collections::HashSet;
use std::mem::discriminant;
use std::time::Duration;

use crate::event::{Era, Observation, Seen};
use crate::finding::{Phase, Severity};
use crate::judge::fixtures::{launch, observation, planned, row, session};
use crate::judge::groups::group;
use crate::judge::sentences::examples::{ended, everything, s};
use crate::judge::sentences::{Case, Told, tell};
use crate::plan::{Entry, JsonTemplate, Launch, Probe, ProbeExpectation, Protocol, Template};

fn told_of(seen: Seen, phase: Phase, launch: Launch) -> Told {
    let mut plan = planned("row");
    plan.entry = Entry::Run(Box::new(launch));
    let record = row("row", vec![session(1, &["read_text_file", "write_file"])]);
    let groups = group(&[observation(phase, seen)], &[]);
    tell(
        &groups[0],
        Case {
            plan: Some(&plan),
            record: &record,
        },
    )
}

fn told(seen: Seen, phase: Phase) -> Told {
    told_of(seen, phase, launch("server", &[]))
}

#[test]
fn every_observation_has_its_sentence() {
    let all = everything();
    let kinds: HashSet<_> = all.iter().map(|(_, seen)| discriminant(seen)).collect();
    assert_eq!(
        kinds.len(),
        42,
        "an observation is missing here, or a new one came: add it and the number"
    );
    let page: Vec<String> = all
        .into_iter()
        .map(|(phase, seen)| {
            let told = told(seen, phase);
            assert_eq!(told.phase, phase);
            let mut text = format!("{:?} {} [{:?}] {}", told.severity, told.code, told.phase, told.message);
            for (name, value) in [
                ("expected", told.expected),
                ("actual", told.actual),
                ("hint", told.hint),
            ] {
                text.extend(value.map(|value| format!("\n    {name}: {value}")));
            }
            text
        })
        .collect();
    insta::assert_snapshot!("every_sentence", page.join("\n"));
}

#[test]
fn sentences_are_bounded_lower_case_fragments_in_one_line() {
    for (phase, seen) in everything() {
        let message = told(seen, phase).message;
        assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
        assert!(
            !message.starts_with(|first: char| first.is_ascii_uppercase()),
            "{message}"
        );
    }
    let long = "word ".repeat(10_000);
    let told = told(
        Seen::ToolError {
            tool: s("echo"),
            text: long,
            failures: 1,
            calls: 1,
        },
        Phase::Call,
    );
    assert!(
        told.message.chars().count() < 320 && told.message.contains('…'),
        "{}",
        told.message
    );
}

#[test]
fn an_interpreters_reason_is_quoted_and_not_what_it_prints_after_it() {
    let node = ended(
        1,
        &[
            "node:internal/modules/cjs/loader:1210",
            "  throw err;",
            "  ^",
            "",
            "Error: Cannot find module '/opt/x/index.js'",
            "    at Module._resolveFilename (node:internal)",
            "}",
            "",
            "Node.js v20.20.2",
        ],
    );
    let told = told(Seen::ExitedEarly { ending: node }, Phase::Initialize);
    assert_eq!(
        told.message,
        "exited with code 1 before it answered initialize; on stderr: \"Error: Cannot find module '/opt/x/index.js'\""
    );
    assert_eq!(
        told.hint.as_deref(),
        Some("nothing lies at that path: check `args` and `cwd`")
    );
}

#[test]
fn an_empty_version_is_a_note_and_a_missing_one_a_warning() {
    let check = |field: &str, change: fn(&mut crate::event::HandshakeFacts)| {
        let mut session = session(1, &[]);
        change(session.handshake.as_mut().expect("a good session has one"));
        session.observations.push(observation(
            Phase::Initialize,
            Seen::IdentityMissing { field: s(field) },
        ));
        let record = row("row", vec![session]);
        let groups = group(&[], &[&record.sessions[0]]);
        let told = tell(
            &groups[0],
            Case {
                plan: None,
                record: &record,
            },
        );
        (told.severity, told.message)
    };
    assert_eq!(
        check("serverInfo.version", |facts| facts.version = Some(String::new())),
        (Severity::Note, s("`serverInfo.version` is empty"))
    );
    assert_eq!(
        check("serverInfo.version", |facts| facts.version = None),
        (Severity::Warn, s("the handshake result has no `serverInfo.version`"))
    );
    assert_eq!(
        check("serverInfo.name", |facts| facts.name = Some(String::new())),
        (Severity::Warn, s("`serverInfo.name` is empty"))
    );
}

#[test]
fn a_row_that_is_opened_by_discover_is_said_to_have_missed_that() {
    let mut discover = launch("server", &[]);
    discover.protocol = Protocol::Discover;
    let mut record = row("row", Vec::new());
    let mut plan = planned("row");
    plan.entry = Entry::Run(Box::new(discover));
    assert_eq!(
        Case {
            plan: Some(&plan),
            record: &record
        }
        .handshake(),
        "server/discover"
    );
    assert_eq!(
        Case {
            plan: None,
            record: &record
        }
        .handshake(),
        "initialize"
    );
    record.identity.era = Some(Era::Discover);
    assert_eq!(
        Case {
            plan: None,
            record: &record
        }
        .handshake(),
        "server/discover"
    );
}

#[test]
fn a_probe_with_a_name_of_its_own_is_named() {
    let mut with_probe = launch("server", &[]);
    with_probe.probes.push(Probe {
        name: s("refuses to leave its folder"),
        tool: s("read"),
        arguments: JsonTemplate::Object(Vec::new()),
        calls: 1,
        warmup: 0,
        timeout: Duration::from_secs(1),
        expect: ProbeExpectation {
            error: Some(Template::literal("Access denied")),
            ..ProbeExpectation::default()
        },
    });
    let mut plan = planned("row");
    plan.entry = Entry::Run(Box::new(with_probe));
    let what = Seen::ToolError {
        tool: s("read"),
        text: s("no"),
        failures: 1,
        calls: 1,
    };
    let observation = Observation {
        phase: Phase::Call,
        probe: Some(0),
        what,
    };
    let record = row("row", Vec::new());
    let groups = group(&[observation], &[]);
    let told = tell(
        &groups[0],
        Case {
            plan: Some(&plan),
            record: &record,
        },
    );
    assert_eq!(
        told.message,
        "probe \"refuses to leave its folder\": the call of `read` failed (isError): \"no\""
    );
}
