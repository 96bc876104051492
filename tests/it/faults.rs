//! The table of fault cases: every mode of the fault server, held against what the server itself
//! says a client should make of it. Status, code, phase, figures, exit code, what must be shown.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::fleet::{Fleet, fault_server, left_over, server};

const SECRET: &str = "sk-test-9f8e7d6c5b4a3210";
const DEFAULTS: &str =
    "calls = 3\nstartup_timeout = \"4s\"\nlist_timeout = \"3s\"\ncall_timeout = \"3s\"\nshutdown_grace = \"1s\"";

#[test]
fn every_fault_gets_the_status_code_and_figures_that_the_fault_server_asks_for() {
    let table = fault_table();
    let mut manifest = format!("[defaults]\n{DEFAULTS}\n");
    let state = tempfile::tempdir().unwrap();
    for case in &table {
        let mode = case["mode"].as_str().unwrap();
        let file = state.path().join(mode).to_string_lossy().into_owned();
        let args: Vec<&str> = match mode {
            "missing-env" | "secret" => vec!["PROBE_API_KEY"],
            "exit-at-start" | "die-mid-call" => vec!["3"],
            "slow-exit" => vec!["300", &file],
            "lockfile" => vec![&file],
            _ => vec![],
        };
        let env = format!("env = {{ PROBE_API_KEY = \"{SECRET}\" }}");
        manifest += &server(mode, mode, &args, if mode == "secret" { &env } else { "" });
    }
    let fleet = Fleet::new(&manifest);
    let outcome = fleet.run(&["run", "--jobs", "6"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);

    let problems: Vec<String> = table
        .iter()
        .flat_map(|case| problems_of(&fleet, &outcome, case))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(!format!("{}{}{}", fleet.everything_written(), outcome.stdout, outcome.stderr).contains(SECRET));
    assert_eq!(
        std::fs::read_to_string(state.path().join("slow-exit")).unwrap().trim(),
        "clean"
    );
    assert_eq!(left_over(&state.path().to_string_lossy()), Vec::<String>::new());
}

/// The modes that can be judged in one run: those that need an accepted state are for the lock.
fn fault_table() -> Vec<Value> {
    let listed = Command::new("python3")
        .arg(fault_server())
        .arg("--list")
        .output()
        .unwrap();
    let listed: Vec<Value> = serde_json::from_slice(&listed.stdout).unwrap();
    listed
        .into_iter()
        .filter(|case| case["expect"]["phase"] != "compare")
        .collect()
}

fn problems_of(fleet: &Fleet, outcome: &crate::fleet::Outcome, case: &Value) -> Vec<String> {
    let mode = case["mode"].as_str().unwrap();
    let expect = &case["expect"];
    let row = outcome.row(mode);
    let findings = row["findings"].as_array().unwrap();
    let codes: BTreeSet<&str> = findings.iter().filter_map(|finding| finding["code"].as_str()).collect();
    let mut problems = Vec::new();
    let mut say = |text: String| problems.push(format!("{mode}: {text}; codes {codes:?}"));

    let status = row["status"].as_str().unwrap();
    if !words(&expect["status"]).contains(&status.to_owned()) {
        say(format!("status {status} is none of {}", expect["status"]));
    }
    let reasons: Vec<String> = words(&expect["reason"])
        .iter()
        .map(|word| word.replace('_', "-"))
        .collect();
    if status != "pass" && !reasons.is_empty() && !reasons.iter().any(|reason| codes.contains(reason.as_str())) {
        say(format!("no code of {reasons:?}"));
    }
    let phase = expect["phase"].as_str().unwrap();
    let named: Vec<&Value> = findings
        .iter()
        .filter(|finding| reasons.iter().any(|reason| finding["code"] == reason.as_str()))
        .collect();
    if status == "fail"
        && !phase.is_empty()
        && !named.is_empty()
        && !named.iter().any(|finding| finding["phase"] == phase)
    {
        say(format!(
            "phase is not {phase}: {:?}",
            named.iter().map(|finding| &finding["phase"]).collect::<Vec<_>>()
        ));
    }
    let figures = [
        ("init", row.pointer("/sessions/0/cold_start_ms")),
        ("list", row.pointer("/sessions/0/list_ms")),
        ("call", row.pointer("/probes/0/median_ms")),
    ];
    for (name, figure) in figures {
        let there = figure.is_some_and(Value::is_number);
        match expect["timing"][name].as_str().unwrap() {
            "ms" if !there => say(format!("no {name} time")),
            "null" if there => say(format!("{name} time {figure:?} for what never finished")),
            _ => {}
        }
    }
    let shown = format!("{row}{}", fleet.log(mode));
    for word in words(&expect["mention"])
        .iter()
        .filter(|word| !shown.contains(word.as_str()))
    {
        say(format!("does not mention {word:?}"));
    }
    for word in words(&expect["never"])
        .iter()
        .filter(|word| shown.contains(word.as_str()))
    {
        say(format!("shows {word:?}"));
    }
    problems
}

fn words(list: &Value) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn known_delays_land_in_the_right_figure_and_no_other() {
    let fleet = Fleet::new(&format!(
        "[defaults]\ncalls = 20\n{}{}{}{}{}",
        server("sleep", "sleep-ms", &["50"], ""),
        server("start", "slow-start", &["800"], ""),
        server("list", "slow-list", &["600"], ""),
        server("first", "first-slow", &["700"], ""),
        server("jitter", "jitter", &["20,20,20,20,200"], ""),
    ));
    let outcome = fleet.run(&["run"]);
    assert_eq!(outcome.code, Some(0), "{} {}", outcome.stdout, outcome.stderr);
    let session = |id: &str, key: &str| outcome.row(id)["sessions"][0][key].as_f64().unwrap();
    let probe = |id: &str, key: &str| outcome.row(id)["probes"][0][key].as_f64().unwrap();

    // Never shorter than the server slept; longer only by what a busy machine adds.
    let samples: Vec<f64> = serde_json::from_value(outcome.row("sleep")["probes"][0]["samples_ms"].clone()).unwrap();
    assert_eq!(samples.len(), 20);
    assert!(samples.iter().all(|sample| *sample >= 50.0), "{samples:?}");
    assert!(probe("sleep", "median_ms") < 60.0, "{samples:?}");
    assert!(session("start", "cold_start_ms") >= 800.0 && probe("start", "median_ms") < 20.0);
    assert!(session("list", "list_ms") >= 600.0 && probe("list", "median_ms") < 20.0);
    // That the delay is in no other figure, truth.rs shows by the server's own clock, however busy the machine.
    assert!(probe("first", "first_ms") >= 700.0 && probe("first", "median_ms") < 20.0);
    let jitter = &outcome.row("jitter")["probes"][0];
    assert!(
        (20.0..40.0).contains(&jitter["median_ms"].as_f64().unwrap()),
        "{jitter}"
    );
    assert!(jitter["p95_ms"].as_f64().unwrap() >= 200.0, "{jitter}");
}
