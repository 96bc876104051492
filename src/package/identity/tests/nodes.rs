//! Who owns what node runs.

use super::super::npx;
use super::fleet::{Fleet, shown};

const NAME: &str = "@scope/server";

fn fleet() -> Fleet {
    let fleet = Fleet::new();
    fleet.npm("app", NAME, "1.4.0", "mcp-server");
    fleet.program("opt/bin/node", "\u{7f}ELF");
    fleet
}

#[test]
fn scripts_of_installed_packages_are_found_however_they_are_named() {
    let fleet = fleet();
    let path = fleet.text("opt/bin");
    let script = fleet.text("app/node_modules/@scope/server/dist/index.js");
    let bin = fleet.text("app/node_modules/.bin/mcp-server");
    let cases: &[&[&str]] = &[
        &["node", &script, "/some/folder"],
        &["node", &bin],
        &["node", "--no-warnings", "--max-old-space-size=100", &script],
        &[
            "node",
            "--import",
            "nothing.mjs",
            "-r",
            "./other.js",
            "-C",
            "development",
            &script,
        ],
        &["node", "--experimental-unheard-of", "value", &script],
        &["node", "--", &script],
        &["node", "node_modules/@scope/server/dist/index.js"],
        &["node", "node_modules/@scope/server/dist/index"],
        &["node", "./node_modules/@scope/server"],
        &[&bin],
        &["./node_modules/.bin/mcp-server"],
        &["env", "A=B", &bin],
        &["env", "-S", "node node_modules/.bin/mcp-server"],
        &["sh", "-c", "exec node node_modules/.bin/mcp-server --flag"],
        &["npx", "mcp-server"],
        &["npx", "-y", NAME],
        &["npx", "-y", "@scope/server@1.4.0"],
        &["npx", "-y", "@scope/server@^1"],
        &["npm", "exec", "--", NAME],
    ];
    for command_line in cases {
        let found = fleet.package(command_line, &[("PATH", &path)], "app");
        assert_eq!(shown(found), "@scope/server 1.4.0", "{command_line:?}");
    }
}

#[test]
fn a_script_that_no_package_owns_has_none() {
    let fleet = fleet();
    let path = fleet.text("opt/bin");
    fleet.file("app/package.json", r#"{"private": true}"#);
    fleet.file("app/loose.mjs", "");
    let cases: &[&[&str]] = &[
        &["node", "loose.mjs"],
        &["node", "-e", "1", "node_modules/.bin/mcp-server"],
        &["node", "--eval=1", "node_modules/.bin/mcp-server"],
        &["node", "missing.js", "node_modules/.bin/mcp-server"],
        &["npx", "-y", "@scope/server@2"],
        &["npx", "-y", "@scope/server@latest"],
        &["bash", "-c", "cd .. && node app/node_modules/.bin/mcp-server"],
    ];
    for command_line in cases {
        let found = fleet.package(command_line, &[("PATH", &path)], "app");
        assert_eq!(shown(found), "-", "{command_line:?}");
    }
}

#[test]
fn the_climb_does_not_leave_node_modules() {
    let fleet = Fleet::new();
    fleet.file("app/package.json", r#"{"name": "mine", "version": "9.0.0"}"#);
    fleet.file("app/node_modules/odd/index.js", "");
    fleet.file("app/server.js", "");
    let server = |script: &str| shown(fleet.live(&["node", script], "opt/bin/node", &[], "app").package);
    assert_eq!(server("node_modules/odd/index.js"), "-");
    assert_eq!(server("server.js"), "mine 9.0.0");
}

#[test]
fn a_global_package_is_found_through_its_link() {
    let fleet = Fleet::new();
    fleet.npm("usr/lib", "server", "2.0.0", "server");
    fleet.link("usr/bin/server", "../lib/node_modules/server/dist/index.js");
    let found = fleet.package(&["server"], &[("PATH", &fleet.text("usr/bin"))], "usr");
    assert_eq!(shown(found), "server 2.0.0");
}

#[test]
fn the_npx_cache_is_found_by_the_spec_as_typed() {
    let fleet = Fleet::new();
    fleet.file("home/empty", "");
    for (spec, version) in [("x", "1.0.0"), ("x@latest", "2.0.0"), ("x@1.5.0", "1.5.0")] {
        let folder = npx::folder_name(&[spec.to_owned()]);
        fleet.npm(&format!("home/.npm/_npx/{folder}"), "x", version, "x-bin");
        fleet.npm(&format!("cache/_npx/{folder}"), "x", "0.0.1", "x-bin");
    }
    let home = fleet.text("home");
    let cache = fleet.text("cache");
    for (spec, version) in [
        ("x", "x 1.0.0"),
        ("x@latest", "x 2.0.0"),
        ("x@1.5.0", "x 1.5.0"),
        ("x@3", "-"),
    ] {
        let found = fleet.package(&["npx", "-y", spec], &[("HOME", &home)], "home");
        assert_eq!(shown(found), version, "{spec}");
    }
    let by_bin = fleet.package(&["npx", "-y", "-p", "x@latest", "x-bin"], &[("HOME", &home)], "home");
    assert_eq!(shown(by_bin), "x 2.0.0");
    let elsewhere = fleet.package(&["npx", "x"], &[("HOME", &home), ("NPM_CONFIG_CACHE", &cache)], "home");
    assert_eq!(shown(elsewhere), "x 0.0.1");
    let named = fleet.package(&["npx", "--cache", &cache, "x"], &[("HOME", &home)], "home");
    assert_eq!(shown(named), "x 0.0.1");
}
