//! The real npm against a registry on loopback; and, where that is asked for, against the real ones.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::machine::{Machine, node, npm, pypi, python};
use crate::event::EventKind;
use crate::package::Environment;

/// The registry of `tests/fixtures/registry`, until it is dropped.
struct Registry {
    server: Child,
    address: String,
}

impl Registry {
    fn serve() -> Option<Self> {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/registry");
        let mut server = Command::new("python3")
            .arg(fixture.join("registry.py"))
            .arg(fixture.join("spec.json"))
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut address = String::new();
        BufReader::new(server.stdout.take()?).read_line(&mut address).ok()?;
        Some(Self {
            server,
            address: address.trim().to_owned(),
        })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

/// A made-up machine with this one's programs, and an npm that knows only that registry.
fn machine_with(registry: &Registry) -> Machine {
    let mut machine = Machine::bare();
    let home = machine.path("home");
    machine.environment = Environment::ours()
        .with("HOME", &home)
        .with("npm_config_userconfig", home.join("npmrc"))
        .with("npm_config_cache", home.join("cache"))
        .with("npm_config_registry", &registry.address);
    machine
}

#[tokio::test]
async fn the_real_npm_installs_what_a_user_would_get_and_a_missing_package_fails() {
    let ours = Environment::ours();
    let (Some(_), Some(_)) = (ours.program("npm"), ours.program("python3")) else {
        println!("skipped: npm or python3 not found");
        return;
    };
    let Some(registry) = Registry::serve() else {
        println!("skipped: the registry does not start");
        return;
    };
    let mut machine = machine_with(&registry);
    machine.row("demo", node("*"), |launch| {
        launch.packages = vec![npm("case-d-tag-older")];
    });
    machine.row("gone", node("*"), |launch| {
        launch.packages = vec![npm("no-such-package-here")];
    });
    let came = machine.prepare().await;
    let ready = came.ready("demo@node*");
    assert_eq!(ready.installed[0].version, "1.4.0", "{}", came.log("demo@node*"));
    assert!(ready.lookup[0].join("case-d-tag-older").exists());
    assert!(came.failed("gone@node*"));
    let said = format!("{:?}", came.seen("gone@node*"));
    assert!(said.contains("E404"), "{said}");
}

#[tokio::test]
async fn the_real_registries_give_a_runtime_and_packages_for_both_ecosystems() {
    if std::env::var_os("MCP_SMOKE_REGISTRY").is_none() {
        println!("skipped: MCP_SMOKE_REGISTRY is not set");
        return;
    }
    let mut machine = Machine::bare();
    machine.environment = Environment::ours();
    let memory = "@modelcontextprotocol/server-memory";
    for range in ["20", "24"] {
        machine.row("memory", node(range), |launch| launch.packages = vec![npm(memory)]);
    }
    machine.row("time", python(">=3.10"), |launch| {
        launch.packages = vec![pypi("mcp-server-time")];
    });
    machine.row("fetch", python(">=3.10"), |launch| {
        launch.packages = vec![pypi("mcp-server-fetch")];
    });
    let came = machine.prepare().await;
    for (row, command) in [
        ("memory@node20", "mcp-server-memory"),
        ("memory@node24", "mcp-server-memory"),
        ("time@python", "mcp-server-time"),
        ("fetch@python", "mcp-server-fetch"),
    ] {
        let ready = came.ready(row);
        println!("{row}: {:?} on {:?}", ready.installed, ready.runtime);
        assert!(ready.lookup[0].join(command).exists());
        assert_eq!(ready.installed.len(), 1);
    }
    for event in &came.events {
        if let EventKind::Installed(took) = &event.kind {
            println!("{}: installed in {:.1} s", event.row, took.as_secs_f64());
        }
    }
    let again = machine.prepare().await;
    assert!(again.prepared.keys().all(|row| !again.ready(&row.0).fresh));
}
