//! What lines become, one table per question.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn parsed(line: &str) -> Line {
    parse(line.as_bytes()).expect("a message")
}

fn violation(line: &str) -> Violation {
    parse(line.as_bytes()).expect_err("no message")
}

fn response(line: &str) -> Response {
    match parsed(line).messages.remove(0) {
        Message::Response(response) => response,
        other @ (Message::Request { .. } | Message::Notification { .. }) => panic!("{other:?}"),
    }
}

#[test]
fn a_message_is_told_by_its_method_and_never_by_its_id() {
    let request = parsed(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#);
    assert_eq!(
        request.messages,
        [Message::Request {
            id: json!(0),
            method: "ping".into(),
            params: Value::Null
        }]
    );
    let notification = parsed(r#"{"jsonrpc":"2.0","method":"x","params":{"a":1}}"#);
    assert_eq!(
        notification.messages,
        [Message::Notification {
            method: "x".into(),
            params: json!({ "a": 1 })
        }]
    );
    assert_eq!(
        response(r#"{"result":{},"jsonrpc":"2.0","id":1}"#).outcome,
        Ok(json!({}))
    );
    let refused = response(r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}"#);
    assert_eq!(refused.id, Value::Null);
    assert_eq!(refused.outcome.expect_err("an error").code, -1);
}

#[test]
fn what_careful_clients_tolerate_is_tolerated_and_named() {
    let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(parsed(&format!("\u{feff}{message}\r")).quirks, [Quirk::ByteOrderMark]);
    assert_eq!(parsed(&format!("[{message},{message}]")).quirks, [Quirk::Batch(2)]);
    assert_eq!(
        parsed(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#).quirks,
        [Quirk::ErrorNull]
    );
    let bad = parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"a\x97b\"}}").expect("a message");
    assert_eq!(bad.quirks, [Quirk::NotUtf8]);
    assert!(parsed(&format!("{message}\r")).quirks.is_empty());
}

#[test]
fn an_id_matches_also_as_a_string() {
    assert_eq!(matches_id(&json!(7), 7), Some(IdForm::Same));
    assert_eq!(matches_id(&json!("7"), 7), Some(IdForm::Other));
    assert_eq!(matches_id(&json!(7.0), 7), Some(IdForm::Other));
    for other in [json!(0), json!(null), json!("07"), json!(7.5), json!(-7), json!([7])] {
        assert_eq!(matches_id(&other, 7), None, "{other}");
    }
}

#[test]
fn noise_is_no_message_and_a_blank_line_is_nothing() {
    for line in ["", "  \r", "\u{feff}"] {
        assert_eq!(violation(line), Violation::Blank, "{line:?}");
    }
    let noise = [
        "started",
        "42",
        "[]",
        "{}",
        r#"{"level":"info"}"#,
        r#"{"method":"GET"}"#,
        r#"{"error":"x"}"#,
        "{braces}",
    ];
    for line in noise {
        assert_eq!(violation(line), Violation::NoMessage, "{line:?}");
    }
    assert_eq!(violation("[\u{1b}[32minfo] ready"), Violation::NoMessage);
}

#[test]
fn other_framings_are_recognised() {
    let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(violation("Content-Length: 52\r"), Violation::ContentLength);
    assert_eq!(violation(&format!("> ready {message}")), Violation::Glued { at: 8 });
    assert_eq!(violation(&format!("{message}{message}")), Violation::Several);
    assert_eq!(violation("{"), Violation::Unfinished);
    assert_eq!(
        violation(r#"{"id":1,"result":{}}"#),
        Violation::NoVersion { id: json!(1) }
    );
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    assert!(
        matches!(violation(&deep), Violation::Unreadable { .. }),
        "{:?}",
        violation(&deep)
    );
}

#[test]
fn nan_is_named_and_one_inside_a_string_is_none() {
    let Violation::NotANumber { token, repaired } =
        violation(r#"{"jsonrpc":"2.0","id":3,"result":{"x":[-Infinity,"NaN\"",1]}}"#)
    else {
        panic!("not recognised");
    };
    assert_eq!(token, "-Infinity");
    let expected = Response {
        id: json!(3),
        outcome: Ok(json!({ "x": [null, "NaN\"", 1] })),
    };
    assert_eq!(repaired.messages, [Message::Response(expected)]);
}

#[test]
fn a_message_over_several_lines_is_recognised_when_it_ends() {
    let pretty =
        serde_json::to_string_pretty(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "a": [1] } })).expect("json");
    let mut spread = Spread::default();
    assert!(!spread.completes("booting"));
    let completed: Vec<bool> = pretty.lines().map(|line| spread.completes(line)).collect();
    assert_eq!(completed.iter().filter(|complete| **complete).count(), 1);
    assert_eq!(completed.last(), Some(&true));
    assert!(!spread.completes(r#"{"jsonrpc":"2.0","id":1,"result":{"text":"one"#));
    assert!(spread.completes(r#"two"}}"#), "a raw line break inside a string");
    assert!(!spread.completes("{"));
    assert!(!spread.completes(r#""level": "info" }"#), "no JSON-RPC");
}

#[test]
fn an_error_names_the_revisions_that_would_do() {
    let error = |text: &str| response(text).outcome.expect_err("an error");
    let listed =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}}}"#;
    assert_eq!(error(listed).supported_revisions(), ["2026-07-28"]);
    let told = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"only 2024-11-05, 2025-03-26!"}}"#;
    assert_eq!(error(told).supported_revisions(), ["2024-11-05", "2025-03-26"]);
    let bare = r#"{"jsonrpc":"2.0","id":1,"error":"it broke on 1.2-3"}"#;
    assert_eq!(error(bare).message, "it broke on 1.2-3");
    assert!(error(bare).supported_revisions().is_empty());
}

#[test]
fn a_handshake_needs_a_revision_and_capabilities_and_nothing_else() {
    let good = json!({ "protocolVersion": "2024-11-05", "capabilities": {} });
    let handshake = initialize_result(&good).expect("a handshake");
    assert_eq!(
        (handshake.name, handshake.version, handshake.has_server_info),
        (None, None, false)
    );
    let invalid = [
        json!(null),
        json!({}),
        json!({ "protocolVersion": 1 }),
        json!({ "protocolVersion": "2024-11-05" }),
    ];
    for result in invalid {
        assert!(
            matches!(initialize_result(&result), Err(HandshakeProblem::Invalid(_))),
            "{result}"
        );
    }
    let newer = initialize_result(&json!({ "protocolVersion": "2026-07-28", "capabilities": {} })).expect_err("modern");
    assert!(newer.is_modern());
}

#[test]
fn a_discovered_server_is_named_in_meta() {
    let result = json!({
        "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "resultType": "complete",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "n", "version": "" } },
    });
    let handshake = discover_result(&result, NEWEST_MODERN).expect("a handshake");
    assert_eq!(
        (handshake.name.as_deref(), handshake.version.as_deref()),
        (Some("n"), Some(""))
    );
    let other = discover_result(&result, "2027-01-01").expect_err("another revision");
    assert_eq!(other, HandshakeProblem::Revision("2026-07-28".into()));
}

#[test]
fn a_page_keeps_good_tools_beside_bad_ones() {
    let page = list_page(
        &json!({ "tools": [
            { "name": "good", "inputSchema": { "type": "object" } },
            { "name": "bare" }, { "name": "text", "inputSchema": { "type": "string" } },
            { "name": "empty", "inputSchema": {} }, { "name": "with space", "inputSchema": { "type": "object" } },
            { "name": "null", "inputSchema": { "type": "object" }, "title": null }, {}, 3,
        ], "nextCursor": null }),
        Dialect::Legacy,
    )
    .expect("a page");
    let bad: Vec<&str> = page
        .tools
        .iter()
        .filter(|tool| !tool.problems.is_empty())
        .map(|tool| &*tool.name)
        .collect();
    assert_eq!(bad, ["bare", "text", "empty", "with space", "null"]);
    assert_eq!(page.tools.len(), 6);
    assert_eq!(page.problems.len(), 3, "{:?}", page.problems);
    assert_eq!(page.next, NextCursor::None);
    assert!(list_page(&json!({ "tools": {} }), Dialect::Legacy).is_err());
    let empty = list_page(&json!({ "tools": [], "nextCursor": "" }), Dialect::Modern).expect("a page");
    assert_eq!(empty.next, NextCursor::At(String::new()));
    assert_eq!(empty.problems, ["`ttlMs` is missing", "`cacheScope` is missing"]);
}

#[test]
fn a_call_result_gives_its_text_and_its_faults() {
    let good = call_result(
        json!({ "content": [{ "type": "text", "text": "a" }, { "type": "resource", "resource": { "text": "b" } }], "isError": true }),
        Dialect::Legacy,
    );
    assert_eq!(
        (good.text.as_str(), good.is_error, good.problems.len()),
        ("a\nb", true, 0)
    );
    assert_eq!(
        call_result(json!({}), Dialect::Legacy).problems,
        ["`content` is missing"]
    );
    assert_eq!(
        call_result(json!(3), Dialect::Legacy).problems,
        ["`content` is missing"]
    );
    let odd = call_result(
        json!({ "content": [{ "type": "text" }, { "type": "hologram" }, 1] }),
        Dialect::Legacy,
    );
    assert_eq!(odd.problems.len(), 3);
    let modern = |result| call_result(result, Dialect::Modern).kind;
    assert_eq!(modern(json!({ "resultType": "task" })), ResultKind::Task);
    assert_eq!(modern(json!({ "resultType": "odd" })), ResultKind::Other("odd".into()));
    let asks = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "elicitation/create" } } });
    let expected = ResultKind::InputRequired {
        needs: vec!["elicitation/create".into()],
        request_state: None,
    };
    assert_eq!(modern(asks.clone()), expected);
    assert_eq!(call_result(asks, Dialect::Legacy).kind, ResultKind::Complete);
}

