//! Six stories, each over several nights: what a person finds in the morning, from the exit code to the last
//! of the first lines. Days, runs and versions of Node are left out of what is compared.
#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use regex::Regex;

use crate::fleet::{Fleet, Outcome, server};
use crate::registry::{Registry, are_there, at, offer};

const QUICK: &str = "[defaults]\ncalls = 1\n";

/// A fleet and what has been told of its nights.
struct Story {
    fleet: Fleet,
    told: String,
}

impl Story {
    fn of(fleet: Fleet) -> Self {
        let told = String::new();
        Self { fleet, told }
    }

    fn manifest(&self, text: &str) {
        self.fleet.write("servers.toml", text);
    }

    /// One night: the flags, the exit code, each row's status and codes, and how the report opens.
    fn night(&mut self, flags: &[&str]) -> Outcome {
        let outcome = self.fleet.run(&[&["run"], flags].concat());
        let flags = flags.join(" ");
        let code = outcome.code.unwrap();
        let mut told = format!("run {flags}").trim_end().to_owned();
        writeln!(told, ": exit {code}").unwrap();
        for row in outcome.record()["rows"].as_array().unwrap() {
            let id = row["id"].as_str().unwrap();
            let installed = row["identity"]["package"]["installed"].as_str().unwrap_or("-");
            writeln!(told, "  {id} {installed} {}", row["status"].as_str().unwrap()).unwrap();
            for finding in row["findings"].as_array().unwrap() {
                let accepted = if finding["accepted"].is_null() {
                    ""
                } else {
                    ", accepted"
                };
                let word = |key: &str| finding[key].as_str().unwrap();
                writeln!(told, "    {} {}{accepted}", word("severity"), word("code")).unwrap();
            }
        }
        for line in opening(&outcome.stdout) {
            writeln!(told, "  | {line}").unwrap();
        }
        self.tell(&told);
        outcome
    }

    fn lock(&mut self) {
        let outcome = self.fleet.run(&["lock"]);
        self.tell(&format!("lock: exit {}\n", outcome.code.unwrap()));
    }

    fn tell(&mut self, text: &str) {
        let folder = self.fleet.path().to_string_lossy().into_owned();
        let mut text = text.replace(&folder, "FOLDER");
        for (pattern, word) in [
            (r"\b20\d\d-\d\d-\d\d( \d\d:\d\d UTC)?\b", "DATE"),
            (r"\b20\d{6}T\d{6}Z(-\d+)?\b", "RUN"),
            (r"\bNode \d+\.\d+\.\d+", "Node X"),
            (r"_npx/[0-9a-f]+", "_npx/HASH"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
        }
        self.told.push_str(&text);
    }

    #[track_caller]
    fn reads(&self, expected: &str) {
        assert!(self.told == expected, "it reads\n{}\nand not\n{expected}", self.told);
    }
}

/// The lines above the table, folded ones made whole again.
fn opening(stdout: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in stdout.lines().take_while(|line| !line.is_empty()) {
        match lines.last_mut() {
            Some(last) if line.starts_with("    ") => write!(last, " {}", line.trim()).unwrap(),
            _ => lines.push(line.trim().to_owned()),
        }
    }
    lines
}

/// One row whose newest release asks for a Node that nobody has, and the registry that offers it.
fn held() -> (Story, Registry, PathBuf) {
    let fleet = Fleet::new(
        "[runtimes.here]\nnode = \"*\"\n[servers.held]\npackage = \"npm:held\"\ncommand = \"held\"\nruntimes = [\"here\"]\n",
    );
    let spec = offer(&fleet, "held", "2.0.0", &[("1.4.0", ">=12"), ("2.0.0", ">=99")]);
    let registry = Registry::npm(&spec);
    (Story::of(at(fleet, &registry.address)), registry, spec)
}

#[test]
fn a_row_kept_old_on_purpose_stays_quiet_while_upstream_releases() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let (mut story, _registry, _) = held();
    story.night(&[]);
    story.lock();
    story.night(&["--strict"]);
    for (latest, other) in [("2.1.0", ("2.0.0", ">=99")), ("3.0.0", ("1.5.0", ">=12"))] {
        let versions = [("1.4.0", ">=12"), other, (latest, ">=99")];
        offer(&story.fleet, "held", latest, &versions);
        story.tell(&format!("upstream releases {} and {latest}\n", other.0));
        story.night(&["--strict"]);
    }
    story.night(&["--strict", "--install", "update"]);
    story.lock();
    story.night(&["--strict", "--locked"]);
    story.reads(
        "\
run: exit 3
  held@here 1.4.0 fail
    fail held-back
  | 1 of 1 row went backwards:
  | - held gets an older version than there is: 1.4.0 is installed where 2.0.0 is the newest: 2.0.0 needs Node >=99 and this row runs Node X
lock: exit 0
run --strict: exit 0
  held@here 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
upstream releases 2.0.0 and 2.1.0
run --strict: exit 0
  held@here 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
upstream releases 1.5.0 and 3.0.0
run --strict: exit 0
  held@here 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
run --strict --install update: exit 0
  held@here 1.5.0 pass
    note version-upgraded
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
  | new:
  | - held was upgraded: version rose from 1.4.0 to 1.5.0 (installed) since the lock of DATE and the run of DATE
lock: exit 0
run --strict --locked: exit 0
  held@here 1.5.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
",
    );
}

