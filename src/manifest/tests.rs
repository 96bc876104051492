//! Every kind of mistake, as it is shown; and that schema and structs are one.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::{Strategy, any, prop_assert, proptest};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::model::{self, Manifest};
use super::{Mistakes, SCHEMA};
use crate::finding::Code;

const GOOD: &str = "[servers.a]\ncommand = \"true\"\n";

fn parse(text: &str) -> Result<Manifest, Mistakes> {
    Manifest::parse(text, Path::new("servers.toml"))
}

/// The mistakes of a text as they are shown, which a snapshot of this name holds.
#[track_caller]
fn shows(name: &str, count: usize, text: &str) {
    let mistakes = parse(text).expect_err("a manifest with a mistake");
    insta::assert_snapshot!(name, mistakes.plain(), text);
    assert_eq!(mistakes.len(), count, "{}", mistakes.plain());
}

#[test]
fn keys_that_do_not_exist_are_told_with_the_nearest_that_does() {
    shows("unknown_key", 1, "[servers.a]\ncommand = \"true\"\ncomand = \"x\"\n");
    shows(
        "unknown_table",
        1,
        "[server.a]\ncommand = \"true\"\n[servers.b]\ncommand = \"x\"\n",
    );
    shows("disabled", 1, "[servers.a]\ncommand = \"true\"\ndisabled = true\n");
    shows(
        "unknown_key_of_a_probe",
        1,
        "[servers.a]\ncommand = \"true\"\nprobes = [{ tool = \"echo\", args = {} }]\n",
    );
    shows(
        "unknown_finding",
        1,
        "[severity]\ntool-aded = \"ignore\"\n[servers.a]\ncommand = \"true\"\n",
    );
}

#[test]
fn values_of_the_wrong_type_are_told_with_what_would_be_right() {
    shows("wrong_type", 1, "[servers.a]\ncommand = \"true\"\nargs = \"x --y\"\n");
    shows(
        "command_as_a_list",
        1,
        "[servers.a]\ncommand = [\"python3\", \"server.py\", \"ok\"]\n",
    );
    shows(
        "enabled_as_text",
        1,
        "[servers.a]\ncommand = \"true\"\nenabled = \"false\"\n",
    );
    shows(
        "numbers_in_env",
        2,
        "[servers.a]\ncommand = \"true\"\nenv = { PORT = 8080, DEBUG = true }\n",
    );
    shows(
        "a_duration_as_a_number",
        1,
        "[servers.a]\ncommand = \"true\"\ncall_timeout = 30\n",
    );
    shows(
        "a_date",
        1,
        "[servers.a]\ncommand = \"true\"\nexpect.version = 2026-08-18\n",
    );
    shows("a_server_that_is_no_table", 1, "[servers]\na = \"npx server\"\n");
}

#[test]
fn placeholders_that_are_not_known_are_told_with_those_that_are() {
    shows(
        "unknown_placeholder",
        1,
        "[servers.a]\ncommand = \"true\"\nargs = [\"${nope}\"]\n",
    );
    shows(
        "a_variable_as_other_clients_write_it",
        1,
        "[servers.a]\ncommand = \"true\"\nenv = { K = \"x ${TRACKER_API_TOKEN} y\" }\n",
    );
    shows(
        "a_placeholder_that_is_nearly_one",
        1,
        "[servers.a]\ncommand = \"true\"\nargs = [\"${workspce}/x\"]\n",
    );
    shows(
        "an_open_placeholder",
        1,
        "[servers.a]\ncommand = \"true\"\nargs = [\"${workspace\"]\n",
    );
    shows(
        "a_placeholder_where_none_can_stand",
        2,
        "[servers.a]\ncommand = \"true\"\ntitle = \"${port}\"\ntags = [\"${env:TAG}\"]\n",
    );
    shows(
        "a_placeholder_in_a_probe",
        1,
        "[servers.a]\ncommand = \"true\"\n[[servers.a.probes]]\ntool = \"t\"\narguments = { deep = [{ path = \"${git}/x\" }] }\n",
    );
}

