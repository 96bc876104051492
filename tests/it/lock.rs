//! The lock over several nights: what is accepted stays quiet, what goes backwards is told on its first night.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and says what it cannot do here"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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
fn a_server_that_upgrades_each_week_and_falls_back_once() {
    let fleet = Fleet::new("");
    let first = night(&fleet, &identity("weekly", "1.9.0"), &[]);
    assert_eq!((first.code, first.codes("weekly")), (Some(0), vec![]));
    assert!(accept(&fleet).starts_with("+ weekly  reports \"probe-target\", version \"1.9.0\""));

    let quiet = night(&fleet, &identity("weekly", "1.9.0"), &["--strict", "--locked"]);
    assert_eq!((quiet.code, quiet.codes("weekly")), (Some(0), vec![]));

    let upgraded = night(&fleet, &identity("weekly", "v1.10.0"), &["--strict"]);
    assert_eq!(
        (upgraded.code, upgraded.codes("weekly")),
        (Some(0), vec!["version-upgraded".to_owned()])
    );
    assert!(accept(&fleet).contains("version \"1.9.0\" -> \"v1.10.0\""));
    assert_eq!(
        night(&fleet, &identity("weekly", "1.10.0"), &["--strict"]).code,
        Some(0)
    );

    let fell = night(&fleet, &identity("weekly", "1.9.0"), &[]);
    assert_eq!(
        (fell.code, fell.codes("weekly")),
        (Some(3), vec!["version-downgrade".to_owned()])
    );
    assert_eq!(fell.row("weekly")["status"], "fail");
    let message = fell.row("weekly")["findings"][0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("version fell from v1.10.0 to 1.9.0 (reported) since the lock of "),
        "{message}"
    );
    assert!(fell.stdout.contains("version-downgrade"), "{}", fell.stdout);

    accept(&fleet);
    let settled = night(&fleet, &identity("weekly", "1.9.0"), &["--strict"]);
    assert_eq!(settled.code, Some(0), "{}", settled.stdout);
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
    assert!(told.contains(&format!("run {newest} is passed over")), "{told}");
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

/// A package on disk whose server reports a version of its own, whatever its package is.
fn install_on_disk(fleet: &Fleet, version: &str) -> PathBuf {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/registry/server.js");
    let code = fs::read_to_string(fixture).unwrap();
    let hard_coded = code.replace("version: pkg.version }", "version: '1.0.0' }");
    assert_ne!(code, hard_coded);
    let package = format!(r#"{{ "name": "hard-coded", "version": "{version}" }}"#);
    fleet.write("node_modules/hard-coded/package.json", &package);
    fleet.write("node_modules/hard-coded/server.js", &hard_coded)
}

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    let there = found.is_ok_and(|status| status.success());
    if !there {
        println!("skipped: {program} not found");
    }
    there
}

#[test]
fn a_hard_coded_version_does_not_hide_that_the_package_fell() {
    if !is_there("node") {
        return;
    }
    let fleet = Fleet::new("");
    let script = install_on_disk(&fleet, "1.5.0");
    let manifest = format!("{QUICK}[servers.row]\ncommand = \"node\"\nargs = [{script:?}]\n");
    let first = night(&fleet, &manifest, &[]);
    assert_eq!(first.row("row")["identity"]["package"]["installed"], "1.5.0");
    accept(&fleet);
    install_on_disk(&fleet, "1.4.0");
    let fell = night(&fleet, &manifest, &[]);
    assert_eq!(fell.codes("row"), ["version-downgrade", "reported-version-stale"]);
    assert_eq!(fell.code, Some(3));
    let finding = &fell.row("row")["findings"][0];
    assert_eq!(
        (finding["expected"].as_str(), finding["actual"].as_str()),
        (Some("1.5.0"), Some("1.4.0"))
    );
    accept(&fleet);
    let settled = night(&fleet, &manifest, &["--strict"]);
    assert_eq!((settled.code, settled.codes("row")), (Some(0), vec![]));
}

/// The registry of the tests, on loopback, for as long as it lives.
struct Registry {
    process: Child,
    url: String,
}

impl Registry {
    fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/registry");
        let mut process = Command::new("python3")
            .arg(folder.join("registry.py"))
            .arg(folder.join("spec.json"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        Self {
            process,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
fn a_pin_lowered_in_the_manifest_warns_and_says_so() {
    if !is_there("npm") {
        return;
    }
    let registry = Registry::start();
    let fleet = Fleet::new("").env("npm_config_registry", &registry.url);
    let pinned = |version: &str| {
        format!("{QUICK}[servers.row]\npackage = \"npm:case-d-tag-older@{version}\"\ncommand = \"case-d-tag-older\"\n")
    };
    let first = night(&fleet, &pinned("2.0.0"), &[]);
    assert_eq!(
        first.row("row")["identity"]["package"]["installed"],
        "2.0.0",
        "{}",
        first.stdout
    );
    accept(&fleet);
    let lowered = night(&fleet, &pinned("1.4.0"), &[]);
    let findings = lowered.row("row")["findings"].as_array().unwrap();
    let downgrade = findings
        .iter()
        .find(|finding| finding["code"] == "version-downgrade")
        .unwrap();
    assert_eq!(downgrade["severity"], "warn");
    let message = downgrade["message"].as_str().unwrap();
    assert!(
        message.starts_with(
            "version fell from 2.0.0 to 1.4.0 (installed), as the manifest asks: for `1.4.0`, then for `2.0.0`, since"
        ),
        "{message}"
    );
    // The tool that only the newer version has is gone all the same.
    assert!(lowered.codes("row").contains(&"tool-removed".to_owned()));
    assert_eq!(lowered.code, Some(3));
    accept(&fleet);
    assert_eq!(night(&fleet, &pinned("1.4.0"), &["--strict"]).code, Some(0));
}
