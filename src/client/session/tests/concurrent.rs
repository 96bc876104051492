//! Several calls of a probe in flight at once.

use std::time::Duration;

use serde_json::Value;

use super::fixture::{Case, USUAL, case, script};
use crate::client::session::FilledExpectation;
use crate::event::{Direction, EventKind};

fn in_flight(mut case: Case, concurrency: u32) -> Case {
    case.probe.concurrency = concurrency;
    case
}

/// When each call was written, since the spawn.
fn writes(events: &[EventKind]) -> Vec<Duration> {
    let of_calls = events.iter().filter_map(|event| match event {
        EventKind::Wire(line) if line.direction == Direction::Out && line.text.contains("tools/call") => Some(line.at),
        _ => None,
    });
    of_calls.collect()
}

/// The ids of the calls, and of the cancellations, in the order in which they were sent.
fn ids(sent: &[Value], method: &str, pointer: &str) -> Vec<u64> {
    let of_method = sent.iter().filter(|message| message["method"] == method);
    of_method
        .map(|message| message.pointer(pointer).and_then(Value::as_u64).expect("an id"))
        .collect()
}

#[test]
fn calls_of_a_server_that_works_on_several_at_once_overlap() {
    let ran = in_flight(case(&["concurrent", "200"]), 4).calls(8).run();
    ran.assert_seen(&[]);
    let samples = &ran.facts.probes[0].samples;
    assert_eq!(samples.len(), 8);
    assert!(samples.iter().all(|sample| *sample >= Duration::from_millis(200)));
    let calls = writes(&ran.events);
    let first = calls.iter().min().expect("calls");
    let span = calls
        .iter()
        .zip(samples)
        .map(|(wrote, took)| (*wrote + *took).abs_diff(*first))
        .max();
    let all: Duration = samples.iter().sum();
    assert!(span.expect("calls") < all, "{samples:?} within {span:?}");
}

#[test]
fn what_a_call_waits_behind_others_is_part_of_its_sample() {
    let ran = in_flight(case(&["serial", "50"]), 3).calls(6).run();
    ran.assert_seen(&[]);
    // It takes 50 ms for each, one after the other, and began with the first when that was written.
    let wrote = writes(&ran.events);
    for (place, sample) in ran.facts.probes[0].samples.iter().enumerate() {
        let ended = (wrote[place] + *sample).abs_diff(wrote[0]);
        let least = Duration::from_millis(50) * (u32::try_from(place).expect("few calls") + 1);
        assert!(ended >= least, "{place}: {ended:?}");
    }
}

#[test]
fn never_more_than_so_many_are_in_flight_and_warm_up_calls_end_first() {
    // It answers only when so many are waiting, the last one first; before the end it is asked for more.
    let server = format!(
        "{USUAL}elif method == 'tools/call':\n    waiting = globals().setdefault('waiting', [])\n    waiting.append(message['id'])\n    if len(waiting) == (2 if calls <= 2 else 3):\n        for id in reversed(waiting): reply({{'content': [{{'type': 'text', 'text': str(id)}}]}}, id)\n        waiting.clear()\n"
    );
    let mut case = in_flight(script(&server), 3)
        .calls(6)
        .expecting(FilledExpectation::default());
    case.probe.warmup = 2;
    let ran = case.run();
    ran.assert_seen(&[]);
    let facts = &ran.facts.probes[0];
    assert_eq!((facts.calls, facts.failures, facts.samples.len()), (6, 0, 6));
    assert!(
        facts.first.is_some(),
        "the first call of all has a time, though it was answered last"
    );
    assert_eq!(ids(&ran.sent(), "tools/call", "/id"), (3..=10).collect::<Vec<u64>>());
}

#[test]
fn samples_stand_in_the_order_in_which_their_calls_were_made() {
    let server = format!(
        "import threading\n{USUAL}elif method == 'tools/call':\n    def late(id=message['id'], wait=0.3 if calls == 1 else 0):\n        time.sleep(wait)\n        reply({{'content': [{{'type': 'text', 'text': 'x'}}]}}, id)\n    threading.Thread(target=late).start()\n"
    );
    let ran = in_flight(script(&server), 2)
        .calls(4)
        .expecting(FilledExpectation::default())
        .run();
    let facts = &ran.facts.probes[0];
    let longest = facts.samples.iter().max().expect("samples");
    assert_eq!(facts.samples.first(), Some(longest), "{:?}", facts.samples);
    assert_eq!(facts.first, Some(*longest));
}

#[test]
fn a_call_that_is_never_answered_times_out_alone_and_is_cancelled() {
    let ran = in_flight(case(&["call-hang", "2"]), 3).calls(6).call_limit(700).run();
    ran.assert_seen(&["CallTimeout"]);
    let facts = &ran.facts.probes[0];
    assert_eq!((facts.calls, facts.failures, facts.samples.len()), (6, 1, 5));
    assert_eq!(ids(&ran.sent(), "notifications/cancelled", "/params/requestId"), [4]);
}

#[test]
fn a_death_fails_all_that_are_in_flight_and_ends_the_probe() {
    let ran = in_flight(case(&["die-mid-call"]), 3).calls(9).run();
    ran.assert_seen(&["ServerDied"]);
    let facts = &ran.facts.probes[0];
    assert_eq!((facts.calls, facts.failures, facts.samples.len()), (3, 3, 0));
}

#[test]
fn a_rate_limit_ends_the_probe_after_those_that_are_in_flight() {
    let ran = in_flight(case(&["rate-limited", "2"]), 2).calls(20).run();
    ran.assert_seen(&["RateLimited"]);
    let facts = &ran.facts.probes[0];
    assert!(facts.samples.len() == 2 && facts.calls <= 4, "{facts:?}");
}

#[test]
fn answers_in_other_forms_are_matched_to_their_calls() {
    for (mode, seen) in [
        ("string-id", vec!["IdMismatch"]),
        ("dup-response", vec!["StrayMessage"]),
        ("ping-back", vec![]),
        ("call-noise", vec!["StdoutNoise"]),
        ("dribble", vec![]),
    ] {
        let ran = in_flight(case(&[mode]), 3).calls(6).run();
        assert_eq!(ran.facts.probes[0].samples.len(), 6, "{mode}: {}", ran.told());
        ran.assert_seen(&seen);
    }
    let ran = in_flight(case(&["pretty"]), 3).startup(1_500).run();
    assert!(ran.facts.probes.is_empty());
}

#[test]
fn a_batch_answers_several_at_once() {
    let server = format!(
        "{USUAL}elif method == 'tools/call':\n    waiting = globals().setdefault('waiting', [])\n    waiting.append({{'jsonrpc': '2.0', 'id': message['id'], 'result': {{'content': []}}}})\n    if len(waiting) == 3:\n        send(waiting + [{{'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {{}}}}])\n        waiting.clear()\n"
    );
    let ran = in_flight(script(&server), 3)
        .calls(6)
        .expecting(FilledExpectation::default())
        .run();
    ran.assert_seen(&["StrayMessage"]);
    assert_eq!(ran.facts.probes[0].samples.len(), 6);
}
