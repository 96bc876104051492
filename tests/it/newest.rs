//! Nights over registries on loopback: what is newer is named with its cause, also while the registry is away;
//! and the real silent downgrades, where the registries are at hand.

use std::fs;
use std::path::Path;

use crate::fleet::{Fleet, Outcome};
use crate::registry::{Registry, Silent, are_there, at, offer};

fn messages(night: &Outcome, row: &str, code: &str) -> Vec<String> {
    let findings = night.row(row)["findings"].as_array().unwrap();
    let of_code = findings.iter().filter(|finding| finding["code"] == code);
    of_code
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_node_that_holds_a_server_back_fails_the_night_also_while_the_registry_is_away() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let manifest = "[runtimes.here]\nnode = \"*\"\n\
        [servers.held]\npackage = \"npm:held\"\ncommand = \"held\"\nruntimes = [\"here\"]\n\
        [servers.free]\npackage = \"npm:free\"\ncommand = \"free\"\nruntimes = [\"here\"]\n";
    let fleet = Fleet::new(manifest);
    let spec = fleet.write(
        "spec.json",
        r#"{"packages": {
            "held": {"dist-tags": {"latest": "2.0.0"}, "versions": {
                "1.4.0": {"engines": {"node": ">=12"}}, "2.0.0": {"engines": {"node": ">=99"}}}},
            "free": {"dist-tags": {"latest": "1.4.0"}, "versions": {"1.4.0": {"engines": {"node": ">=12"}}}}}}"#,
    );
    let registry = Registry::npm(&spec);
    let fleet = at(fleet, &registry.address);

    let night = fleet.run(&["run", "--output", "none"]);
    assert_eq!(night.code, Some(3), "{}", night.stderr);
    let told = messages(&night, "held@here", "held-back");
    assert!(
        told[0]
            .starts_with("1.4.0 is installed where 2.0.0 is the newest: 2.0.0 needs Node >=99 and this row runs Node "),
        "{told:?}"
    );
    assert!(night.codes("free@here").is_empty());
    let package = &night.row("held@here")["identity"]["package"];
    assert_eq!(package["newest"], "2.0.0");
    assert_eq!(package["newest_requires"], ">=99");
    assert_eq!(package["held_back"]["cause"], "engines");
    assert_eq!(package["newest_as_of"], serde_json::Value::Null);
    assert_eq!(night.row("free@here")["identity"]["package"]["newest"], "1.4.0");
    assert!(fleet.log("held@here").contains("newest: 2.0.0, held back by engines"));

    drop(registry);
    let night = fleet.run(&["run", "--output", "none"]);
    assert_eq!(night.code, Some(3), "{}", night.stderr);
    assert!(night.row("held@here")["identity"]["package"]["newest_as_of"].is_string());
    let told = messages(&night, "held@here", "held-back");
    assert!(told[0].contains("2.0.0 is the newest (as of 20"), "{told:?}");
    assert!(night.codes("free@here").is_empty());
}

#[test]
fn a_registry_that_answers_with_nothing_takes_no_acceptance_away() {
    if !are_there(&["npm", "python3"]) {
        return;
    }
    let fleet = Fleet::new(
        "[runtimes.here]\nnode = \"*\"\n\
         [servers.held]\npackage = \"npm:held\"\ncommand = \"held\"\nruntimes = [\"here\"]\n",
    );
    let spec = offer(&fleet, "held", "2.0.0", &[("1.4.0", ">=12"), ("2.0.0", ">=99")]);
    let registry = Registry::npm(&spec);
    let address = registry.address.clone();
    let fleet = at(fleet, &address);
    assert_eq!(fleet.run(&["run"]).code, Some(3));
    assert_eq!(fleet.run(&["lock"]).code, Some(0));
    drop(registry);
    fs::remove_dir_all(fleet.path().join(".mcp-smoke/newest")).unwrap();

    let silent = Silent::start(&address);
    let night = fleet.run(&["run", "--strict"]);
    assert_eq!(
        (night.code, night.codes("held@here")),
        (Some(0), vec!["newest-unknown".to_owned()])
    );
    let told = messages(&night, "held@here", "newest-unknown");
    assert!(told[0].contains("the answer says nothing of the package"), "{told:?}");
    let said = fleet.run(&["lock"]);
    assert!(
        said.stdout.contains("0 taken, 0 dropped, 1 unchanged"),
        "{}",
        said.stdout
    );

    drop(silent);
    let _registry = Registry::npm_again(&spec, &address);
    let night = fleet.run(&["run", "--strict"]);
    assert_eq!(
        (night.code, night.codes("held@here")),
        (Some(0), vec!["held-back".to_owned()])
    );

    // It is taken out of the registry.
    offer(&fleet, "another", "1.0.0", &[("1.0.0", ">=12")]);
    let night = fleet.run(&["run", "--strict"]);
    assert_eq!(night.code, Some(0), "{}", night.stdout);
    let told = messages(&night, "held@here", "newest-unknown");
    assert!(told[0].contains("no longer has a package called held"), "{told:?}");
}

