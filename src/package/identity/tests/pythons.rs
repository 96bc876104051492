//! Who owns what Python runs.

use super::fleet::{Distribution, Fleet, TIME, shown};

fn fleet() -> Fleet {
    let fleet = Fleet::new();
    fleet.venv("py");
    fleet.pypi("py", &TIME);
    // Another version where a resolved link would lead to.
    fleet.pypi("usr", &Distribution { version: "1.0", ..TIME });
    fleet
}

#[test]
fn modules_and_scripts_of_a_venv_are_found_without_leaving_it() {
    let fleet = fleet();
    let bin = fleet.text("py/bin");
    let python = fleet.text("py/bin/python3");
    let script = fleet.text("py/bin/mcp-server-time");
    let module_file = fleet.text("py/lib/python3.11/site-packages/mcp_server_time/__main__.py");
    let cases: &[&[&str]] = &[
        &[&python, "-m", "mcp_server_time"],
        &[
            &python,
            "-u",
            "-X",
            "dev",
            "-W",
            "ignore",
            "-m",
            "mcp_server_time",
            "--local-timezone",
            "UTC",
        ],
        &[&python, "-Xdev", "-Wignore", "-um", "mcp_server_time"],
        &[&python, "-mmcp_server_time"],
        &[
            &python,
            "--check-hash-based-pycs",
            "never",
            "-m",
            "mcp_server_time.__main__",
        ],
        &["python", "-m", "mcp_server_time"],
        &["py/bin/python", "-m", "mcp_server_time"],
        &[&python, &script],
        &[&script, "--local-timezone", "UTC"],
        &["mcp-server-time"],
        &[&python, &module_file],
        &["env", "A=B", "mcp-server-time"],
        &["sh", "-c", "exec mcp-server-time"],
    ];
    for command_line in cases {
        let found = fleet.package(command_line, &[("PATH", &bin)], "");
        assert_eq!(shown(found), "mcp-server-time 2026.10.19", "{command_line:?}");
    }
}

#[test]
fn a_live_python_is_taken_as_invoked_and_not_as_resolved() {
    let fleet = fleet();
    fleet.program("shims/python3", "#!/bin/sh\n");
    let path = format!("{}:{}", fleet.text("shims"), fleet.text("py/bin"));
    let found = fleet.live(
        &["python3", "-m", "mcp_server_time"],
        "usr/bin/python3.11",
        &[("PATH", &path)],
        "",
    );
    assert_eq!(shown(found.package), "mcp-server-time 2026.10.19");
    assert_eq!(found.executable, Some(fleet.path("py/bin/python3")));
    let system = fleet.live(&["python3", "-m", "mcp_server_time"], "usr/bin/python3.11", &[], "");
    assert_eq!(shown(system.package), "mcp-server-time 1.0");
    assert_eq!(system.executable, Some(fleet.path("usr/bin/python3.11")));
}

#[test]
fn what_no_distribution_owns_has_no_package() {
    let fleet = fleet();
    let python = fleet.text("py/bin/python");
    fleet.file("srv/server.py", "");
    fleet.file("srv/mcp-server-time", "");
    let cases: &[&[&str]] = &[
        &[&python, "srv/server.py"],
        &[&python, "srv/mcp-server-time"],
        &[&python, "-c", "import mcp_server_time"],
        &[&python, "-"],
        &[&python, "-m", "unheard_of"],
        &["uvx", "mcp-server-time"],
    ];
    for command_line in cases {
        assert_eq!(shown(fleet.package(command_line, &[], "")), "-", "{command_line:?}");
    }
}

#[test]
fn the_owner_of_a_console_script_is_the_one_with_the_entry_point() {
    let fleet = Fleet::new();
    fleet.venv("py");
    fleet.pypi(
        "py",
        &Distribution {
            name: "fastmcp",
            version: "4.2.3",
            module: "fastmcp",
            script: None,
        },
    );
    let slim = Distribution {
        name: "fastmcp-slim",
        version: "4.2.2",
        module: "fastmcp",
        script: Some("fastmcp"),
    };
    fleet.pypi("py", &slim);
    let script = fleet.text("py/bin/fastmcp");
    assert_eq!(
        shown(fleet.package(&[&script, "run", "x.py"], &[], "")),
        "fastmcp-slim 4.2.2"
    );
}

