//! The rule over simulated nights with fixed seeds, and over records that are or are not comparable.

use fastrand::Rng;

use super::*;
use crate::event::{HostLoad, RuntimeFacts};
use crate::judge::Past;
use crate::judge::fixtures::{row, run, session};
use crate::judge::nights::nights;
use crate::record::{Calibration, RunRecord};

type Change = fn(&mut RunRecord);

const USUAL: Duration = Duration::from_micros(920);

/// A night's median under a normal scatter: the sum of twelve uniform numbers is normal enough (Irwin-Hall).
fn night(rng: &mut Rng, scatter: f64, shift: f64) -> Duration {
    let normal: f64 = (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
    USUAL.mul_f64((shift * (1.0 + scatter * normal)).max(0.01))
}

/// As a run sees it: at most the last 60.
fn recent(nights: &[Duration]) -> &[Duration] {
    &nights[nights.len().saturating_sub(60)..]
}

#[test]
fn none_is_false_in_a_thousand_nights_at_five_percent() {
    for seed in 0..10 {
        let mut rng = Rng::with_seed(seed);
        let mut past = Vec::new();
        for number in 0..1000 {
            let tonight = night(&mut rng, 0.05, 1.0);
            assert_eq!(slower(tonight, recent(&past)), None, "seed {seed}, night {number}");
            past.push(tonight);
        }
    }
}

#[test]
fn a_doubling_is_found_on_its_first_night() {
    for (scatter, before) in [(0.02, 5), (0.05, 10), (0.05, 60)] {
        for seed in 0..200 {
            let mut rng = Rng::with_seed(seed);
            let past: Vec<Duration> = (0..before).map(|_| night(&mut rng, scatter, 1.0)).collect();
            let found = slower(night(&mut rng, scatter, 2.0), &past);
            assert!(
                found.is_some(),
                "scatter {scatter}, {before} nights, seed {seed}: {past:?}"
            );
        }
    }
}

#[test]
fn a_fifth_more_is_nothing_to_wake_anyone_for() {
    let mut rng = Rng::with_seed(7);
    let past: Vec<Duration> = (0..60).map(|_| night(&mut rng, 0.05, 1.0)).collect();
    assert_eq!(slower(USUAL.mul_f64(1.2), &past), None);
}

#[test]
fn four_nights_say_nothing_and_scattered_ones_must_be_ten() {
    let millis = |values: &[u64]| {
        values
            .iter()
            .map(|value| Duration::from_millis(*value))
            .collect::<Vec<_>>()
    };
    let slow = Duration::from_millis(200);
    assert_eq!(slower(slow, &millis(&[100, 101, 99, 100])), None);
    assert!(slower(slow, &millis(&[100, 101, 99, 100, 100])).is_some());
    let scattered = [60, 100, 140, 60, 100, 140, 60, 100, 140];
    assert_eq!(slower(slow, &millis(&scattered)), None);
    let ten = [&scattered[..], &[100]].concat();
    assert!(slower(slow, &millis(&ten)).is_some());
    assert_eq!(
        slower(slow, &millis(&[&ten[..], &[200]].concat())),
        None,
        "as slow as this it was before"
    );
    assert_eq!(slower(slow, &[]), None);
    assert_eq!(slower(slow, &[Duration::ZERO; 6]), None, "no figure is no measure");
}

/// A row whose timed call takes that long, on a host and a runtime.
fn timed_row(micros: u64) -> RowRecord {
    let mut row = row("row", vec![session(1, &["echo"])]);
    row.identity.era = Some(crate::event::Era::Initialize);
    row.identity.package.installed = Some("1.2.3".to_owned());
    row.identity.runtime = Some(RuntimeFacts {
        kind: "node".to_owned(),
        version: Some("24.1.0".to_owned()),
        executable: "/usr/bin/node".into(),
    });
    row.probes = vec![ProbeRecord {
        name: "echo".to_owned(),
        tool: "echo".to_owned(),
        outcome: Some(Outcome::Ok),
        calls: 5,
        planned_calls: Some(5),
        warmup: Some(0),
        failures: 0,
        first: None,
        samples: vec![Duration::from_micros(micros); 5],
        reply: None,
    }];
    row
}

fn night_of(row: RowRecord) -> RunRecord {
    let mut night = run(vec![row]);
    night.host.id = Some("host".to_owned());
    night.host.logical_cpus = Some(2);
    night
}

fn found(tonight: &RunRecord, past: &[RunRecord]) -> Option<Told> {
    let past = Past {
        runs: past,
        ..Past::default()
    };
    let row = &tonight.rows[0];
    against(row, &Tonight::of(tonight), &nights(&past, &row.id))
}

#[test]
fn the_finding_has_tonights_figure_and_the_usual_one() {
    let past: Vec<RunRecord> = [900, 910, 920, 930, 940]
        .map(|micros| night_of(timed_row(micros)))
        .into();
    let mut tonight = night_of(timed_row(2_300));
    tonight.rows[0].load = HostLoad {
        load_average_1m: Some(7.5),
        cpu_pressure_avg10: None,
    };
    let told = found(&tonight, &past).expect("it is slower");
    assert_eq!(
        told.message,
        "`echo` took 2.3 ms at the median, 2.5 times the usual 0.92 ms of 5 earlier nights (the slowest of them took 0.94 ms)"
    );
    assert_eq!(told.expected.as_deref(), Some("up to 1.38 ms"));
    assert_eq!(
        told.hint.as_deref(),
        Some("the host was busy just before: load 7.5 on 2 cores")
    );
}

#[test]
fn what_the_client_or_a_handful_of_calls_may_account_for_is_no_regression() {
    let night = |micros: u64, client_p95: Option<u64>, calls: u32, repeats: usize| {
        let mut row = timed_row(micros);
        let probe = &mut row.probes[0];
        (probe.planned_calls, probe.calls) = (Some(calls), calls * u32::try_from(repeats).expect("few"));
        probe.samples = vec![Duration::from_micros(micros); calls as usize * repeats];
        let mut night = night_of(row);
        night.calibration = client_p95.map(|p95| Calibration {
            samples: 1000,
            median: Duration::from_micros(p95 / 2),
            p95: Duration::from_micros(p95),
        });
        night
    };
    let check = |usual: u64, tonight: u64, client_p95: Option<u64>, calls: u32, repeats: usize| {
        let past: Vec<RunRecord> = (0..5).map(|_| night(usual, Some(60), calls, repeats)).collect();
        found(&night(tonight, client_p95, calls, repeats), &past).is_some()
    };
    // The echo server on a busy machine: four times, and eight hundredths of a millisecond.
    assert!(!check(30, 110, Some(60), 30, 1));
    assert!(!check(30, 130, Some(60), 30, 1));
    assert!(check(30, 131, Some(60), 30, 1));
    assert!(check(30, 131, None, 30, 1));
    // A night on which the client itself was slow.
    assert!(!check(60, 900, Some(900), 30, 1));
    assert!(check(60, 1000, Some(900), 30, 1));
    // Too few calls of a session, however many sessions there are.
    assert!(!check(60, 3_900, Some(60), 3, 1));
    assert!(!check(60, 3_900, Some(60), 4, 3));
    assert!(check(60, 3_900, Some(60), 5, 1));
}

#[test]
fn only_nights_under_the_same_conditions_count() {
    let changes: [(&str, Change); 9] = [
        ("host", |night| night.host.id = Some("another".to_owned())),
        ("cores", |night| night.host.logical_cpus = Some(4)),
        ("jobs", |night| night.jobs = 4),
        ("version", |night| {
            night.rows[0].identity.package.installed = Some("1.2.4".to_owned());
        }),
        ("runtime", |night| night.rows[0].identity.runtime = None),
        ("calls", |night| night.rows[0].probes[0].calls = 30),
        ("outcome", |night| {
            night.rows[0].probes[0].outcome = Some(Outcome::Failed);
        }),
        ("probe", |night| night.rows[0].probes[0].name = "another".to_owned()),
        ("interrupted", |night| night.interrupted = true),
    ];
    let tonight = night_of(timed_row(2_300));
    for (what, change) in changes {
        let mut past: Vec<RunRecord> = (0..5).map(|_| night_of(timed_row(920))).collect();
        assert!(found(&tonight, &past).is_some());
        change(&mut past[2]);
        assert_eq!(found(&tonight, &past), None, "{what}");
    }
}