#[test]
fn a_server_that_upgrades_each_week_and_falls_back_once() {
    let at_version = |version: &str| {
        format!(
            "{QUICK}{}",
            server("weekly", "identity", &["probe-target", version], "")
        )
    };
    let mut story = Story::of(Fleet::new(""));
    for version in ["1.9.0", "v1.10.0", "2026.8.18", "2026.10.24"] {
        story.manifest(&at_version(version));
        story.night(&["--strict"]);
    }
    story.lock();
    story.manifest(&at_version("1.10.0"));
    story.night(&[]);
    story.night(&[]);
    story.lock();
    story.night(&["--strict", "--locked"]);
    story.reads(
        "\
run --strict: exit 0
  weekly - pass
  | nothing went backwards in 1 row: 1 pass
run --strict: exit 0
  weekly - pass
    note version-upgraded
  | nothing went backwards in 1 row: 1 pass
  | new:
  | - weekly was upgraded: version rose from 1.9.0 to v1.10.0 (reported) since the run of DATE
run --strict: exit 0
  weekly - pass
    note version-upgraded
  | nothing went backwards in 1 row: 1 pass
  | new:
  | - weekly was upgraded: version rose from v1.10.0 to 2026.8.18 (reported) since the run of DATE
run --strict: exit 0
  weekly - pass
    note version-upgraded
  | nothing went backwards in 1 row: 1 pass
  | new:
  | - weekly was upgraded: version rose from 2026.8.18 to 2026.10.24 (reported) since the run of DATE
lock: exit 0
run: exit 3
  weekly - fail
    fail version-downgrade
  | 1 of 1 row went backwards:
  | - weekly fell back to an older version: version fell from 2026.10.24 to 1.10.0 (reported) since the lock of DATE and the run of DATE
run: exit 3
  weekly - fail
    fail version-downgrade
  | 1 of 1 row went backwards:
  | - weekly fell back to an older version: version fell from 2026.10.24 to 1.10.0 (reported) since the lock of DATE, already so in the run of DATE
lock: exit 0
run --strict --locked: exit 0
  weekly - pass
  | nothing went backwards in 1 row: 1 pass
",
    );
}

#[test]
fn a_registry_that_is_away_for_a_night_is_no_news() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let (mut story, registry, spec) = held();
    let address = registry.address.clone();
    story.night(&[]);
    story.tell("the registry goes away\n");
    drop(registry);
    story.night(&[]);
    story.lock();
    story.night(&["--strict"]);
    story.night(&["--install", "update"]);
    story.tell("the registry is back\n");
    let _registry = Registry::npm_again(&spec, &address);
    story.night(&["--strict", "--install", "update"]);
    story.reads(
        "\
run: exit 3
  held@here 1.4.0 fail
    fail held-back
  | 1 of 1 row went backwards:
  | - held gets an older version than there is: 1.4.0 is installed where 2.0.0 is the newest: 2.0.0 needs Node >=99 and this row runs Node X
the registry goes away
run: exit 3
  held@here 1.4.0 fail
    fail held-back
  | 1 of 1 row went backwards:
  | - held gets an older version than there is: 1.4.0 is installed where 2.0.0 is the newest (as of DATE): 2.0.0 needs Node >=99 and this row runs Node X
lock: exit 0
run --strict: exit 0
  held@here 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
run --install update: exit 0
  held@here 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
the registry is back
run --strict --install update: exit 0
  held@here 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
",
    );
}

