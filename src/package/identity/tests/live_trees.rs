//! Process trees as wrappers make them, and which of them is the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::client::process::LiveProcess;

use super::super::live::{Pipes, chain, is_title};
use super::super::{look, npx};
use super::fleet::{Distribution, Fleet, NoPipes, TIME, command, process, shown};

/// We speak over "in" and "out"; these processes hold these pipes, and of others nothing is known.
struct Held(BTreeMap<u32, &'static [&'static str]>);

impl Pipes for Held {
    fn held(&self, pid: u32) -> Option<BTreeSet<PathBuf>> {
        self.0.get(&pid).map(|pipes| pipes.iter().map(PathBuf::from).collect())
    }

    fn ours(&self, _: u32) -> BTreeSet<PathBuf> {
        BTreeSet::from(["in", "out"].map(PathBuf::from))
    }
}

fn server(tree: &[LiveProcess], pipes: &dyn Pipes) -> u32 {
    chain(tree, pipes).last().unwrap().pid
}

#[test]
fn wrappers_are_walked_through() {
    let npx = [
        process(1, None, &["npm exec x"]),
        process(2, Some(1), &["sh", "-c", "x-bin"]),
        process(3, Some(2), &["node", "/cache/node_modules/.bin/x-bin"]),
    ];
    assert_eq!(server(&npx, &NoPipes), 3);
    assert_eq!(server(&npx[..1], &NoPipes), 1);
    assert!(chain(&[], &NoPipes).is_empty());
}

#[test]
fn helpers_of_a_server_are_not_taken_for_it() {
    let tracker = "from multiprocessing.resource_tracker import main;main(5)";
    let worker = "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)";
    let python = [
        process(1, None, &["/py/bin/python", "server.py"]),
        process(2, Some(1), &["/py/bin/python", "-c", tracker]),
        process(
            3,
            Some(1),
            &["/py/bin/python", "-s", "-c", worker, "--multiprocessing-fork"],
        ),
    ];
    assert_eq!(server(&python, &NoPipes), 1);
    assert_eq!(server(&python[..2], &NoPipes), 1);
}

#[test]
fn a_child_with_pipes_of_its_own_is_no_server() {
    let tree = [
        process(1, None, &["node", "a.js"]),
        process(2, Some(1), &["node", "watchdog.js"]),
    ];
    let own = Held(BTreeMap::from([(1, &["in", "out", "err"][..]), (2, &["in", "err"])]));
    assert_eq!(server(&tree, &own), 1);
    let ours = Held(BTreeMap::from([(1, &["in", "out", "err"][..]), (2, &["in", "out"])]));
    assert_eq!(server(&tree, &ours), 2);
}

#[test]
fn of_several_children_of_a_shell_the_one_on_our_pipes_is_the_server() {
    let tree = [
        process(1, None, &["sh", "-c", "helper & server"]),
        process(2, Some(1), &["helper"]),
        process(3, Some(1), &["node", "server.js"]),
    ];
    let pipes = Held(BTreeMap::from([(2, &["out"][..]), (3, &["in", "out"])]));
    assert_eq!(server(&tree, &pipes), 3);
    assert_eq!(server(&tree, &NoPipes), 1);
}

#[test]
fn titles_are_told_from_command_lines() {
    let title = |command_line: &[&str], executable: &str| {
        let mut process = process(1, None, command_line);
        process.executable = Some(PathBuf::from(executable));
        is_title(&process)
    };
    assert!(title(&["chrome-devtools-mcp"], "/usr/bin/node"));
    assert!(title(&["npm exec @scope/x@1.2"], "/usr/bin/node"));
    assert!(title(&[], "/usr/bin/node"));
    assert!(!title(&["github-mcp-server"], "/opt/bin/github-mcp-server"));
    assert!(!title(&["node", "x.js"], "/usr/bin/node"));
    assert!(!title(&["/py/bin/server"], "/py/bin/server"));
}

#[test]
fn a_server_that_hides_its_command_line_is_found_through_its_wrapper_or_the_command() {
    let fleet = Fleet::new();
    let folder = format!("home/.npm/_npx/{}", npx::folder_name(&["x".to_owned()]));
    fleet.npm(&folder, "x", "1.0.0", "x-bin");
    let bin = fleet.text(&format!("{folder}/node_modules/.bin"));
    fleet.program("usr/bin/node", "\u{7f}ELF");
    let mut shell = process(2, Some(1), &["sh", "-c", "x-bin --flag"]);
    shell.environment = vec![("PATH".to_owned(), bin)];
    let mut hidden = process(3, Some(2), &["x-title"]);
    hidden.executable = Some(fleet.path("usr/bin/node"));
    let tree = [process(1, None, &["npm exec x"]), shell, hidden];
    let home = fleet.text("home");
    let started = command(&["npx", "-y", "x"], &[("HOME", &home)], &fleet.root());
    let found = look(&tree, &started, &NoPipes);
    assert_eq!(shown(found.package), "x 1.0.0");
    assert_eq!(found.executable, Some(fleet.path("usr/bin/node")));
    let mut alone = tree[2].clone();
    alone.parent = None;
    let found = look(&[alone], &started, &NoPipes);
    assert_eq!(shown(found.package), "x 1.0.0");
}

