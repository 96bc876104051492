//! A machine made up for one test: home, PATH, state folder, and a plan for it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::event::{Ecosystem, Event, EventKind, RowId, Seen, Sink, Skip};
use crate::package::Environment;
use crate::plan::{
    Entry, Expectations, Inherit, InstallMode, Launch, Limits, Needs, PackageSpec, Plan, Program, Protocol, Row,
    Runtime, RuntimeKind, Settings, Template,
};
use crate::prepare::{Prepared, Readiness, ReadyRow, prepare_in};
use crate::text::Mask;

/// Node 99 with an npm that sources `npm-does`.
const NODE: &str = r#"#!/bin/sh
case "$1" in
  --version) echo v99.1.0; exit 0 ;;
  -p) echo unknown; exit 0 ;;
esac
[ "$2" = config ] && exit 0
. ROOT/npm-does
"#;
/// What npm does unless a test says otherwise: one package of version 1.0.0.
const INSTALLS: &str = r#"
while [ "$1" != -- ]; do shift; done; shift
for name in "$@"; do
  mkdir -p "node_modules/$name"
  echo "{\"name\":\"$name\",\"version\":\"1.0.0\"}" > "node_modules/$name/package.json"
done
echo ran >> ROOT/runs
echo added 1 package
"#;

pub(super) struct Machine {
    root: TempDir,
    pub(super) environment: Environment,
    pub(super) plan: Plan,
    pub(super) cancel: CancellationToken,
}

/// What came of preparing.
pub(super) struct Came {
    pub(super) prepared: Prepared,
    pub(super) events: Vec<Event>,
}

impl Machine {
    /// With the fake Node 99 first on PATH.
    pub(super) fn new() -> Self {
        let machine = Self::bare();
        let cli = machine.path("lib/node_modules/npm/bin/npm-cli.js");
        machine.program("lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node\n");
        machine.program(
            "bin/node",
            &NODE.replace("ROOT", &machine.path("").display().to_string()),
        );
        symlink(cli, machine.path("bin/npm")).unwrap();
        machine.npm_does(INSTALLS);
        machine
    }

    /// With only the system's own programs on PATH.
    pub(super) fn bare() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("home")).unwrap();
        let search = std::env::join_paths([path.join("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
        let environment = Environment::default()
            .with("HOME", path.join("home"))
            .with("PATH", search);
        Self {
            plan: plan(&path.join("state")),
            root,
            environment,
            cancel: CancellationToken::new(),
        }
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(below)
    }

    pub(super) fn program(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(super) fn npm_does(&self, script: &str) {
        let script = script.replace("ROOT", &self.path("").display().to_string());
        fs::write(self.path("npm-does"), script).unwrap();
    }

    pub(super) fn npm_installs_version(&self, version: &str) {
        self.npm_does(&INSTALLS.replace("1.0.0", version));
    }

    /// How often npm installed something.
    pub(super) fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    pub(super) fn install_mode(&mut self, mode: InstallMode) {
        self.plan.settings.install = mode;
    }

    /// A row on that runtime, to be changed at will.
    pub(super) fn row(&mut self, server: &str, runtime: impl Into<Option<Runtime>>, change: impl FnOnce(&mut Launch)) {
        let runtime = runtime.into();
        let mut launch = launch();
        change(&mut launch);
        let id = runtime
            .as_ref()
            .map_or_else(|| server.to_owned(), |runtime| format!("{server}@{}", runtime.name));
        self.plan.rows.push(Row {
            id: RowId(id),
            server: server.to_owned(),
            title: server.to_owned(),
            runtime,
            group: None,
            tags: Vec::new(),
            severity: BTreeMap::new(),
            expect: Expectations::default(),
            entry: Entry::Run(Box::new(launch)),
            line: 1,
        });
    }

    pub(super) fn programs(&mut self, program: Program) {
        self.plan.programs.insert(program.name.clone(), program);
    }

    pub(super) async fn prepare(&self) -> Came {
        let (sender, mut receiver) = unbounded_channel();
        let sinks = |row: &RowId| Sink::new(row.clone(), sender.clone());
        let prepared = prepare_in(&self.plan, &sinks, &self.environment, &self.cancel).await;
        let mut events = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            events.push(event);
        }
        Came { prepared, events }
    }
}

impl Came {
    pub(super) fn ready(&self, row: &str) -> &ReadyRow {
        match &self.prepared[&RowId(row.to_owned())] {
            Readiness::Ready(ready) => ready,
            other => panic!("{row}: {other:?}, {:?}", self.events),
        }
    }

    pub(super) fn skip(&self, row: &str) -> &Skip {
        match &self.prepared[&RowId(row.to_owned())] {
            Readiness::Skipped(skip) => skip,
            other => panic!("{row}: {other:?}"),
        }
    }

    pub(super) fn failed(&self, row: &str) -> bool {
        matches!(self.prepared[&RowId(row.to_owned())], Readiness::Failed)
    }

    pub(super) fn seen(&self, row: &str) -> Vec<&Seen> {
        let of_row = self.events.iter().filter(|event| event.row.0 == row);
        let seen = of_row.filter_map(|event| match &event.kind {
            EventKind::Observed(observation) => Some(&observation.what),
            _ => None,
        });
        seen.collect()
    }

    pub(super) fn log(&self, row: &str) -> String {
        let of_row = self.events.iter().filter(|event| event.row.0 == row);
        let lines = of_row.filter_map(|event| match &event.kind {
            EventKind::Log(line) => Some(line.text.as_str()),
            _ => None,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn installations(&self, row: &str) -> usize {
        let of_row = self.events.iter().filter(|event| event.row.0 == row);
        of_row
            .filter(|event| matches!(event.kind, EventKind::Installed(_)))
            .count()
    }
}

pub(super) fn node(range: &str) -> Runtime {
    Runtime {
        name: format!("node{range}"),
        kind: RuntimeKind::Node,
        range: range.to_owned(),
    }
}

pub(super) fn python(range: &str) -> Runtime {
    Runtime {
        name: "python".to_owned(),
        kind: RuntimeKind::Python,
        range: range.to_owned(),
    }
}

pub(super) fn npm(name: &str) -> PackageSpec {
    package(Ecosystem::Npm, name)
}

pub(super) fn pypi(name: &str) -> PackageSpec {
    package(Ecosystem::Pypi, name)
}

fn package(ecosystem: Ecosystem, name: &str) -> PackageSpec {
    PackageSpec {
        ecosystem,
        name: name.to_owned(),
        wanted: "*".to_owned(),
        spec: name.to_owned(),
    }
}

fn launch() -> Launch {
    Launch {
        packages: Vec::new(),
        command: Template::literal("server"),
        args: Vec::new(),
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

fn plan(state: &Path) -> Plan {
    Plan {
        manifest: PathBuf::from("servers.toml"),
        manifest_sha256: String::new(),
        manifest_dir: PathBuf::from("/"),
        settings: Settings {
            jobs: 1,
            keep_runs: 1,
            seed: 0,
            install: InstallMode::Missing,
            install_programs: false,
            strict: false,
            locked: false,
            smoke: false,
            reports: state.join("reports"),
            logs: state.join("logs"),
            state: state.to_owned(),
            flags: BTreeMap::new(),
        },
        rows: Vec::new(),
        programs: BTreeMap::new(),
        mask: Mask::default(),
        not_yet: Vec::new(),
    }
}
