//! Entries as users have them, written as manifests, each with the outcome its users would want.

use std::fs;

use crate::fleet::{Fleet, fault_server, server};

fn faulty() -> String {
    fault_server().to_string_lossy().into_owned()
}

/// What the fault server's `echo` of a word like `cwd` or `env:NAME` gave back.
fn reply(outcome: &crate::fleet::Outcome, id: &str, probe: usize) -> String {
    outcome.row(id)["probes"][probe]["reply"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn asking(name: &str, more: &str, questions: &[&str]) -> String {
    let mut text = format!(
        "[servers.{name}]\ncommand = \"python3\"\nargs = [\"{}\", \"env-report\"]\ncalls = 1\n{more}\n",
        faulty()
    );
    for question in questions {
        text += &format!(
            "[[servers.{name}.probes]]\nname = \"{question}\"\ntool = \"echo\"\narguments = {{ text = \"{question}\" }}\n"
        );
    }
    text
}

#[test]
fn placeholders_reach_the_server_as_values_and_files_as_asterisks() {
    let manifest = [
        asking(
            "in-env",
            "env = { TRACKER_API_TOKEN = \"${env:TRACKER_API_TOKEN}\" }",
            &["env:TRACKER_API_TOKEN"],
        ),
        asking(
            "defaulted",
            "env = { BASE_URL = \"${env:NO_SUCH_BASE:-https://api.example.com}\" }",
            &["env:BASE_URL"],
        ),
        asking(
            "plain-dollar",
            "env = { PRICE = \"$5\", WHO = \"$USER\" }",
            &["env:PRICE", "env:WHO"],
        ),
        asking("literal", "env = { RAW = \"$${NOT_OURS}\" }", &["env:RAW"]),
    ]
    .concat();
    let fleet = Fleet::new(&manifest).env("TRACKER_API_TOKEN", "trk-0123456789");
    let outcome = fleet.run(&["run"]);
    assert_eq!(outcome.code, Some(0), "{} {}", outcome.stdout, outcome.stderr);
    assert!(reply(&outcome, "in-env", 0).contains("***"));
    assert!(!fleet.everything_written().contains("trk-0123456789"));
    assert!(reply(&outcome, "defaulted", 0).contains("https://api.example.com"));
    assert!(reply(&outcome, "plain-dollar", 0).contains("$5") && reply(&outcome, "plain-dollar", 1).contains("$USER"));
    assert!(reply(&outcome, "literal", 0).contains("${NOT_OURS}"));

    let unset = Fleet::new(&format!(
        "[servers.in-args]\ncommand = \"python3\"\nargs = [\"{}\", \"ok\", \"--dsn\", \"${{env:DATABASE_ACCESS_TOKEN}}\"]\n",
        faulty()
    ));
    let outcome = unset.run(&["run"]);
    let message = outcome.row("in-args")["findings"][0]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.contains("DATABASE_ACCESS_TOKEN") && message.contains("args[3]"),
        "{message}"
    );
    assert!(outcome.row("in-args")["sessions"].as_array().unwrap().is_empty());
}

#[test]
fn a_disabled_server_is_listed_as_skipped_and_never_started() {
    let touching = |name: &str, more: &str| {
        format!(
            "[servers.{name}]\ncommand = \"sh\"\nargs = [\"-c\", \"touch started-{name}; exec python3 {} ok\"]\n{more}\n",
            faulty()
        )
    };
    let fleet = Fleet::new(&[touching("on", ""), touching("off", "enabled = false")].concat());
    let outcome = fleet.run(&["run"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(fleet.path().join("started-on").exists() && !fleet.path().join("started-off").exists());
    assert_eq!(outcome.row("off")["status"], "skip");
    assert_eq!(outcome.row("off")["skip_reason"], "disabled");
    assert_eq!(outcome.record()["totals"]["skip"], 1);

    let text_flag = Fleet::new(&touching("text-flag", "enabled = \"false\""));
    let outcome = text_flag.run(&["run"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("enabled") && outcome.stderr.contains("servers.toml:4"),
        "{}",
        outcome.stderr
    );
    assert!(!text_flag.path().join("started-text-flag").exists());
}

#[test]
fn a_remote_server_is_skipped_as_such() {
    let outcome = Fleet::new("[servers.far]\nurl = \"https://example.com/sse\"\ntransport = \"sse\"\n").run(&["run"]);
    assert_eq!(outcome.code, Some(4), "{}", outcome.stderr);
    assert_eq!(outcome.row("far")["skip_reason"], "remote");
}

#[test]
fn a_whole_command_line_in_command_is_not_run_by_a_shell_and_the_message_shows_the_split() {
    let manifest = format!(
        "[servers.one-string]\ncommand = \"python3 {0} ok\"\n[servers.npx-string]\ncommand = \"npx -y @modelcontextprotocol/server-filesystem /tmp\"\n\
         [servers.glued-args]\ncommand = \"python3\"\nargs = [\"{0} ok\"]\n",
        faulty()
    );
    let outcome = Fleet::new(&manifest).run(&["run"]);
    assert_eq!(outcome.code, Some(1));
    for (id, first) in [("one-string", "python3"), ("npx-string", "npx")] {
        let finding = &outcome.row(id)["findings"][0];
        assert_eq!(finding["code"], "spawn-failed");
        let text = finding.to_string();
        assert!(
            text.contains("spaces") && text.contains("args") && text.contains(first),
            "{text}"
        );
    }
    let glued = &outcome.row("glued-args")["findings"][0];
    assert_eq!(glued["code"], "exited-early");
    let text = glued["message"].as_str().unwrap();
    assert!(text.contains("code 2") && text.contains("No such file"), "{text}");
}

#[test]
fn wrong_types_in_an_entry_are_mistakes_that_name_the_field() {
    for (entry, field) in [
        ("command = \"python3\"\nargs = \"faulty.py ok\"", "args"),
        ("command = [\"python3\", \"faulty.py\", \"ok\"]", "command"),
        ("command = \"python3\"\nenv = { EMPTY = [] }", "EMPTY"),
    ] {
        let outcome = Fleet::new(&format!("[servers.a]\n{entry}\n")).run(&["check"]);
        assert_eq!(outcome.code, Some(2), "{entry}");
        assert!(
            outcome.stderr.contains(field) && outcome.stderr.contains("servers.toml:"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn the_working_directory_is_honoured_and_a_missing_one_named() {
    let home = tempfile::tempdir().unwrap();
    let absolute = tempfile::tempdir().unwrap();
    let spaced = absolute.path().join("sub dir");
    fs::create_dir(&spaced).unwrap();
    let manifest = [
        asking("absolute", &format!("cwd = \"{}\"", spaced.display()), &["cwd"]),
        asking("relative", "cwd = \"sub dir\"", &["cwd"]),
        asking("tilde", "cwd = \"~\"", &["cwd"]),
        asking("missing", "cwd = \"not there\"", &["cwd"]),
        "[servers.args-tilde]\ncommand = \"python3\"\nargs = [\"~/no-such-dir/server.py\"]\n".into(),
        "[servers.command-tilde]\ncommand = \"~/no-such-dir/server\"\n".into(),
    ]
    .concat();
    let fleet = Fleet::new("").env("HOME", &home.path().to_string_lossy());
    fleet.write("nested/servers.toml", &manifest);
    fs::create_dir(fleet.path().join("nested/sub dir")).unwrap();
    // Started from another folder than the manifest's.
    let outcome = fleet.run(&["run", "-m", "nested/servers.toml"]);
    assert!(reply(&outcome, "absolute", 0).contains("sub dir"));
    assert!(
        reply(&outcome, "relative", 0).contains("nested/sub dir"),
        "{}",
        reply(&outcome, "relative", 0)
    );
    assert!(reply(&outcome, "tilde", 0).contains(&*home.path().to_string_lossy()));
    let message = |id: &str| outcome.row(id)["findings"][0]["message"].as_str().unwrap().to_owned();
    assert!(
        message("missing").contains("working directory") && message("missing").contains("not there"),
        "{}",
        message("missing")
    );
    let tried = home.path().join("no-such-dir/server");
    assert!(
        message("command-tilde").contains(&*tried.to_string_lossy()),
        "{}",
        message("command-tilde")
    );
    assert!(
        message("args-tilde").contains("no-such-dir/server.py"),
        "{}",
        message("args-tilde")
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read() {
    let manifest = format!("\u{feff}{}", server("works", "ok", &[], "").replace('\n', "\r\n"));
    assert_eq!(Fleet::new(&manifest).run(&["run", "--calls", "1"]).code, Some(0));
}

#[test]
fn the_runtime_stands_in_the_row_also_when_the_server_never_answered() {
    let manifest = format!(
        "[runtimes.py]\npython = \">=3.8\"\n[servers.dead]\ncommand = \"python3\"\nargs = [\"{}\", \"exit-at-start\", \"3\"]\nruntimes = [\"py\"]\n",
        faulty()
    );
    let outcome = Fleet::new(&manifest).run(&["run"]);
    let identity = &outcome.row("dead@py")["identity"];
    assert_eq!(identity["runtime"]["kind"], "python");
    assert!(
        identity["runtime"]["version"].as_str().unwrap().starts_with("3."),
        "{identity}"
    );
    assert_eq!(identity["launcher"], "direct");
}

/// A pipe that whoever started us left open is in our servers too, and a wrapper closes it for its child.
#[test]
fn the_server_behind_a_wrapper_is_found_whatever_pipes_were_inherited() {
    let wrapper = "import subprocess, sys; sys.exit(subprocess.Popen(sys.argv[1:], stdin=0, stdout=1).wait())";
    let fleet = Fleet::new(&format!(
        "[servers.wrapped]\ncommand = \"python3\"\nargs = [\"-c\", \"{wrapper}\", \"${{self}}\", \"echo-server\"]\n"
    ));
    let mut run = std::process::Command::new("sh");
    run.args([
        "-c",
        "exec 9<&0 0</dev/null; exec \"$0\" run",
        env!("CARGO_BIN_EXE_mcp-smoke"),
    ]);
    let mut child = run
        .current_dir(fleet.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(held);
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(fleet.path().join("reports/latest/report.json")).unwrap()).unwrap();
    assert_eq!(record["rows"][0]["identity"]["runtime"]["kind"], "mcp-smoke");
}

#[test]
fn secrets_in_every_form_that_users_write_them_are_masked() {
    let secrets = [
        ("env", "GITHUB_PAT", "hunter-one-1"),
        ("env", "DB_PASS", "hunter-two-2"),
        (
            "env",
            "OPENAPI_MCP_HEADERS",
            r#"{"Authorization": "Bearer hunter-three-3", "Accept": "text/plain"}"#,
        ),
        (
            "env",
            "CONNECTION_STRING",
            "Server=x;Database=y;Password=hunter-four-4;",
        ),
        ("args", "--cookie", "hunter-five-5"),
        ("args", "--header", "X-Api-Key: hunter-six-6"),
        ("args", "plain", "ghp_hunter7hunter7hunter7"),
    ];
    let env: Vec<String> = secrets
        .iter()
        .filter(|(place, _, _)| *place == "env")
        .map(|(_, name, value)| format!("{name} = '{value}'"))
        .collect();
    let args: Vec<String> = secrets
        .iter()
        .filter(|(place, _, _)| *place == "args")
        .map(|(_, name, value)| format!("'{name}', '{value}'"))
        .collect();
    // A server that prints all that it got, and dies.
    let script = "import os, sys; print(sys.argv, dict(os.environ), file=sys.stderr); sys.exit(1)";
    let manifest = format!(
        "[servers.leaky]\ncommand = \"python3\"\nargs = ['-c', '{script}', {}]\nenv = {{ {} }}\n[servers.glued]\ncommand = \"npx --token hunter-eight-8\"\n",
        args.join(", "),
        env.join(", ")
    );
    let fleet = Fleet::new(&manifest);
    let outcome = fleet.run(&["run"]);
    let all = format!("{}{}{}", fleet.everything_written(), outcome.stdout, outcome.stderr);
    assert!(all.contains("Database=y"), "what is no secret stays");
    assert!(
        !all.contains("hunter"),
        "{}",
        all.lines()
            .filter(|line| line.contains("hunter"))
            .take(4)
            .collect::<Vec<_>>()
            .join("\n")
    );
}
