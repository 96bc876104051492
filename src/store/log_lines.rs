//! The lines of a row's log and wire log: who, when, what. Only words and layout; masking and writing
//! are `row_log`'s.

use std::io::{self, Write};
use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::event::{
    Direction, EventKind, HostLoad, LogLine, LogSource, Newest, Observation, PackageFacts, SessionFacts, SessionKind,
    Skip, WireLine,
};
use crate::text::duration_words;

/// A line of the log: its margin is ours, its text may hold anything.
pub(super) struct Line {
    pub(super) margin: String,
    pub(super) text: String,
}

/// What an event says in the log. `at` is the time since the run began, for what has none of its own.
pub(super) fn of(kind: &EventKind, at: Duration) -> Vec<Line> {
    let one = |text: String| vec![of_run(at, text)];
    match kind {
        EventKind::Log(line) => vec![of_log(line)],
        EventKind::Doing(what) => one(what.clone()),
        EventKind::Installed(took) => one(format!("installed in {}", duration_words(*took))),
        EventKind::PackageInPlace(package) => one(in_place(package)),
        EventKind::Newest(newest) => one(newest_line(newest)),
        EventKind::Measuring(load) => one(host_load(*load)),
        EventKind::Observed(observation) => one(observed(observation)),
        EventKind::Skipped(skip) => one(skipped(skip)),
        EventKind::Session(session) => {
            let seen = session.observations.iter().map(observed);
            let texts = std::iter::once(session_summary(session)).chain(seen);
            texts.map(|text| of_run(at, text)).collect()
        }
        EventKind::RowDone => one("the row is over".to_owned()),
        // Each call stands in the wire log.
        EventKind::CallDone { .. } | EventKind::Wire(_) => Vec::new(),
    }
}

/// Writes a line of the wire log: `{"session","t_ms","dir","msg"}`. A message that is JSON goes in as
/// it came, not parsed into values: messages can be large, and their spelling is evidence.
pub(super) fn write_wire(file: &mut impl Write, line: &WireLine, text: &str) -> io::Result<()> {
    let direction = match line.direction {
        Direction::In => "in",
        Direction::Out => "out",
    };
    let milliseconds = (line.at.as_nanos() as f64 / 100.0).round() / 10_000.0;
    write!(
        file,
        r#"{{"session":{},"t_ms":{milliseconds},"dir":"{direction}","msg":"#,
        line.session
    )?;
    let message = text.trim();
    if serde_json::from_str::<IgnoredAny>(message).is_err() {
        serde_json::to_writer(&mut *file, text)?;
    } else if message.contains(['\n', '\r']) {
        // Line ends between its parts would break our lines.
        match serde_json::from_str::<Value>(message) {
            Ok(value) => serde_json::to_writer(&mut *file, &value)?,
            Err(_) => serde_json::to_writer(&mut *file, text)?,
        }
    } else {
        file.write_all(message.as_bytes())?;
    }
    file.write_all(b"}\n")
}

fn of_log(line: &LogLine) -> Line {
    let session = match line.session {
        0 => "prepare".to_owned(),
        number => format!("session {number}"),
    };
    let source = match line.source {
        LogSource::Runner => "",
        LogSource::Stderr => "stderr:",
        LogSource::Stdout => "stdout:",
        LogSource::Install => "install:",
    };
    Line {
        margin: format!("{:<25}{source}", margin(&session, line.at))
            .trim_end()
            .to_owned(),
        text: line.text.clone(),
    }
}

fn of_run(at: Duration, text: String) -> Line {
    Line {
        margin: format!("{:<25}", margin("run", at)).trim_end().to_owned(),
        text,
    }
}

fn margin(clock: &str, at: Duration) -> String {
    format!("[{clock:<10} {:>9.3} s]", at.as_secs_f64())
}

fn newest_line(newest: &Newest) -> String {
    let version = newest.version.as_deref().unwrap_or("unknown");
    let causes = [
        ("held back by", &newest.held_back),
        ("behind because of", &newest.behind),
    ]
    .into_iter();
    let told = causes.filter_map(|(words, cause)| {
        let cause = cause.as_ref()?;
        let detail = cause
            .detail
            .as_ref()
            .map(|detail| format!(" ({detail})"))
            .unwrap_or_default();
        Some(format!(", {words} {}{detail}", cause.cause))
    });
    let as_of = newest
        .as_of
        .as_ref()
        .map(|day| format!(" as of {day}"))
        .unwrap_or_default();
    format!("newest: {version}{as_of}{}", told.collect::<String>())
}

fn in_place(package: &PackageFacts) -> String {
    format!(
        "in place: {}:{} {} at {}",
        package.ecosystem.name(),
        package.name,
        package.version,
        package.path.display()
    )
}

fn host_load(load: HostLoad) -> String {
    let known = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2}"));
    format!(
        "measuring; load average {}, CPU pressure {}",
        known(load.load_average_1m),
        known(load.cpu_pressure_avg10)
    )
}

fn observed(observation: &Observation) -> String {
    format!("seen: {:?}", observation.what)
}

fn skipped(skip: &Skip) -> String {
    let cure = skip.cure.as_ref().map_or_else(String::new, |cure| format!("; {cure}"));
    format!("not run ({}): {}{cure}", skip.reason.name(), skip.message)
}

fn session_summary(session: &SessionFacts) -> String {
    let kind = match session.kind {
        SessionKind::FirstStart => "first start".to_owned(),
        SessionKind::Repeat(repeat) => format!("repeat {repeat}"),
        SessionKind::ColdStart => "handshake and list only".to_owned(),
    };
    let time = |time: Option<Duration>| time.map_or_else(|| "not reached".to_owned(), duration_words);
    let tools = session
        .tools
        .as_ref()
        .map_or_else(|| "unknown".to_owned(), |tools| tools.len().to_string());
    let shutdown = session.shutdown.as_ref().map_or_else(
        || "never started".to_owned(),
        |shutdown| match (shutdown.exit_code, shutdown.signal) {
            (Some(code), _) => format!("{}, exit code {code}", shutdown.step.name()),
            (None, Some(signal)) => format!("{}, signal {signal}", shutdown.step.name()),
            (None, None) => shutdown.step.name().to_owned(),
        },
    );
    format!(
        "session {} is over ({kind}, attempt {}): first byte {}, cold start {}, list {}, tools {tools}, {shutdown}",
        session.number,
        session.attempt,
        time(session.first_byte),
        time(session.cold_start),
        time(session.list),
    )
}
