//! `report.md`: totals, findings, the main table, every probe with its interval, and the conditions
//! under which it was measured. Every text of a stranger is shown literally.

mod conditions;

use std::fmt::Write;
use std::time::Duration;

use crate::record::{ProbeRecord, RunRecord, Status};
use crate::report::headline;
use crate::report::main_table::{MainRow, MainTable, main_table, server_name};
use crate::report::sentences::{self, DAGGER_NOTE, RowSentences, Sentence};
use crate::stats;
use crate::text::{clean_for_markdown, cut, milliseconds};

/// Longer messages end with an ellipsis; the record and the log have all of it.
const LONGEST_MESSAGE: usize = 1000;
/// What stands for something unknown.
const UNKNOWN: &str = "–";
/// Writing into a string cannot fail.
const INFALLIBLE: &str = "writing to a string cannot fail";

/// The report of a run as Markdown, as GitHub reads it.
pub fn markdown(record: &RunRecord) -> String {
    let figures = main_table(record);
    let mut text = String::new();
    push_title(&mut text, record);
    headline::push_markdown(&mut text, record);
    push_findings(&mut text, record);
    if !figures.rows.is_empty() {
        push_main_table(&mut text, &figures);
    }
    push_probes(&mut text, record);
    conditions::push(&mut text, record);
    text
}

fn push_title(text: &mut String, record: &RunRecord) {
    let started = record.started.strftime("%Y-%m-%d %H:%M UTC");
    let interrupted = if record.interrupted {
        " The run was interrupted."
    } else {
        ""
    };
    writeln!(text, "# MCP smoke test {}\n", clean_for_markdown(&record.id)).expect(INFALLIBLE);
    writeln!(
        text,
        "{started}, manifest {}. **{}.**{interrupted}\n",
        clean_for_markdown(&record.manifest.to_string_lossy()),
        sentences::totals(&record.totals)
    )
    .expect(INFALLIBLE);
}

fn push_findings(text: &mut String, record: &RunRecord) {
    text.push_str("## Findings\n\n");
    let rows = sentences::sentences(record);
    if rows.is_empty() {
        text.push_str("Nothing failed and nothing warns.\n");
    }
    for row in &rows {
        for sentence in &row.sentences {
            push_sentence(text, row, sentence);
        }
    }
    if let Some(notes) = sentences::notes(record) {
        writeln!(text, "\n{notes}.").expect(INFALLIBLE);
    }
    text.push('\n');
}

fn push_sentence(text: &mut String, row: &RowSentences<'_>, sentence: &Sentence) {
    let row_id = clean_for_markdown(row.id);
    let (word, subject) = match sentence.code {
        Some(code) => (sentence.label, code.name()),
        None => (row.status.name(), sentence.label),
    };
    let message = clean_for_markdown(&cut(&sentence.text, LONGEST_MESSAGE));
    write!(text, "- **{row_id}**: {word}, `{subject}`: {message}.").expect(INFALLIBLE);
    if let Some(hint) = &sentence.hint {
        write!(text, " Hint: {}.", clean_for_markdown(hint)).expect(INFALLIBLE);
    }
    text.push('\n');
}

fn push_main_table(text: &mut String, figures: &MainTable) {
    text.push_str("## Servers\n\n");
    text.push_str(
        "| Server | Reported name and version | Installed | Runtime | Cold start (ms) | tools/list (ms) | Tools | Timed call | Median (ms) | p95 (ms) | Call result |\n\
         | --- | --- | --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- |\n",
    );
    for row in &figures.rows {
        push_cells(text, &main_cells(row));
    }
    writeln!(text, "\n{}", sentences::caption(figures)).expect(INFALLIBLE);
    if figures.has_dagger {
        writeln!(text, "\n{DAGGER_NOTE}").expect(INFALLIBLE);
    }
    if figures
        .rows
        .iter()
        .any(|row| row.by_manifest && row.installed.is_some())
    {
        text.push_str("\n‡ No package owns the running script; this is the manifest's.\n");
    }
    text.push('\n');
}

