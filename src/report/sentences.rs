//! What every report says in words: one sentence per finding, the totals, the calibration, what the
//! figures of the main table are. Texts of strangers in it are not cleaned yet; the format does that.

use std::collections::BTreeMap;
use std::path::Path;

use crate::finding::{Code, Finding, Severity};
use crate::record::{RowRecord, RunRecord, Status, Totals};
use crate::report::main_table::{MainRow, MainTable, server_name};
use crate::text::{counted, milliseconds};

/// What a p95 of few samples is.
pub(crate) const DAGGER_NOTE: &str = "† fewer than 20 samples: this p95 is the maximum.";

/// Where a version comes from that no running file proves.
pub(crate) const BY_MANIFEST_NOTE: &str =
    "‡ no package owns the running script: this is the version that is installed of the manifest's package.";

/// What is to be said about one row.
#[derive(Clone, Debug)]
pub(crate) struct RowSentences<'record> {
    pub(crate) id: &'record str,
    /// Its title, with the runtime's name where the server runs on several.
    pub(crate) name: String,
    pub(crate) status: Status,
    pub(crate) sentences: Vec<Sentence>,
    /// Where to read on; null for a row that was not run.
    pub(crate) log: Option<&'record Path>,
}

/// A finding as a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    /// `fail`, `warn`, or the skip reason.
    pub(crate) label: &'static str,
    /// The code, null for a skip.
    pub(crate) code: Option<Code>,
    pub(crate) text: String,
    pub(crate) hint: Option<String>,
}

/// One sentence per failing or warning finding and per skipped row: rows that failed first, then
/// those that warn, then those that were skipped, each in the order of the manifest.
pub(crate) fn sentences(record: &RunRecord) -> Vec<RowSentences<'_>> {
    let mut rows: Vec<RowSentences<'_>> = record.rows.iter().map(|row| row_sentences(row, record)).collect();
    rows.retain(|row| !row.sentences.is_empty());
    rows.sort_by_key(|row| match row.status {
        Status::Fail | Status::Error => 0,
        Status::Warn => 1,
        Status::Pass => 2,
        Status::Skip => 3,
    });
    rows
}

/// How many notes there are, by code: `5 notes: downloaded (3), tool-added (2)`; null without any.
/// What a skipped row has to say is told already.
pub(crate) fn notes(record: &RunRecord) -> Option<String> {
    let notes = || noted(record).map(|(_, finding)| finding);
    let mut by_code: BTreeMap<Code, usize> = BTreeMap::new();
    for note in notes() {
        *by_code.entry(note.code).or_default() += 1;
    }
    if by_code.is_empty() {
        return None;
    }
    let listed: Vec<String> = by_code
        .iter()
        .map(|(code, times)| format!("{code} ({times})"))
        .collect();
    let accepted = match notes().filter(|note| note.accepted.is_some()).count() {
        0 => String::new(),
        count => format!("; {count} accepted in the lock"),
    };
    let total = by_code.values().sum();
    Some(format!("{}: {}{accepted}", counted(total, "note"), listed.join(", ")))
}

/// The notes of all rows that were run, or should have been.
pub(crate) fn noted(record: &RunRecord) -> impl Iterator<Item = (&RowRecord, &Finding)> {
    let of_rows = record.rows.iter().filter(|row| row.skip.is_none());
    of_rows
        .flat_map(|row| row.findings.iter().map(move |finding| (row, finding)))
        .filter(|(_, finding)| finding.severity == Severity::Note)
}

/// `21 rows: 18 pass, 1 warn, 1 fail, 1 skip`, without those that are zero.
pub(crate) fn totals(totals: &Totals) -> String {
    let statuses = [
        (totals.pass, Status::Pass),
        (totals.warn, Status::Warn),
        (totals.fail, Status::Fail),
        (totals.error, Status::Error),
        (totals.skip, Status::Skip),
    ];
    let parts: Vec<String> = statuses
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {}", status.name()))
        .collect();
    if parts.is_empty() {
        return "no rows".to_owned();
    }
    format!("{}: {}", counted(totals.rows, "row"), parts.join(", "))
}

/// What the client itself costs.
pub(crate) fn calibration(record: &RunRecord) -> String {
    match record.calibration {
        Some(calibration) => format!(
            "calibration: the client's own share is {} ms median, {} ms p95 (n = {})",
            milliseconds(calibration.median),
            milliseconds(calibration.p95),
            calibration.samples
        ),
        None => "calibration: the client's own share could not be measured".to_owned(),
    }
}

/// Which rows had more than one call in flight, and how many; null if none had.
pub(crate) fn concurrency(record: &RunRecord) -> Option<String> {
    let several = record
        .rows
        .iter()
        .filter(|row| row.concurrency > 1 && row.probes.iter().any(|probe| probe.calls > 0));
    let rows: Vec<String> = several
        .map(|row| format!("{} ({})", server_name(row, record), row.concurrency))
        .collect();
    (!rows.is_empty()).then(|| format!("Calls in flight at once: {}; elsewhere one.", rows.join(", ")))
}

