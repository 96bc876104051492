//! Every observation's sentence, as one page to read; and the hints, with the evidence that brings them.

use std::collections::HashSet;
use std::mem::discriminant;
use std::time::Duration;

use crate::event::{Ending, Era, Observation, Received, Seen, ShutdownStep};
use crate::finding::{Phase, Severity};
use crate::judge::fixtures::{launch, observation, planned, row, session};
use crate::judge::groups::group;
use crate::judge::sentences::{Case, Told, tell};
use crate::plan::{Entry, JsonTemplate, Launch, Probe, ProbeExpectation, Protocol, Template};

fn texts(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn ended(code: i32, lines: &[&str]) -> Ending {
    Ending {
        code: Some(code),
        signal: None,
        last_lines: texts(lines),
    }
}

fn nothing() -> Received {
    Received::default()
}

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

fn hint_of(lines: &[&str]) -> Option<String> {
    told(
        Seen::ExitedEarly {
            ending: ended(1, lines),
        },
        Phase::Initialize,
    )
    .hint
}

fn s(text: &str) -> String {
    text.to_owned()
}

/// Each variant at least once, with the cases that read differently.
fn everything() -> Vec<(Phase, Seen)> {
    let mut all = starts();
    all.extend(lists());
    all.extend(calls());
    all.extend(wire());
    all.extend(ends());
    all
}

fn starts() -> Vec<(Phase, Seen)> {
    let timeout = |received| Seen::InitTimeout {
        limit: Duration::from_mins(1),
        received,
        hint: None,
    };
    vec![
        (
            Phase::Prepare,
            Seen::ConfigError {
                field: s("env.TRACKER_API_TOKEN"),
                problem: s("variable TRACKER_API_TOKEN is not set"),
            },
        ),
        (
            Phase::Prepare,
            Seen::InstallFailed {
                what: s("npm:no-such-package@9"),
                problem: s("npm install exited with code 1"),
                last_lines: texts(&[
                    "npm error code E404",
                    "npm error 404 Not Found - GET https://registry/no-such-package",
                    "npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log",
                ]),
            },
        ),
        (
            Phase::Prepare,
            Seen::InstallStale {
                what: s("pypi:mcp-server-git"),
                installed: s("2026.8.1"),
                problem: s("uv exited with code 2"),
            },
        ),
        (
            Phase::Initialize,
            Seen::Downloaded {
                line: s("Downloading pydantic-core (1.9MiB)"),
            },
        ),
        (
            Phase::Spawn,
            Seen::SpawnFailed {
                program: s("mcp-server-x"),
                problem: s("not found in the row's packages nor on PATH"),
                hint: Some(s("install it, or name its `package`")),
            },
        ),
        (
            Phase::Initialize,
            Seen::ExitedEarly {
                ending: ended(3, &["starting", "cannot open config file /etc/x.json"]),
            },
        ),
        (Phase::Initialize, Seen::ExitedEarly { ending: ended(0, &[]) }),
        (
            Phase::Initialize,
            Seen::ExitedEarly {
                ending: Ending {
                    code: None,
                    signal: Some(9),
                    last_lines: Vec::new(),
                },
            },
        ),
        (Phase::Initialize, timeout(nothing())),
        (
            Phase::Initialize,
            timeout(Received {
                bytes: 54,
                noise_lines: 2,
                other_messages: 1,
                unfinished: Some(s("Ok to proceed? (y) ")),
                last_stderr: Some(s("\u{1b}[31mnpm warn\u{1b}[0m exec\tneeds it")),
            }),
        ),
        (
            Phase::Initialize,
            timeout(Received {
                bytes: 4096,
                ..nothing()
            }),
        ),
        (
            Phase::Initialize,
            Seen::InitTimeout {
                limit: Duration::from_millis(1500),
                received: nothing(),
                hint: Some(s("answered only after stdin was closed: its stdout is buffered")),
            },
        ),
        (
            Phase::Initialize,
            Seen::InitError {
                code: -32603,
                message: s("database is not reachable"),
            },
        ),
        (
            Phase::Initialize,
            Seen::InitError {
                code: -32000,
                message: s(""),
            },
        ),
        (
            Phase::Initialize,
            Seen::InvalidInitialize {
                problem: s("`protocolVersion` is missing"),
            },
        ),
        (
            Phase::Initialize,
            Seen::ProtocolVersion {
                offered: s("2025-11-25"),
                answered: s("-32602: only 2024-11-05 is supported"),
            },
        ),
        (Phase::Initialize, Seen::IdentityMissing { field: s("serverInfo") }),
        (
            Phase::Initialize,
            Seen::IdentityMissing {
                field: s("serverInfo.version"),
            },
        ),
    ]
}

fn lists() -> Vec<(Phase, Seen)> {
    [
        Seen::ListError {
            code: -32603,
            message: s("backend is down"),
        },
        Seen::ListTimeout {
            limit: Duration::from_secs(30),
            received: Received {
                other_messages: 3,
                bytes: 90,
                ..nothing()
            },
        },
        Seen::ListTooLong {
            pages: 100,
            tools: 5000,
        },
        Seen::PaginationLoop {
            cursor: s("page-2"),
            tools: 2,
        },
        Seen::ListInvalid {
            problem: s("`nextCursor` is null, which strict clients refuse"),
        },
        Seen::ToolInvalid {
            tool: s("no_schema"),
            problem: s("it has no inputSchema"),
        },
        Seen::ToolDuplicate {
            tool: s("echo"),
            times: 2,
        },
        Seen::NoTools { declared: true },
        Seen::NoTools { declared: false },
        Seen::ToolMissing {
            tool: s("read_text_files"),
            listed: 14,
        },
        Seen::ToolMissing {
            tool: s("echo"),
            listed: 0,
        },
    ]
    .map(|seen| (Phase::List, seen))
    .to_vec()
}

fn calls() -> Vec<(Phase, Seen)> {
    let tool = || s("echo");
    [
        Seen::ToolError {
            tool: tool(),
            text: s("429 Too Many Requests"),
            failures: 1,
            calls: 1,
        },
        Seen::ToolError {
            tool: tool(),
            text: s("HTTP 401: no key"),
            failures: 3,
            calls: 30,
        },
        Seen::RpcError {
            tool: tool(),
            code: -32603,
            message: s("boom"),
            failures: 3,
            calls: 3,
        },
        Seen::RateLimited {
            tool: tool(),
            text: s("429 Too Many Requests"),
            failures: 1,
            calls: 3,
        },
        Seen::CallTimeout {
            tool: tool(),
            limit: Duration::from_secs(3),
            received: nothing(),
            failures: 4,
            calls: 3,
        },
        Seen::CallUnsupported {
            tool: tool(),
            needs: s("elicitation (-32042)"),
            failures: 1,
            calls: 1,
        },
        Seen::UnexpectedResult {
            tool: tool(),
            expected: s("text \"hello\""),
            actual: s("Error: 401\nUnauthorized"),
            failures: 2,
            calls: 2,
        },
        Seen::CallInvalid {
            tool: tool(),
            problem: s("it has no `content`"),
        },
        Seen::SoftError {
            tool: tool(),
            text: s("Error: could not connect"),
        },
    ]
    .map(|seen| (Phase::Call, seen))
    .to_vec()
}

fn wire() -> Vec<(Phase, Seen)> {
    [
        Seen::StdoutNoise {
            first: s("server started"),
            lines: 1,
        },
        Seen::StdoutNoise {
            first: s("AutoCommit"),
            lines: 3,
        },
        Seen::StrayMessage {
            first: s("an error with id null"),
            messages: 1,
        },
        Seen::StrayMessage {
            first: s("a second answer to id 2"),
            messages: 4,
        },
        Seen::BadEncoding {
            excerpt: s("{\"text\":\"a \u{fffd} b\"}"),
            messages: 1,
        },
        Seen::BadFraming {
            looks_like: s("Content-Length headers"),
            excerpt: s("Content-Length: 152\r\n\r\n"),
        },
        Seen::OutputLimit { limit: 64 << 20 },
        Seen::IdMismatch {
            expected: s("1"),
            actual: s("\"1\""),
            tolerated: true,
        },
        Seen::IdMismatch {
            expected: s("2"),
            actual: s("0"),
            tolerated: false,
        },
        Seen::ServerRequestRefused {
            method: s("roots/list"),
            times: 2,
        },
    ]
    .map(|seen| (Phase::Initialize, seen))
    .to_vec()
}

fn ends() -> Vec<(Phase, Seen)> {
    let survivors = || texts(&["4711 sleep 30"]);
    vec![
        (Phase::List, Seen::ServerDied { ending: ended(0, &[]) }),
        (
            Phase::Call,
            Seen::ServerDied {
                ending: ended(3, &["panic: nil map"]),
            },
        ),
        (
            Phase::Shutdown,
            Seen::UncleanShutdown {
                step: ShutdownStep::Terminated,
                survivors: Vec::new(),
            },
        ),
        (
            Phase::Shutdown,
            Seen::UncleanShutdown {
                step: ShutdownStep::Killed,
                survivors: survivors(),
            },
        ),
        (
            Phase::Shutdown,
            Seen::UncleanShutdown {
                step: ShutdownStep::StdinClosed,
                survivors: survivors(),
            },
        ),
        (Phase::Shutdown, Seen::LeftOver { processes: survivors() }),
        (
            Phase::Call,
            Seen::RowTimeout {
                limit: Duration::from_mins(10),
            },
        ),
        (Phase::Call, Seen::Interrupted),
        (
            Phase::Compare,
            Seen::SessionDisagrees {
                what: s("version"),
                first: s("1.0"),
                later: s(""),
            },
        ),
    ]
}

#[test]
fn every_observation_has_its_sentence() {
    let all = everything();
    let kinds: HashSet<_> = all.iter().map(|(_, seen)| discriminant(seen)).collect();
    assert_eq!(
        kinds.len(),
        41,
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
fn a_hint_is_given_where_the_evidence_is_plain_and_nowhere_else() {
    for (line, word) in [
        (
            "Need to install the following packages: x. Ok to proceed? (y)",
            "npx -y",
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
            "docker daemon",
        ),
        ("Error: listen EADDRINUSE: address already in use :::3000", "${port}"),
        ("npm error code ENOTEMPTY", "cache"),
        (
            "ModuleNotFoundError: No module named 'mcp.server.fastmcp'",
            "`mcp.server.fastmcp`",
        ),
        (
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from x",
            "`zod`",
        ),
        (
            "error: PROBE_API_KEY is not set",
            "name `PROBE_API_KEY` in the row's `env_pass`",
        ),
        ("Fatal error: could not set lock on file: /x", "lock"),
        ("npm error code E404", "registry"),
        ("error: invalid peer certificate: UnknownIssuer", "SSL_CERT_FILE"),
        ("ReferenceError: File is not defined", "`runtimes`"),
        ("Error: getaddrinfo EAI_AGAIN api.example.com", "proxy"),
    ] {
        let hint = hint_of(&[line]).unwrap_or_default();
        assert!(hint.contains(word), "{line}: {hint}");
    }
    assert_eq!(hint_of(&["something went wrong"]), None);
    assert_eq!(hint_of(&["listening on PORT_A"]), None);
    assert_eq!(hint_of(&["Error: code ERR_INVALID_ARG is required"]), None);
}

#[test]
fn a_variable_that_the_row_already_gives_is_not_asked_for() {
    let mut given = launch("server", &[]);
    given.env_pass.push(s("PROBE_API_KEY"));
    let seen = Seen::ExitedEarly {
        ending: ended(1, &["PROBE_API_KEY is not set"]),
    };
    assert_eq!(told_of(seen, Phase::Initialize, given).hint, None);
}

#[test]
fn docker_run_without_i_is_told_only_when_the_server_stayed_silent() {
    let hint = |args: &[&str], lines: &[&str]| {
        told_of(
            Seen::ExitedEarly {
                ending: ended(0, lines),
            },
            Phase::Initialize,
            launch("/usr/bin/docker", args),
        )
        .hint
    };
    assert_eq!(
        hint(&["run", "--rm", "image"], &[]).as_deref(),
        Some("docker run without `-i` gives the server no stdin: add `-i`")
    );
    for args in [
        &["run", "-i", "image"][..],
        &["run", "--rm", "-it", "image"],
        &["run", "--interactive", "image"],
    ] {
        assert_eq!(hint(args, &[]), None, "{args:?}");
    }
    assert_eq!(hint(&["run", "image"], &["bad config"]), None);
}

#[test]
fn a_start_that_downloads_is_asked_whether_it_is_still_installing() {
    let hint = |command: &str, last: Option<&str>| {
        let received = Received {
            last_stderr: last.map(str::to_owned),
            ..nothing()
        };
        let seen = Seen::InitTimeout {
            limit: Duration::from_secs(5),
            received,
            hint: None,
        };
        told_of(seen, Phase::Initialize, launch(command, &[])).hint
    };
    let installing = |hint: Option<String>| hint.is_some_and(|hint| hint.starts_with("still installing?"));
    assert!(installing(hint("uvx", Some("Downloading torch (818MiB)"))));
    assert!(installing(hint("npx", None)));
    assert!(!installing(hint("server", None)));
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
