//! A run record of many kinds of rows, for the tests of every format.

use std::path::PathBuf;
use std::time::Duration;

use crate::event::{
    Ecosystem, Era, HostLoad, Launcher, Newest, ProbeFacts, RowId, RuntimeFacts, SessionFacts, SessionKind,
    ShutdownFacts, ShutdownStep, Skip, SkipReason,
};
use crate::finding::{Code, Finding, Phase, Severity};
use crate::record::{
    Calibration, Host, Identity, Outcome, PackageIdentity, PackageSource, ProbeRecord, RowRecord, RunRecord, Status,
    ToolRecord, Totals,
};

/// A name that tries all it can.
pub(crate) const HOSTILE: &str = "evil\u{1b}[31m|`rm`<img src=x>\u{202e}[x](http://evil.example)\nnext";

pub(crate) fn sample_record() -> RunRecord {
    let mut rows = vec![
        filesystem("node20", "0.2.0", "2026.1.14", "20.20.2"),
        filesystem("node24", "0.2.0", "2026.8.31", "24.22.3"),
        refused(),
        warned(),
        browser(),
        empty_version(),
        hostile(),
        dead(),
        skipped(),
        unusable(),
    ];
    rows.iter_mut().for_each(fill_sessions);
    let of = |status: Status| rows.iter().filter(|row| row.status == status).count();
    let totals = Totals {
        rows: rows.len(),
        pass: of(Status::Pass),
        warn: of(Status::Warn),
        fail: of(Status::Fail),
        skip: of(Status::Skip),
        error: of(Status::Error),
    };
    RunRecord {
        tool_version: "0.1.0".to_owned(),
        id: "20261130T021500Z".to_owned(),
        started: "2026-11-30T02:15:00Z".parse().expect("a timestamp"),
        finished: "2026-11-30T02:17:31Z".parse().expect("a timestamp"),
        manifest: PathBuf::from("servers.toml"),
        manifest_file: None,
        gone: Vec::new(),
        manifest_sha256: "5e88".repeat(16),
        jobs: 1,
        seed: 7,
        partition: None,
        settings: std::collections::BTreeMap::new(),
        host: Host {
            id: Some("c0ffee".to_owned()),
            os: Some("Debian GNU/Linux 12".to_owned()),
            kernel: Some("6.1.0-40-amd64".to_owned()),
            cpu: Some("AMD EPYC 7B13".to_owned()),
            logical_cpus: Some(2),
            memory_bytes: Some(8 << 30),
            virtualization: Some("kvm".to_owned()),
            load_average: Some([0.42, 0.5, 0.61]),
        },
        calibration: Some(Calibration {
            samples: 200,
            median: Duration::from_micros(50),
            p95: Duration::from_micros(90),
        }),
        rows,
        totals,
        exit_code: 1,
        interrupted: false,
    }
}

/// A row that passes: 30 calls, one session.
pub(crate) fn sample_row(server: &str) -> RowRecord {
    RowRecord {
        id: RowId(server.to_owned()),
        server: server.to_owned(),
        title: server.to_owned(),
        runtime: None,
        group: None,
        command: Some(format!("mcp-server-{server}")),
        status: Status::Pass,
        skip: None,
        identity: Identity {
            reported_name: Some(format!("{server}-server")),
            reported_title: None,
            reported_version: Some("1.0.0".to_owned()),
            package: package(Ecosystem::Pypi, &format!("mcp-server-{server}"), "2026.10.19"),
            runtime: Some(runtime("python", "3.11.7")),
            launcher: Some(Launcher::Direct),
            era: Some(Era::Initialize),
            pinned: None,
            requested: Some("2025-11-25".to_owned()),
            negotiated: Some("2025-11-25".to_owned()),
        },
        install: None,
        first_start: None,
        sessions: vec![session(483_000, 2_310)],
        tools: Some(tools(2)),
        probes: vec![probe("get_current_time", 30, 810)],
        resources: None,
        load: HostLoad {
            load_average_1m: Some(0.42),
            cpu_pressure_avg10: Some(1.25),
        },
        observations: Vec::new(),
        findings: Vec::new(),
        concurrency: 1,
        log: PathBuf::from(format!("logs/20261130T021500Z/{server}.log")),
    }
}

