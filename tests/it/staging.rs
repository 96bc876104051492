//! Rows laid out for another client.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::fleet::{Fleet, server};

#[test]
fn a_staged_row_can_be_started_by_others_and_its_fixtures_go_with_stdin() {
    let row = server("good", "ok", &["${workspace}"], "env = { PLACE = \"${workspace}\" }\n");
    let fleet = Fleet::new(&row);
    let mut stage = fleet
        .command(&["stage", "good", "--calls", "7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(stage.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let launch: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&launch["id"], &launch["args"][1]), (&"good".into(), &"ok".into()));
    assert!(Path::new(launch["command"].as_str().unwrap()).is_absolute());
    let workspace = launch["env"]["PLACE"].as_str().unwrap();
    assert_eq!(launch["args"][2], workspace);
    assert!(Path::new(workspace).join("notes.txt").is_file());
    let probe = &launch["probes"][0];
    assert_eq!(
        (&probe["calls"], &probe["expect"]["text"]),
        (&7.into(), &"grüße".into())
    );
    drop(stage.stdin.take());
    assert_eq!(stage.wait().unwrap().code(), Some(0));
    assert!(!Path::new(workspace).exists());
    assert!(!fleet.path().join("reports").exists(), "nothing was run");
}

#[test]
fn a_row_that_cannot_be_staged_says_why() {
    let fleet = Fleet::new("[servers.gone]\ncommand = \"x\"\nrequires = [\"no-such-program\"]\n");
    let outcome = fleet.run(&["stage"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let row: Value = serde_json::from_str(outcome.stdout.trim()).unwrap();
    assert!(row["skipped"].as_str().unwrap().contains("no-such-program"), "{row}");
}
