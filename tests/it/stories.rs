//! Six stories, each over several nights: what a person finds in the morning, from the exit code to the last
//! of the first lines. Days, runs and versions of Node are left out of what is compared.
#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fmt::Write;
use std::fs;
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
            let (status, codes) = (row["status"].as_str().unwrap(), outcome.codes(id).join(" "));
            writeln!(told, "{}", format!("  {id} {installed} {status} {codes}").trim_end()).unwrap();
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
            (r"\b20\d\d-\d\d-\d\d\b", "DATE"),
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

#[test]
fn a_row_kept_old_on_purpose_stays_quiet_while_upstream_releases() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let fleet = Fleet::new(
        "[runtimes.here]\nnode = \"*\"\n[servers.held]\npackage = \"npm:held\"\ncommand = \"held\"\nruntimes = [\"here\"]\n",
    );
    let spec = offer(&fleet, "held", "2.0.0", &[("1.4.0", ">=12"), ("2.0.0", ">=99")]);
    let registry = Registry::npm(&spec);
    let mut story = Story::of(at(fleet, &registry.address));
    story.night(&[]);
    story.lock();
    story.night(&["--strict"]);
    let upstream = |versions: &[(&str, &str)], latest| offer(&story.fleet, "held", latest, versions);
    upstream(&[("1.4.0", ">=12"), ("2.0.0", ">=99"), ("2.1.0", ">=99")], "2.1.0");
    story.night(&["--strict"]);
    let upstream = |versions: &[(&str, &str)], latest| offer(&story.fleet, "held", latest, versions);
    upstream(&[("1.4.0", ">=12"), ("1.5.0", ">=12"), ("3.0.0", ">=99")], "3.0.0");
    story.night(&["--strict"]);
    story.night(&["--strict", "--install", "update"]);
    story.lock();
    story.night(&["--strict", "--locked"]);
    story.reads("");
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
    story.reads("");
}

#[test]
fn a_registry_that_is_away_for_a_night_is_no_news() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let fleet = Fleet::new(
        "[runtimes.here]\nnode = \"*\"\n[servers.held]\npackage = \"npm:held\"\ncommand = \"held\"\nruntimes = [\"here\"]\n",
    );
    let spec = offer(&fleet, "held", "2.0.0", &[("1.4.0", ">=12"), ("2.0.0", ">=99")]);
    let registry = Registry::npm(&spec);
    let address = registry.address.clone();
    let mut story = Story::of(at(fleet, &address));
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
    story.reads("");
}

#[test]
fn a_hard_coded_version_does_not_hide_that_the_package_fell() {
    if !are_there(&["node"]) {
        return;
    }
    let fleet = Fleet::new("");
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
    story.reads("");
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
    story.reads("");
}

#[test]
fn a_pin_lowered_in_the_manifest_warns_and_says_so() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let fleet = Fleet::new("");
    let spec = offer(&fleet, "demo", "2.0.0", &[("1.4.0", ">=12"), ("2.0.0", ">=12")]);
    let registry = Registry::npm(&spec);
    let mut story = Story::of(at(fleet, &registry.address));
    let pinned =
        |version: &str| format!("{QUICK}[servers.row]\npackage = \"npm:demo@{version}\"\ncommand = \"demo\"\n");
    story.manifest(&pinned("2.0.0"));
    story.night(&["--strict"]);
    story.lock();
    story.manifest(&pinned("1.4.0"));
    let lowered = story.night(&[]);
    let findings = lowered.row("row")["findings"].as_array().unwrap();
    let downgrade = findings.iter().find(|finding| finding["code"] == "version-downgrade");
    assert_eq!(downgrade.unwrap()["severity"], "warn");
    story.lock();
    story.night(&["--strict"]);
    story.reads("");
}
