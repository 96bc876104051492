//! Calls that fail, each in its own way, and what counts as a sample.

use std::time::Duration;

use serde_json::json;

use super::fixture::{Ran, USUAL, case, script};
use crate::client::session::FilledExpectation;

/// A server whose calls are answered like this.
fn calls(on_call: &str) -> Ran {
    script(&format!("{USUAL}elif calls: {on_call}")).run()
}

fn milliseconds(ran: &Ran) -> Vec<f64> {
    ran.facts.probes[0]
        .samples
        .iter()
        .map(|sample| sample.as_secs_f64() * 1000.0)
        .collect()
}

fn quickest(ran: &Ran) -> f64 {
    milliseconds(ran).into_iter().fold(f64::INFINITY, f64::min)
}

#[test]
fn a_sample_is_what_the_server_took() {
    let ran = case(&["sleep-ms", "50"]).calls(8).run();
    let mut samples = milliseconds(&ran);
    samples.sort_by(f64::total_cmp);
    assert_eq!(samples.len(), 8);
    assert!(samples[0] >= 50.0, "{samples:?}");
    // The quickest half shows our own share even on a busy machine.
    assert!(samples[3] < 53.0, "{samples:?}");
}

#[test]
fn the_slow_first_call_stands_beside_the_others() {
    let mut slow = case(&["first-slow", "200"]).calls(3);
    slow.probe.warmup = 1;
    let ran = slow.run();
    let probe = &ran.facts.probes[0];
    assert!(probe.first.expect("it succeeded") >= Duration::from_millis(200));
    assert_eq!((probe.calls, probe.samples.len()), (3, 3));
    assert!(quickest(&ran) < 150.0, "{:?}", probe.samples);
    let cold = case(&["slow-start", "300"]).run();
    assert!(cold.facts.cold_start.expect("it started") >= Duration::from_millis(300));
    assert!(quickest(&cold) < 150.0);
}

#[test]
fn the_span_runs_to_the_answer_and_not_to_what_comes_before() {
    let ran = calls("send({'jsonrpc': '2.0', 'method': 'notifications/progress'}); time.sleep(0.06); text('grüße')");
    ran.assert_seen(&[]);
    assert!(milliseconds(&ran).iter().all(|sample| *sample >= 60.0));
    case(&["progress", "60"]).run().assert_seen(&[]);
}

#[test]
fn a_megabyte_and_single_bytes_are_read_alike() {
    let mut large = case(&["payload", "3000000"]).expecting(FilledExpectation::default());
    large.probe.calls = 2;
    let ran = large.run();
    ran.assert_seen(&[]);
    assert_eq!(ran.figures(), (true, true, 2));
    assert!(ran.facts.probes[0].reply.as_ref().expect("a reply").len() < 10_000);
    let bytes = case(&["dribble"]).run();
    bytes.assert_seen(&[]);
    assert_eq!(bytes.figures(), (true, true, 3));
}

#[test]
fn five_megabytes_both_ways_do_not_block() {
    let mut case = script(&format!(
        "{USUAL}elif calls: text(message['params']['arguments']['text'])"
    ));
    let text = "ä".repeat(2_500_000);
    case.probe.arguments = json!({ "text": text });
    case.probe.calls = 1;
    case.probe.expect.text = Some("ää".to_owned());
    let ran = case.run();
    ran.assert_seen(&[]);
    assert_eq!(ran.figures(), (true, true, 1));
}

#[test]
fn failures_are_counted_by_kind_and_never_samples() {
    let refused = case(&["rpc-error"]).run();
    refused.assert_seen(&["RpcError"]);
    refused.assert_told(&["-32603", "failures: 3, calls: 3"]);
    assert_eq!(
        (refused.figures(), refused.facts.probes[0].failures),
        ((true, true, 0), 3)
    );
    let mut error = case(&["ok"]).expecting(FilledExpectation::default());
    error.probe.tool = "fail".to_owned();
    let ran = error.run();
    ran.assert_seen(&["ToolError"]);
    ran.assert_told(&["this tool always fails"]);
    assert_eq!(ran.facts.probes[0].first, None);
}

#[test]
fn an_expected_refusal_is_a_sample() {
    let expect = FilledExpectation {
        error: Some("always fails".to_owned()),
        ..FilledExpectation::default()
    };
    let mut case = case(&["ok"]).expecting(expect);
    case.probe.tool = "fail".to_owned();
    let ran = case.run();
    ran.assert_seen(&[]);
    assert_eq!((ran.figures(), ran.facts.probes[0].refused), ((true, true, 3), true));
}

#[test]
fn a_rate_limit_ends_the_probe() {
    let ran = case(&["rate-limited", "2"]).calls(9).run();
    ran.assert_seen(&["RateLimited"]);
    ran.assert_told(&["429", "failures: 1, calls: 3"]);
    assert_eq!(ran.figures(), (true, true, 2));
}

