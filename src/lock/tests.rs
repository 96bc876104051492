//! Tests of the lock's text: it comes back as it was, and nothing wrong in it goes unseen.

use std::path::Path;

use jiff::civil::date;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use super::{Accepted, Lock, LockedRow, PackageVersion, RowFacts, RuntimeVersion};
use crate::event::{Ecosystem, Era, RowId};
use crate::finding::Code;
use crate::record::{ToolRecord, canonical, sha256};

fn tool(name: &str, schema: &Value) -> (String, ToolRecord) {
    let tool = ToolRecord {
        name: name.to_owned(),
        description_sha256: Some(sha256("Return the text")),
        input_schema: Some(canonical(schema)),
        output_schema: None,
        annotations: Some(json!({ "readOnlyHint": true })),
    };
    (name.to_owned(), tool)
}

fn lock() -> Lock {
    let row = LockedRow {
        accepted_on: date(2026, 11, 30),
        run: "20261129T021500Z".to_owned(),
        facts: RowFacts {
            package: Some(PackageVersion {
                ecosystem: Ecosystem::Npm,
                name: "@sentry/mcp-server".to_owned(),
                wanted: Some("*".to_owned()),
                installed: Some("0.36.0".to_owned()),
            }),
            reported_name: Some("Sentry".to_owned()),
            reported_version: Some("0.36.0".to_owned()),
            runtime: Some(RuntimeVersion {
                kind: "node".to_owned(),
                version: Some("20.20.2".to_owned()),
            }),
            era: Era::Initialize,
            protocol: "2025-11-25".to_owned(),
            tools: Some(
                [
                    tool("who am i", &json!({"type": "object"})),
                    tool("echo", &json!({"it's": 1.5})),
                ]
                .into(),
            ),
        },
        accepted: vec![Accepted {
            code: Code::HeldBack,
            fact: "engines".to_owned(),
            on: date(2026, 11, 30),
        }],
    };
    Lock {
        rows: [(RowId("sentry@node20".to_owned()), row)].into(),
    }
}

fn parse(text: &str) -> Result<Lock, String> {
    Lock::parse(text, Path::new("servers.lock")).map_err(|mistakes| mistakes.plain())
}

#[test]
fn the_text_is_made_to_be_reviewed() {
    insta::assert_snapshot!(lock().to_toml());
}

#[test]
fn it_comes_back_as_it_was() {
    assert_eq!(parse(&lock().to_toml()), Ok(lock()));
    assert_eq!(parse(&Lock::default().to_toml()), Ok(Lock::default()));
    assert_eq!(parse(&lock().to_toml().replace('\n', "\r\n")), Ok(lock()));
}

#[test]
fn it_lies_beside_its_manifest() {
    assert_eq!(
        Lock::path_beside(Path::new("a/servers.toml")),
        Path::new("a/servers.lock")
    );
    assert_eq!(Lock::path_beside(Path::new("night.toml")), Path::new("night.lock"));
}

#[test]
fn a_mistake_is_told_with_its_line_and_a_caret() {
    let text = lock().to_toml();
    let check = |from: &str, to: &str, title: &str, line: &str| {
        assert!(text.contains(from), "{from}");
        let told = parse(&text.replacen(from, to, 1)).expect_err(from);
        let number = 1 + text[..text.find(line).expect("a line of the text")]
            .matches('\n')
            .count();
        assert!(told.contains(title), "{told}");
        assert!(told.contains(&format!("servers.lock:{number}:")), "{number}: {told}");
        assert!(told.contains('^'), "{told}");
    };
    check(
        "installed = \"0.36.0\"",
        "installed = \"0.39.0\"",
        "changed by hand",
        "sha256 =",
    );
    check("wanted = \"*\"", "wanted = \"^1\"", "changed by hand", "sha256 =");
    check(
        "installed = \"0.36.0\"",
        "installed = 36",
        "must be a text",
        "installed =",
    );
    check("installed =", "instaled =", "unknown key `instaled`", "installed =");
    check(
        "accepted_on = 2026-11-30",
        "accepted_on = \"today\"",
        "must be a day",
        "accepted_on =",
    );
    check(
        "\"held-back\"",
        "\"hold-back\"",
        "unknown finding `hold-back`",
        "{ code =",
    );
    check("\"initialize\"", "\"initialise\"", "none of the words", "handshake =");
    check("'{\"type\"", "'{type", "no JSON", "input_schema = '{\"type\"");
    check("format = 1", "format = 2", "reads format 1", "format = 1");
    check("protocol = \"2025-11-25\"", "protocol = \"2025-11-25", "", "protocol =");
    check("run = \"20261129T021500Z\"\n", "", "lacks `run`", "[rows");
}

