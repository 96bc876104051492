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
        let more = match mode {
            "secret" => format!("env = {{ PROBE_API_KEY = \"{SECRET}\" }}"),
            // These take their whole limit; the others get one that a busy machine cannot reach.
            "never-reads" | "init-hang" => "startup_timeout = \"3s\"".to_owned(),
            "list-hang" => "list_timeout = \"3s\"".to_owned(),
            "call-hang" => "call_timeout = \"3s\"".to_owned(),
            _ => String::new(),
        };
        manifest += &server(mode, mode, &args, &more);
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
    // Long enough that no busy machine can make another figure look like it.
    const DELAY: f64 = 4000.0;
    let fleet = Fleet::new(&format!(
        "[defaults]\ncalls = 20\n{}{}{}{}{}",
        server("sleep", "sleep-ms", &["50"], ""),
        server("start", "slow-start", &["4000"], ""),
        server("list", "slow-list", &["4000"], ""),
        server("first", "first-slow", &["4000"], ""),
        server("jitter", "jitter", &["20,20,20,20,4000"], "calls = 5"),
    ));
    let outcome = fleet.run(&["run", "--jobs", "5"]);
    assert_eq!(outcome.code, Some(0), "{} {}", outcome.stdout, outcome.stderr);
    let figures = |id: &str| {
        let row = outcome.row(id);
        let number = |pointer: &str| row.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap();
        [
            number("/sessions/0/cold_start_ms"),
            number("/sessions/0/list_ms"),
            number("/probes/0/first_ms"),
            number("/probes/0/median_ms"),
            number("/probes/0/p95_ms"),
        ]
    };
    for (id, delayed) in [
        ("sleep", None),
        ("start", Some(0)),
        ("list", Some(1)),
        ("first", Some(2)),
        ("jitter", Some(4)),
    ] {
        for (place, figure) in figures(id).into_iter().enumerate() {
            let is_delayed = delayed == Some(place);
            assert_eq!(figure >= DELAY, is_delayed, "{id}: figure {place} is {figure} ms");
        }
    }
    // Never shorter than the server slept.
    let samples: Vec<f64> = serde_json::from_value(outcome.row("sleep")["probes"][0]["samples_ms"].clone()).unwrap();
    assert_eq!(samples.len(), 20);
    assert!(samples.iter().all(|sample| *sample >= 50.0), "{samples:?}");
}
