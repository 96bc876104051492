//! Small records and plans for the tests of this module.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::event::{
    Ecosystem, Ending, Era, HandshakeFacts, HostLoad, Launcher, Observation, ProcessIdentity, RowId, RuntimeFacts,
    Seen, SessionFacts, SessionKind, ToolFacts,
};
use crate::finding::Phase;
use crate::judge::{Past, acceptable, judge};
use crate::lock::{Accepted, Lock, LockedRow, RowFacts};
use crate::plan::{
    Entry, Expectations, Inherit, InstallMode, Launch, Limits, Needs, Plan, Protocol, Row, Settings, Template,
};
use crate::record::{Host, Identity, RowRecord, RunRecord, Status, ToolRecord, Totals};
use crate::text::Mask;

pub(super) fn observation(phase: Phase, what: Seen) -> Observation {
    Observation {
        phase,
        probe: None,
        what,
    }
}

/// A good session of these tools.
pub(super) fn session(number: u32, tools: &[&str]) -> SessionFacts {
    SessionFacts {
        number,
        kind: SessionKind::Repeat(number),
        attempt: 1,
        first_byte: Some(Duration::from_millis(80)),
        cold_start: Some(Duration::from_millis(90)),
        list: Some(Duration::from_millis(2)),
        lifetime: None,
        handshake: Some(HandshakeFacts {
            era: Era::Initialize,
            requested: "2025-11-25".to_owned(),
            negotiated: "2025-11-25".to_owned(),
            name: Some("example".to_owned()),
            title: None,
            version: Some("1.2.3".to_owned()),
            instructions: None,
            capabilities: json!({ "tools": {} }),
        }),
        identity: None,
        tools: Some(tools.iter().map(|name| tool(name)).collect()),
        probes: Vec::new(),
        shutdown: None,
        resources: None,
        observations: Vec::new(),
    }
}

/// A session that never answered, and what was seen of it.
pub(super) fn silent(number: u32, phase: Phase, what: Seen) -> SessionFacts {
    SessionFacts {
        cold_start: None,
        list: None,
        handshake: None,
        tools: None,
        observations: vec![observation(phase, what)],
        ..session(number, &[])
    }
}

pub(super) fn tool(name: &str) -> ToolFacts {
    ToolFacts {
        name: name.to_owned(),
        description: Some(format!("does {name}")),
        input_schema: Some(json!({ "type": "object" })),
        output_schema: None,
        annotations: None,
    }
}

pub(super) fn ran_on(kind: &str, version: Option<&str>) -> ProcessIdentity {
    ProcessIdentity {
        package: None,
        runtime: Some(RuntimeFacts {
            kind: kind.to_owned(),
            version: version.map(str::to_owned),
            executable: PathBuf::from(format!("/usr/bin/{kind}")),
        }),
        launcher: Launcher::Direct,
    }
}

pub(super) fn row(id: &str, sessions: Vec<SessionFacts>) -> RowRecord {
    RowRecord {
        id: RowId(id.to_owned()),
        server: id.to_owned(),
        title: id.to_owned(),
        runtime: None,
        group: None,
        command: Some("server".to_owned()),
        status: Status::Pass,
        skip: None,
        identity: Identity::default(),
        install: None,
        first_start: None,
        tools: sessions
            .first()
            .and_then(|session| session.tools.as_ref())
            .map(|tools| tools.iter().map(ToolRecord::from).collect()),
        sessions,
        probes: Vec::new(),
        resources: None,
        load: HostLoad::default(),
        observations: Vec::new(),
        findings: Vec::new(),
        concurrency: 1,
        log: PathBuf::from("logs/row.log"),
    }
}

pub(super) fn run(rows: Vec<RowRecord>) -> RunRecord {
    RunRecord {
        tool_version: "0.1.0".to_owned(),
        id: "20261130T021500Z".to_owned(),
        started: jiff::Timestamp::UNIX_EPOCH,
        finished: jiff::Timestamp::UNIX_EPOCH,
        manifest: PathBuf::from("servers.toml"),
        manifest_file: None,
        gone: Vec::new(),
        manifest_sha256: String::new(),
        jobs: 1,
        seed: 0,
        partition: None,
        settings: BTreeMap::new(),
        host: Host::default(),
        calibration: None,
        rows,
        totals: Totals::default(),
        exit_code: 0,
        interrupted: false,
    }
}

pub(super) fn planned(id: &str) -> Row {
    Row {
        id: RowId(id.to_owned()),
        server: id.to_owned(),
        title: id.to_owned(),
        runtime: None,
        group: None,
        tags: Vec::new(),
        severity: BTreeMap::new(),
        expect: Expectations::default(),
        entry: Entry::Run(Box::new(launch("server", &[]))),
        line: 1,
    }
}