#[test]
fn a_cut_lock_is_never_taken_for_a_whole_one() {
    let text = lock().to_toml();
    let end = text.find("[end]").expect("an end") + "[end]".len();
    for length in (0..end).filter(|length| text.is_char_boundary(*length)) {
        let told = parse(&text[..length]).expect_err("cut");
        assert!(told.contains("servers.lock"), "{told}");
    }
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9._@/-]{0,12}".prop_map(String::from),
        any::<String>(),
        "(?s).{0,6}['\"\\\\\u{7f}\u{85}\u{202e}\r\n\t]{1,3}.{0,3}".prop_map(String::from),
    ]
}

fn schemas() -> impl Strategy<Value = Option<Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts().prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(texts(), inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect()))
        ]
    });
    proptest::option::of(value.prop_map(|value| canonical(&value)))
}

fn rows() -> impl Strategy<Value = LockedRow> {
    let package = proptest::option::of((texts(), proptest::option::of(texts()), proptest::option::of(texts())));
    let runtime = proptest::option::of((texts(), proptest::option::of(texts())));
    let reported = (proptest::option::of(texts()), proptest::option::of(texts()));
    let tools = proptest::collection::btree_map(texts(), (schemas(), schemas(), schemas()), 0..3);
    (
        package,
        runtime,
        reported,
        tools,
        proptest::collection::vec(texts(), 0..3),
    )
        .prop_map(
            |(package, runtime, (reported_name, reported_version), tools, facts)| LockedRow {
                accepted_on: date(2026, 2, 1),
                run: "20260201T000000Z".to_owned(),
                facts: RowFacts {
                    package: package.map(|(name, wanted, installed)| PackageVersion {
                        ecosystem: Ecosystem::Pypi,
                        name,
                        wanted,
                        installed,
                    }),
                    reported_name,
                    reported_version,
                    runtime: runtime.map(|(kind, version)| RuntimeVersion { kind, version }),
                    era: Era::Discover,
                    protocol: "2026-07-28".to_owned(),
                    tools: Some(
                        tools
                            .into_iter()
                            .map(|(name, (input_schema, output_schema, annotations))| {
                                let tool = ToolRecord {
                                    name: name.clone(),
                                    description_sha256: None,
                                    input_schema,
                                    output_schema,
                                    annotations,
                                };
                                (name, tool)
                            })
                            .collect(),
                    ),
                },
                accepted: facts
                    .into_iter()
                    .map(|fact| Accepted {
                        code: Code::VersionSplit,
                        fact,
                        on: date(2026, 2, 1),
                    })
                    .collect(),
            },
        )
}

proptest! {
    #[test]
    fn whatever_servers_say_comes_back_as_it_was(rows in proptest::collection::btree_map(texts().prop_map(RowId), rows(), 0..3)) {
        let lock = Lock { rows };
        let text = lock.to_toml();
        let hidden = '\u{202e}';
        prop_assert!(!text.contains(hidden));
        prop_assert_eq!(parse(&text), Ok(lock.clone()));
        prop_assert_eq!(parse(&text).expect("just read").to_toml(), text);
    }

    #[test]
    fn no_text_stops_the_reader(text in "(?s).{0,200}") {
        drop(parse(&text));
    }
}
