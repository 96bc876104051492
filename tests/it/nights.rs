//! Several nights of one fleet: retries, what is remembered from earlier runs, and the commands that show it.

use std::fs;

use crate::fleet::{Fleet, Outcome, server};

/// A server that a shell starts, or does not.
fn fleet(script: &str, more: &str) -> Fleet {
    Fleet::new(&format!(
        "[servers.moody]\ntitle = \"Moody\"\ncommand = \"sh\"\nargs = [\"-c\", '{script}', \"${{self}}\"]\n{more}\n\
         [[servers.moody.probes]]\ntool = \"echo\"\narguments = {{ text = \"hi\" }}\ncalls = 3\nexpect = {{ text = \"hi\" }}\n"
    ))
}

const WORKS_WHILE: &str = r#"test -e works || exit 3; exec "$0" echo-server"#;
const WORKS_AT_SECOND: &str = r#"test -e works || { touch works; exit 3; }; exec "$0" echo-server"#;

fn message(outcome: &Outcome, place: usize) -> String {
    outcome.row("moody")["findings"][place]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The ids of the runs so far, oldest first.
fn runs(fleet: &Fleet) -> Vec<String> {
    let entries = fs::read_dir(fleet.path().join("reports")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut runs: Vec<String> = names.filter(|name| name != "latest").collect();
    runs.sort_by_key(|name| (name.len(), name.clone()));
    runs
}

#[test]
fn a_row_that_passes_on_its_second_try_is_flaky_and_one_without_retries_fails() {
    // Otherwise a second process would be asked for `server/discover`, and it would answer.
    let initialize = "protocol = \"initialize\"";
    let fails = fleet(WORKS_AT_SECOND, initialize).run(&["run"]);
    assert_eq!(
        (fails.code, fails.codes("moody")),
        (Some(1), vec!["exited-early".to_owned()])
    );

    let retried = fleet(WORKS_AT_SECOND, &format!("{initialize}\nretries = 1\nrepeats = 2"));
    let outcome = retried.run(&["run"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
    assert_eq!(outcome.codes("moody"), ["flaky"]);
    assert!(
        message(&outcome, 0).starts_with("passed on try 2 only; before that: exited with code 3"),
        "{}",
        message(&outcome, 0)
    );
    let sessions = outcome.row("moody")["sessions"].as_array().unwrap();
    let tries: Vec<_> = sessions
        .iter()
        .map(|session| (session["repeat"].as_u64(), session["attempt"].as_u64()))
        .collect();
    assert_eq!(tries, [(Some(1), Some(1)), (Some(1), Some(2)), (Some(2), Some(1))]);
    assert_eq!(
        outcome.row("moody")["probes"][0]["samples_ms"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    assert!(
        retried.log("moody").contains("session 2: repeat 1, try 2"),
        "{}",
        retried.log("moody")
    );
    assert!(
        outcome
            .stdout
            .starts_with("1 of 1 row needs a look:\n  - Moody works only sometimes:"),
        "{}",
        outcome.stdout
    );
    assert_eq!(retried.run(&["run", "--strict"]).code, Some(0), "it works by now");
}

#[test]
fn retries_are_not_made_without_end() {
    let outcome = fleet("exit 3", "retries = 2\nrepeats = 5").run(&["run"]);
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.row("moody")["sessions"].as_array().unwrap().len(), 3);
    assert_eq!(outcome.codes("moody"), ["exited-early"]);
    assert!(
        message(&outcome, 0).ends_with("; tried 3 times, and no try went well"),
        "{}",
        message(&outcome, 0)
    );
}

#[test]
fn three_nights_are_remembered_and_shown() {
    let fleet = fleet(WORKS_WHILE, "");
    let works = fleet.write("works", "");
    let first = fleet.run(&["run"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert_eq!(
        first.stdout.lines().next(),
        Some("nothing went backwards in 1 row: 1 pass")
    );

    fs::remove_file(&works).unwrap();
    let second = fleet.run(&["run"]);
    assert_eq!(second.code, Some(1));
    let said = message(&second, 0);
    assert!(
        said.contains("; it passed on 2") && said.ends_with(" with the same command"),
        "{said}"
    );
    assert!(
        second
            .stdout
            .starts_with("1 of 1 row does not work:\n  - Moody does not start: exited with code 3"),
        "{}",
        second.stdout
    );
    assert!(
        !second.codes("moody").contains(&"flaky".to_owned()),
        "it may just be broken"
    );

    fleet.write("works", "");
    let third = fleet.run(&["run"]);
    assert_eq!((third.code, third.codes("moody")), (Some(0), vec!["flaky".to_owned()]));
    assert!(
        message(&third, 0).starts_with("failed on 1 of its last 3 nights, the last time on 2"),
        "{}",
        message(&third, 0)
    );

    let history = fleet.run(&["history"]);
    assert_eq!(history.code, Some(0), "{}", history.stderr);
    let line = history.stdout.lines().next().unwrap_or_default();
    assert!(
        line.starts_with("moody  .Fw  ") && line.ends_with("2 nights with a change"),
        "{line}"
    );
    let of_row = fleet.run(&["history", "moody"]).stdout;
    assert!(
        of_row.contains("pass -> fail (exited-early)") && of_row.contains("fail (exited-early) -> warn (flaky)"),
        "{of_row}"
    );
    let unknown = fleet.run(&["history", "moodi"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean moody?"), "{}", unknown.stderr);
    let elsewhere = fleet.run(&["history", "-m", "others.toml"]);
    assert_eq!(
        (elsewhere.code, elsewhere.stdout.trim()),
        (Some(0), "no run of others.toml lies in reports")
    );
}

#[test]
fn runs_are_compared_with_each_other_and_with_the_lock() {
    let fleet = fleet(WORKS_WHILE, "");
    let works = fleet.write("works", "");
    fleet.run(&["run"]);
    assert_eq!(fleet.run(&["lock"]).code, Some(0));
    let quiet = fleet.run(&["diff", "servers.lock", "latest"]);
    assert_eq!(quiet.code, Some(0), "{}", quiet.stderr);
    assert_eq!(
        quiet.stdout,
        format!("servers.lock and {} say the same of 1 row\n", runs(&fleet)[0])
    );

    fs::remove_file(works).unwrap();
    fleet.run(&["run"]);
    let runs = runs(&fleet);
    let differing = fleet.run(&["diff", &runs[0], "latest"]);
    assert_eq!(differing.code, Some(0), "{}", differing.stderr);
    assert!(
        differing
            .stdout
            .contains("the status went from pass to fail; new: exited-early")
            && differing
                .stdout
                .contains("the reported version was 0.1.0 and is not known any more")
            && differing
                .stdout
                .ends_with(&format!("1 of 1 row differ between {} and {}\n", runs[0], runs[1])),
        "{}",
        differing.stdout
    );
    let folder = format!("reports/{}", runs[0]);
    let same = fleet.run(&["diff", &folder, &format!("{folder}/report.json")]);
    assert!(same.stdout.contains("say the same"), "{}{}", same.stdout, same.stderr);
    for wrong in [["diff", "yesterday", "latest"], ["diff", "other.lock", "latest"]] {
        let outcome = fleet.run(&wrong);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
    }
}

#[test]
fn a_damaged_or_newer_record_stops_no_run_and_is_named() {
    let fleet = fleet(WORKS_WHILE, "");
    fleet.write("works", "");
    fleet.write("reports/20250101T000000Z/report.json", "{\"format\": 1");
    fleet.write("reports/20250102T000000Z/report.json", "{\"format\": 99}");
    fleet.write("reports/20250103T000000Z/report.json", "");
    for command in ["run", "history"] {
        let outcome = fleet.run(&[command]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(
            outcome.stderr.matches("note: an earlier run is passed over").count(),
            3,
            "{}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains("newer than format"), "{}", outcome.stderr);
    }
}

#[test]
fn findings_are_explained() {
    let fleet = Fleet::new("");
    let held_back = fleet.run(&["explain", "held-back"]);
    assert_eq!(held_back.code, Some(0));
    for word in ["\ncause\n", "\nevidence\n", "\ncure\n", "engines"] {
        assert!(held_back.stdout.contains(word), "{}", held_back.stdout);
    }
    assert!(fleet.run(&["explain"]).stdout.contains("  version-split"));
    let unknown = fleet.run(&["explain", "heldback"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean held-back?"), "{}", unknown.stderr);
}

/// The version that the row `told` reports tonight.
fn told(version: &str) -> String {
    format!(
        "[defaults]\ncalls = 1\nkeep_runs = 2\n{}",
        server("told", "identity", &["probe-target", version], "")
    )
}

#[test]
fn the_same_manifest_has_the_same_past_however_it_is_named() {
    let fleet = Fleet::new(&told("2.0.0"));
    assert_eq!(fleet.run(&["run"]).code, Some(0));
    let path = fleet
        .write("servers.toml", &told("1.0.0"))
        .to_string_lossy()
        .into_owned();
    let named = fleet.run(&["run", "-m", &path]);
    assert_eq!(
        (named.code, named.codes("told")),
        (Some(3), vec!["version-downgrade".to_owned()])
    );
    let history = fleet.run(&["history", "-m", "./servers.toml"]);
    assert!(history.stdout.contains("2 runs"), "{}", history.stdout);
    // Another manifest of the same name is another one.
    fleet.write("other/servers.toml", &told("1.0.0"));
    assert_eq!(fleet.run(&["run", "-m", "other/servers.toml"]).code, Some(0));
    let refused = fleet.run(&["lock", "-m", "servers.toml", "--from", "latest"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is one of other/servers.toml"),
        "{}",
        refused.stderr
    );
}

#[test]
fn nights_that_broke_do_not_push_out_the_last_good_one() {
    let fleet = Fleet::new(&told("2.0.0"));
    assert_eq!(fleet.run(&["run"]).code, Some(0));
    fleet.write(
        "servers.toml",
        &told("2.0.0").replace("\"identity\"", "\"exit-at-start\""),
    );
    for _ in 0..3 {
        assert_eq!(fleet.run(&["run"]).code, Some(1));
    }
    fleet.write("servers.toml", &told("1.0.0"));
    let fell = fleet.run(&["run"]);
    assert_eq!(
        (fell.code, fell.codes("told")),
        (Some(3), vec!["version-downgrade".to_owned()])
    );
}

#[test]
fn a_record_of_a_day_to_come_is_not_what_came_before() {
    let fleet = Fleet::new(&told("1.0.0"));
    let first = fleet.run(&["run"]);
    let id = first.record()["run"]["id"].as_str().unwrap().to_owned();
    let text = first.record().to_string().replace(&id, "20990101T000000Z");
    fleet.write("servers.toml", &told("1.5.0"));
    assert_eq!(fleet.run(&["run"]).code, Some(0));
    fleet.write("reports/20990101T000000Z/report.json", &text);
    fleet.write("servers.toml", &told("1.2.0"));
    let output = fleet.run(&["run", "--output", "none"]);
    assert_eq!(output.code, Some(3), "{}", output.stderr);
}

#[test]
fn nights_of_other_rows_do_not_push_out_the_last_one_of_a_row() {
    let manifest = |version: &str| format!("{}{}", told(version), server("other", "ok", &[], ""));
    let fleet = Fleet::new(&manifest("2.0.0"));
    assert_eq!(fleet.run(&["run"]).code, Some(0));
    for _ in 0..3 {
        assert_eq!(fleet.run(&["run", "other"]).code, Some(0));
    }
    fleet.write("servers.toml", &manifest("1.0.0"));
    let fell = fleet.run(&["run"]);
    assert_eq!(
        (fell.code, fell.codes("told")),
        (Some(3), vec!["version-downgrade".to_owned()])
    );
}

#[test]
fn a_row_that_answers_with_errors_still_tells_that_it_fell() {
    let failing = |version: &str| told(version).replace("expect = { text = \"grüße\"", "expect = { text = \"another\"");
    let fleet = Fleet::new(&failing("2.0.0"));
    assert_eq!(fleet.run(&["run"]).code, Some(1));
    fleet.write("servers.toml", &failing("1.0.0"));
    let fell = fleet.run(&["run"]);
    assert_eq!(fell.code, Some(1));
    let first = "1 of 1 row does not work, 1 went backwards:\n  - told ";
    assert!(fell.stdout.starts_with(first), "{}", fell.stdout);
    assert!(
        fell.stdout.contains("\n  - told fell back to an older version: "),
        "{}",
        fell.stdout
    );
}
