//! What a run leaves that is killed itself: the next run of the manifest finds it and ends it.

use std::fs;

use crate::fleet::{Fleet, left_over, server};
use crate::interruption::{end, fleet, interrupt, start, traced, wait_until};

/// A fleet whose one server will not answer its call for long, nor sees its stdin close meanwhile.
fn busy_fleet() -> Fleet {
    fleet("sleep-ms 600000", "calls = 1\ncall_timeout = \"15m\"")
}

/// The same row, with a server that does what it should; read by the next run only.
fn mend(fleet: &Fleet) {
    fleet.write(
        "servers.toml",
        &format!("[defaults]\ncalls = 1\n{}", server("first", "ok", &[], "")),
    );
}

/// The servers that were started from the fleet's own folder.
fn servers_of(fleet: &Fleet) -> Vec<String> {
    left_over(&fleet.path().join("faulty.py").to_string_lossy())
}

#[test]
fn what_a_killed_run_left_is_ended_by_the_next_one_of_that_row_and_told() {
    let fleet = busy_fleet();
    let mut killed = start(&fleet);
    wait_until("a call runs", || traced(&fleet, "tools/call"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(servers_of(&fleet).len(), 1, "nobody was left to end it");
    mend(&fleet);

    let elsewhere = Fleet::new(&fs::read_to_string(fleet.path().join("servers.toml")).unwrap());
    let outcome = elsewhere.run(&["run"]);
    assert_eq!(outcome.codes("first"), Vec::<String>::new());
    assert_eq!(servers_of(&fleet).len(), 1, "another fleet's row is not this one");

    let outcome = fleet.run(&["run"]);
    assert_eq!(servers_of(&fleet), Vec::<String>::new());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let findings = outcome.row("first")["findings"].as_array().unwrap();
    assert_eq!(outcome.codes("first"), ["left-over"]);
    let message = findings[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("an earlier run that was killed left 1 process running, ended by us: `pid ")
            && message.contains("faulty.py"),
        "{message}"
    );
    assert_eq!(findings[0]["severity"], "warn");
    assert_eq!(fleet.run(&["run"]).codes("first"), Vec::<String>::new());
}

#[test]
fn a_server_of_a_run_that_still_goes_on_is_not_touched() {
    let fleet = busy_fleet();
    let going_on = start(&fleet);
    wait_until("a call runs", || traced(&fleet, "tools/call"));
    mend(&fleet);
    let outcome = fleet.run(&["run"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.codes("first"), Vec::<String>::new());
    assert_eq!(servers_of(&fleet).len(), 1);
    assert!(!traced(&fleet, "\"term\""), "nobody asked it to end");
    interrupt(&going_on);
    assert_eq!(end(&fleet, going_on).code, Some(130));
    assert_eq!(servers_of(&fleet), Vec::<String>::new());
}