#[test]
fn our_requests_are_messages_of_one_line() {
    let client = Client {
        name: "me".into(),
        version: "1".into(),
    };
    let meta = meta_params(Dialect::Modern, NEWEST_MODERN, &client);
    let line = request(4, "tools/call", &call_params(&meta, "t", &json!({ "a": "x\ny" }), None));
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
    let value: Value = serde_json::from_slice(&line).expect("json");
    assert_eq!(
        value.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion"),
        Some(&json!(NEWEST_MODERN))
    );
    assert_eq!(value.pointer("/params/arguments/a"), Some(&json!("x\ny")));
    assert_eq!(list_params(&meta_params(Dialect::Legacy, "x", &client), None), "{}");
    assert!(parse(&cancelled(3)[..]).is_ok());
    assert_eq!(
        ok_reply(&json!("a")),
        b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n"
    );
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(parse(&line));
    }

    #[test]
    fn no_text_of_json_pieces_makes_it_panic(pieces in proptest::collection::vec(
        proptest::sample::select(vec!["{", "}", "[", "]", "\"", "\\", "NaN", "Infinity", "-", ",", ":", "1", "é",
            "\"jsonrpc\":\"2.0\"", "\"id\"", "\"result\"", "\"error\"", "\"method\"", "null", "Content-Length: 1", "\u{feff}", " "]), 0..24)) {
        let line = pieces.concat();
        drop(parse(line.as_bytes()));
        Spread::default().completes(&line);
    }

    #[test]
    fn every_answer_is_read_back_under_its_id(id in any::<u32>(), text in ".*") {
        let line = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } }).to_string();
        let response = response(&line);
        prop_assert_eq!(matches_id(&response.id, u64::from(id)), Some(IdForm::Same));
        let result = call_result(response.outcome.expect("a result"), Dialect::Legacy);
        prop_assert_eq!(result.text, text);
    }
}