#[test]
fn a_python_that_holds_a_server_back_fails_the_night_too() {
    if !are_there(&["python3"]) {
        return;
    }
    let fleet = Fleet::new(
        "[runtimes.here]\npython = \">=3.8\"\n\
         [servers.held]\npackage = \"pypi:held-server\"\ncommand = \"held-server\"\nruntimes = [\"here\"]\n",
    );
    let spec = fleet.write(
        "spec.json",
        r#"{"packages": {"held-server": {"1.9": {"requires": ">=3.8"}, "1.10": {"requires": ">=3.8"},
            "1.11": {"requires": ">=3.8", "yanked": "broken"}, "2.0": {"requires": ">=3.99"}}}}"#,
    );
    let index = Registry::pypi(&spec);
    let fleet = at(fleet, &index.address);
    let night = fleet.run(&["run", "--output", "none"]);
    assert_eq!(night.code, Some(3), "{} {:?}", night.stderr, night.record);
    let told = messages(&night, "held@here", "held-back");
    assert!(
        told[0].starts_with(
            "1.10 is installed where 2.0 is the newest: 2.0 needs Python >=3.99 and this row runs Python 3."
        ),
        "{told:?}"
    );
}

#[test]
fn an_old_folder_of_npx_is_named_and_an_upgrade_upstream_is_a_note() {
    if !are_there(&["npm", "npx", "python3"]) {
        return;
    }
    let fleet = Fleet::new("");
    let one = r#""1.3.0": {"engines": {"node": ">=12"}}"#;
    let text = |latest: &str, more: &str| {
        format!(r#"{{"packages": {{"demo": {{"dist-tags": {{"latest": "{latest}"}}, "versions": {{{one}{more}}}}}}}}}"#)
    };
    let registry = Registry::npm(&fleet.write("spec.json", &text("1.3.0", "")));
    // npx looks for news at every start, unless it is told to prefer what it has.
    let cache = fleet.path().join("npx-cache");
    let manifest = format!(
        "[servers.ours]\npackage = \"npm:demo\"\ncommand = \"demo\"\n\
         [servers.npx]\ncommand = \"npx\"\nargs = [\"-y\", \"--prefer-offline\", \"demo\"]\n\
         env = {{ npm_config_cache = {cache:?}, npm_config_registry = \"{}\" }}\n",
        registry.address
    );
    fleet.write("servers.toml", &manifest);
    let fleet = at(fleet, &registry.address);
    let night = fleet.run(&["run", "--output", "none"]);
    assert_eq!(night.code, Some(0), "{} {:?}", night.stderr, night.record);
    assert!(messages(&night, "npx", "behind-newest").is_empty());

    fleet.write(
        "spec.json",
        &text("1.4.0", r#", "1.4.0": {"engines": {"node": ">=12"}}"#),
    );
    let night = fleet.run(&["run", "--output", "none"]);
    assert_eq!(night.code, Some(0), "{}", night.stderr);
    assert_eq!(
        messages(&night, "ours", "behind-newest"),
        ["1.3.0 is installed where 1.4.0 is the newest"]
    );
    let told = messages(&night, "npx", "behind-newest");
    assert!(
        told[0].starts_with("1.3.0 is installed where 1.4.0 is the newest: npx has it in "),
        "{told:?}"
    );
}

#[test]
fn the_real_downgrades_are_caught_on_the_first_night() {
    if std::env::var_os("MCP_SMOKE_REGISTRY").is_none_or(|value| value != "1") {
        println!("skipped: set MCP_SMOKE_REGISTRY=1 (needs the package registries)");
        return;
    }
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("studies/silent-downgrade.toml");
    let fleet = Fleet::new(&fs::read_to_string(study).unwrap());
    let night = fleet.run(&["run", "sentry", "firecrawl", "--output", "none"]);
    println!("{}", night.stderr);
    assert_eq!(night.code, Some(3), "{}", night.stderr);
    for server in ["sentry", "firecrawl"] {
        let (old, new) = (format!("{server}@node20"), format!("{server}@node24"));
        let told = messages(&night, &old, "held-back");
        println!("{old}: {told:?}");
        assert!(
            told[0].contains("needs Node >=22") && told[0].contains("runs Node 20."),
            "{told:?}"
        );
        assert_eq!(night.codes(&old), ["held-back", "version-split"]);
        assert_eq!(night.row(&new)["status"], "pass", "{:?}", night.codes(&new));
    }
    // What was accepted is quiet on the next night.
    assert_eq!(fleet.run(&["lock", "sentry", "firecrawl"]).code, Some(0));
    let quiet = fleet.run(&["run", "sentry", "firecrawl", "--strict", "--locked"]);
    assert_eq!(quiet.code, Some(0), "{}", quiet.stdout);
    assert!(
        quiet
            .stdout
            .starts_with("nothing went backwards in 4 rows: 4 pass, 4 findings as accepted"),
        "{}",
        quiet.stdout
    );
}