pub(super) fn launch(command: &str, args: &[&str]) -> Launch {
    Launch {
        packages: Vec::new(),
        command: Template::literal(command),
        args: args.iter().map(|arg| Template::literal(*arg)).collect(),
        env: Vec::new(),
        inherit: Inherit::Minimal,
        env_pass: Vec::new(),
        cwd: Template::literal("/"),
        requires: Vec::new(),
        requires_host: None,
        protocol: Protocol::Auto,
        limits: Limits {
            startup: Duration::from_mins(1),
            list: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(2),
            row: Duration::from_mins(10),
        },
        repeats: 1,
        cold_starts: 1,
        retries: 0,
        concurrency: 1,
        probes: Vec::new(),
        needs: Needs::default(),
    }
}

pub(super) fn plan(rows: Vec<Row>) -> Plan {
    Plan {
        manifest: PathBuf::from("servers.toml"),
        manifest_sha256: String::new(),
        manifest_dir: PathBuf::from("/"),
        settings: Settings {
            jobs: 1,
            keep_runs: 60,
            seed: 0,
            install: InstallMode::Missing,
            install_programs: false,
            strict: false,
            locked: false,
            smoke: false,
            reports: PathBuf::from("reports"),
            logs: PathBuf::from("logs"),
            state: PathBuf::from(".mcp-smoke"),
            flags: BTreeMap::new(),
        },
        rows,
        programs: BTreeMap::new(),
        mask: Mask::default(),
        not_yet: Vec::new(),
    }
}

/// A record of one row, judged by a plan of one row.
pub(super) fn judged(record: RowRecord, planned: Row) -> RowRecord {
    judged_by(record, &plan(vec![planned])).rows.remove(0)
}

pub(super) fn judged_by(record: RowRecord, plan: &Plan) -> RunRecord {
    let mut run = run(vec![record]);
    judge(&mut run, plan, &Past::default());
    run
}

pub(super) fn codes(row: &RowRecord) -> Vec<&'static str> {
    row.findings.iter().map(|finding| finding.code.name()).collect()
}

pub(super) fn messages(row: &RowRecord) -> Vec<&str> {
    row.findings.iter().map(|finding| finding.message.as_str()).collect()
}

pub(super) fn exited() -> Seen {
    Seen::ExitedEarly {
        ending: Ending {
            code: Some(1),
            signal: None,
            last_lines: Vec::new(),
        },
    }
}

pub(super) fn with(mut session: SessionFacts, observations: Vec<Observation>) -> SessionFacts {
    session.observations = observations;
    session
}

pub(super) fn expecting(change: impl FnOnce(&mut Row)) -> Row {
    let mut planned = planned("row");
    change(&mut planned);
    planned
}

/// A row that answered: this version on disk and the same one reported, these tools.
pub(super) fn answered(id: &str, version: &str, tools: &[&str]) -> RowRecord {
    let mut record = row(id, vec![session(1, tools)]);
    let (server, runtime) = id.split_once('@').unwrap_or((id, ""));
    server.clone_into(&mut record.server);
    record.runtime = (!runtime.is_empty()).then(|| runtime.to_owned());
    let handshake = record.sessions[0].handshake.as_mut().expect("a good session");
    handshake.version = Some(version.to_owned());
    record.identity = Identity {
        reported_name: Some("example".to_owned()),
        reported_version: Some(version.to_owned()),
        era: Some(Era::Initialize),
        requested: Some("2025-11-25".to_owned()),
        negotiated: Some("2025-11-25".to_owned()),
        ..Identity::default()
    };
    record.identity.package.ecosystem = Some(Ecosystem::Npm);
    record.identity.package.name = Some("example-server".to_owned());
    record.identity.package.wanted = Some("*".to_owned());
    record.identity.package.installed = Some(version.to_owned());
    record
}

/// The lock of these rows, judged, as of one day.
pub(super) fn locked(rows: &[RowRecord], plan: &Plan) -> Lock {
    let on = jiff::civil::date(2026, 11, 29);
    let row = |record: &RowRecord| {
        let planned = plan.rows.iter().find(|planned| planned.id == record.id);
        let accepted = acceptable(record, planned).into_iter();
        LockedRow {
            accepted_on: on,
            run: "20261129T021500Z".to_owned(),
            facts: RowFacts::of(record).expect("it answered"),
            accepted: accepted.map(|(code, fact)| Accepted { code, fact, on }).collect(),
        }
    };
    Lock {
        rows: rows.iter().map(|record| (record.id.clone(), row(record))).collect(),
    }
}

/// These rows judged by what is known from before, each planned without expectations.
pub(super) fn night(rows: Vec<RowRecord>, past: &Past<'_>) -> RunRecord {
    let plan = plan(rows.iter().map(|row| planned(&row.id.0)).collect());
    let mut run = run(rows);
    judge(&mut run, &plan, past);
    run
}
