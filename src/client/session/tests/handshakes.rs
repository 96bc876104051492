//! Handshakes that fail, and those that must not.

use std::time::{Duration, Instant};

use serde_json::json;

use super::fixture::{USUAL, case, script};
use crate::client::session::protocol_of_next;
use crate::event::{Era, ShutdownStep};
use crate::finding::Phase;
use crate::plan::Protocol;

#[test]
fn a_correct_server_shows_nothing_out_of_the_ordinary() {
    let ran = case(&["ok"]).run();
    ran.assert_seen(&[]);
    assert_eq!(ran.figures(), (true, true, 3));
    let facts = &ran.facts;
    let handshake = facts.handshake.as_ref().expect("a handshake");
    assert_eq!(
        (handshake.era, handshake.requested.as_str()),
        (Era::Initialize, "2025-11-25")
    );
    assert_eq!(handshake.negotiated, "2025-06-18");
    assert_eq!(
        (handshake.name.as_deref(), handshake.version.as_deref()),
        (Some("probe-target"), Some("1.4.2"))
    );
    assert_eq!(ran.tools(), ["echo", "fail"]);
    let shutdown = facts.shutdown.as_ref().expect("it was started");
    assert_eq!(
        (shutdown.step, shutdown.exit_code),
        (ShutdownStep::StdinClosed, Some(0))
    );
    assert!(facts.first_byte <= facts.cold_start);
    assert!(facts.resources.is_some());
    assert_eq!(facts.probes[0].first, facts.probes[0].samples.first().copied());
    assert_eq!(facts.probes[0].reply.as_deref(), Some("grüße"));
    let methods: Vec<_> = ran
        .sent()
        .iter()
        .map(|sent| (sent["method"].clone(), sent["id"].clone()))
        .collect();
    let expected = [
        ("initialize", json!(1)),
        ("notifications/initialized", json!(null)),
        ("tools/list", json!(2)),
        ("tools/call", json!(3)),
        ("tools/call", json!(4)),
        ("tools/call", json!(5)),
    ];
    assert_eq!(methods, expected.map(|(method, id)| (json!(method), id)));
}

#[test]
fn an_early_exit_is_told_at_once_with_code_and_last_words() {
    let started = Instant::now();
    let ran = case(&["exit-at-start", "3"]).run();
    ran.assert_seen(&["ExitedEarly"]);
    ran.assert_told(&["code: Some(3)", "cannot open config file"]);
    assert_eq!(ran.figures(), (false, false, 0));
    assert!(started.elapsed() < Duration::from_secs(15), "not after the limit");
    let silent = case(&["silent-exit"]).run();
    silent.assert_seen(&["ExitedEarly"]);
    silent.assert_told(&["code: Some(0)", "last_lines: []"]);
}

#[test]
fn a_program_that_is_not_there_is_a_spawn_failure() {
    let mut missing = case(&["ok"]);
    missing.spec.command.program = "no-such-program-anywhere".into();
    let ran = missing.run();
    ran.assert_seen(&["SpawnFailed"]);
    assert_eq!(ran.facts.observations[0].phase, Phase::Spawn);
    assert_eq!(ran.facts.shutdown, None);
}

#[test]
fn silence_is_a_timeout_that_says_what_came() {
    let ran = case(&["init-hang"]).startup(700).run();
    ran.assert_seen(&["InitTimeout"]);
    assert_eq!(ran.facts.first_byte, None);
    let deaf = case(&["never-reads"]).startup(500).grace(200).run();
    deaf.assert_seen(&["InitTimeout"]);
    deaf.assert_told(&["bytes: 0"]);
    assert_eq!(
        deaf.facts.shutdown.expect("it was started").step,
        ShutdownStep::Terminated
    );
}

#[test]
fn an_answer_that_only_comes_when_stdin_closes_is_recognised() {
    let buffered = "if method == 'initialize': kept = message\n";
    let mut case = script(buffered).startup(2_500);
    case.spec.command.args[1].push_str("message = kept\nwelcome()\n");
    let ran = case.run();
    ran.assert_seen(&["InitTimeout"]);
    ran.assert_told(&["its stdout is buffered"]);
}

#[test]
fn a_prompt_without_a_line_end_is_shown_with_its_cure() {
    let ran = script("put('Need to install: x\\nOk to proceed? (y) ')\n")
        .startup(2_500)
        .run();
    ran.assert_seen(&["InitTimeout", "StdoutNoise"]);
    ran.assert_told(&["add -y", "unfinished: Some(\"Ok to proceed? (y) \")", "noise_lines: 1"]);
}

#[test]
fn a_refused_handshake_is_told_with_its_code() {
    let ran = case(&["init-error"]).run();
    ran.assert_seen(&["InitError"]);
    ran.assert_told(&["-32603", "database"]);
}