fn main_cells(row: &MainRow) -> [String; 11] {
    let n = |unusual: Option<usize>| unusual.map(|count| format!(" (n = {count})")).unwrap_or_default();
    let installed = match (&row.package, &row.installed) {
        (Some(package), Some(version)) => format!("{} {}", clean_for_markdown(package), known(Some(version))),
        (_, version) => known(version.as_deref()),
    };
    let reported = match (&row.reported_name, &row.reported_version) {
        (None, None) => UNKNOWN.to_owned(),
        (name, version) => format!("{} {}", known(name.as_deref()), known(version.as_deref())),
    };
    let result = clean_for_markdown(&row.result);
    [
        clean_for_markdown(&row.server),
        reported,
        if row.by_manifest && row.installed.is_some() {
            format!("{installed}‡")
        } else {
            installed
        },
        known(row.runtime.as_deref()),
        format!("{}{}", time(row.cold_start), n(row.unusual_sessions)),
        time(row.list),
        row.tools.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string()),
        known(row.timed_call.as_deref()),
        format!("{}{}", time(row.median), n(row.unusual_samples)),
        format!("{}{}", time(row.p95), if row.dagger { "†" } else { "" }),
        match row.status {
            Status::Pass => result,
            status => format!("**{}**: {result}", status.name()),
        },
    ]
}

/// Every probe of every row, with the figures that the main table has no room for.
fn push_probes(text: &mut String, record: &RunRecord) {
    let called = |probe: &&ProbeRecord| probe.outcome.is_some();
    if !record
        .rows
        .iter()
        .flat_map(|row| &row.probes)
        .any(|probe| called(&probe))
    {
        return;
    }
    text.push_str("## Probes\n\n");
    text.push_str(
        "| Server | Probe | Outcome | Calls | Failures | First (ms) | Median (ms) | 95 % interval of the median (ms) | p95 (ms) | Min (ms) | Max (ms) | Outliers |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in &record.rows {
        let server = clean_for_markdown(&server_name(row, record));
        for probe in row.probes.iter().filter(called) {
            push_cells(text, &probe_cells(&server, probe));
        }
    }
    text.push_str(
        "\nFirst is the first call of the first session. The interval holds within one session. Outliers (modified \
         z-score above 3.5) are counted, never dropped.\n\n",
    );
}

fn probe_cells(server: &str, probe: &ProbeRecord) -> [String; 12] {
    let samples = &probe.samples;
    let dagger = !samples.is_empty() && samples.len() < stats::P95_NEEDS;
    let interval = stats::median_interval(samples);
    [
        server.to_owned(),
        clean_for_markdown(&probe.name),
        probe.outcome.map_or(UNKNOWN, crate::record::Outcome::name).to_owned(),
        probe.calls.to_string(),
        probe.failures.to_string(),
        time(probe.first),
        time(stats::median(samples)),
        interval.map_or_else(
            || UNKNOWN.to_owned(),
            |(low, high)| format!("{} to {}", milliseconds(low), milliseconds(high)),
        ),
        format!("{}{}", time(stats::p95(samples)), if dagger { "†" } else { "" }),
        time(samples.iter().min().copied()),
        time(samples.iter().max().copied()),
        stats::outliers(samples).len().to_string(),
    ]
}

fn push_cells(text: &mut String, cells: &[String]) {
    writeln!(text, "| {} |", cells.join(" | ")).expect(INFALLIBLE);
}

fn time(duration: Option<Duration>) -> String {
    duration.map_or_else(|| UNKNOWN.to_owned(), milliseconds)
}

/// Cleaned; an empty text is a fact of its own and not the same as an unknown one.
fn known(text: Option<&str>) -> String {
    match text {
        None => UNKNOWN.to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(text) => clean_for_markdown(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_record;

    #[test]
    fn the_report_has_findings_figures_and_conditions() {
        insta::assert_snapshot!(markdown(&sample_record()));
    }

    #[test]
    fn the_main_table_has_the_columns_of_the_design_in_order_and_every_row_as_many_cells() {
        let report = markdown(&sample_record());
        let header = report
            .lines()
            .find(|line| line.starts_with("| Server | Reported"))
            .expect("a table");
        let names: Vec<&str> = header.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(names.len(), 11);
        assert_eq!(
            names[..4],
            ["Server", "Reported name and version", "Installed", "Runtime"]
        );
        assert_eq!(names[10], "Call result");
        let table = report
            .split("## Servers")
            .nth(1)
            .and_then(|rest| rest.split("## Probes").next());
        let rows = table
            .expect("a table")
            .lines()
            .filter(|line| line.starts_with('|'))
            .skip(2);
        for row in rows {
            assert_eq!(row.replace("\\|", "").matches('|').count(), 12, "{row}");
        }
    }

    #[test]
    fn no_text_of_a_server_becomes_markup() {
        let report = markdown(&sample_record());
        for never in ["<img", "[x](", "\u{1b}", "\u{202e}"] {
            assert!(!report.replace("\\[x\\](", "").contains(never), "{never:?}");
        }
    }

    #[test]
    fn a_run_without_rows_makes_a_report() {
        let mut record = sample_record();
        record.rows.clear();
        record.totals = crate::record::Totals::default();
        assert!(markdown(&record).contains("Nothing failed and nothing warns."));
    }
}
