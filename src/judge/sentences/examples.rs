//! One example of each observation, with the cases that read differently; for the tests.

use std::time::Duration;

use crate::event::{Ending, Received, Seen, ShutdownStep};
use crate::finding::Phase;

/// Each variant at least once, with the cases that read differently.
pub(in crate::judge) fn everything() -> Vec<(Phase, Seen)> {
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
        killed_run(survivors(), Vec::new()),
        killed_run(Vec::new(), survivors()),
        killed_run(survivors(), survivors()),
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

fn killed_run(ended: Vec<String>, left_over: Vec<String>) -> (Phase, Seen) {
    (Phase::Prepare, Seen::LeftByKilledRun { ended, left_over })
}

pub(super) fn texts(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

pub(super) fn ended(code: i32, lines: &[&str]) -> Ending {
    Ending {
        code: Some(code),
        signal: None,
        last_lines: texts(lines),
    }
}

pub(super) fn nothing() -> Received {
    Received::default()
}

pub(super) fn s(text: &str) -> String {
    text.to_owned()
}
