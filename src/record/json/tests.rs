//! The shape of format 1, and that what was written is read.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{RecordProblem, from_json, to_json};
use crate::event::samples::session;
use crate::event::{EventKind, SessionKind, Skip, SkipReason};
use crate::finding::{Code, Finding, Phase, Severity};
use crate::plan::Entry;
use crate::record::samples::{launch, measuring, npm, plan, record, row, run};
use crate::record::{RunRecord, Status, Totals};

/// A released record. Formats only ever gain keys, so it must always be readable.
const FIXTURE: &str = include_str!("../../../tests/fixtures/records/v1.json");

fn sample() -> RunRecord {
    let mut full = launch("npx server@1.2.3", &["echo"]);
    full.packages = vec![npm("server", "^1")];
    let plan = plan(vec![
        row("row", run(full)),
        row("off", Entry::Disabled),
        row("never@node24", run(launch("x", &["echo"]))),
    ]);
    let mut first_start = session("server");
    first_start.kind = SessionKind::FirstStart;
    let mut cold_start = session("server");
    cold_start.kind = SessionKind::ColdStart;
    cold_start.probes.clear();
    let kinds = vec![
        EventKind::Installed(Duration::from_micros(1_234_567)),
        EventKind::Session(Box::new(first_start)),
        measuring(),
        EventKind::Session(Box::new(session("server"))),
        EventKind::Session(Box::new(cold_start)),
        EventKind::RowDone,
    ];
    let mut record = record(&plan, kinds, false);
    record.rows[0].findings = vec![Finding {
        code: Code::VersionMismatch,
        severity: Severity::Fail,
        phase: Phase::Compare,
        message: "reported version is outside the expected range".to_owned(),
        expected: Some(">=2".to_owned()),
        actual: Some("1.2.3".to_owned()),
        hint: None,
        accepted: Some("2026-11-01".to_owned()),
    }];
    record.rows[0].status = Status::Fail;
    record.rows[1].findings = vec![Finding {
        code: Code::RowSkipped,
        severity: Severity::Note,
        phase: Phase::Prepare,
        message: "disabled in the manifest".to_owned(),
        expected: None,
        actual: None,
        hint: Some("take `enabled = false` out of its entry".to_owned()),
        accepted: None,
    }];
    record.rows[2].status = Status::Warn;
    record.totals = Totals {
        rows: 3,
        warn: 1,
        fail: 1,
        skip: 1,
        ..Totals::default()
    };
    record.exit_code = 3;
    record
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// Without what changes with every release.
fn without_tool(text: &str) -> String {
    let mut value = value(text);
    value["tool"]["version"] = Value::Null;
    format!("{value:#}\n")
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn the_released_record_is_what_this_build_writes_and_reads() {
    let written = to_json(&sample());
    assert_eq!(without_tool(&written), without_tool(FIXTURE));
    let read = from_json(FIXTURE).expect("a record");
    assert_eq!(without_tool(&to_json(&read)), without_tool(FIXTURE));
}

#[test]
fn a_record_from_before_a_key_was_added_is_read_and_the_key_is_unknown() {
    let first = include_str!("../../../tests/fixtures/records/v1-first.json");
    let read = from_json(first).expect("a record");
    assert_eq!(read.rows[0].probes[0].planned_calls, None);
    assert_eq!(read.rows[0].probes[0].warmup, None);
    assert_eq!(read.rows[0].identity.pinned, None);
    assert_eq!(read.rows[0].probes[0].samples.len(), 2);
}

#[test]
fn the_tool_that_measured_stays_named_when_a_later_one_writes_the_record_again() {
    let mut earlier = value(FIXTURE);
    earlier["tool"]["version"] = json!("0.0.9");
    let read = from_json(&earlier.to_string()).expect("a record");
    assert_eq!(value(&to_json(&read))["tool"]["version"], "0.0.9");
}

#[test]
fn keys_stand_in_the_order_of_the_format() {
    let record = value(&to_json(&sample()));
    assert_eq!(
        keys(&record),
        [
            "format",
            "tool",
            "run",
            "host",
            "calibration",
            "totals",
            "exit_code",
            "rows"
        ]
    );
    let row = &record["rows"][0];
    assert_eq!(
        keys(row).join(" "),
        "id server title runtime group command status skip_reason identity install_ms first_start_ms sessions tools \
         probes resources load_average_1m cpu_pressure_avg10 findings log concurrency"
    );
    assert_eq!(
        keys(&row["identity"]["package"]).join(" "),
        "ecosystem name wanted installed newest newest_as_of newest_requires newest_deprecated held_back behind \
         newest_unknown source path"
    );
    assert_eq!(
        keys(&row["sessions"][0]).join(" "),
        "repeat attempt first_byte_ms cold_start_ms list_ms shutdown_ms total_ms shutdown exit_code signal left_over probes"
    );
    assert_eq!(
        keys(&row["probes"][0]).join(" "),
        "name tool outcome planned_calls warmup calls failures first_ms samples_ms median_ms median_ci95_ms p95_ms min_ms max_ms reply"
    );
}

#[test]
fn figures_are_milliseconds_to_a_tenth_of_a_microsecond() {
    let mut record = sample();
    record.rows[0].probes[0].samples = [1_234_567, 2_000_049, 3_000_000, 500_000, 4_000_000, 5_000_000]
        .map(Duration::from_nanos)
        .to_vec();
    let probe = &value(&to_json(&record))["rows"][0]["probes"][0];
    assert_eq!(probe["samples_ms"], json!([1.2346, 2.0, 3.0, 0.5, 4.0, 5.0]));
    assert_eq!(probe["median_ms"], json!(2.5));
    assert_eq!(
        (&probe["min_ms"], &probe["max_ms"], &probe["p95_ms"]),
        (&json!(0.5), &json!(5.0), &json!(5.0))
    );
    assert_eq!(probe["median_ci95_ms"], json!([0.5, 5.0]));
}

#[test]
fn what_is_unknown_is_null_and_objects_stay() {
    let mut record = sample();
    record.calibration = None;
    let record = value(&to_json(&record));
    let row = &record["rows"][2];
    assert_eq!(row["tools"], json!({"count": null, "names": null, "list": null}));
    assert_eq!(row["resources"], json!({"peak_rss_bytes": null, "cpu_ms": null}));
    assert_eq!(
        row["identity"]["runtime"],
        json!({"kind": null, "version": null, "executable": null})
    );
    assert_eq!(
        row["identity"]["package"]["held_back"],
        json!({"cause": null, "detail": null})
    );
    assert_eq!(row["probes"][0]["median_ci95_ms"], Value::Null);
    assert_eq!(row["sessions"], json!([]));
    assert_eq!(
        record["calibration"],
        json!({"samples": null, "median_ms": null, "p95_ms": null})
    );
    assert_eq!(record["rows"][0]["sessions"][1]["repeat"], Value::Null);
}

#[test]
fn schemas_are_written_in_canonical_form() {
    let mut facts = session("server");
    let tool = &mut facts.tools.as_mut().expect("tools")[0];
    tool.input_schema = Some(json!({"type": "object", "properties": {"b": {}, "a": {}}}));
    let plan = plan(vec![row("row", run(launch("x", &[])))]);
    let record = record(&plan, vec![EventKind::Session(Box::new(facts))], false);
    let schema = &value(&to_json(&record))["rows"][0]["tools"]["list"][0]["input_schema"];
    assert_eq!(schema.to_string(), r#"{"properties":{"a":{},"b":{}},"type":"object"}"#);
}

#[test]
fn a_newer_format_is_told_apart_from_nonsense() {
    let newer = from_json(r#"{"format": 2, "rows": "of another shape"}"#).expect_err("newer");
    assert!(matches!(newer, RecordProblem::NewerFormat { found: 2 }));
    assert_eq!(
        newer.to_string(),
        "the record has format 2, newer than format 1, which this build reads"
    );
    assert!(matches!(from_json("{}"), Err(RecordProblem::NoFormat)));
    assert!(matches!(from_json("not JSON"), Err(RecordProblem::Malformed(_))));
    assert!(matches!(
        from_json(r#"{"format": 1}"#),
        Err(RecordProblem::Malformed(_))
    ));
}

#[test]
fn keys_and_codes_that_a_later_build_added_are_passed_over() {
    let mut later = value(FIXTURE);
    later["new"] = json!({"key": 1});
    later["rows"][0]["identity"]["package"]["new"] = json!(true);
    let finding = later["rows"][0]["findings"][0].clone();
    later["rows"][0]["findings"] = json!([finding, finding]);
    later["rows"][0]["findings"][1]["code"] = json!("code-of-tomorrow");
    let read = from_json(&later.to_string()).expect("a record");
    assert_eq!(read.rows[0].findings.len(), 1);
}

#[test]
fn a_word_that_is_none_of_ours_is_named() {
    let mut odd = value(FIXTURE);
    odd["rows"][0]["status"] = json!("splendid");
    let problem = from_json(&odd.to_string()).expect_err("no such status");
    assert_eq!(
        problem.to_string(),
        r#"the record cannot be read: status is "splendid""#
    );
}

#[test]
fn an_interrupted_run_is_known_by_its_exit_code_or_its_rows() {
    let read = |change: &dyn Fn(&mut RunRecord)| {
        let mut record = sample();
        change(&mut record);
        from_json(&to_json(&record)).expect("a record").interrupted
    };
    assert!(!read(&|_| {}));
    assert!(read(&|record| record.exit_code = 130));
    assert!(read(&|record| record.rows[2].skip = Some(Skip {
        reason: SkipReason::Interrupted,
        message: String::new(),
        cure: None,
    })));
}

#[test]
fn two_probes_of_one_name_keep_their_places() {
    let mut record = sample();
    let again = record.rows[0].probes[0].clone();
    record.rows[0].probes.push(again);
    let mut second = record.rows[0].sessions[0].probes[0].clone();
    second.index = 1;
    record.rows[0].sessions[0].probes.push(second);
    let read = from_json(&to_json(&record)).expect("a record");
    let places: Vec<_> = read.rows[0].sessions[0]
        .probes
        .iter()
        .map(|facts| facts.index)
        .collect();
    assert_eq!(places, [0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_written_is_read_back_and_written_the_same(
        text in any::<String>(),
        tenths in proptest::collection::vec(0_u64..10_u64.pow(10), 0..20),
        exit_code in any::<u8>(),
        seed in any::<u64>(),
        rss in any::<u64>(),
        pressure in 0_u32..10_000,
    ) {
        let mut record = sample();
        record.exit_code = exit_code;
        record.seed = seed;
        record.partition = Some(text.clone());
        let row = &mut record.rows[0];
        row.title.clone_from(&text);
        row.findings[0].message.clone_from(&text);
        row.identity.reported_version = Some(text.clone());
        row.load.cpu_pressure_avg10 = Some(f64::from(pressure) / 100.0);
        row.probes[0].reply = Some(text);
        row.probes[0].samples = tenths.iter().map(|tenths| Duration::from_nanos(tenths * 100)).collect();
        row.resources.as_mut().expect("the sample has them").peak_rss_bytes = rss;

        let written = to_json(&record);
        let read = from_json(&written).expect("a record");
        prop_assert_eq!(to_json(&read), written);
        prop_assert_eq!(&read.rows[0].probes, &record.rows[0].probes);
        prop_assert_eq!(&read.rows[0].identity, &record.rows[0].identity);
        prop_assert_eq!(&read.rows[0].findings, &record.rows[0].findings);
        prop_assert_eq!(&read.rows[0].tools, &record.rows[0].tools);
        prop_assert_eq!(&read.host, &record.host);
        prop_assert_eq!(&read.rows[1].skip, &record.rows[1].skip);
    }
}