#[test]
fn names_that_must_exist_elsewhere_are_looked_up() {
    shows(
        "unknown_runtime",
        1,
        "[servers.a]\ncommand = \"true\"\nruntimes = [\"node99\"]\n",
    );
    shows(
        "unknown_runtime_with_a_near_one",
        2,
        "[runtimes.node24]\nnode = \"24\"\n[servers.a]\ncommand = \"true\"\nruntimes = [\"node42\"]\n[servers.a.expect_on.node20]\nversion = \"1\"\n",
    );
    shows(
        "unknown_program",
        1,
        "[servers.a]\ncommand = \"true\"\nrequires = [\"chromuim\", \"git\"]\n[[requires]]\nprogram = \"chromium\"\n",
    );
}

#[test]
fn values_are_read_as_what_they_stand_for() {
    shows(
        "bad_duration",
        1,
        "[servers.a]\ncommand = \"true\"\ncall_timeout = \"soon\"\n",
    );
    shows(
        "no_time_at_all",
        1,
        "[servers.a]\ncommand = \"true\"\ncall_timeout = \"0s\"\n",
    );
    shows(
        "bad_range",
        1,
        "[servers.a]\ncommand = \"true\"\nexpect = { version = \"not a range at all\" }\n",
    );
    shows(
        "bad_range_of_a_runtime",
        1,
        "[runtimes.node]\nnode = \"lts\"\n[servers.a]\ncommand = \"true\"\n",
    );
    shows(
        "npm_range_for_pypi",
        1,
        "[servers.a]\ncommand = \"true\"\npackage = \"pypi:x\"\nexpect.package_version = \"^1.2\"\n",
    );
    shows(
        "bad_package",
        2,
        "[servers.a]\ncommand = \"true\"\npackage = [\"server-filesystem\", \"pypi:x@1.0\"]\n",
    );
    shows(
        "bad_pattern",
        1,
        "[servers.a]\ncommand = \"true\"\nprobes = [{ tool = \"t\", expect = { matches = \"a(b\" } }]\n",
    );
    shows(
        "bad_protocol",
        1,
        "[servers.a]\ncommand = \"true\"\nprotocol = \"modern\"\n",
    );
    shows(
        "bad_choice",
        1,
        "[servers.a]\ncommand = \"true\"\ninherit_env = \"some\"\n",
    );
    shows(
        "bad_name",
        2,
        "[servers.\"a b\"]\ncommand = \"true\"\nenv = { \"A=B\" = \"x\" }\n",
    );
}

#[test]
fn what_is_missing_is_told_at_its_table() {
    shows("no_command", 1, "[servers.a]\ntitle = \"x\"\n");
    shows(
        "command_and_url",
        1,
        "[servers.a]\ncommand = \"true\"\nurl = \"https://example.com/mcp\"\n",
    );
    shows(
        "probe_without_tool",
        1,
        "[servers.a]\ncommand = \"true\"\n[[servers.a.probes]]\narguments = {}\n",
    );
    shows("no_servers", 1, "[defaults]\ncalls = 3\n");
    shows("empty_servers", 1, "[servers]\n");
    shows("nothing_at_all", 1, "");
    shows(
        "runtime_without_range",
        1,
        "[runtimes.node]\n[servers.a]\ncommand = \"true\"\n",
    );
    shows(
        "headers_without_url",
        1,
        "[servers.a]\ncommand = \"true\"\n[servers.a.headers]\nAuthorization = \"x\"\n",
    );
}

#[test]
fn numbers_have_bounds() {
    shows(
        "zero_calls",
        1,
        "[defaults]\ncalls = 0\n[servers.a]\ncommand = \"true\"\n",
    );
    shows("many_retries", 1, "[servers.a]\ncommand = \"true\"\nretries = 100\n");
    shows(
        "two_probes_of_one_name",
        1,
        "[servers.a]\ncommand = \"true\"\nprobes = [{ name = \"x\", tool = \"a\" }, { name = \"x\", tool = \"b\" }]\n",
    );
    shows(
        "runtime_named_twice",
        1,
        "[runtimes.n]\nnode = \"24\"\n[servers.a]\ncommand = \"true\"\nruntimes = [\"n\", \"n\"]\n",
    );
}

