//! Under which conditions a run was measured, and by which rules its figures were made: what a
//! reader needs to compare them with others. What the system did not tell is left out.

use std::fmt::Write;

use super::INFALLIBLE;
use crate::event::SessionFacts;
use crate::record::{Host, RunRecord};
use crate::report::sentences;
use crate::text::{clean_for_markdown, counted, duration_words};

const RULES: &str = "\
- Cold start: just before the process is spawned to the last byte of the handshake result. A fresh installation was \
started once before, so that installing, first imports and byte-compiling are no part of it. tools/list: its write to \
the last byte of the last page.
- Calls: just before the write to the last byte of the answer, one at a time unless said otherwise above. Calls that failed are counted and never \
timed.
- Median: the middle value, or the midpoint of the two; its 95 % interval from exact order statistics (n = 30: ranks 10 \
and 21), from six samples on. p95: nearest rank, always a value that was seen; with † below n = 20, where it is the \
maximum.
";

/// Adds the section.
pub(super) fn push(text: &mut String, record: &RunRecord) {
    text.push_str("## Measuring conditions\n\n");
    let mut line = |said: String| writeln!(text, "- {said}").expect(INFALLIBLE);
    if let Some(host) = host(&record.host) {
        line(format!("Host: {host}."));
    }
    if let Some([one, five, fifteen]) = record.host.load_average {
        line(format!(
            "Load average at the start: {one:.2}, {five:.2}, {fifteen:.2} (1, 5 and 15 minutes)."
        ));
    }
    let loads = record.rows.iter().filter_map(|row| row.load.load_average_1m);
    if let Some(range) = range(loads, 2) {
        line(format!("Load average just before the rows (1 minute): {range}."));
    }
    let pressures = record.rows.iter().filter_map(|row| row.load.cpu_pressure_avg10);
    if let Some(range) = range(pressures, 1) {
        line(format!("CPU pressure just before the rows (some, 10 s): {range} %."));
    }
    line(match record.jobs {
        0 | 1 => "Rows ran one at a time (jobs = 1).".to_owned(),
        jobs => format!("Up to {jobs} rows ran at a time (jobs = {jobs}) and may have slowed each other down."),
    });
    if let Some(several) = sentences::concurrency(record) {
        line(clean_for_markdown(&several));
    }
    line(format!("{}.", counted(sessions(record), "session")));
    if let Some(warmup) = record.settings.get("warmup") {
        line(format!(
            "Warm-up calls, as set on the command line: {}.",
            clean_for_markdown(&warmup.to_string())
        ));
    }
    line(format!("Seed of the order of rows: {}.", record.seed));
    if let Ok(took) = std::time::Duration::try_from(record.finished.duration_since(record.started)) {
        line(format!("The whole run took {}.", duration_words(took)));
    }
    line(format!("{}.", uppercase_first(&sentences::calibration(record))));
    text.push_str(RULES);
}

fn host(host: &Host) -> Option<String> {
    let memory = host
        .memory_bytes
        .map(|bytes| format!("{:.1} GiB of memory", bytes as f64 / f64::from(1 << 30)));
    let parts: Vec<String> = [
        host.os.clone(),
        host.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        host.cpu.clone(),
        host.logical_cpus.map(|count| counted(count, "logical core")),
        memory,
        host.virtualization.clone(),
    ]
    .into_iter()
    .flatten()
    .map(|part| clean_for_markdown(&part))
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn sessions(record: &RunRecord) -> usize {
    let reached = |session: &&SessionFacts| session.cold_start.is_some();
    record.rows.iter().flat_map(|row| &row.sessions).filter(reached).count()
}

/// `0.42`, or `0.42 to 1.90`.
fn range(values: impl Iterator<Item = f64>, decimals: usize) -> Option<String> {
    let (least, most) = values
        .map(|value| (value, value))
        .reduce(|(least, most), (value, _)| (least.min(value), most.max(value)))?;
    let (least, most) = (format!("{least:.decimals$}"), format!("{most:.decimals$}"));
    Some(if least == most {
        least
    } else {
        format!("{least} to {most}")
    })
}

fn uppercase_first(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_record;

    fn conditions(record: &RunRecord) -> String {
        let mut text = String::new();
        push(&mut text, record);
        text
    }

    #[test]
    fn parallel_rows_are_told() {
        let mut record = sample_record();
        assert!(conditions(&record).contains("one at a time (jobs = 1)"));
        record.jobs = 4;
        assert!(conditions(&record).contains("Up to 4 rows ran at a time"));
    }

    #[test]
    fn rows_with_several_calls_in_flight_are_named() {
        let mut record = sample_record();
        assert!(!conditions(&record).contains("in flight"));
        let measured = |row: &&mut crate::record::RowRecord| row.probes.iter().any(|probe| probe.calls > 0);
        let row = record.rows.iter_mut().find(measured).expect("a measured row");
        row.concurrency = 4;
        let said = conditions(&record);
        assert!(
            said.contains("Calls in flight at once:") && said.contains("(4)"),
            "{said}"
        );
    }

    #[test]
    fn what_the_system_did_not_tell_is_left_out() {
        let mut record = sample_record();
        record.host = Host::default();
        for row in &mut record.rows {
            row.load = crate::event::HostLoad::default();
        }
        let said = conditions(&record);
        assert!(
            !said.contains("Host") && !said.contains("Load") && !said.contains("pressure"),
            "{said}"
        );
    }

    #[test]
    fn loads_are_given_as_a_range() {
        assert_eq!(range([0.4, 1.9, 0.2].into_iter(), 2).as_deref(), Some("0.20 to 1.90"));
        assert_eq!(range([0.4].into_iter(), 1).as_deref(), Some("0.4"));
        assert_eq!(range(std::iter::empty(), 1), None);
    }
}
