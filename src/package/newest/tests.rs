//! The real npm and the real pip against registries on loopback: up, down, slow, and without the package.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and says why it is skipped"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{ASK_LIMIT, Known, Origin, Subject, Surroundings, ask};
use crate::event::{Ecosystem, Launcher, RowId};
use crate::package::{Environment, Interpreter};
use crate::plan::RuntimeKind;

/// No machine starts npm and gets an answer through this, and nobody waits long for it.
const SHORT: Duration = Duration::from_secs(1);

/// A server script of the fixtures, until it is dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(script: &str, spec: &Path, more: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(script);
        let mut command = Command::new("python3");
        command.arg(script).arg(spec).args(more).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        Self {
            process,
            address: address.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A state folder and a home of its own on this machine.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Option<Self> {
        let ours = Environment::ours();
        if ours.program("npm").is_none() || ours.program("python3").is_none() {
            println!("skipped: npm or python3 not found");
            return None;
        }
        Some(Self {
            folder: TempDir::new().unwrap(),
        })
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn surroundings(&self, address: &str) -> Surroundings {
        let home = self.folder.path().join("home");
        fs::create_dir_all(&home).unwrap();
        Surroundings {
            state: self.folder.path().join("state"),
            environment: Environment::ours()
                .with("npm_config_userconfig", home.join("npmrc"))
                .with("npm_config_cache", home.join("cache"))
                .with("npm_config_registry", address)
                .with("PIP_CONFIG_FILE", "/dev/null")
                .with("PIP_FIND_LINKS", "")
                .with("PIP_NO_CACHE_DIR", "1")
                .with("PIP_INDEX_URL", address)
                .with("UV_INDEX_URL", address),
            limit: ASK_LIMIT * 4,
            now: "2026-11-30T02:15:00Z".parse().unwrap(),
            cancel: CancellationToken::new(),
            clients: super::Clients::default(),
        }
    }
}

fn subject(ecosystem: Ecosystem, name: &str, installed: &str, version: &str) -> Subject {
    let (kind, program) = match ecosystem {
        Ecosystem::Npm => (RuntimeKind::Node, "node"),
        Ecosystem::Pypi => (RuntimeKind::Python, "python3"),
    };
    Subject {
        ecosystem,
        name: name.to_owned(),
        wanted: "*".to_owned(),
        installed: Some(installed.to_owned()),
        origin: Origin::Ours,
        runtime: Some(Interpreter {
            kind,
            // Asked by the one at hand, worked out for that one.
            version: version.to_owned(),
            executable: Environment::ours().program(program).unwrap(),
        }),
        env: Vec::new(),
    }
}

fn npm(name: &str, installed: &str, node: &str) -> Subject {
    subject(Ecosystem::Npm, name, installed, node)
}

fn pypi(name: &str, installed: &str) -> Subject {
    subject(Ecosystem::Pypi, name, installed, "3.11.7")
}

async fn ask_all(surroundings: &Surroundings, subjects: &[Subject]) -> Vec<Known> {
    let rows = (1..).map(|number| RowId(format!("row{number}")));
    ask(rows.zip(subjects.iter().cloned()).collect(), surroundings).await
}

/// `newest`, `newest<cause`, `newest@day`, or `-`.
fn shown(known: &Known) -> String {
    let newest = &known.newest;
    let version = newest.version.as_deref().unwrap_or("-");
    let cause = newest.held_back.as_ref().map(|cause| format!("<{}", cause.cause));
    let as_of = newest.as_of.as_ref().map(|day| format!("@{day}"));
    format!("{version}{}{}", cause.unwrap_or_default(), as_of.unwrap_or_default())
}

fn all_shown(known: &[Known]) -> Vec<String> {
    known.iter().map(shown).collect()
}

#[tokio::test]
async fn the_real_npm_tells_every_case_and_each_package_is_asked_once() {
    let Some(machine) = Machine::new() else { return };
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/registry/spec.json");
    let registry = Server::start("registry/registry.py", &spec, &[]);
    let surroundings = machine.surroundings(&registry.address);
    let subjects = [
        npm("fleet-demo-server", "1.4.0", "20.20.2"),
        npm("fleet-demo-server", "2.0.0", "24.22.3"),
        npm("fleet-demo-server", "1.4.0", "24.22.3"),
        npm("case-j-no-engines", "0.1.0", "20.20.2"),
        npm("case-k-latest-deprecated", "1.4.0", "20.20.2"),
        npm("no-such-package", "1.0.0", "20.20.2"),
    ];
    let known = ask_all(&surroundings, &subjects).await;
    let expected = [
        "2.0.0<engines",
        "2.0.0",
        "2.0.0",
        "2.0.0<engines",
        "2.0.0<deprecated",
        "-",
    ];
    assert_eq!(all_shown(&known), expected, "{known:#?}");
    let note = known[5].note.as_deref().unwrap();
    assert!(note.contains("no package called no-such-package"), "{note}");
}

#[tokio::test]
async fn a_registry_that_is_down_or_slow_leaves_the_last_answer_dated() {
    let Some(machine) = Machine::new() else { return };
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/registry/spec.json");
    let registry = Server::start("registry/registry.py", &spec, &[]);
    let surroundings = machine.surroundings(&registry.address);
    let subjects = [npm("fleet-demo-server", "1.4.0", "20.20.2")];
    assert_eq!(all_shown(&ask_all(&surroundings, &subjects).await), ["2.0.0<engines"]);
    drop(registry);

    let known = ask_all(&surroundings, &subjects).await;
    assert_eq!(all_shown(&known), ["2.0.0<engines@2026-11-30"]);
    let note = known[0].note.as_deref().unwrap();
    assert!(note.contains("did not tell") && note.contains("2026-11-30"), "{note}");

    // The system takes the connection, and nobody ever answers it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let slow = Surroundings {
        limit: SHORT,
        ..machine.surroundings(&address)
    };
    let known = ask_all(&slow, &subjects).await;
    assert_eq!(all_shown(&known), ["2.0.0<engines@2026-11-30"]);
    let unknown = ask_all(&slow, &[npm("never-seen", "1.0.0", "20.20.2")]).await;
    assert_eq!(all_shown(&unknown), ["-"]);
    assert!(unknown[0].note.as_deref().unwrap().contains("no answer within 1 s"));

    slow.cancel.cancel();
    let cancelled = ask_all(&slow, &subjects).await;
    assert_eq!(all_shown(&cancelled), ["2.0.0<engines@2026-11-30"]);
}

