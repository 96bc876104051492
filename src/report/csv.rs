//! Two tables of a run for spreadsheets and programs: one line per sample, one per row. Comma, CR LF,
//! quotes as in RFC 4180, UTF-8, a header whose names end in the unit, an empty cell for what is
//! unknown. Figures have all the digits of the record.
//!
//! Texts are of strangers: control characters are shown as escapes, and a text that a spreadsheet
//! would take for a formula gets an apostrophe in front (OWASP, "CSV Injection").

use std::time::Duration;

use ::csv::{Terminator, WriterBuilder};

use crate::event::{SessionFacts, SessionKind};
use crate::finding::Severity;
use crate::record::json::in_milliseconds;
use crate::record::{Outcome, PackageSource, ProbeRecord, RowRecord, RunRecord};
use crate::stats;
use crate::text::clean_for_terminal;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvTable {
    /// One line per sample: every call of every session that ended as expected, in order.
    Samples,
    /// One line per row, with the figures of its first probe.
    Rows,
}

/// The columns of [`CsvTable::Samples`].
const SAMPLE_COLUMNS: [&str; 14] = [
    "run_id",
    "row_id",
    "server",
    "title",
    "runtime",
    "group",
    "session",
    "repeat",
    "attempt",
    "probe",
    "tool",
    "sample",
    "sample_ms",
    "pooled",
];

/// The columns of [`CsvTable::Rows`].
const ROW_COLUMNS: [&str; 45] = [
    "run_id",
    "row_id",
    "server",
    "title",
    "runtime",
    "group",
    "status",
    "skip_reason",
    "findings",
    "reported_name",
    "reported_version",
    "package",
    "wanted",
    "installed",
    "package_source",
    "runtime_kind",
    "runtime_version",
    "launcher",
    "era",
    "protocol",
    "install_ms",
    "first_start_ms",
    "sessions",
    "cold_start_ms",
    "list_ms",
    "tools",
    "probe",
    "tool",
    "outcome",
    "planned_calls",
    "warmup",
    "calls",
    "failures",
    "samples",
    "first_ms",
    "median_ms",
    "median_ci95_low_ms",
    "median_ci95_high_ms",
    "p95_ms",
    "min_ms",
    "max_ms",
    "outliers",
    "peak_rss_bytes",
    "load_average_1m",
    "cpu_pressure_avg10_percent",
];

/// A table of a run as CSV.
#[expect(clippy::missing_panics_doc, reason = "it cannot panic")]
pub fn csv(record: &RunRecord, table: CsvTable) -> String {
    let (header, lines) = match table {
        CsvTable::Samples => (&SAMPLE_COLUMNS[..], sample_lines(record)),
        CsvTable::Rows => (
            &ROW_COLUMNS[..],
            record.rows.iter().map(|row| row_line(record, row)).collect(),
        ),
    };
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    writer.write_record(header).expect("writing to memory cannot fail");
    for line in lines {
        writer.write_record(line).expect("lines are as long as the header");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("it was made of strings")
}

fn sample_lines(record: &RunRecord) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for row in &record.rows {
        for (session, number) in row.sessions.iter().zip(1_usize..) {
            for facts in &session.probes {
                let Some(probe) = row.probes.get(facts.index) else {
                    continue;
                };
                for (sample, place) in facts.samples.iter().zip(1_usize..) {
                    lines.push(vec![
                        text(&record.id),
                        text(&row.id.0),
                        text(&row.server),
                        text(&row.title),
                        optional(row.runtime.as_deref()),
                        optional(row.group.as_deref()),
                        number.to_string(),
                        repeat(session).map_or_else(String::new, |repeat| repeat.to_string()),
                        session.attempt.to_string(),
                        text(&probe.name),
                        text(&probe.tool),
                        place.to_string(),
                        time(Some(*sample)),
                        is_pooled(row, session).to_string(),
                    ]);
                }
            }
        }
    }
    lines
}

