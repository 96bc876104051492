//! Daemons that cut every tie to the server that left them.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getsid};

use crate::fleet::{Fleet, left_over};
use crate::interruption::{add_second, fleet};

/// Processes of the fleet's own server, daemons included.
fn processes_of(fleet: &Fleet) -> Vec<String> {
    left_over(&fleet.path().join("faulty.py").to_string_lossy())
}

#[test]
fn one_without_environment_in_its_own_session_is_ended_and_told() {
    let fleet = fleet("daemon", "calls = 1");
    let began = Instant::now();
    let outcome = fleet.run(&["run"]);
    assert!(
        began.elapsed() < Duration::from_secs(50),
        "it would have ended by itself"
    );
    assert_eq!(processes_of(&fleet), Vec::<String>::new());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.codes("first"), ["unclean-shutdown"], "{}", outcome.stderr);
    let message = outcome.row("first")["findings"][0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("left 1 process behind, ended by us: `pid ") && message.contains("time.sleep(60)"),
        "{message}"
    );
}

#[test]
fn two_servers_at_once_leave_none_either() {
    let fleet = fleet("daemon", "calls = 1");
    add_second(&fleet);
    let outcome = fleet.run(&["run", "--jobs", "2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(processes_of(&fleet), Vec::<String>::new());
}

#[test]
fn a_daemon_of_a_child_that_the_shell_had_before_it_became_us_is_not_touched() {
    let fleet = fleet("sleep-ms 1000", "calls = 1");
    fleet.write(
        "start.sh",
        "(until grep -q tools/call trace; do sleep 0.05; done
          setsid env -i sh -c 'sleep 40; :' </dev/null >/dev/null 2>&1 & echo $! >daemon) &
         exec \"$1\" run",
    );
    let status = Command::new("sh")
        .args(["start.sh", env!("CARGO_BIN_EXE_mcp-smoke")])
        .current_dir(fleet.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    let daemon = fs::read_to_string(fleet.path().join("daemon")).unwrap();
    let daemon = Pid::from_raw(daemon.trim().parse().unwrap());
    assert_eq!(getsid(Some(daemon)), Ok(daemon), "it lives, in a session of its own");
    killpg(daemon, Signal::SIGKILL).unwrap();
}