#[test]
fn mistakes_of_the_grammar_are_told_with_their_line() {
    shows("syntax", 1, "[servers.a\ncommand = \"true\"\n");
    shows(
        "two_lines_of_bad_syntax",
        2,
        "[servers.a]\ncommand = \nargs = [\"x\"]\ntitle = 'x\n",
    );
    shows(
        "the_same_key_twice",
        1,
        "[servers.a]\ncommand = \"true\"\ncommand = \"false\"\n",
    );
    shows(
        "the_same_server_twice",
        2,
        "[servers.a]\ncommand = \"true\"\n[servers.a]\ncommand = \"false\"\n",
    );
}

#[test]
fn ten_mistakes_are_told_at_once() {
    shows(
        "ten",
        10,
        r#"[defaults]
calls = 0
startup_timeout = "soon"

[runtimes.node20]
node = "twenty"

[servers.one]
comand = "npx"

[servers.two]
command = "npx"
args = "-y x"
runtimes = ["node24"]
enabled = "no"
env = { KEY = "${KEY}" }

[servers.two.expect]
version = "newest"

[[servers.two.probes]]
expect = { text = "hello" }
"#,
    );
}

#[test]
fn a_byte_order_mark_and_windows_lines_are_accepted() {
    let manifest = parse("\u{feff}[servers.a]\r\ncommand = \"x\"\r\nargs = ['C:\\dir\\', \"two words\"]\r\n")
        .expect("a good manifest");
    assert_eq!(manifest.servers[0].1.args.len(), 2);
    let mistakes = parse("\u{feff}[servers.a]\r\ncommand = \"x\"\r\ncwd = 3\r\n").expect_err("a mistake");
    assert!(mistakes.plain().contains("servers.toml:3:7"), "{}", mistakes.plain());
    assert!(!mistakes.plain().contains('\r'));
}

#[test]
fn servers_keep_their_order_and_their_lines() {
    let manifest = parse(
        "[servers.zebra]\ncommand = \"z\"\n\n[servers.ant.expect]\nname = \"x\"\n[servers.ant]\ncommand = \"a\"\n",
    )
    .expect("a good manifest");
    let seen: Vec<(&str, usize)> = manifest
        .servers
        .iter()
        .map(|(name, server)| (name.as_str(), server.line))
        .collect();
    assert_eq!(seen, [("zebra", 1), ("ant", 6)]);
}

#[test]
fn colours_say_no_more_than_the_plain_text() {
    let mistakes = parse("[servers.a]\n").expect_err("a mistake");
    assert!(mistakes.coloured().contains('\u{1b}'));
    assert!(!mistakes.plain().contains('\u{1b}'));
}

#[test]
fn control_characters_of_a_manifest_do_not_reach_the_terminal() {
    let mistakes = parse("[servers.a]\ncommand = \"x\"\n\"\\u001b[31mred\" = 1\ncall_timeout = \"\\u001b[2J\"\n")
        .expect_err("mistakes");
    assert!(!mistakes.plain().contains('\u{1b}'), "{}", mistakes.plain());
}

#[test]
fn every_key_of_the_design_is_accepted_and_arrives() {
    let manifest = parse(include_str!("../../tests/fixtures/manifests/every-key.toml"))
        .unwrap_or_else(|mistakes| panic!("{mistakes}"));
    insta::assert_debug_snapshot!("every_key", manifest.servers);
    assert_eq!(manifest.defaults.jobs, Some(2));
    assert_eq!(manifest.severity.len(), 1);
    assert_eq!(manifest.requires[0].install.len(), 2);
}