/// Whether a session's samples are in the row's figures: those of a repeat that was tried again are not.
fn is_pooled(row: &RowRecord, session: &SessionFacts) -> bool {
    let last = row.sessions.iter().rev().find(|other| other.kind == session.kind);
    repeat(session).is_some() && last.is_some_and(|last| std::ptr::eq(last, session))
}

fn repeat(session: &SessionFacts) -> Option<u32> {
    match session.kind {
        SessionKind::Repeat(repeat) => Some(repeat),
        SessionKind::ColdStart | SessionKind::FirstStart => None,
    }
}

fn row_line(record: &RunRecord, row: &RowRecord) -> Vec<String> {
    let identity = &row.identity;
    let package = &identity.package;
    let runtime = identity.runtime.as_ref();
    let cold_starts: Vec<Duration> = row.sessions.iter().filter_map(|session| session.cold_start).collect();
    let lists: Vec<Duration> = row.sessions.iter().filter_map(|session| session.list).collect();
    let mut line = vec![
        text(&record.id),
        text(&row.id.0),
        text(&row.server),
        text(&row.title),
        optional(row.runtime.as_deref()),
        optional(row.group.as_deref()),
        row.status.name().to_owned(),
        row.skip.as_ref().map_or("", |skip| skip.reason.name()).to_owned(),
        findings(row),
        optional(identity.reported_name.as_deref()),
        optional(identity.reported_version.as_deref()),
        package_name(row),
        optional(package.wanted.as_deref()),
        optional(package.installed.as_deref()),
        package.source.map_or("", source).to_owned(),
        optional(runtime.map(|runtime| runtime.kind.as_str())),
        optional(runtime.and_then(|runtime| runtime.version.as_deref())),
        identity.launcher.map_or("", crate::event::Launcher::name).to_owned(),
        identity.era.map_or("", crate::event::Era::name).to_owned(),
        optional(identity.negotiated.as_deref()),
        time(row.install),
        time(row.first_start),
        cold_starts.len().to_string(),
        time(stats::median(&cold_starts)),
        time(stats::median(&lists)),
        number(row.tools.as_ref().map(Vec::len)),
    ];
    line.extend(probe_cells(row.probes.first()));
    line.extend([
        number(row.resources.map(|resources| resources.peak_rss_bytes)),
        number(row.load.load_average_1m),
        number(row.load.cpu_pressure_avg10),
    ]);
    line
}

/// The cells of the timed probe, from `probe` to `outliers`; empty where the row has none.
fn probe_cells(probe: Option<&ProbeRecord>) -> [String; 16] {
    let Some(probe) = probe else {
        return std::array::from_fn(|_| String::new());
    };
    let samples = &probe.samples;
    let interval = stats::median_interval(samples);
    [
        text(&probe.name),
        text(&probe.tool),
        probe.outcome.map_or("", Outcome::name).to_owned(),
        number(probe.planned_calls),
        number(probe.warmup),
        probe.calls.to_string(),
        probe.failures.to_string(),
        samples.len().to_string(),
        time(probe.first),
        time(stats::median(samples)),
        time(interval.map(|(low, _)| low)),
        time(interval.map(|(_, high)| high)),
        time(stats::p95(samples)),
        time(samples.iter().min().copied()),
        time(samples.iter().max().copied()),
        stats::outliers(samples).len().to_string(),
    ]
}

/// `fail:exited-early warn:stdout-noise`.
fn findings(row: &RowRecord) -> String {
    let said = row.findings.iter().map(|finding| {
        let severity = match finding.severity {
            Severity::Fail => "fail",
            Severity::Warn => "warn",
            Severity::Note => "note",
        };
        format!("{severity}:{}", finding.code)
    });
    said.collect::<Vec<_>>().join(" ")
}