#[tokio::test]
async fn npms_own_settings_are_heard_the_registry_and_the_end_of_time() {
    let Some(machine) = Machine::new() else { return };
    let spec = machine.write(
        "spec.json",
        r#"{"packages": {"dated": {"dist-tags": {"latest": "2.0.0"}, "versions": {
            "1.0.0": {"published": "2026-01-01T00:00:00.000Z"}, "2.0.0": {"published": "2026-06-01T00:00:00.000Z"}}}}}"#,
    );
    let registry = Server::start("registry/registry.py", &spec, &[]);
    let mut surroundings = machine.surroundings("http://127.0.0.1:9");
    // Neither is told by a variable: npm finds both in the user's file.
    surroundings.environment = surroundings.environment.with("npm_config_registry", "");
    fs::write(
        machine.folder.path().join("home/npmrc"),
        format!("registry={}\nbefore=2026-03-01T00:00:00.000Z\n", registry.address),
    )
    .unwrap();
    let known = ask_all(&surroundings, &[npm("dated", "1.0.0", "24.22.3")]).await;
    assert_eq!(all_shown(&known), ["2.0.0<before"], "{known:#?}");
    let detail = known[0].newest.held_back.as_ref().unwrap().detail.as_deref().unwrap();
    assert!(
        detail.starts_with("was published on 2026-06-01 and your `before` is"),
        "{detail}"
    );
}

#[tokio::test]
async fn pip_tells_of_pages_in_json_and_in_html_alike() {
    let Some(machine) = Machine::new() else { return };
    let spec = machine.write(
        "spec.json",
        r#"{"packages": {
            "needs-newer": {"1.4.0": {"requires": ">=3.8"}, "2.0.0": {"requires": ">=3.99"}},
            "yanked-and-pre": {"1.0": {}, "1.1": {"yanked": "broken"}, "2.0rc1": {}}
        }}"#,
    );
    let subjects = [
        pypi("Needs_Newer", "1.4.0"),
        pypi("yanked-and-pre", "1.0"),
        pypi("no-such-project", "1.0"),
    ];
    let expected = ["2.0.0<requires-python", "1.0", "-"];
    let html = Server::start("simple_index/simple_index.py", &spec, &["html"]);
    let known = ask_all(&machine.surroundings(&html.address), &subjects[..2]).await;
    assert_eq!(all_shown(&known), expected[..2], "{known:#?}");
    let json = Server::start("simple_index/simple_index.py", &spec, &[]);
    let surroundings = machine.surroundings(&json.address);
    let known = ask_all(&surroundings, &subjects).await;
    assert_eq!(all_shown(&known), expected, "{known:#?}");
    assert_eq!(known[0].newest.requires.as_deref(), Some(">=3.99"));
    drop(json);
    let known = ask_all(&surroundings, &subjects[..1]).await;
    assert_eq!(all_shown(&known), ["2.0.0<requires-python@2026-11-30"], "{known:#?}");
}

#[tokio::test]
async fn what_others_installed_is_behind_with_its_cause() {
    let Some(machine) = Machine::new() else { return };
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/registry/spec.json");
    let registry = Server::start("registry/registry.py", &spec, &[]);
    // The row's own variable goes before the user's, as it does for its npx.
    let surroundings = machine.surroundings("http://127.0.0.1:9");
    let mut row = npm("fleet-demo-server", "1.4.0", "24.22.3");
    row.env = vec![("npm_config_registry".to_owned(), registry.address.clone())];
    row.origin = Origin::Theirs {
        launcher: Launcher::Npx,
        path: Some(PathBuf::from(
            "/cache/_npx/65010bb6b87eaf3a/node_modules/fleet-demo-server",
        )),
        cwd: machine.folder.path().to_owned(),
    };
    let known = ask_all(&surroundings, &[row]).await;
    assert_eq!(all_shown(&known), ["2.0.0"], "{known:#?}");
    assert_eq!(known[0].newest.behind.as_ref().unwrap().cause, "npx-cache");
}