#[test]
fn a_call_that_hangs_costs_its_limit_and_the_others_keep_their_times() {
    let ran = case(&["call-hang", "2"]).call_limit(700).calls(4).run();
    ran.assert_seen(&["CallTimeout"]);
    ran.assert_told(&["failures: 1, calls: 4"]);
    assert_eq!(ran.figures(), (true, true, 3));
    let cancelled: Vec<_> = ran
        .sent()
        .into_iter()
        .filter(|sent| sent["method"] == "notifications/cancelled")
        .collect();
    assert_eq!(cancelled.len(), 1);
    assert_eq!(cancelled[0]["params"]["requestId"], 4);
    let dead = script(&format!("{USUAL}else: pass")).call_limit(60).calls(30).run();
    assert_eq!(
        dead.facts.probes[0].calls, 3,
        "a server that hangs is not asked thirty times"
    );
}

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let late = "if calls == 1: time.sleep(0.6)\n    text('grüße' if calls == 1 else 'second')";
    let mut case = script(&format!("{USUAL}elif calls:\n    {late}"))
        .call_limit(400)
        .calls(2);
    case.probe.expect.text = Some("second".to_owned());
    let ran = case.run();
    ran.assert_told(&["CallTimeout", "StrayMessage", "after its limit"]);
    assert!(!ran.told().contains("UnexpectedResult"), "{}", ran.told());
}

#[test]
fn a_death_is_told_at_once_and_earlier_figures_stay() {
    let mid_call = case(&["die-mid-call", "3"]).run();
    mid_call.assert_seen(&["ServerDied"]);
    mid_call.assert_told(&["code: Some(3)", "out of cheese", "phase: Call"]);
    assert_eq!(mid_call.figures(), (true, true, 0));
    assert_eq!(mid_call.facts.probes[0].calls, 1);
    let after = case(&["die-after-init"]).run();
    after.assert_seen(&["ServerDied"]);
    after.assert_told(&["phase: List", "code: Some(0)"]);
    assert_eq!(after.figures(), (true, false, 0));
    assert!(after.facts.probes.is_empty());
}

#[test]
fn a_death_is_noticed_although_a_grandchild_holds_stdout() {
    let fork = "if os.fork() == 0: os.close(0); os.close(2); time.sleep(20); os._exit(0)";
    let ran = calls(&format!("\n    {fork}\n    os._exit(4)"));
    ran.assert_told(&["ServerDied", "code: Some(4)"]);
    let last = calls(&format!("\n    {fork}\n    text('grüße')\n    os._exit(4)"));
    assert_eq!(
        last.facts.probes[0].samples.len(),
        1,
        "its last answer counts: {}",
        last.told()
    );
}

#[test]
fn a_reply_that_misses_its_expectation_is_quoted() {
    let ran = case(&["soft-error"]).run();
    ran.assert_seen(&["UnexpectedResult"]);
    ran.assert_told(&["401 Unauthorized", "grüße"]);
    let unjudged = case(&["soft-error"]).expecting(FilledExpectation::default()).run();
    unjudged.assert_seen(&["SoftError"]);
    assert_eq!(unjudged.figures(), (true, true, 3));
}

#[test]
fn an_improper_result_is_named() {
    let bare = case(&["no-content"]).run();
    bare.assert_seen(&["CallInvalid", "UnexpectedResult"]);
    bare.assert_told(&["`content` is missing"]);
    let nan = calls("put('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[],\"x\":NaN}}\\n' % message['id'])");
    nan.assert_seen(&["CallInvalid"]);
    nan.assert_told(&["NaN"]);
    let encoding = case(&["cp1252"]).run();
    encoding.assert_seen(&["BadEncoding"]);
    assert_eq!(encoding.figures(), (true, true, 3));
}

#[test]
fn structured_content_must_fit_its_declared_schema() {
    let schema = "{'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n']}";
    let server = |structured: &str| {
        let listed = format!("[{{'name': 'echo', 'inputSchema': {{'type': 'object'}}, 'outputSchema': {schema}}}]");
        let result = format!("{{'content': [{{'type': 'text', 'text': 'grüße'}}], {structured}}}");
        let body = format!(
            "if method == 'initialize': welcome()\nelif method == 'tools/list': reply({{'tools': {listed}}})\nelif calls: reply({result})"
        );
        script(&body).run()
    };
    server("'structuredContent': {'n': 1}").assert_seen(&[]);
    let wrong = server("'structuredContent': {'n': 'x'}");
    wrong.assert_seen(&["CallInvalid"]);
    wrong.assert_told(&["/n"]);
    let missing = server("'isError': False");
    missing.assert_told(&["CallInvalid", "`structuredContent` is missing"]);
    assert_eq!(missing.figures(), (true, true, 3));
}

#[test]
fn state_that_a_modern_server_wants_back_is_handed_back() {
    let server =
        "if method == 'server/discover': reply({'supportedVersions': ['2026-07-28'], 'capabilities': {'tools': {}}})
elif method == 'initialize': refuse(-32022, 'no', {'supported': ['2026-07-28']})
elif method == 'tools/list': tools('echo', ttlMs=0, cacheScope='private')
elif 'requestState' in message['params']: text('grüße ' + message['params']['requestState'])
else: reply({'resultType': 'input_required', 'requestState': 'st-1'})";
    let ran = script(server).calls(2).run();
    ran.assert_seen(&["IdentityMissing"]);
    assert_eq!(ran.figures(), (true, true, 2));
    assert_eq!(ran.facts.probes[0].reply.as_deref(), Some("grüße st-1"));
    let endless = server.replace(
        "text('grüße ' + message['params']['requestState'])",
        "reply({'resultType': 'input_required', 'requestState': 'st-1'})",
    );
    script(&endless)
        .calls(1)
        .run()
        .assert_told(&["CallUnsupported", "more than 10 times"]);
}