#[test]
fn the_example_of_the_design_is_a_good_manifest() {
    let manifest = parse(include_str!("../../tests/fixtures/manifests/example.toml"))
        .unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(manifest.servers[0].1.probes.len(), 2);
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn properties(definition: &str) -> BTreeSet<String> {
    let schema = schema();
    let pointer = if definition.is_empty() {
        "/properties".to_owned()
    } else {
        format!("/$defs/{definition}/properties")
    };
    let properties = schema
        .pointer(&pointer)
        .and_then(Value::as_object)
        .expect("a definition with properties");
    properties.keys().cloned().collect()
}

/// The keys that a struct knows, taken from what serde says about one that it does not know.
fn fields<T: DeserializeOwned + std::fmt::Debug>() -> BTreeSet<String> {
    let problem = serde_json::from_value::<T>(json!({ "no such key": 1 }))
        .expect_err("an unknown key")
        .to_string();
    let (_, known) = problem.split_once("expected").expect("serde names the known keys");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn schema_and_structs_know_the_same_keys() {
    assert_eq!(properties(""), fields::<Manifest>());
    assert_eq!(properties("defaults"), fields::<model::Defaults>());
    assert_eq!(properties("runtime"), fields::<model::Runtime>());
    assert_eq!(properties("server"), fields::<model::Server>());
    assert_eq!(properties("expect"), fields::<model::Expect>());
    assert_eq!(properties("probe"), fields::<model::Probe>());
    assert_eq!(properties("probe_expect"), fields::<model::ProbeExpect>());
    assert_eq!(properties("requires"), fields::<model::Requires>());
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| code.name().to_owned()).collect();
    assert_eq!(properties("severity"), codes);
}

#[test]
fn the_schema_is_one_and_every_key_is_described() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    for definition in [
        "defaults",
        "runtime",
        "server",
        "expect",
        "probe",
        "probe_expect",
        "requires",
    ] {
        for (key, property) in schema["$defs"][definition]["properties"]
            .as_object()
            .expect("properties")
        {
            assert!(property["description"].is_string(), "{definition}.{key}");
        }
    }
    for code in Code::ALL {
        let default = &schema["$defs"]["severity"]["properties"][code.name()]["default"];
        assert_eq!(
            default,
            &serde_json::to_value(code.default_severity()).expect("a word"),
            "{code}"
        );
    }
}

/// Lines that look like a manifest's, right and wrong.
fn manifest_like() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec![
        "[servers.a]",
        "[servers.b]",
        "[defaults]",
        "[[servers.a.probes]]",
        "[severity]",
        "[[requires]]",
        "[runtimes.n]",
        "command = \"x\"",
        "command = [1]",
        "args = [\"${workspace}\", \"${é\"]",
        "calls = 0",
        "call_timeout = \"1é\"",
        "env = { A = 1 }",
        "tool = \"t\"",
        "arguments = { a = 1e400, b = 2020-01-01 }",
        "expect = { matches = \"(\" }",
        "expect.version = \"^\"",
        "package = \"npm:\"",
        "= 3",
        "a.b = 3",
        "'\u{feff}' = \"\"\"",
        "# é",
        "runtimes = [\"n\"]",
        "node = \"20\"",
        "n = 99999999999999999999",
        "program = \"x\"",
    ]);
    proptest::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        if let Err(mistakes) = parse(&text) {
            prop_assert!(!mistakes.is_empty() && !mistakes.plain().is_empty());
        }
    }

    #[test]
    fn no_manifest_makes_it_panic_or_is_refused_without_a_reason(text in manifest_like()) {
        if let Err(mistakes) = parse(&text) {
            prop_assert!(mistakes.iter().all(|mistake| !mistake.title.starts_with("the manifest cannot be read")), "{}", mistakes.plain());
            prop_assert!(mistakes.coloured().contains("servers.toml"));
        }
    }
}

#[test]
fn a_small_manifest_is_enough() {
    assert_eq!(parse(GOOD).expect("a good manifest").servers.len(), 1);
}
