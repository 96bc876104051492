//! Launch commands as text: the launcher's word, and what was wanted.

use std::path::Path;

use crate::event::Launcher;

use super::super::{comparable_name, launcher_of, npx, wanted_of};
use super::fleet::command;
use crate::event::Ecosystem;

fn launcher(command_line: &[&str]) -> Launcher {
    launcher_of(&command(command_line, &[], Path::new("/")))
}

fn wanted(command_line: &[&str]) -> Option<String> {
    let found = wanted_of(&command(command_line, &[], Path::new("/")));
    found.map(|(ecosystem, name, wanted)| format!("{} {name} {wanted}", ecosystem.name()))
}

#[test]
fn every_launcher_has_its_word() {
    let cases: &[(&[&str], Launcher)] = &[
        (&["npx", "-y", "x"], Launcher::Npx),
        (&["/usr/bin/npx", "x"], Launcher::Npx),
        (&["npm", "exec", "--", "x"], Launcher::Npx),
        (&["npm", "x", "-y", "x"], Launcher::Npx),
        (&["npm", "--prefix", "/p", "exec", "x"], Launcher::Npx),
        (
            &["node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "-y", "x"],
            Launcher::Npx,
        ),
        (&["npm", "start"], Launcher::Direct),
        (&["uvx", "x"], Launcher::Uvx),
        (&["uv", "tool", "run", "x"], Launcher::Uvx),
        (&["uv", "--cache-dir", "/c", "tool", "run", "x"], Launcher::Uvx),
        (&["uv", "run", "x.py"], Launcher::Direct),
        (&["uv", "tool", "install", "x"], Launcher::Direct),
        (&["env", "A=B", "node", "x.js"], Launcher::Direct),
        (&["env", "-i", "-u", "C", "A=B", "npx", "x"], Launcher::Npx),
        (&["env", "-S", "A=B npx -y x"], Launcher::Npx),
        (&["python3", "-m", "x"], Launcher::Direct),
        (&["sh", "-c", "node x.js"], Launcher::Shell),
        (&["sh", "-c", "npx -y x"], Launcher::Shell),
        (&["bash", "-lc", "cd /x && npx -y x"], Launcher::Shell),
        (&["bash", "run.sh"], Launcher::Direct),
        (&["docker", "run", "-i", "--rm", "image"], Launcher::Docker),
        (&["podman", "run", "image"], Launcher::Docker),
        (&["mcp-server-time"], Launcher::Direct),
    ];
    for (command_line, expected) in cases {
        assert_eq!(launcher(command_line), *expected, "{command_line:?}");
    }
}

#[test]
fn what_was_wanted_is_read_from_the_spec_as_typed() {
    let cases: &[(&[&str], Option<&str>)] = &[
        (&["npx", "-y", "@scope/x@1.2"], Some("npm @scope/x 1.2")),
        (&["npx", "x"], Some("npm x *")),
        (&["npx", "--yes", "@scope/x"], Some("npm @scope/x *")),
        (&["npx", "-y", "x@latest", "--port", "3"], Some("npm x latest")),
        (&["npx", "-y", "x@^1.2 || 3"], Some("npm x ^1.2 || 3")),
        (&["npx", "-y", "-p", "x@1", "y"], Some("npm x 1")),
        (&["npx", "--package=x@1", "--", "y", "z"], Some("npm x 1")),
        (&["npx", "-p", "a", "-p", "@s/y@2", "y"], Some("npm @s/y 2")),
        (&["npx", "-p", "a", "-p", "b", "y"], None),
        (
            &["npx", "--prefer-offline", "--registry", "http://127.0.0.1", "x"],
            Some("npm x *"),
        ),
        (&["npx", "--no-install", "x"], Some("npm x *")),
        (&["npm", "exec", "--yes", "--", "x@2", "-p"], Some("npm x 2")),
        (&["npm", "exec", "--package=x", "-c", "y"], Some("npm x *")),
        (&["npx", "github:user/repo"], None),
        (&["npx", "./local"], None),
        (&["npx", "https://127.0.0.1/x.tgz"], None),
        (&["npx", "x@npm:y@1"], None),
        (&["uvx", "mcp-server-time"], Some("pypi mcp-server-time *")),
        (&["uvx", "mcp-server-time==1"], Some("pypi mcp-server-time ==1")),
        (&["uvx", "--from", "x>=1,<2", "y"], Some("pypi x >=1,<2")),
        (&["uvx", "--from=x[cli]==1", "y"], Some("pypi x ==1")),
        (&["uvx", "--python", "3.12", "x@latest", "-v"], Some("pypi x latest")),
        (&["uvx", "x@1.2"], Some("pypi x 1.2")),
        (&["uv", "tool", "run", "--with", "z", "x"], Some("pypi x *")),
        (&["uvx", "--from", "git+https://127.0.0.1/x", "y"], None),
        (&["uvx", "--from", "x @ https://127.0.0.1/x.whl", "y"], None),
        (&["env", "A=B", "npx", "-y", "x@1"], Some("npm x 1")),
        (&["sh", "-c", "A=B exec npx -y 'x@1' 2>&1"], Some("npm x 1")),
        (&["bash", "-c", "cd /srv && npx -y x@1"], Some("npm x 1")),
        (&["node", "x.js"], None),
        (&["docker", "run", "x"], None),
    ];
    for (command_line, expected) in cases {
        assert_eq!(wanted(command_line).as_deref(), *expected, "{command_line:?}");
    }
}

#[test]
fn npx_folders_are_named_as_npm_names_them() {
    // Seen with npm 11.19.1.
    assert_eq!(npx::folder_name(&["cowsay@1.5.0".to_owned()]), "ca5a7826f0bb9617");
    assert_eq!(npx::folder_name(&["@sentry/mcp-server".to_owned()]), "65010bb6b87eaf3a");
    let specs = |names: [&str; 2]| names.map(str::to_owned);
    assert_eq!(
        npx::folder_name(&specs(["b", "@a/x"])),
        npx::folder_name(&specs(["@a/x", "b"]))
    );
}

#[test]
fn python_names_compare_in_one_form() {
    assert_eq!(comparable_name(Ecosystem::Pypi, "MCP_server.Time"), "mcp-server-time");
    assert_eq!(comparable_name(Ecosystem::Npm, "@Scope/x_y"), "@Scope/x_y");
}
