//! In which order sessions run, by the servers' own clocks, and that nothing of them is missing in the record.

use std::fs;

use serde_json::Value;

use crate::fleet::{Fleet, server};

/// A fleet whose servers note their starts in one file; each is told from the others by its name.
fn fleet(defaults: &str, rows: &[(&str, &str)]) -> Fleet {
    let fleet = Fleet::new("");
    let trace = fleet.path().join("trace").to_string_lossy().into_owned();
    let mut manifest = format!("[defaults]\n{defaults}\n");
    for (name, more) in rows {
        manifest += &server(name, "--trace", &[&trace, "identity", name, "1.0.0"], more);
    }
    fleet.write("servers.toml", &manifest);
    fleet
}

/// The rows in the order in which their processes started since this was asked last.
fn starts(fleet: &Fleet) -> Vec<String> {
    let path = fleet.path().join("trace");
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["event"] == "start")
        .map(|event| event["argv"][1].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn rows_of_one_group_take_turns_session_by_session() {
    let grouped = "group = \"pair\"\n";
    let fleet = fleet(
        "calls = 1\nrepeats = 2\ncold_starts = 4",
        &[("one", grouped), ("other", grouped)],
    );
    let outcome = fleet.run(&["run", "--seed", "7"]);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    let order = starts(&fleet);
    assert_eq!(order.len(), 8);
    for turn in order.chunks(2) {
        assert_eq!(turn, &order[..2], "in the same order each time: {order:?}");
    }
    assert_ne!(order[0], order[1]);
}

#[test]
fn the_seed_draws_the_order_of_rows_and_is_in_the_record() {
    let names = ["a", "b", "c", "d", "e"];
    let fleet = fleet("calls = 1", &names.map(|name| (name, "")));
    let order_of = |seed: &str| {
        let outcome = fleet.run(&["run", "--seed", seed, "--output", "none"]);
        assert_eq!(outcome.record()["run"]["seed"].to_string(), seed);
        let rows = outcome.record()["rows"].as_array().unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, names, "the record keeps the manifest's order");
        starts(&fleet)
    };
    let first = order_of("1");
    assert_eq!(order_of("1"), first, "the same seed");
    assert_ne!(order_of("2"), first, "another seed");
    let drawn = fleet.run(&["run", "a", "--output", "none"]);
    assert!(
        drawn.record()["run"]["seed"].is_u64(),
        "a seed that was drawn is kept, too"
    );
}

#[test]
fn every_repeat_and_every_cold_start_is_in_the_record() {
    let fleet = fleet("calls = 3\nrepeats = 2\ncold_starts = 4", &[("row", "")]);
    let outcome = fleet.run(&["run", "--output", "none"]);
    let row = outcome.row("row");
    let sessions = row["sessions"].as_array().unwrap();
    let repeats: Vec<&Value> = sessions.iter().map(|session| &session["repeat"]).collect();
    assert_eq!(repeats, [&Value::from(1), &Value::from(2), &Value::Null, &Value::Null]);
    for session in sessions {
        for figure in ["first_byte_ms", "cold_start_ms", "list_ms", "shutdown_ms"] {
            assert!(session[figure].as_f64().unwrap() > 0.0, "{figure}: {session}");
        }
    }
    let samples = |probe: &Value| probe["samples_ms"].as_array().unwrap().clone();
    let of_repeats: Vec<Value> = sessions[..2]
        .iter()
        .flat_map(|session| samples(&session["probes"][0]))
        .collect();
    assert_eq!(of_repeats.len(), 6);
    assert_eq!(samples(&row["probes"][0]), of_repeats, "pooled, and each kept");
    assert_eq!(starts(&fleet).len(), 4);
}
