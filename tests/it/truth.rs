//! Every figure against the server's own word: `faulty.py --trace` notes by its own clock when it
//! received and when it sent what. A figure is never shorter than the server worked. That none is longer
//! than it should be follows from the server's clock as well: what it received later was written after
//! the figure had ended, and what it sent before had been sent when the figure began. Neither needs a
//! quiet machine.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::fleet::{Fleet, Outcome, server};

/// The trace is rounded to a microsecond, the record to a tenth of one.
const ROUNDING: f64 = 0.002;

/// A fleet of fault modes, each with a trace of its own.
struct Traced {
    fleet: Fleet,
    outcome: Outcome,
}

/// One session of a row: what the server saw, what the client logged and what the record says.
struct Session {
    trace: Vec<Value>,
    wire: Vec<Value>,
    row: Value,
}

impl Traced {
    fn run(rows: &[(&str, &[&str], &str)]) -> Self {
        let fleet = Fleet::new("");
        let mut manifest = String::from("[defaults]\ncalls = 4\n");
        for (mode, args, more) in rows {
            let trace = fleet.path().join(format!("{mode}.trace"));
            let trace = trace.to_string_lossy().into_owned();
            let args: Vec<&str> = [trace.as_str(), mode].into_iter().chain(args.iter().copied()).collect();
            let entry = server(mode, "--trace", &args, more);
            // What `payload` answers is not what it was given.
            manifest += &if *mode == "payload" {
                entry.replace("expect = { text = \"grüße\" }\n", "")
            } else {
                entry
            };
        }
        fleet.write("servers.toml", &manifest);
        let outcome = fleet.run(&["run", "--output", "none"]);
        assert!(outcome.record.is_some(), "{}", outcome.stderr);
        Self { fleet, outcome }
    }

    fn session(&self, mode: &str) -> Session {
        let run = self.outcome.record()["run"]["id"].as_str().unwrap().to_owned();
        let wire = PathBuf::from("logs").join(run).join(format!("{mode}.wire.jsonl"));
        Session {
            trace: lines(&self.fleet.path().join(format!("{mode}.trace"))),
            wire: lines(&self.fleet.path().join(wire)),
            row: self.outcome.row(mode).clone(),
        }
    }
}

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Session {
    /// What the server received, in order: when, and the message.
    fn received(&self) -> Vec<(f64, Value)> {
        let events = self.trace.iter().filter(|event| event["event"] == "in");
        let message = |event: &Value| serde_json::from_str(event["raw"].as_str().unwrap()).unwrap();
        events
            .map(|event| (event["ms"].as_f64().unwrap(), message(event)))
            .collect()
    }

    /// When the server received the request of this id, and sent its answer.
    fn worked(&self, id: u64) -> (f64, f64) {
        let received = self.received().into_iter().find(|(_, message)| message["id"] == id);
        let sent = self
            .trace
            .iter()
            .find(|event| event["event"] == "out" && event["id"] == id);
        (
            received.unwrap_or_else(|| panic!("request {id} was never received")).0,
            sent.unwrap_or_else(|| panic!("request {id} was never answered"))["ms"]
                .as_f64()
                .unwrap(),
        )
    }

    /// When this event was, by the server's clock.
    fn moment(&self, event: &str) -> f64 {
        let found = self.trace.iter().find(|other| other["event"] == event);
        found.unwrap_or_else(|| panic!("no {event}"))["ms"].as_f64().unwrap()
    }

    /// When the client wrote the request of this id and read its answer, since the spawn.
    fn on_the_wire(&self, id: u64) -> (f64, f64) {
        let of = |direction: &str| {
            let line = self
                .wire
                .iter()
                .find(|line| line["dir"] == direction && line["msg"]["id"] == id);
            line.unwrap_or_else(|| panic!("no {direction} {id}"))["t_ms"]
                .as_f64()
                .unwrap()
        };
        (of("out"), of("in"))
    }

    /// The ids of the calls, in the order of their writes.
    fn calls(&self) -> Vec<u64> {
        let calls = self.wire.iter().filter(|line| line["msg"]["method"] == "tools/call");
        calls.map(|line| line["msg"]["id"].as_u64().unwrap()).collect()
    }

    /// Between which moments of the server's clock the process was spawned: after every answer that it
    /// sent minus when that was read, before every request that it received minus when that was written.
    fn spawned(&self) -> (f64, f64) {
        let mut between = (f64::MIN, f64::MAX);
        for id in [1, 2].into_iter().chain(self.calls()) {
            let (received, sent) = self.worked(id);
            let (wrote, read) = self.on_the_wire(id);
            between = (between.0.max(sent - read), between.1.min(received - wrote));
        }
        between
    }

    fn samples(&self) -> Vec<f64> {
        let samples = self.row["probes"][0]["samples_ms"].as_array().unwrap();
        samples.iter().map(|sample| sample.as_f64().unwrap()).collect()
    }

    fn figure(&self, name: &str) -> f64 {
        self.row["sessions"][0][name]
            .as_f64()
            .unwrap_or_else(|| panic!("no {name}"))
    }
}

