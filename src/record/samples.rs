//! A plan and events for the tests of the record.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::{Calibration, Host, RecordBuilder, RunHeader, RunRecord};
use crate::event::{Ecosystem, Event, EventKind, HostLoad, RowId};
use crate::plan::{
    Entry, Expectations, Inherit, InstallMode, JsonTemplate, Launch, Limits, Needs, PackageSpec, Plan, Probe,
    ProbeExpectation, Protocol, Row, Settings, Template,
};
use crate::text::Mask;

pub(crate) fn plan(rows: Vec<Row>) -> Plan {
    Plan {
        manifest: PathBuf::from("servers.toml"),
        manifest_sha256: "ab".repeat(32),
        manifest_dir: PathBuf::from("/fleet"),
        settings: Settings {
            jobs: 1,
            keep_runs: 60,
            seed: 7,
            install: InstallMode::Missing,
            install_programs: false,
            strict: false,
            locked: false,
            smoke: false,
            reports: PathBuf::from("reports"),
            logs: PathBuf::from("logs"),
            state: PathBuf::from("/fleet/.mcp-smoke"),
            flags: BTreeMap::from([("calls".to_owned(), json!(3))]),
        },
        rows,
        programs: BTreeMap::new(),
        mask: Mask::default(),
        not_yet: Vec::new(),
    }
}

pub(crate) fn row(id: &str, entry: Entry) -> Row {
    Row {
        id: RowId(id.to_owned()),
        server: id.split('@').next().unwrap_or(id).to_owned(),
        title: id.to_uppercase(),
        runtime: None,
        group: None,
        tags: Vec::new(),
        severity: BTreeMap::new(),
        expect: Expectations::default(),
        entry,
        line: 1,
    }
}

/// A launch of this command line with these probes.
pub(crate) fn launch(command: &str, probes: &[&str]) -> Launch {
    let mut words = command.split_whitespace().map(Template::literal);
    Launch {
        packages: Vec::new(),
        command: words.next().unwrap_or_default(),
        args: words.collect(),
        env: Vec::new(),
        inherit: Inherit::Minimal,
        env_pass: Vec::new(),
        cwd: Template::literal("/fleet"),
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
        probes: probes.iter().map(|tool| probe(tool)).collect(),
        needs: Needs::default(),
    }
}

fn probe(tool: &str) -> Probe {
    Probe {
        name: tool.to_owned(),
        tool: tool.to_owned(),
        arguments: JsonTemplate::Object(Vec::new()),
        calls: 2,
        warmup: 0,
        timeout: Duration::from_secs(30),
        expect: ProbeExpectation::default(),
    }
}

pub(crate) fn run(launch: Launch) -> Entry {
    Entry::Run(Box::new(launch))
}

pub(crate) fn npm(name: &str, wanted: &str) -> PackageSpec {
    PackageSpec {
        ecosystem: Ecosystem::Npm,
        name: name.to_owned(),
        wanted: wanted.to_owned(),
        spec: name.to_owned(),
    }
}

pub(crate) fn builder(plan: &Plan) -> RecordBuilder {
    let header = RunHeader {
        id: "20261130T021500Z".to_owned(),
        manifest_file: Some(PathBuf::from("/fleet/servers.toml")),
        gone: vec![RowId("gone".to_owned())],
        started: "2026-11-30T02:15:00Z".parse().expect("a moment"),
        host: Host {
            id: Some("0123456789abcdef".to_owned()),
            os: Some("Linux 13 Debian".to_owned()),
            kernel: None,
            cpu: Some("A processor".to_owned()),
            logical_cpus: Some(2),
            memory_bytes: Some(8_000_000_000),
            virtualization: None,
            load_average: Some([0.5, 0.25, 1.0]),
        },
        partition: None,
    };
    RecordBuilder::new(header, plan, |row| {
        PathBuf::from(format!("logs/20261130T021500Z/{row}.log"))
    })
}

/// The record of a run with these events of row `row`.
pub(crate) fn record(plan: &Plan, kinds: Vec<EventKind>, interrupted: bool) -> RunRecord {
    let mut builder = builder(plan);
    for kind in kinds {
        builder.apply(Event {
            row: RowId("row".to_owned()),
            kind,
        });
    }
    builder.calibration(Some(Calibration {
        samples: 100,
        median: Duration::from_nanos(8_500),
        p95: Duration::from_nanos(12_300),
    }));
    builder.finish("2026-11-30T02:16:40.5Z".parse().expect("a moment"), interrupted)
}

pub(crate) fn measuring() -> EventKind {
    EventKind::Measuring(HostLoad {
        load_average_1m: Some(0.75),
        cpu_pressure_avg10: None,
    })
}
