//! Messages in both directions: ids, the server's own requests, noise, stderr, limits.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::fixture::{USUAL, case, script};
use crate::client::session::{FilledExpectation, Stop};
use crate::event::{Direction, EventKind, LogSource};

#[test]
fn every_request_of_the_server_is_answered() {
    let roots = case(&["roots"]).run();
    roots.assert_seen(&["ServerRequestRefused"]);
    roots.assert_told(&["method: \"roots/list\", times: 1"]);
    assert_eq!(roots.figures(), (true, true, 3));
    case(&["ping-back"]).run().assert_seen(&[]);
}

#[test]
fn ids_of_the_server_that_collide_with_ours_are_no_answers() {
    let asks = format!("{USUAL}elif calls and 'method' in message: asked = message; send({{'jsonrpc': '2.0', 'id': message['id'], 'method': 'ping'}})
elif calls: message = asked; text('grüße')");
    let ran = script(&asks).run();
    ran.assert_seen(&[]);
    assert_eq!(ran.figures(), (true, true, 3));
}

#[test]
fn a_call_that_needs_a_capability_says_which() {
    let asks = format!("{USUAL}elif calls and 'method' in message: asked = message; send({{'jsonrpc': '2.0', 'id': 0, 'method': 'sampling/createMessage'}})
elif calls: error = message['error']; message = asked; refuse(error['code'], error['message'])");
    let ran = script(&asks).run();
    ran.assert_seen(&["CallUnsupported", "ServerRequestRefused"]);
    ran.assert_told(&["the client capability sampling", "failures: 3, calls: 3", "times: 3"]);
}

#[test]
fn string_ids_and_second_answers_are_tolerated_and_told() {
    let strings = case(&["string-id"]).run();
    strings.assert_seen(&["IdMismatch"]);
    strings.assert_told(&["tolerated: true", "phase: Initialize"]);
    assert_eq!(strings.figures(), (true, true, 3));
    let twice = case(&["dup-response"]).run();
    twice.assert_seen(&["StrayMessage"]);
    assert_eq!(twice.figures(), (true, true, 3));
    let null = case(&["null-id-error"]).run();
    null.assert_seen(&["StrayMessage"]);
    null.assert_told(&["an error without an id: -32601"]);
    assert_eq!(null.figures(), (true, true, 3));
}

#[test]
fn noise_is_counted_by_phase_with_its_first_line() {
    let banner = case(&["banner"]).run();
    banner.assert_seen(&["StdoutNoise"]);
    banner.assert_told(&["Created index tool for demo", "lines: 2", "phase: Initialize"]);
    let shown = |event: &EventKind| matches!(event, EventKind::Log(line) if line.source == LogSource::Stdout && line.text.contains("server started"));
    assert!(banner.events.iter().any(shown), "the second line is in the log");
    let noise = case(&["call-noise"]).run();
    noise.assert_seen(&["StdoutNoise"]);
    noise.assert_told(&["AutoCommit", "phase: Call", "lines: 3"]);
    for mode in ["blank-lines", "crlf"] {
        let ran = case(&[mode]).run();
        ran.assert_seen(&[]);
        assert_eq!(ran.figures(), (true, true, 3), "{mode}");
    }
}

#[test]
fn stderr_never_blocks_the_server() {
    let ran = case(&["stderr-flood", "400"]).run();
    ran.assert_seen(&[]);
    assert_eq!(ran.figures(), (true, true, 3));
}

#[test]
fn a_line_beyond_the_limit_fails_its_call_only() {
    let server = format!("{USUAL}elif calls == 2: text('x' * (17 << 20))\nelif calls: text('grüße')");
    let ran = script(&server).run();
    ran.assert_seen(&["OutputLimit"]);
    assert_eq!(ran.figures(), (true, true, 2));
}

#[test]
fn a_server_that_reads_nothing_during_a_large_request_is_given_up() {
    let mut case = script(&format!("{USUAL}\nif method == 'tools/list': time.sleep(60)"))
        .call_limit(300)
        .grace(100);
    case.probe.arguments = serde_json::json!({ "text": "x".repeat(1 << 20) });
    let ran = case.run();
    ran.assert_told(&["CallTimeout"]);
    assert_eq!(ran.facts.probes[0].calls, 1, "nothing can follow half a message");
}

#[test]
fn the_wire_log_holds_every_message_in_order_with_rising_times() {
    let ran = case(&["ok"]).run();
    let wire: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            EventKind::Wire(line) => Some((line.direction, line.at)),
            _ => None,
        })
        .collect();
    let ways: Vec<Direction> = wire.iter().map(|(direction, _)| *direction).collect();
    let (out, back) = (Direction::Out, Direction::In);
    assert_eq!(ways, [out, back, out, out, back, out, back, out, back, out, back]);
    assert!(wire.is_sorted_by_key(|(_, at)| *at), "{wire:?}");
    let is_last = |event: &EventKind| matches!(event, EventKind::CallDone { done: 3, of: 3, .. });
    assert!(ran.events.iter().any(is_last));
}

#[test]
fn told_to_stop_a_session_ends_without_blaming_the_server() {
    let token = CancellationToken::new();
    token.cancel();
    let mut waiting = case(&["init-hang"]);
    waiting.stop = Stop::new(token, CancellationToken::new(), None);
    waiting.run().assert_seen(&[]);
    let started = Instant::now();
    let deadline = started + Duration::from_secs(3);
    let mut late = case(&["sleep-ms", "30000"]).expecting(FilledExpectation::default());
    late.stop = Stop::new(CancellationToken::new(), CancellationToken::new(), Some(deadline));
    let ran = late.run();
    ran.assert_seen(&[]);
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(ran.facts.probes.iter().all(|probe| probe.calls == 0));
}