#[test]
fn a_modern_server_is_met_on_a_process_of_its_own() {
    let ran = case(&["modern-only"]).run();
    ran.assert_seen(&[]);
    assert_eq!(ran.figures(), (true, true, 3));
    let handshake = ran.facts.handshake.as_ref().expect("a handshake");
    assert_eq!(
        (handshake.era, handshake.negotiated.as_str()),
        (Era::Discover, "2026-07-28")
    );
    assert_eq!(handshake.name.as_deref(), Some("probe-target"));
    let sent = ran.sent();
    assert_eq!(sent[0]["method"], "initialize");
    let modern = &sent[1..];
    assert_eq!(
        (&modern[0]["method"], &modern[0]["id"]),
        (&json!("server/discover"), &json!(1))
    );
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    assert!(
        modern
            .iter()
            .all(|sent| sent.pointer(version) == Some(&json!("2026-07-28"))),
        "{modern:?}"
    );
    assert_eq!(protocol_of_next(&Protocol::Auto, &ran.facts), Protocol::Discover);
    let next = case(&["modern-only"]).protocol(Protocol::Discover).run();
    next.assert_seen(&[]);
    assert_eq!(next.sent()[0]["method"], "server/discover");
    let pinned = case(&["modern-only"]).protocol(Protocol::Initialize).run();
    pinned.assert_seen(&["ProtocolVersion"]);
    pinned.assert_told(&["2026-07-28"]);
}

#[test]
fn the_wrong_handshake_alone_is_refused_by_name() {
    let ran = case(&["ok"]).protocol(Protocol::Discover).run();
    ran.assert_seen(&["InitError"]);
    ran.assert_told(&["-32601"]);
    case(&["discover-exit"]).run().assert_seen(&[]);
}

#[test]
fn a_server_that_refuses_instead_of_negotiating_is_measured_and_told() {
    let ran = case(&["reject-protocol"]).run();
    ran.assert_seen(&["ProtocolVersion"]);
    ran.assert_told(&["offered: \"2025-11-25\", answered: \"2024-11-05\""]);
    assert_eq!(ran.figures(), (true, true, 3));
    let next = protocol_of_next(&Protocol::Auto, &ran.facts);
    assert_eq!(next, Protocol::Revision("2024-11-05".to_owned()));
    case(&["reject-protocol"]).protocol(next).run().assert_seen(&[]);
}

#[test]
fn older_revisions_are_spoken_and_unknown_ones_are_named() {
    let old = case(&["old-protocol"]).run();
    old.assert_seen(&[]);
    assert_eq!(old.facts.handshake.expect("a handshake").negotiated, "2024-11-05");
    let future = script("welcome(protocolVersion='2031-01-01')").run();
    future.assert_seen(&["ProtocolVersion"]);
    future.assert_told(&["2031-01-01"]);
    assert_eq!(future.figures(), (false, false, 0));
}

#[test]
fn a_result_that_is_no_handshake_says_what_is_missing() {
    let ran = script("reply({'protocolVersion': '2025-11-25'})").run();
    ran.assert_seen(&["InvalidInitialize"]);
    ran.assert_told(&["`capabilities` is missing"]);
    let bare = script("put('{\"id\":1,\"result\":{}}\\n')").run();
    bare.assert_seen(&["InvalidInitialize"]);
    bare.assert_told(&["jsonrpc"]);
}

#[test]
fn a_missing_identity_is_named_and_not_made_up() {
    let ran = case(&["no-serverinfo"]).run();
    ran.assert_seen(&["IdentityMissing"]);
    ran.assert_told(&["\"serverInfo\""]);
    assert_eq!(ran.facts.handshake.expect("a handshake").version, None);
    let empty = case(&["identity", "x", ""]).run();
    empty.assert_told(&["serverInfo.version"]);
    assert_eq!(empty.facts.handshake.expect("a handshake").version.as_deref(), Some(""));
}

#[test]
fn other_framings_are_named_well_before_the_limit() {
    let started = Instant::now();
    for (mode, words) in [("pretty", "several lines"), ("content-length", "Content-Length header")] {
        let ran = case(&[mode]).run();
        ran.assert_seen(&["BadFraming"]);
        ran.assert_told(&[words]);
        assert_eq!(ran.figures(), (false, false, 0));
    }
    let glued = script("put('ready> ' + json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': {}}) + '\\n')").run();
    glued.assert_told(&["BadFraming", "same line"]);
    assert!(started.elapsed() < Duration::from_secs(18));
    let endless = script("put('{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}')")
        .startup(2_500)
        .run();
    endless.assert_told(&["BadFraming", "without a line end"]);
}

#[test]
fn an_answer_under_another_id_is_no_bare_timeout() {
    let ran = script("reply({}, id=0)").run();
    ran.assert_seen(&["IdMismatch"]);
    ran.assert_told(&["expected: \"1\", actual: \"0\", tolerated: false"]);
}

#[test]
fn a_byte_order_mark_is_tolerated_and_named() {
    let ran = script(&format!(
        "if method == 'initialize': put('\\ufeff')\n{USUAL}elif calls: text('grüße')"
    ))
    .run();
    ran.assert_seen(&["StdoutNoise"]);
    ran.assert_told(&["byte order mark"]);
    assert_eq!(ran.figures(), (true, true, 3));
}

#[test]
fn a_server_that_closes_its_stdout_and_lives_is_told() {
    let ran = script("os.close(1); time.sleep(60)").grace(100).run();
    ran.assert_told(&["ExitedEarly", "kept running"]);
}
