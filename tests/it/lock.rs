//! The lock over several nights: what is accepted stays quiet, what goes backwards is told on its first night.
#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;

use crate::fleet::{Fleet, Outcome, server};

const QUICK: &str = "[defaults]\ncalls = 1\n";

fn identity(name: &str, version: &str) -> String {
    format!("{QUICK}{}", server(name, "identity", &["probe-target", version], ""))
}

fn night(fleet: &Fleet, manifest: &str, flags: &[&str]) -> Outcome {
    fleet.write("servers.toml", manifest);
    fleet.run(&[&["run"], flags].concat())
}

fn accept(fleet: &Fleet) -> String {
    let outcome = fleet.run(&["lock"]);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

fn lock_text(fleet: &Fleet) -> String {
    fs::read_to_string(fleet.path().join("servers.lock")).unwrap()
}

#[test]
fn each_kind_of_drift_is_told_since_the_lock() {
    let kinds = [
        "description",
        "schema",
        "added",
        "removed",
        "renamed",
        "order",
        "keyorder",
    ];
    let before: String = kinds.iter().map(|kind| server(kind, "ok", &[], "")).collect();
    let after: String = kinds.iter().map(|kind| server(kind, "drift", &[kind], "")).collect();
    let fleet = Fleet::new("");
    let first = night(&fleet, &format!("{QUICK}jobs = 2\n{before}"), &[]);
    assert_eq!(first.code, Some(0), "{}", first.stdout);
    accept(&fleet);
    let drifted = night(&fleet, &format!("{QUICK}jobs = 2\n{after}"), &[]);
    let codes = |kind: &str| drifted.codes(kind).join(" ");
    assert_eq!(codes("description"), "tool-reworded");
    assert_eq!(codes("schema"), "tool-drift");
    assert_eq!(codes("added"), "tool-drift");
    assert_eq!(codes("removed"), "tool-removed");
    assert_eq!(codes("renamed"), "tool-removed tool-drift");
    assert_eq!(codes("order"), "");
    assert_eq!(codes("keyorder"), "");
    assert_eq!(drifted.code, Some(3));
    accept(&fleet);
    let text = lock_text(&fleet);
    let settled = night(&fleet, &format!("{QUICK}jobs = 2\n{after}"), &["--strict", "--locked"]);
    assert_eq!(settled.code, Some(0), "{}", settled.stdout);
    // Nothing to accept, nothing to review.
    assert!(accept(&fleet).contains("0 taken, 0 dropped, 7 unchanged, 0 not taken"));
    assert_eq!(lock_text(&fleet), text);
}

#[test]
fn each_way_a_version_can_go_is_told_since_the_lock() {
    let ways = [
        ("same", "1.2.3", "v1.2.3", ""),
        ("up", "1.9", "1.10", "note version-upgraded"),
        ("down", "1.10", "1.9", "fail version-downgrade"),
        ("by-date", "2026.10.24", "2026.8.18", "fail version-downgrade"),
        ("to-a-candidate", "1.0.0", "1.0.0-rc.1", "fail version-downgrade"),
        ("from-a-candidate", "1.0.0-rc.1", "1.0.0", "note version-upgraded"),
        ("to-a-pre-release", "1.0", "1.0b2", "fail version-downgrade"),
        ("to-a-post-release", "1.0", "1.0.post1", "note version-upgraded"),
        ("to-a-word", "1.0.0", "nightly", "warn version-changed"),
        ("from-a-word", "main", "nightly", "warn version-changed"),
        ("to-nothing", "1.0.0", "", "warn version-changed, note identity-missing"),
        ("from-nothing", "", "1.0.0", "warn version-changed"),
        ("nothing", "", "", "note identity-missing"),
    ];
    let manifest = |after: bool| {
        let rows = ways.map(|(name, old, new, _)| {
            let version = if after { new } else { old };
            server(name, "identity", &["probe-target", version], "")
        });
        format!("{QUICK}jobs = 2\n{}", rows.concat())
    };
    let fleet = Fleet::new("");
    night(&fleet, &manifest(false), &[]);
    accept(&fleet);
    let told = night(&fleet, &manifest(true), &[]);
    for (name, old, new, expected) in ways {
        let findings = told.row(name)["findings"].as_array().unwrap();
        let word = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap().to_owned();
        let codes: Vec<_> = findings
            .iter()
            .map(|finding| format!("{} {}", word(finding, "severity"), word(finding, "code")))
            .collect();
        assert_eq!(codes.join(", "), expected, "{name}: from {old:?} to {new:?}");
    }
    accept(&fleet);
    let settled = night(&fleet, &manifest(true), &["--strict", "--locked"]);
    assert_eq!(settled.code, Some(0), "{}", settled.stdout);
}

#[test]
fn a_row_that_does_not_answer_is_never_taken_and_the_rest_is_kept() {
    let good = server("good", "ok", &[], "");
    let other = server("other", "ok", &[], "");
    let fleet = Fleet::new("");
    night(&fleet, &format!("{QUICK}{good}{other}"), &[]);
    accept(&fleet);
    let broken = server("good", "exit-at-start", &[], "");
    let failed = night(
        &fleet,
        &format!("{QUICK}startup_timeout = \"5s\"\n{broken}{other}"),
        &[],
    );
    assert_eq!(failed.row("good")["status"], "fail");
    let text = lock_text(&fleet);
    let said = accept(&fleet);
    assert!(said.contains("! good   it has no good handshake in that run"), "{said}");
    assert_eq!(lock_text(&fleet), text);

    // A row that left the manifest leaves the lock, unless only some rows are locked.
    night(&fleet, &format!("{QUICK}{other}"), &[]);
    assert_eq!(fleet.run(&["lock", "other"]).code, Some(0));
    assert_eq!(lock_text(&fleet), text);
    assert!(accept(&fleet).contains("- good   no longer in the manifest"));
    assert!(!lock_text(&fleet).contains("[rows.good]"));
}

#[test]
fn locked_fails_what_nobody_accepted() {
    let fleet = Fleet::new("");
    let one = server("one", "ok", &[], "");
    let both = format!("{QUICK}{one}{}", server("two", "ok", &[], ""));
    let without = night(&fleet, &both, &["--locked"]);
    assert_eq!(without.code, Some(2));
    assert!(
        without.stderr.contains("there is no servers.lock"),
        "{}",
        without.stderr
    );
    assert!(without.record.is_none(), "nothing was started");

    night(&fleet, &format!("{QUICK}{one}"), &[]);
    accept(&fleet);
    let warned = night(&fleet, &both, &[]);
    assert_eq!(
        (warned.code, warned.codes("two")),
        (Some(0), vec!["not-in-lock".to_owned()])
    );
    let failed = night(&fleet, &both, &["--locked"]);
    assert_eq!(
        (failed.code, failed.row("two")["status"].as_str()),
        (Some(3), Some("fail"))
    );
    assert!(failed.codes("one").is_empty());
}

#[test]
fn an_edited_lock_stops_a_run_before_anything_is_started() {
    let fleet = Fleet::new("");
    night(&fleet, &identity("row", "1.0.0"), &[]);
    accept(&fleet);
    let text = lock_text(&fleet);
    let runs = || fs::read_dir(fleet.path().join("reports")).unwrap().count();
    let before = runs();
    for (edited, title) in [
        (text.replace("1.0.0", "2.0.0"), "changed by hand"),
        (text.replace("protocol", "protokol"), "did you mean `protocol`?"),
        (text.replace("rows.row", "rows.other"), "changed by hand"),
        (
            format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n"),
            "holds a merge conflict",
        ),
        (text[..text.len() / 2].to_owned(), "-->"),
        (text.replace("[end]\n", ""), "something was cut off"),
    ] {
        fleet.write("servers.lock", &edited);
        let outcome = fleet.run(&["run"]);
        assert_eq!(outcome.code, Some(2), "{title}");
        assert!(outcome.stderr.contains("servers.lock:"), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains('^') && outcome.stderr.contains(title),
            "{}",
            outcome.stderr
        );
        assert_eq!(fleet.run(&["lock"]).code, Some(2));
        assert_eq!(fleet.run(&["check"]).code, Some(2));
    }
    assert_eq!(runs(), before);
}

#[test]
fn lock_names_its_run_and_says_what_it_cannot_use() {
    let fleet = Fleet::new(&identity("row", "1.0.0"));
    let none = fleet.run(&["lock"]);
    assert_eq!(none.code, Some(2));
    assert!(
        none.stderr.contains("no complete run of servers.toml"),
        "{}",
        none.stderr
    );
    assert_eq!(fleet.run(&["lock", "--from", "20200101T000000Z"]).code, Some(2));
    assert_eq!(fleet.run(&["lock", "--from", "nonsense"]).code, Some(2));

    let first = night(&fleet, &identity("row", "1.0.0"), &[]);
    let id = first.record()["run"]["id"].as_str().unwrap().to_owned();
    let second = night(&fleet, &identity("row", "2.0.0"), &[]);
    assert_eq!(second.code, Some(0));
    // A damaged record is passed over.
    let newest = second.record()["run"]["id"].as_str().unwrap().to_owned();
    fleet.write(&format!("reports/{newest}/report.json"), "{");
    let output = fleet.command(&["lock"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("an earlier run is passed over") && told.contains(&newest),
        "{told}"
    );
    assert!(lock_text(&fleet).contains(&format!("run = \"{id}\"")));
}

#[test]
fn a_run_that_the_lock_names_is_not_pruned() {
    let manifest = identity("row", "1.0.0").replace("[defaults]", "[defaults]\nkeep_runs = 1");
    let fleet = Fleet::new("");
    let first = night(&fleet, &manifest, &[]);
    let id = first.record()["run"]["id"].as_str().unwrap().to_owned();
    accept(&fleet);
    for _ in 0..2 {
        night(&fleet, &manifest, &[]);
    }
    let kept = fs::read_dir(fleet.path().join("reports")).unwrap();
    let kept: Vec<_> = kept
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(kept.contains(&id), "{kept:?}");
    assert_eq!(kept.len(), 3, "the named run, the last one and `latest`: {kept:?}");
}

#[test]
fn locks_written_at_once_never_leave_half_a_file() {
    let fleet = Fleet::new("");
    let older = night(&fleet, &identity("row", "1.0.0"), &[]);
    let older = older.record()["run"]["id"].as_str().unwrap().to_owned();
    night(&fleet, &identity("row", "2.0.0"), &[]);
    accept(&fleet);
    let whole = |text: &str| text.starts_with("# What was last accepted") && text.ends_with("[end]\n");
    let mut writers: Vec<_> = ["latest", &older]
        .iter()
        .cycle()
        .take(8)
        .map(|run| fleet.command(&["lock", "--from", run]).spawn().unwrap())
        .collect();
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        let text = lock_text(&fleet);
        assert!(whole(&text), "{text}");
    }
    for writer in &mut writers {
        assert_eq!(writer.wait().unwrap().code(), Some(0));
    }
    let left: Vec<_> = fs::read_dir(fleet.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    let locks = left.iter().filter(|name| name.to_string_lossy().contains("lock"));
    assert_eq!(locks.count(), 1, "{left:?}");
    assert!(
        night(&fleet, &identity("row", "2.0.0"), &["--locked"])
            .code
            .is_some_and(|code| code != 2)
    );
}

#[test]
fn what_the_lock_knows_and_nobody_looked_at_is_said_first() {
    let fleet = Fleet::new("");
    let both = |more: &str| {
        format!(
            "{QUICK}{}{}",
            server("one", "ok", &[], ""),
            server("two", "ok", &[], more)
        )
    };
    night(&fleet, &both(""), &[]);
    accept(&fleet);
    let skipped = night(&fleet, &both("requires = [\"nosuchprogram\"]"), &[]);
    assert_eq!(
        (skipped.code, skipped.row("two")["status"].as_str()),
        (Some(0), Some("skip"))
    );
    let said = "1 of 2 rows needs a look:\n  - two was not run (program-missing): ";
    assert!(skipped.stdout.starts_with(said), "{}", skipped.stdout);

    let one = format!("{QUICK}{}", server("one", "ok", &[], ""));
    let gone = night(&fleet, &one, &[]);
    let said = "1 row of the lock is no longer in the manifest:\n  - two: `mcp-smoke lock` takes it out";
    assert!(gone.stdout.starts_with(said), "{}", gone.stdout);
    let selected = night(&fleet, &both(""), &["one"]);
    assert!(
        selected.stdout.starts_with("nothing went backwards in 1 row: "),
        "{}",
        selected.stdout
    );
    night(&fleet, &one, &[]);
    accept(&fleet);
    let quiet = night(&fleet, &one, &["--strict", "--locked"]);
    assert!(
        quiet.stdout.starts_with("nothing went backwards in 1 row: 1 pass\n"),
        "{}",
        quiet.stdout
    );
}