#[test]
fn a_wrapper_at_which_the_walk_ends_is_not_taken_for_the_server() {
    let fleet = Fleet::new();
    fleet.venv("py");
    fleet.pypi(
        "py",
        &Distribution {
            name: "uv",
            version: "0.13.9",
            module: "uv",
            script: Some("uv"),
        },
    );
    let binary = fleet.program("py/bin/uv", "\u{7f}ELF");
    let mut wrapper = process(1, None, &[&binary.to_string_lossy(), "tool", "uvx", "mcp-server-time"]);
    wrapper.executable = Some(binary);
    let found = look(
        &[wrapper],
        &command(&["uvx", "mcp-server-time"], &[], &fleet.root()),
        &NoPipes,
    );
    assert_eq!(shown(found.package), "-");
    assert_eq!(found.executable, None);
}

#[test]
fn a_hidden_server_under_uv_is_found_on_the_path_that_uv_gave_it() {
    let fleet = Fleet::new();
    fleet.venv("cache/archive-v0/abc");
    fleet.pypi("cache/archive-v0/abc", &TIME);
    let mut hidden = process(2, Some(1), &["time-title"]);
    hidden.executable = Some(fleet.path("usr/bin/python3.11"));
    hidden.environment = vec![("PATH".to_owned(), fleet.text("cache/archive-v0/abc/bin"))];
    let tree = [
        process(1, None, &["uv", "tool", "uvx", "mcp-server-time==2026.10.19"]),
        hidden,
    ];
    let found = look(
        &tree,
        &command(&["uvx", "mcp-server-time==2026.10.19"], &[], &fleet.root()),
        &NoPipes,
    );
    assert_eq!(shown(found.package), "mcp-server-time 2026.10.19");
}

#[test]
fn a_binary_of_a_platform_package_belongs_to_the_package_that_brings_it() {
    let fleet = Fleet::new();
    fleet.npm("app", "tool", "3.0.0", "tool");
    let manifest = r#"{"name": "tool", "version": "3.0.0", "optionalDependencies": {"tool-linux-x64": "3.0.1"}}"#;
    fleet.file("app/node_modules/tool/package.json", manifest);
    fleet.npm("app", "tool-linux-x64", "3.0.1", "none");
    let binary = fleet.program("app/node_modules/tool-linux-x64/bin/tool", "\u{7f}ELF");
    fleet.program("usr/bin/node", "\u{7f}ELF");
    let mut script = process(1, None, &["node", &fleet.text("app/node_modules/.bin/tool")]);
    script.executable = Some(fleet.path("usr/bin/node"));
    let mut native = process(2, Some(1), &[&binary.to_string_lossy()]);
    native.executable = Some(binary);
    let started = command(&["tool"], &[], &fleet.root());
    let found = look(&[script, native.clone()], &started, &NoPipes);
    assert_eq!(shown(found.package), "tool 3.0.0");
    native.parent = None;
    let found = look(&[native], &started, &NoPipes);
    assert_eq!(shown(found.package), "tool-linux-x64 3.0.1");
}

#[test]
fn an_unreadable_server_below_a_script_of_a_package_is_the_package_s() {
    let fleet = Fleet::new();
    fleet.npm("app", "launcher", "5.0.0", "launcher");
    fleet.program("usr/bin/node", "\u{7f}ELF");
    let java = fleet.program("usr/bin/java", "\u{7f}ELF");
    let mut script = process(1, None, &["node", &fleet.text("app/node_modules/.bin/launcher")]);
    script.executable = Some(fleet.path("usr/bin/node"));
    let mut native = process(2, Some(1), &["java", "-jar", "/downloaded/server.jar"]);
    native.executable = Some(java.clone());
    let found = look(&[script, native], &command(&["launcher"], &[], &fleet.root()), &NoPipes);
    assert_eq!(shown(found.package), "launcher 5.0.0");
    assert_eq!(found.executable, Some(java));
}