/// `npm:@scope/name`, as a manifest names it.
fn package_name(row: &RowRecord) -> String {
    let package = &row.identity.package;
    match (package.ecosystem, &package.name) {
        (Some(ecosystem), Some(name)) => text(&format!("{}:{name}", ecosystem.name())),
        (None, name) => optional(name.as_deref()),
        (Some(_), None) => String::new(),
    }
}

fn source(source: PackageSource) -> &'static str {
    match source {
        PackageSource::Walk => "walk",
        PackageSource::Manifest => "manifest",
    }
}

fn time(duration: Option<Duration>) -> String {
    number(duration.map(in_milliseconds))
}

fn number(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn optional(cell: Option<&str>) -> String {
    cell.map_or_else(String::new, text)
}

/// One harmless line that no spreadsheet computes. The wide forms of the signs are taken for the
/// narrow ones by some.
fn text(cell: &str) -> String {
    let clean = clean_for_terminal(cell);
    let first = clean.trim_start().chars().next();
    match first {
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') => format!("'{clean}"),
        _ => clean.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::report::sample::sample_record;

    fn read(text: &str) -> Vec<Vec<String>> {
        let mut reader = ::csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        let lines = reader.records().map(|line| line.expect("every line has as many cells"));
        lines.map(|line| line.iter().map(ToOwned::to_owned).collect()).collect()
    }

    #[test]
    fn there_is_a_line_for_every_row() {
        let record = sample_record();
        let lines = read(&csv(&record, CsvTable::Rows));
        assert_eq!(lines.len(), 1 + record.rows.len());
        let column = |name: &str| ROW_COLUMNS.iter().position(|column| *column == name).expect("a column");
        assert_eq!(lines[1][column("cold_start_ms")], "279.4");
        assert_eq!(
            lines[1][column("package")],
            "npm:@modelcontextprotocol/server-filesystem"
        );
        assert_eq!(
            lines[8][column("cold_start_ms")],
            "",
            "a server that died has no cold start, not one of zero"
        );
        assert_eq!(lines[9][column("skip_reason")], "offline");
    }

    #[test]
    fn there_is_a_line_for_every_sample_with_all_its_digits() {
        let record = sample_record();
        let lines = read(&csv(&record, CsvTable::Samples));
        let samples: usize = record
            .rows
            .iter()
            .flat_map(|row| &row.sessions)
            .flat_map(|session| &session.probes)
            .map(|probe| probe.samples.len())
            .sum();
        assert!(samples > 0);
        assert_eq!(lines.len(), 1 + samples);
        assert!(lines[1].contains(&"0.78".to_owned()), "{:?}", lines[1]);
    }

    #[test]
    fn lines_end_as_rfc_4180_has_it() {
        let text = csv(&sample_record(), CsvTable::Rows);
        assert!(text.ends_with("\r\n") && text.matches('\n').count() == text.matches("\r\n").count());
    }

    #[test]
    fn a_repeat_that_was_tried_again_is_not_pooled() {
        let mut record = sample_record();
        let row = &mut record.rows[0];
        let mut again = row.sessions[0].clone();
        again.attempt = 2;
        row.sessions.push(again);
        assert!(!is_pooled(row, &row.sessions[0]));
        assert!(is_pooled(row, &row.sessions[1]));
    }

    proptest! {
        #[test]
        fn no_text_becomes_a_formula_a_line_or_a_cell_of_its_own(title in any::<String>(), sign in "[=+@-]") {
            let mut record = sample_record();
            record.rows[0].title = format!("{sign}{title}");
            record.rows[1].title = title;
            let written = csv(&record, CsvTable::Rows);
            let lines = read(&written);
            prop_assert_eq!(lines.len(), 1 + record.rows.len());
            for line in &lines[1..] {
                prop_assert_eq!(line.len(), ROW_COLUMNS.len());
                let formula = line.iter().any(|cell| cell.trim_start().starts_with(['=', '+', '-', '@']));
                prop_assert!(!formula, "{:?}", line);
            }
            prop_assert_eq!(written.matches('\n').count(), lines.len());
        }
    }
}