#[track_caller]
fn assert_within(what: &str, least: f64, figure: f64, most: f64) {
    assert!(
        figure >= least - ROUNDING,
        "{what} is {figure} ms, but the server took {least} ms"
    );
    assert!(
        figure <= most + ROUNDING,
        "{what} is {figure} ms, but cannot have been above {most} ms"
    );
}

/// Cold start, list, first call, samples and shutdown of a session with one call in flight.
fn assert_every_figure(name: &str, session: &Session) {
    let calls = session.calls();
    let samples = session.samples();
    assert_eq!(samples.len(), calls.len(), "{name}");
    let (after, before) = session.spawned();
    assert!(after <= before + ROUNDING, "{name}: the clocks contradict each other");
    let (_, greeted) = session.worked(1);
    let initialized = session.received()[1].0;
    assert_within(
        &format!("{name}: cold start"),
        (greeted - before).max(greeted - session.moment("start")),
        session.figure("cold_start_ms"),
        initialized - after,
    );
    let (asked, listed) = session.worked(2);
    let first_call = session.worked(calls[0]).0;
    let list = session.figure("list_ms");
    assert_within(&format!("{name}: list"), listed - asked, list, first_call - greeted);
    let end = session.moment("eof");
    for (place, (id, sample)) in calls.iter().zip(&samples).enumerate() {
        let (received, sent) = session.worked(*id);
        // The one before had been answered; the next one was not written yet, nor was stdin closed.
        let next = calls.get(place + 1).map_or(end, |next| session.worked(*next).0);
        let earlier = if place == 0 {
            listed
        } else {
            session.worked(calls[place - 1]).1
        };
        assert_within(
            &format!("{name}: call {place}"),
            sent - received,
            *sample,
            next - earlier,
        );
        // And it is what the wire log says, which anyone can add up.
        let (wrote, read) = session.on_the_wire(*id);
        assert!((read - wrote - sample).abs() < ROUNDING, "{name}: call {place}");
    }
    assert!((session.row["probes"][0]["first_ms"].as_f64().unwrap() - samples[0]).abs() < ROUNDING);
    let (_, last) = session.worked(*calls.last().unwrap());
    let total = session.figure("total_ms");
    assert_within(
        &format!("{name}: shutdown"),
        session.moment("exit") - end,
        session.figure("shutdown_ms"),
        total - (last - before),
    );
}

#[test]
fn no_figure_is_shorter_or_longer_than_the_server_says() {
    let modes: [(&str, &[&str], &str); 8] = [
        ("ok", &[], ""),
        ("sleep-ms", &["60"], ""),
        ("jitter", &["10,10,150,10"], ""),
        ("slow-start", &["300"], ""),
        ("slow-list", &["200"], ""),
        ("first-slow", &["250"], ""),
        ("payload", &["1048576"], ""),
        ("slow-exit", &["300"], ""),
    ];
    let traced = Traced::run(&modes);
    let session = |mode: &str| traced.session(mode);
    for (mode, ..) in modes {
        assert_every_figure(mode, &session(mode));
    }
    // What each mode does on purpose lies in the figure it belongs to.
    assert!(session("slow-start").figure("cold_start_ms") >= 300.0);
    assert!(session("slow-list").figure("list_ms") >= 200.0);
    assert!(session("slow-exit").figure("shutdown_ms") >= 300.0);
    assert!(session("sleep-ms").samples().iter().all(|sample| *sample >= 60.0));
    assert!(session("jitter").samples()[2] >= 150.0);
    assert!(session("first-slow").samples()[0] >= 250.0);
    // And only there: the middle one of what the client adds is small also where others compete.
    let sleeping = session("sleep-ms");
    let mut added: Vec<f64> = sleeping
        .calls()
        .into_iter()
        .zip(sleeping.samples())
        .map(|(id, sample)| sample - (sleeping.worked(id).1 - sleeping.worked(id).0))
        .collect();
    added.sort_by(f64::total_cmp);
    assert!(added[1] < 60.0, "{added:?}");
}