/// What the figures of the main table are, with their n.
/// `unless` says where else an n may stand: "unless a cell says otherwise".
pub(crate) fn caption(table: &MainTable, unless: &str) -> String {
    let unless_told = |unusual: fn(&MainRow) -> Option<usize>| {
        let some_cell_tells = table.rows.iter().any(|row| unusual(row).is_some());
        if some_cell_tells {
            format!(", {unless}")
        } else {
            String::new()
        }
    };
    let mut sentences = vec!["Times in milliseconds.".to_owned()];
    if let Some(samples) = table.usual_samples {
        let unless = unless_told(|row| row.unusual_samples);
        sentences.push(format!(
            "Median and p95 (nearest rank): n = {samples}{unless}; only calls that ended as expected count."
        ));
    }
    if let Some(sessions) = table.usual_sessions {
        let unless = unless_told(|row| row.unusual_sessions);
        sentences.push(format!("Cold start and tools/list: {}{unless}.", of_sessions(sessions)));
    }
    sentences.join(" ")
}

/// `one session`, `the median of 3 sessions`.
pub(crate) fn of_sessions(count: usize) -> String {
    match count {
        1 => "one session".to_owned(),
        many => format!("the median of {many} sessions"),
    }
}

fn row_sentences<'record>(row: &'record RowRecord, record: &RunRecord) -> RowSentences<'record> {
    if let Some(skip) = &row.skip {
        return RowSentences {
            id: &row.id.0,
            name: server_name(row, record),
            status: row.status,
            sentences: vec![Sentence {
                label: skip.reason.name(),
                code: None,
                text: skip.message.clone(),
                hint: skip.cure.clone(),
            }],
            log: None,
        };
    }
    let mut findings: Vec<&Finding> = row
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Note)
        .collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    RowSentences {
        id: &row.id.0,
        name: server_name(row, record),
        status: row.status,
        sentences: findings.into_iter().map(sentence).collect(),
        // An entry that cannot be used was never started.
        log: (row.status != Status::Error).then_some(row.log.as_path()),
    }
}

fn sentence(finding: &Finding) -> Sentence {
    Sentence {
        label: match finding.severity {
            Severity::Fail => "fail",
            Severity::Warn => "warn",
            Severity::Note => "note",
        },
        code: Some(finding.code),
        text: format!("{}{}", finding.message, expected_and_actual(finding)),
        hint: finding.hint.clone(),
    }
}

/// What was expected and what was there, as far as the message does not say so itself.
fn expected_and_actual(finding: &Finding) -> String {
    let untold = |part: &Option<String>| part.clone().filter(|part| !finding.message.contains(part.as_str()));
    match (untold(&finding.expected), untold(&finding.actual)) {
        (Some(expected), Some(actual)) => format!(" (expected {expected}, was {actual})"),
        (Some(expected), None) => format!(" (expected {expected})"),
        (None, Some(actual)) => format!(" (was {actual})"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_record;

    #[test]
    fn failing_rows_come_first_and_failing_findings_first_within_a_row() {
        let record = sample_record();
        let rows = sentences(&record);
        let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
        assert_eq!(ids, ["hostile", "time", "tracker", "fetch-private", "context7"]);
        let labels: Vec<&str> = rows[0].sentences.iter().map(|sentence| sentence.label).collect();
        assert_eq!(labels, ["fail", "warn"]);
    }

    #[test]
    fn notes_are_counted_by_code() {
        let said = notes(&sample_record());
        assert_eq!(
            said.as_deref(),
            Some("3 notes: server-request-refused (2), downloaded (1)")
        );
    }

    #[test]
    fn totals_name_only_what_there_is() {
        let some = Totals {
            rows: 21,
            pass: 18,
            warn: 1,
            fail: 1,
            skip: 1,
            error: 0,
        };
        assert_eq!(totals(&some), "21 rows: 18 pass, 1 warn, 1 fail, 1 skip");
        assert_eq!(totals(&Totals::default()), "no rows");
    }

    #[test]
    fn the_calibration_names_its_n() {
        let mut record = sample_record();
        let said = "calibration: the client's own share is 0.05 ms median, 0.09 ms p95 (n = 200)";
        assert_eq!(calibration(&record), said);
        record.calibration = None;
        assert_eq!(
            calibration(&record),
            "calibration: the client's own share could not be measured"
        );
    }

    #[test]
    fn expected_and_actual_are_added_only_where_the_message_lacks_them() {
        let record = sample_record();
        let mut finding = record.rows[6].findings[1].clone();
        assert!(expected_and_actual(&finding).starts_with(" (expected a result"));
        finding.message = "no result whose text contains \"x\", but boom".to_owned();
        finding.expected = Some("a result".to_owned());
        assert_eq!(expected_and_actual(&finding), " (expected a result)");
    }
}