#[test]
fn a_hard_coded_version_does_not_hide_that_the_package_fell() {
    if !are_there(&["node", "npm", "python3"]) {
        return;
    }
    let fleet = Fleet::new("");
    // Nobody has published it.
    let spec = offer(&fleet, "another", "1.0.0", &[]);
    let registry = Registry::npm(&spec);
    let fleet = at(fleet, &registry.address);
    let install = |fleet: &Fleet, version: &str| {
        let code = include_str!("../fixtures/registry/server.js");
        let hard_coded = code.replace("version: pkg.version }", "version: '1.0.0' }");
        assert_ne!(code, hard_coded);
        let package = format!(r#"{{ "name": "hard-coded", "version": "{version}" }}"#);
        fleet.write("node_modules/hard-coded/package.json", &package);
        fleet.write("node_modules/hard-coded/server.js", &hard_coded)
    };
    let script = install(&fleet, "1.5.0");
    let mut story = Story::of(fleet);
    story.manifest(&format!(
        "{QUICK}[servers.row]\ncommand = \"node\"\nargs = [{script:?}]\n"
    ));
    let first = story.night(&["--strict"]);
    assert_eq!(first.row("row")["identity"]["reported"]["version"], "1.0.0");
    story.lock();
    install(&story.fleet, "1.4.0");
    let fell = story.night(&[]);
    let finding = &fell.row("row")["findings"][0];
    assert_eq!(
        (finding["expected"].as_str(), finding["actual"].as_str()),
        (Some("1.5.0"), Some("1.4.0"))
    );
    story.lock();
    story.night(&["--strict"]);
    story.reads(
        "\
run --strict: exit 0
  row 1.5.0 pass
  | nothing went backwards in 1 row: 1 pass
lock: exit 0
run: exit 3
  row 1.4.0 fail
    fail version-downgrade
    note reported-version-stale
  | 1 of 1 row went backwards:
  | - row fell back to an older version: version fell from 1.5.0 to 1.4.0 (installed) since the lock of DATE and the run of DATE
lock: exit 0
run --strict: exit 0
  row 1.4.0 pass
  | nothing went backwards in 1 row: 1 pass
",
    );
}

/// What a person on a newer Node does with the same cache: starts the server once by npx.
fn on_another_node(story: &Story) {
    let newer = "Object.defineProperty(process, 'version', { value: 'v99.0.0' });";
    let newer = story.fleet.write("newer.js", newer);
    let mut npx = Command::new("npx");
    npx.args(["-y", "demo"])
        .current_dir(story.fleet.path())
        .stdin(Stdio::null());
    npx.env("NODE_OPTIONS", format!("--require {}", newer.display()));
    npx.envs(story.fleet.environment());
    let output = npx.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The version of the server in npx's folder.
fn in_the_cache_of_npx(story: &Story) -> String {
    let folders = fs::read_dir(story.fleet.path().join("cache/_npx")).unwrap();
    let package = folders.map(|folder| folder.unwrap().path().join("node_modules/demo/package.json"));
    let text: Vec<String> = package.map(|path| fs::read_to_string(path).unwrap()).collect();
    let [text] = text.try_into().unwrap();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap();
    package["version"].as_str().unwrap().to_owned()
}

#[test]
fn an_npx_row_on_a_cache_shared_with_another_node_runs_what_it_always_ran() {
    if !are_there(&["npx", "python3"]) {
        return;
    }
    let fleet = Fleet::new("");
    let spec = offer(&fleet, "demo", "2.0.0", &[("1.4.0", ">=12"), ("2.0.0", ">=99")]);
    let registry = Registry::npm(&spec);
    let mut story = Story::of(at(fleet, &registry.address));
    let args = |more: &str| {
        let cache = story.fleet.path().join("cache");
        format!(
            "[servers.demo]\ncommand = \"npx\"\nargs = [\"-y\", {more}\"demo\"]\n\
             env = {{ npm_config_cache = {cache:?}, npm_config_registry = {:?} }}\n",
            registry.address
        )
    };
    let (asking, offline) = (args(""), args("\"--prefer-offline\", "));
    story.manifest(&asking);
    story.night(&[]);
    story.lock();
    on_another_node(&story);
    assert_eq!(in_the_cache_of_npx(&story), "2.0.0", "it has swapped the folder");
    story.night(&["--strict"]);
    assert_eq!(in_the_cache_of_npx(&story), "1.4.0");
    story.tell("upstream releases 1.5.0, and npx is told to prefer what it has\n");
    offer(
        &story.fleet,
        "demo",
        "1.5.0",
        &[("1.4.0", ">=12"), ("1.5.0", ">=12"), ("2.0.0", ">=99")],
    );
    story.manifest(&offline);
    story.night(&["--strict"]);
    story.reads(
        "\
run: exit 3
  demo 1.4.0 fail
    fail held-back
  | 1 of 1 row went backwards:
  | - demo gets an older version than there is: 1.4.0 is installed where 2.0.0 is the newest: 2.0.0 needs Node >=99 and this row runs Node X
lock: exit 0
run --strict: exit 0
  demo 1.4.0 pass
    note held-back, accepted
  | nothing went backwards in 1 row: 1 pass, 1 finding as accepted
upstream releases 1.5.0, and npx is told to prefer what it has
run --strict: exit 0
  demo 1.4.0 pass
    note behind-newest
  | nothing went backwards in 1 row: 1 pass
",
    );
}

#[test]
fn a_pin_lowered_in_the_manifest_warns_and_says_so() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let fleet = Fleet::new("");
    let spec = offer(
        &fleet,
        "demo",
        "2.0.0",
        &[("1.4.0", ">=12"), ("1.5.0", ">=12"), ("2.0.0", ">=12")],
    );
    let registry = Registry::npm(&spec);
    let mut story = Story::of(at(fleet, &registry.address));
    let pinned =
        |version: &str| format!("{QUICK}[servers.row]\npackage = \"npm:demo@{version}\"\ncommand = \"demo\"\n");
    story.manifest(&pinned("2.0.0"));
    story.night(&["--strict"]);
    story.lock();
    story.tell("pinned to 1.5.0, which has a tool less\n");
    story.manifest(&pinned("1.5.0"));
    story.night(&[]);
    story.lock();
    story.tell("pinned to 1.4.0\n");
    story.manifest(&pinned("1.4.0"));
    story.night(&[]);
    story.night(&["--strict"]);
    story.lock();
    story.night(&["--strict"]);
    story.reads(
        "\
run --strict: exit 0
  row 2.0.0 pass
  | nothing went backwards in 1 row: 1 pass
lock: exit 0
pinned to 1.5.0, which has a tool less
run: exit 3
  row 1.5.0 fail
    fail tool-removed
    warn version-downgrade
  | 1 of 1 row went backwards:
  | - row lacks a tool that was there: `only_in_v2` is gone (2 tools, 3 then) since the lock of DATE and the run of DATE
lock: exit 0
pinned to 1.4.0
run: exit 0
  row 1.4.0 warn
    warn version-downgrade
  | 1 of 1 row went backwards:
  | - row fell back to an older version: version fell from 1.5.0 to 1.4.0 (installed; the manifest asks for `1.4.0`, it asked for `1.5.0` then) since the lock of DATE and the run of DATE
run --strict: exit 3
  row 1.4.0 fail
    warn version-downgrade
  | 1 of 1 row went backwards:
  | - row fell back to an older version: version fell from 1.5.0 to 1.4.0 (installed; the manifest asks for `1.4.0`, it asked for `1.5.0` then) since the lock of DATE, already so in the run of DATE
lock: exit 0
run --strict: exit 0
  row 1.4.0 pass
  | nothing went backwards in 1 row: 1 pass
",
    );
}