/// The pooled samples of a row, shared out among its sessions in order.
fn fill_sessions(row: &mut RowRecord) {
    let count = row.sessions.len();
    for (place, session) in row.sessions.iter_mut().enumerate() {
        session.number = place as u32 + 1;
        session.kind = SessionKind::Repeat(place as u32 + 1);
        let of_probe = |(index, probe): (usize, &ProbeRecord)| {
            let share = probe.samples.len() / count;
            let samples = probe.samples[place * share..(place + 1) * share].to_vec();
            ProbeFacts {
                index,
                first: samples.first().copied(),
                calls: share as u32,
                failures: 0,
                refused: false,
                reply: None,
                samples,
            }
        };
        session.probes = row.probes.iter().enumerate().map(of_probe).collect();
        session.shutdown = Some(ShutdownFacts {
            took: Some(Duration::from_millis(14)),
            step: ShutdownStep::StdinClosed,
            exit_code: Some(0),
            signal: None,
            survivors: Vec::new(),
            left_over: Vec::new(),
        });
    }
}

fn filesystem(on: &str, reported: &str, installed: &str, version: &str) -> RowRecord {
    let mut row = sample_row("filesystem");
    row.id = RowId(format!("filesystem@{on}"));
    row.title = "Filesystem".to_owned();
    row.runtime = Some(on.to_owned());
    row.identity.reported_name = Some("secure-filesystem-server".to_owned());
    row.identity.reported_version = Some(reported.to_owned());
    row.identity.package = package(Ecosystem::Npm, "@modelcontextprotocol/server-filesystem", installed);
    row.identity.runtime = Some(runtime("node", version));
    row.sessions = vec![session(279_400, 10_310)];
    row.tools = Some(tools(14));
    row.probes = vec![probe("read_text_file", 30, 780)];
    row.findings = vec![finding(
        Code::ServerRequestRefused,
        Severity::Note,
        Phase::Initialize,
        "roots/list was answered with -32601",
    )];
    row
}

fn refused() -> RowRecord {
    let mut row = sample_row("fetch");
    row.title = "Fetch (default)".to_owned();
    row.probes = vec![probe("fetch", 30, 6_210)];
    row.probes[0].outcome = Some(Outcome::Refused);
    row
}

fn warned() -> RowRecord {
    let mut row = sample_row("fetch-private");
    row.title = "Fetch (--allow-private-ips)".to_owned();
    row.status = Status::Warn;
    row.probes = vec![probe("fetch", 27, 698_000)];
    row.probes[0].calls = 30;
    row.probes[0].failures = 3;
    row.probes[0].outcome = Some(Outcome::Failed);
    row.findings = vec![
        finding(
            Code::CallTimeout,
            Severity::Warn,
            Phase::Call,
            "fetch did not answer within 30 s in 3 of 30 calls",
        ),
        finding(
            Code::StdoutNoise,
            Severity::Warn,
            Phase::Call,
            "2 lines on stdout were no messages, the first \"added 41 packages\"",
        ),
        finding(Code::Downloaded, Severity::Note, Phase::Spawn, "npx fetched something"),
    ];
    row
}

fn browser() -> RowRecord {
    let mut row = sample_row("playwright");
    row.title = "Playwright MCP".to_owned();
    row.identity.reported_name = Some("Playwright".to_owned());
    row.identity.reported_version = Some("1.64.0-alpha-1790635538000".to_owned());
    row.identity.package = package(Ecosystem::Npm, "@playwright/mcp", "0.0.83");
    row.identity.runtime = Some(runtime("node", "24.22.3"));
    row.tools = Some(tools(25));
    row.sessions = vec![
        session(383_000, 10_100),
        session(401_000, 9_800),
        session(390_000, 10_000),
    ];
    row.probes = vec![probe("browser_navigate", 3, 40_500)];
    row.group = Some("browsers".to_owned());
    row.install = Some(Duration::from_millis(12_345));
    row.first_start = Some(Duration::from_millis(1_589));
    row.identity.launcher = Some(Launcher::Npx);
    row.load.cpu_pressure_avg10 = Some(26.1);
    row
}

fn empty_version() -> RowRecord {
    let mut row = sample_row("three-tools");
    row.title = "Three tools, official SDK".to_owned();
    row.identity.reported_name = Some("three-tools".to_owned());
    row.identity.reported_version = Some(String::new());
    row.identity.package.source = Some(PackageSource::Manifest);
    row
}

fn hostile() -> RowRecord {
    let mut row = sample_row("hostile");
    row.title = "Hostile".to_owned();
    row.status = Status::Fail;
    row.identity.reported_name = Some(HOSTILE.to_owned());
    row.probes = vec![probe(HOSTILE, 0, 0)];
    row.probes[0].outcome = Some(Outcome::Failed);
    row.probes[0].failures = 30;
    row.probes[0].calls = 30;
    let mut error = finding(
        Code::ToolError,
        Severity::Fail,
        Phase::Call,
        &format!("{HOSTILE} answered with isError in 30 of 30 calls: \"boom\""),
    );
    error.expected = Some("a result whose text contains \"hello\"".to_owned());
    error.actual = Some("boom".to_owned());
    error.hint = Some("see what the server says on stderr in its log".to_owned());
    row.findings = vec![
        finding(
            Code::UncleanShutdown,
            Severity::Warn,
            Phase::Shutdown,
            "it took SIGTERM to end it",
        ),
        error,
    ];
    row
}