#[test]
fn what_the_server_received_is_what_the_protocol_asks_for() {
    let traced = Traced::run(&[("ok", &[], ""), ("call-hang", &["2"], "call_timeout = \"400ms\"\n")]);
    for (mode, given_up) in [("ok", vec![]), ("call-hang", vec![4])] {
        let session = traced.session(mode);
        let received = session.received();
        assert!(
            received.iter().all(|(_, message)| message["jsonrpc"] == "2.0"),
            "{mode}"
        );
        let requests: Vec<&Value> = received
            .iter()
            .map(|(_, message)| message)
            .filter(|it| it.get("id").is_some())
            .collect();
        let ids: Vec<u64> = requests.iter().map(|request| request["id"].as_u64().unwrap()).collect();
        assert_eq!(
            ids,
            (1..=6).collect::<Vec<u64>>(),
            "{mode}: from 1, each once, in order"
        );
        let methods: Vec<&str> = requests
            .iter()
            .map(|request| request["method"].as_str().unwrap())
            .collect();
        assert_eq!(methods[..2], ["initialize", "tools/list"]);
        assert_eq!(methods[2..], ["tools/call"; 4]);
        for call in &requests[2..] {
            assert_eq!(call["params"]["name"], "echo");
            assert_eq!(call["params"]["arguments"]["text"], "grüße");
        }
        let notifications: Vec<&(f64, Value)> = received
            .iter()
            .filter(|(_, message)| message.get("id").is_none())
            .collect();
        assert_eq!(notifications[0].1["method"], "notifications/initialized");
        assert!(
            notifications[0].0 >= session.worked(1).1,
            "{mode}: only after the reply"
        );
        assert_eq!(
            received[1].1["method"], "notifications/initialized",
            "{mode}: before anything else"
        );
        let cancelled: Vec<u64> = notifications[1..]
            .iter()
            .map(|(_, message)| {
                assert_eq!(
                    message["method"], "notifications/cancelled",
                    "{mode}: nothing else is sent"
                );
                message["params"]["requestId"].as_u64().unwrap()
            })
            .collect();
        assert_eq!(cancelled, given_up, "{mode}");
    }
    let hung = traced.session("call-hang");
    assert_eq!(hung.samples().len(), 3, "a call without an answer is never a sample");
    let received = hung.received();
    let at = |wanted: &str, id: u64| {
        let of = |message: &Value| {
            message["method"] == wanted && (message["id"] == id || message["params"]["requestId"] == id)
        };
        received.iter().find(|(_, message)| of(message)).unwrap().0
    };
    let waited = hung.on_the_wire(5).0 - hung.on_the_wire(3).1;
    assert!(waited >= 400.0, "the whole limit was given: {waited}");
    assert!(
        at("notifications/cancelled", 4) <= at("tools/call", 5),
        "cancelled before the next call"
    );
}

#[test]
fn several_calls_in_flight_are_timed_each_from_its_own_write() {
    let several = "concurrency = 3\ncalls = 7\n";
    let traced = Traced::run(&[("concurrent", &["150"], several), ("serial", &["50"], several)]);
    for mode in ["concurrent", "serial"] {
        let session = traced.session(mode);
        let (calls, samples) = (session.calls(), session.samples());
        assert_eq!(calls, (3..=9).collect::<Vec<u64>>(), "{mode}");
        assert_eq!(samples.len(), 7, "{mode}");
        assert_eq!(session.row["concurrency"], 3);
        let (after, before) = session.spawned();
        assert!(after <= before + ROUNDING, "{mode}: the clocks contradict each other");
        for (id, sample) in calls.iter().zip(&samples) {
            let (received, sent) = session.worked(*id);
            let (wrote, read) = session.on_the_wire(*id);
            assert!(
                (read - wrote - sample).abs() < ROUNDING,
                "{mode}: samples stand in the order of writing"
            );
            // From the write on, also where the server had not read it yet.
            let least = (sent - received).max(sent - before - wrote);
            assert!(
                *sample >= least - ROUNDING,
                "{mode}: {sample} ms, but the server took {least} ms"
            );
        }
        // Never more than three at a time, and three at once.
        let in_flight_with = |wrote: f64| {
            let spans = calls.iter().map(|id| session.on_the_wire(*id));
            spans.filter(|(other, read)| *other <= wrote && wrote < *read).count()
        };
        let most = calls.iter().map(|id| in_flight_with(session.on_the_wire(*id).0)).max();
        assert_eq!(most, Some(3), "{mode}");
    }
    let report = fs::read_to_string(traced.fleet.path().join("reports/latest/report.md")).unwrap();
    assert!(report.contains("in flight") && report.contains("(3)"), "{report}");
}
