//! Ctrl-C at any moment: no process left, record written, exit 130.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::fleet::{Fleet, Outcome, fault_server, left_over};

/// No step of these tests takes this long on a machine that works.
const LIMIT: Duration = Duration::from_mins(1);

/// A fleet whose fault server lies in its own folder, so that its processes can be told apart,
/// and whose trace tells what the server has seen.
pub(crate) fn fleet(mode: &str, defaults: &str) -> Fleet {
    let fleet = Fleet::new("");
    let server = fleet.path().join("faulty.py");
    fs::copy(fault_server(), &server).unwrap();
    let trace = fleet.path().join("trace");
    let args: Vec<String> = ["--trace", &trace.to_string_lossy()]
        .into_iter()
        .map(str::to_owned)
        .chain(mode.split(' ').map(str::to_owned))
        .collect();
    let argv = serde_json::to_string(&[vec![server.to_string_lossy().into_owned()], args].concat()).unwrap();
    fleet.write(
        "servers.toml",
        &format!(
            "[defaults]\n{defaults}\n[servers.first]\ncommand = \"python3\"\nargs = {argv}\n\
             [[servers.first.probes]]\ntool = \"echo\"\narguments = {{ text = \"x\" }}\n"
        ),
    );
    fleet
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "waited in vain until {what}");
        thread::yield_now();
        thread::park_timeout(Duration::from_millis(5));
    }
}

pub(crate) fn traced(fleet: &Fleet, needle: &str) -> bool {
    fs::read_to_string(fleet.path().join("trace")).is_ok_and(|trace| trace.contains(needle))
}

pub(crate) fn interrupt(child: &Child) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
}

pub(crate) fn start(fleet: &Fleet) -> Child {
    fleet
        .command(&["run"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub(crate) fn end(fleet: &Fleet, mut child: Child) -> Outcome {
    wait_until("the runner is gone", || child.try_wait().unwrap().is_some());
    fleet.outcome(&child.wait_with_output().unwrap())
}

fn interrupted_when(mode: &str, defaults: &str, needle: &str) -> Outcome {
    let fleet = fleet(mode, defaults);
    let child = start(&fleet);
    wait_until(needle, || traced(&fleet, needle));
    interrupt(&child);
    let outcome = end(&fleet, child);
    assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
    assert_eq!(outcome.record()["exit_code"], 130);
    assert!(
        outcome.codes("first").contains(&"interrupted".to_owned()),
        "{:?}",
        outcome.codes("first")
    );
    assert_eq!(left_over(&fleet.path().to_string_lossy()), Vec::<String>::new());
    outcome
}

/// A second server like the first.
pub(crate) fn add_second(fleet: &Fleet) {
    let manifest = fs::read_to_string(fleet.path().join("servers.toml")).unwrap();
    let second = manifest
        .split_once("[servers.first]")
        .unwrap()
        .1
        .replace(".first", ".second");
    fleet.write("servers.toml", &format!("{manifest}[servers.second]{second}"));
}

#[test]
fn while_a_server_starts() {
    interrupted_when("init-hang", "", "\"initialize");
}

#[test]
fn while_the_tools_are_listed() {
    interrupted_when("list-hang", "", "tools/list");
}

#[test]
fn while_a_call_runs() {
    let outcome = interrupted_when("sleep-ms 600000", "call_timeout = \"15m\"", "tools/call");
    assert!(
        outcome.row("first")["sessions"][0]["cold_start_ms"].is_number(),
        "what was measured stays"
    );
}

#[test]
fn while_a_server_shuts_down() {
    interrupted_when("ignore-eof", "calls = 1\nshutdown_grace = \"3s\"", "\"eof\"");
}

#[test]
fn twice_kills_at_once() {
    let fleet = fleet(
        "ignore-eof",
        "calls = 1\nshutdown_grace = \"10m\"\nrow_timeout = \"1h\"",
    );
    let child = start(&fleet);
    wait_until("stdin is closed", || traced(&fleet, "\"eof\""));
    interrupt(&child);
    interrupt(&child);
    // Two signals may arrive as one; a person would press again as well.
    let outcome = {
        let mut child = child;
        wait_until("the runner is gone", || {
            let gone = child.try_wait().unwrap().is_some();
            if !gone {
                interrupt(&child);
            }
            gone
        });
        fleet.outcome(&child.wait_with_output().unwrap())
    };
    assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
    assert_eq!(outcome.record()["exit_code"], 130);
    assert_eq!(left_over(&fleet.path().to_string_lossy()), Vec::<String>::new());
}

#[test]
fn rows_that_were_not_begun_are_skipped_as_interrupted() {
    let fleet = fleet("init-hang", "");
    add_second(&fleet);
    let child = start(&fleet);
    wait_until("a server started", || traced(&fleet, "\"initialize"));
    interrupt(&child);
    let outcome = end(&fleet, child);
    assert_eq!(outcome.code, Some(130));
    let rows = ["first", "second"].map(|id| outcome.row(id)["skip_reason"].clone());
    assert!(rows.contains(&serde_json::json!("interrupted")), "{rows:?}");
}

#[test]
fn while_a_package_is_installed() {
    // A registry that accepts and never answers: npm waits until it is told to stop.
    let registry = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", registry.local_addr().unwrap());
    let (asked, was_asked) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in registry.incoming().flatten() {
            let mut stream = stream;
            let mut first = [0; 16];
            if stream.read(&mut first).is_ok_and(|read| read > 0) {
                asked.send(()).unwrap_or_default();
            }
            open.push(stream);
        }
    });
    let fleet = Fleet::new("[servers.first]\npackage = \"npm:never-answered\"\ncommand = \"never-answered\"\n")
        .env("npm_config_registry", &address);
    let child = start(&fleet);
    was_asked.recv_timeout(LIMIT).expect("npm asks the registry");
    interrupt(&child);
    let outcome = end(&fleet, child);
    assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
    assert_eq!(outcome.record()["exit_code"], 130);
    assert_eq!(left_over(&fleet.path().to_string_lossy()), Vec::<String>::new());
    assert_eq!(left_over("never-answered"), Vec::<String>::new());
}
