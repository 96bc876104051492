//! Whole commands: what they print, where, and what they exit with.

use std::fs;

use crate::fleet::{Fleet, server};

const ECHO: &str = "[servers.echo]\ncommand = \"${self}\"\nargs = [\"echo-server\"]\n\
    [[servers.echo.probes]]\ntool = \"echo\"\narguments = { text = \"hi\" }\nexpect = { text = \"hi\" }\n";

#[test]
fn a_run_prints_the_table_on_stdout_and_exits_0() {
    let fleet = Fleet::new(ECHO);
    let outcome = fleet.run(&["run"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("mcp-smoke-echo") && outcome.stdout.contains("calibration"),
        "{}",
        outcome.stdout
    );
    assert_eq!(outcome.stderr, "", "talk belongs on a terminal only");
    assert_eq!(outcome.row("echo")["status"], "pass");
    let markdown = fs::read_to_string(fleet.path().join("reports/latest/report.md")).unwrap();
    assert!(markdown.contains("| Echo") || markdown.contains("| echo"), "{markdown}");
}

#[test]
fn output_json_is_the_record_and_none_is_nothing() {
    let fleet = Fleet::new(ECHO);
    let json = fleet.run(&["run", "--output", "json"]);
    let printed: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(printed, *json.record());
    let markdown = fleet.run(&["run", "--output", "markdown"]);
    assert_eq!(
        markdown.stdout,
        fs::read_to_string(fleet.path().join("reports/latest/report.md")).unwrap()
    );
    assert_eq!(fleet.run(&["run", "--output", "none"]).stdout, "");
}

#[test]
fn flags_set_the_figures_of_a_run_but_never_raise_what_a_probe_says() {
    let manifest = format!(
        "{ECHO}calls = 2\n[[servers.echo.probes]]\nname = \"many\"\ntool = \"echo\"\narguments = {{ text = \"x\" }}\n"
    );
    let outcome = Fleet::new(&manifest).run(&["run", "--calls", "7", "--repeats", "2", "--cold-starts", "3"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let row = outcome.row("echo");
    let samples = |probe: usize| row["probes"][probe]["samples_ms"].as_array().unwrap().len();
    assert_eq!((samples(0), samples(1)), (4, 14));
    let repeats: Vec<_> = row["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["repeat"].clone())
        .collect();
    assert_eq!(repeats, [1.into(), 2.into(), serde_json::Value::Null]);
}

#[test]
fn exit_codes_tell_what_kind_of_night_it_was() {
    let broken = server("broken", "exit-at-start", &["3"], "");
    let fleet = Fleet::new(&format!(
        "{ECHO}{broken}[servers.off]\ncommand = \"x\"\nenabled = false\n"
    ));
    assert_eq!(fleet.run(&["run", "echo"]).code, Some(0));
    assert_eq!(fleet.run(&["run"]).code, Some(1));
    assert_eq!(fleet.run(&["run", "off"]).code, Some(4));
    assert_eq!(fleet.run(&["run", "no-such-row"]).code, Some(2));
    assert_eq!(fleet.run(&["run", "--calls", "0"]).code, Some(2));
    assert_eq!(fleet.run(&["run", "-m", "no-such-file.toml"]).code, Some(2));
    let wrong_version = Fleet::new(&ECHO.replace("[[", "expect = { version = \">=99\" }\n[["));
    assert_eq!(wrong_version.run(&["run"]).code, Some(3));
    let noisy = Fleet::of_modes("calls = 1", &[("banner", &[])]);
    assert_eq!(noisy.run(&["run"]).code, Some(0));
    assert_eq!(noisy.run(&["run", "--strict"]).code, Some(1));
}

#[test]
fn list_shows_the_rows_that_a_run_would_take() {
    let fleet = Fleet::new(&format!(
        "[runtimes.a]\nnode = \">=18\"\n[runtimes.b]\npython = \">=3.8\"\n{ECHO}\
         [servers.two]\ncommand = \"x\"\nruntimes = [\"a\", \"b\"]\ntags = [\"pair\"]\n"
    ));
    let rows = |selectors: &[&str]| {
        let outcome = fleet.run(&[&["list"], selectors].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let ids = outcome
            .stdout
            .lines()
            .map(|line| line.split_whitespace().next().unwrap_or_default().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(rows(&[]), ["echo", "two@a", "two@b"]);
    assert_eq!(rows(&["tag:pair", "!two@b"]), ["two@a"]);
    assert_eq!(rows(&["two"]), ["two@a", "two@b"]);
    assert_eq!(rows(&["e*"]), ["echo"]);
    assert!(!fleet.path().join("reports").exists(), "list starts and writes nothing");
}

#[test]
fn the_schema_and_completions_are_printed() {
    let fleet = Fleet::new(ECHO);
    let schema: serde_json::Value = serde_json::from_str(&fleet.run(&["schema", "manifest"]).stdout).unwrap();
    assert!(schema["properties"]["servers"].is_object());
    assert!(fleet.run(&["completions", "bash"]).stdout.contains("mcp-smoke"));
}

#[test]
fn a_broken_pipe_is_success() {
    use std::process::{Command, Stdio};
    let fleet = Fleet::new(ECHO);
    let mut child = fleet
        .command(&["schema", "manifest"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(Command::new("true").status().unwrap().success());
}

#[test]
fn a_secret_is_written_nowhere() {
    let secret = "s3cr3t-\"quoted\"-value";
    let manifest = server(
        "leaky",
        "secret",
        &["PROBE_API_KEY"],
        "env = { PROBE_API_KEY = \"${env:OUR_KEY}\" }",
    );
    let fleet = Fleet::new(&manifest).env("OUR_KEY", secret);
    let outcome = fleet.run(&["run", "--calls", "2", "--output", "json"]);
    assert_eq!(outcome.code, Some(0), "{} {}", outcome.stdout, outcome.stderr);
    let all = format!("{}{}{}", fleet.everything_written(), outcome.stdout, outcome.stderr);
    assert!(!all.contains(secret) && !all.contains(&secret.replace('"', "\\\"")));
    assert!(all.contains("***"));
}

#[test]
fn an_unset_variable_makes_its_row_an_error_and_the_others_run() {
    let manifest = format!(
        "{ECHO}{}",
        server("keyed", "ok", &[], "env = { KEY = \"${env:SURELY_NOT_SET_7}\" }")
    );
    let fleet = Fleet::new(&manifest);
    let outcome = fleet.run(&["run"]);
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.row("keyed")["status"], "error");
    let finding = &outcome.row("keyed")["findings"][0];
    assert_eq!(finding["code"], "config-error");
    let message = finding["message"].as_str().unwrap();
    assert!(
        message.contains("SURELY_NOT_SET_7") && message.contains("env.KEY"),
        "{message}"
    );
    assert_eq!(outcome.row("echo")["status"], "pass");
}