#[test]
fn scripts_that_a_shell_passes_on_lead_to_their_python() {
    let fleet = fleet();
    let relocatable = "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\n";
    fleet.program("py/bin/mcp-server-time", relocatable);
    fleet.link("home/.local/bin/mcp-server-time", fleet.path("py/bin/mcp-server-time"));
    let path = fleet.text("home/.local/bin");
    let found = fleet.package(&["mcp-server-time"], &[("PATH", &path)], "");
    assert_eq!(shown(found), "mcp-server-time 2026.10.19", "uv tool install");
    let long = format!(
        "#!/bin/sh\n'''exec' {} \"$0\" \"$@\"\n' '''\n",
        fleet.text("py/bin/python")
    );
    fleet.program("py/bin/mcp-server-time", &long);
    let found = fleet.package(&["mcp-server-time"], &[("PATH", &path)], "");
    assert_eq!(
        shown(found),
        "mcp-server-time 2026.10.19",
        "a path too long for a first line"
    );
}

#[test]
fn uv_runs_a_script_of_an_environment_behind_a_link() {
    let fleet = Fleet::new();
    fleet.venv("cache/archive-v0/abc");
    fleet.pypi("cache/archive-v0/abc", &TIME);
    fleet.link("cache/environments-v2/a/b", fleet.path("cache/archive-v0/abc"));
    let python = fleet.text("cache/environments-v2/a/b/bin/python");
    let script = fleet.text("cache/environments-v2/a/b/bin/mcp-server-time");
    let found = fleet.live(&[&python, &script], "usr/bin/python3.11", &[], "");
    assert_eq!(shown(found.package), "mcp-server-time 2026.10.19");
}

#[test]
fn an_editable_install_is_found_by_name_and_by_script() {
    let fleet = Fleet::new();
    fleet.venv("py");
    fleet.pypi(
        "py",
        &Distribution {
            name: "my-server",
            version: "0.1.0",
            module: "other",
            script: Some("my-server"),
        },
    );
    let info = "py/lib/python3.11/site-packages/my_server-0.1.0.dist-info";
    fleet.file(
        &format!("{info}/direct_url.json"),
        r#"{"dir_info": {"editable": true}, "url": "file:///src"}"#,
    );
    fleet.file(
        &format!("{info}/RECORD"),
        "__editable__.my_server-0.1.0.pth,sha256=x,1\n",
    );
    let python = fleet.text("py/bin/python");
    assert_eq!(
        shown(fleet.package(&[&python, "-m", "my_server"], &[], "")),
        "my-server 0.1.0"
    );
    assert_eq!(
        shown(fleet.package(&[&fleet.text("py/bin/my-server")], &[], "")),
        "my-server 0.1.0"
    );
}

#[test]
fn other_places_of_packages_are_looked_at_too() {
    let fleet = fleet();
    fleet.venv("overlay");
    let site = "overlay/lib/python3.11/site-packages";
    let linked = fleet.text("py/lib/python3.11/site-packages");
    fleet.file(
        &format!("{site}/_overlay.pth"),
        &format!("import site; site.addsitedir(\"{linked}\")\n"),
    );
    let overlay = fleet.text("overlay/bin/python");
    let found = fleet.package(&[&overlay, "-m", "mcp_server_time"], &[], "");
    assert_eq!(
        shown(found),
        "mcp-server-time 2026.10.19",
        "an overlay of uv run --with"
    );
    fleet.venv("bare");
    let bare = fleet.text("bare/bin/python");
    let found = fleet.package(&[&bare, "-m", "mcp_server_time"], &[("PYTHONPATH", &linked)], "");
    assert_eq!(shown(found), "mcp-server-time 2026.10.19", "PYTHONPATH");
    assert_eq!(shown(fleet.package(&[&bare, "-m", "mcp_server_time"], &[], "")), "-");
    fleet.file("bare/pyvenv.cfg", "home = x\ninclude-system-site-packages = true\n");
    let found = fleet.package(&[&bare, "-m", "mcp_server_time"], &[], "");
    assert_eq!(
        shown(found),
        "mcp-server-time 1.0",
        "a venv that sees the system's packages"
    );
    fleet.pypi(
        "home/.local",
        &Distribution {
            name: "own",
            version: "3",
            module: "own",
            script: Some("own"),
        },
    );
    let first = format!("#!{}\n", fleet.text("usr/bin/python3.11"));
    let script = fleet.program("home/.local/bin/own", &first);
    let script = script.to_string_lossy();
    let found = fleet.package(&[&script], &[("HOME", &fleet.text("home"))], "");
    assert_eq!(shown(found), "own 3", "pip install --user");
}

#[test]
fn a_binary_that_a_wheel_brought_belongs_to_it() {
    let fleet = Fleet::new();
    fleet.venv("py");
    fleet.pypi(
        "py",
        &Distribution {
            name: "fast",
            version: "1.1",
            module: "fast",
            script: Some("fast"),
        },
    );
    fleet.program("py/bin/fast", "\u{7f}ELF");
    let file = fleet.text("py/bin/fast");
    let found = fleet.live(&[&file], "py/bin/fast", &[], "");
    assert_eq!(shown(found.package), "fast 1.1");
    assert_eq!(found.executable, Some(fleet.path("py/bin/fast")));
}