fn dead() -> RowRecord {
    let mut row = sample_row("time");
    row.title = "A server whose title is far longer than anyone would wish for in a table".to_owned();
    row.status = Status::Fail;
    row.identity = Identity {
        package: row.identity.package,
        ..Identity::default()
    };
    row.sessions = Vec::new();
    row.tools = None;
    row.probes = vec![probe("get_current_time", 0, 0)];
    row.probes[0].outcome = None;
    row.findings = vec![finding(
        Code::ExitedEarly,
        Severity::Fail,
        Phase::Initialize,
        "it exited with code 1 before it answered initialize; last on stderr: \"ImportError: cannot import name 'McpError' from 'mcp.shared.exceptions'\"",
    )];
    row
}

fn skipped() -> RowRecord {
    let mut row = unreached("context7", "Context7 (hosted lookup)", Status::Skip);
    row.skip = Some(Skip {
        reason: SkipReason::Offline,
        message: "context7.com cannot be resolved".to_owned(),
        cure: Some("connect to the internet, or leave it out with !tag:hosted".to_owned()),
    });
    row.findings = vec![finding(
        Code::RowSkipped,
        Severity::Note,
        Phase::Prepare,
        "context7.com cannot be resolved",
    )];
    row
}

fn unusable() -> RowRecord {
    let mut row = unreached("tracker", "Tracker", Status::Error);
    row.findings = vec![finding(
        Code::ConfigError,
        Severity::Fail,
        Phase::Prepare,
        "env.TRACKER_API_TOKEN: variable TRACKER_API_TOKEN is not set",
    )];
    row
}

fn unreached(server: &str, title: &str, status: Status) -> RowRecord {
    let mut row = sample_row(server);
    row.title = title.to_owned();
    row.status = status;
    row.identity = Identity::default();
    row.sessions = Vec::new();
    row.tools = None;
    row.probes = Vec::new();
    row
}

pub(crate) fn finding(code: Code, severity: Severity, phase: Phase, message: &str) -> Finding {
    Finding {
        code,
        severity,
        phase,
        message: message.to_owned(),
        expected: None,
        actual: None,
        hint: None,
        accepted: None,
    }
}

fn package(ecosystem: Ecosystem, name: &str, installed: &str) -> PackageIdentity {
    PackageIdentity {
        ecosystem: Some(ecosystem),
        name: Some(name.to_owned()),
        wanted: Some("*".to_owned()),
        installed: Some(installed.to_owned()),
        newest: Newest::default(),
        source: Some(PackageSource::Walk),
        path: None,
    }
}

fn runtime(kind: &str, version: &str) -> RuntimeFacts {
    RuntimeFacts {
        kind: kind.to_owned(),
        version: Some(version.to_owned()),
        executable: PathBuf::from(format!("/usr/bin/{kind}")),
    }
}

fn session(cold_start_micros: u64, list_micros: u64) -> SessionFacts {
    SessionFacts {
        number: 1,
        kind: SessionKind::Repeat(1),
        attempt: 1,
        first_byte: None,
        cold_start: Some(Duration::from_micros(cold_start_micros)),
        list: Some(Duration::from_micros(list_micros)),
        lifetime: None,
        handshake: None,
        identity: None,
        tools: None,
        probes: Vec::new(),
        shutdown: None,
        resources: None,
        observations: Vec::new(),
    }
}

fn tools(count: usize) -> Vec<ToolRecord> {
    let tool = |number: usize| ToolRecord {
        name: format!("tool_{number}"),
        description_sha256: None,
        input_schema: None,
        output_schema: None,
        annotations: None,
    };
    (0..count).map(tool).collect()
}

/// Samples that rise by a hundredth each, the last of them an outlier.
fn probe(tool: &str, samples: u32, micros: u64) -> ProbeRecord {
    let mut durations: Vec<Duration> = (0..samples)
        .map(|number| Duration::from_micros(micros + micros * u64::from(number) / 100))
        .collect();
    if let Some(last) = durations.last_mut() {
        *last *= 4;
    }
    ProbeRecord {
        name: tool.to_owned(),
        tool: tool.to_owned(),
        outcome: Some(Outcome::Ok),
        planned_calls: Some(samples),
        warmup: Some(0),
        calls: samples,
        failures: 0,
        first: durations.first().copied(),
        samples: durations,
        reply: None,
    }
}
