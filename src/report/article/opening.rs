//! What broke and what held, in sentences made from the findings and figures of the record, so that a
//! reader who goes no further has the result.

use std::collections::BTreeMap;

use crate::event::{SessionFacts, ShutdownStep};
use crate::finding::{Code, Finding};
use crate::record::{Outcome, ProbeRecord, RowRecord, RunRecord, Status};
use crate::report::main_table::server_name;
use crate::report::sentences::{self, RowSentences, Sentence};
use crate::text::{counted, cut};

use super::{Part, Prose, enumerated, runtimes};

/// Longer messages end with an ellipsis; the record and the log have all of it.
const LONGEST_MESSAGE: usize = 1000;
/// More rows than this are counted only.
const MOST_ROWS: usize = 6;

/// How a row came out, for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CameOut {
    /// Every call of every probe ended as expected.
    AsExpected,
    /// Handshake and list stand, and it has no probe.
    Listed,
    /// It does not fail, but some call did not end as expected.
    InPart,
    Broke,
    Unusable,
    NotRun,
}

/// Adds the section.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    parts.push(Part::Paragraph(dateline(record)));
    parts.push(Part::Heading("What broke and what held".to_owned()));
    if !record.rows.is_empty() {
        parts.push(Part::Paragraph(lead(record)));
    }
    push_findings(parts, record);
    let differing = runtimes::sentences(record);
    if !differing.is_empty() {
        parts.push(Part::Paragraph(Prose::plain("What differs between runtimes:")));
        parts.push(Part::List(differing));
    }
    let held = held(record);
    if !held.is_empty() {
        parts.push(Part::Paragraph(Prose::plain("What held:")));
        parts.push(Part::List(held));
    }
    let notes = notes(record);
    if !notes.is_empty() {
        parts.push(Part::Paragraph(Prose::plain("Worth knowing:")));
        parts.push(Part::List(notes));
    }
}

fn dateline(record: &RunRecord) -> Prose {
    let started = record.started.strftime("%Y-%m-%d %H:%M UTC");
    let interrupted = if record.interrupted {
        " The run was interrupted."
    } else {
        ""
    };
    Prose::plain(format!(
        "{started}, mcp-smoke {}, manifest {}. ",
        record.tool_version,
        record.manifest.to_string_lossy()
    ))
    .strong(format!("{}.", sentences::totals(&record.totals)))
    .text(interrupted)
}

/// `18 of 21 rows answered every call as expected, 2 have no call to make …`
fn lead(record: &RunRecord) -> Prose {
    let mut times: BTreeMap<CameOut, usize> = BTreeMap::new();
    for row in &record.rows {
        *times.entry(came_out(row)).or_default() += 1;
    }
    let of = |kind: CameOut| times.get(&kind).copied().unwrap_or_default();
    let others: Vec<String> = [
        (
            CameOut::Listed,
            "had no call to make and were only started and listed",
            "had no call to make and was only started and listed",
        ),
        (
            CameOut::InPart,
            "answered, but not every call as expected",
            "answered, but not every call as expected",
        ),
        (CameOut::Broke, "failed", "failed"),
        (
            CameOut::Unusable,
            "cannot be started as the manifest has them",
            "cannot be started as the manifest has it",
        ),
        (CameOut::NotRun, "were not run", "was not run"),
    ]
    .into_iter()
    .filter_map(|(kind, many, one)| match of(kind) {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    })
    .collect();
    let mut rest = if others.is_empty() {
        ".".to_owned()
    } else {
        format!("; {}.", others.join("; "))
    };
    rest.push_str(&calls(record));
    Prose::default()
        .strong(format!(
            "{} of {} answered every call as expected",
            of(CameOut::AsExpected),
            counted(record.rows.len(), "row")
        ))
        .text(rest)
}

/// ` A row is one server on one runtime. 735 calls were counted; 3 of them did not end as expected.`
fn calls(record: &RunRecord) -> String {
    let probes = || record.rows.iter().flat_map(|row| &row.probes);
    let calls: u32 = probes().map(|probe| probe.calls).sum();
    let failures: u32 = probes().map(|probe| probe.failures).sum();
    let ended = match failures {
        0 => "all ended as expected".to_owned(),
        1 => "1 call did not end as expected".to_owned(),
        many => format!("{many} calls did not end as expected"),
    };
    let said = match calls {
        0 => String::new(),
        _ => format!(
            " {} counted, warm-up left out; {ended}.",
            counted(calls as usize, "call")
        ),
    };
    format!(" A row is one server on one runtime.{said}")
}

fn came_out(row: &RowRecord) -> CameOut {
    let as_expected = |probe: &ProbeRecord| match probe.outcome {
        Some(Outcome::Ok | Outcome::Refused) => probe.failures == 0,
        Some(Outcome::Failed) | None => false,
    };
    match row.status {
        Status::Skip => CameOut::NotRun,
        Status::Error => CameOut::Unusable,
        Status::Fail => CameOut::Broke,
        Status::Pass | Status::Warn if row.probes.is_empty() => CameOut::Listed,
        Status::Pass | Status::Warn if row.probes.iter().all(as_expected) => CameOut::AsExpected,
        Status::Pass | Status::Warn => CameOut::InPart,
    }
}

fn push_findings(parts: &mut Vec<Part>, record: &RunRecord) {
    let rows = sentences::sentences(record);
    if rows.is_empty() {
        parts.push(Part::Paragraph(Prose::plain("Nothing failed and nothing warns.")));
        return;
    }
    let broke = |row: &RowSentences<'_>| matches!(row.status, Status::Fail | Status::Error);
    let heading = if rows.iter().any(broke) {
        "What broke, and what warns:"
    } else {
        "Nothing failed. What warns or was not run:"
    };
    parts.push(Part::Paragraph(Prose::plain(heading)));
    let bullets = rows
        .iter()
        .flat_map(|row| row.sentences.iter().map(move |sentence| bullet(row, sentence)));
    parts.push(Part::List(bullets.collect()));
}

fn bullet(row: &RowSentences<'_>, sentence: &Sentence) -> Prose {
    let (word, subject) = match sentence.code {
        Some(code) => (sentence.label, code.name()),
        None => (row.status.name(), sentence.label),
    };
    let id = if row.id == row.name {
        String::new()
    } else {
        format!(" ({})", row.id)
    };
    let hint = sentence.hint.as_ref().map(|hint| format!(" Hint: {hint}."));
    Prose::default()
        .strong(&row.name)
        .text(format!("{id}: {word}, "))
        .code(subject)
        .text(format!(
            ": {}.{}",
            cut(&sentence.text, LONGEST_MESSAGE),
            hint.unwrap_or_default()
        ))
}

fn held(record: &RunRecord) -> Vec<Prose> {
    let mut said = Vec::new();
    let that = |kind: CameOut| by_server(record, |row| came_out(row) == kind);
    if let Some(rows) = that(CameOut::AsExpected) {
        said.push(Prose::plain(format!("Every call as expected: {rows}.")));
    }
    if let Some(rows) = that(CameOut::Listed) {
        said.push(Prose::plain(format!(
            "Handshake and list, without a call to make: {rows}."
        )));
    }
    let refused: Vec<String> = record.rows.iter().filter_map(|row| refusals(row, record)).collect();
    if !refused.is_empty() {
        said.push(Prose::plain(format!(
            "Refused every time, as it should be: {}.",
            refused.join("; ")
        )));
    }
    if let Some(titles) = runtimes::alike(record) {
        said.push(Prose::plain(format!(
            "The same on every runtime, in version, name, protocol and tools: {titles}."
        )));
    }
    said.extend(endings(record).map(Prose::plain));
    said
}

/// `Filesystem (node20, node24), Time`, of the rows that are wanted.
fn by_server(record: &RunRecord, wanted: impl Fn(&RowRecord) -> bool) -> Option<String> {
    let mut named: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for row in record.rows.iter().filter(|row| wanted(row)) {
        let runtime = row.runtime.as_deref().unwrap_or_default();
        match named.iter_mut().find(|(server, ..)| *server == row.server) {
            Some((_, _, runtimes)) => runtimes.push(runtime),
            None => named.push((&row.server, &row.title, vec![runtime])),
        }
    }
    let is_one_of_several = |server: &str| record.rows.iter().filter(|row| row.server == server).count() > 1;
    let words: Vec<String> = named
        .into_iter()
        .map(|(server, title, runtimes)| {
            if is_one_of_several(server) {
                format!("{title} ({})", runtimes.join(", "))
            } else {
                title.to_owned()
            }
        })
        .collect();
    (!words.is_empty()).then(|| enumerated(&words))
}

/// `Fetch (default): refuses loopback (30 calls)`; null where nothing was to be refused.
fn refusals(row: &RowRecord, record: &RunRecord) -> Option<String> {
    let refused = row
        .probes
        .iter()
        .filter(|probe| probe.outcome == Some(Outcome::Refused));
    let probes: Vec<String> = refused
        .map(|probe| format!("{} ({})", probe.name, counted(probe.calls as usize, "call")))
        .collect();
    (!probes.is_empty()).then(|| format!("{}: {}", server_name(row, record), probes.join(", ")))
}

/// How the processes went; null where none was started.
fn endings(record: &RunRecord) -> Option<String> {
    let steps: Vec<ShutdownStep> = record
        .rows
        .iter()
        .flat_map(|row| &row.sessions)
        .filter_map(|session: &SessionFacts| Some(session.shutdown.as_ref()?.step))
        .collect();
    let times = |step: ShutdownStep| steps.iter().filter(|other| **other == step).count();
    let parts: Vec<String> = [
        (times(ShutdownStep::StdinClosed), "when stdin was closed"),
        (times(ShutdownStep::Terminated), "by SIGTERM"),
        (times(ShutdownStep::Killed), "by SIGKILL"),
        (times(ShutdownStep::AlreadyGone), "before that, by themselves"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, how)| format!("{count} {how}"))
    .collect();
    let sessions = counted(steps.len(), "session");
    match parts.as_slice() {
        [] => None,
        [_] if times(ShutdownStep::StdinClosed) == steps.len() => {
            Some(format!("Every server ended when its stdin was closed ({sessions})."))
        }
        _ => Some(format!("How the servers of {sessions} ended: {}.", enumerated(&parts))),
    }
}

/// One line for each code of the notes, with the rows that have it.
fn notes(record: &RunRecord) -> Vec<Prose> {
    let mut by_code: BTreeMap<Code, Vec<(&RowRecord, &Finding)>> = BTreeMap::new();
    for (row, finding) in sentences::noted(record) {
        by_code.entry(finding.code).or_default().push((row, finding));
    }
    by_code
        .into_iter()
        .map(|(code, noted)| {
            let mut rows: Vec<String> = Vec::new();
            for (row, finding) in &noted {
                let accepted = finding.accepted.as_ref().map(|date| format!(" (accepted on {date})"));
                let said = format!(
                    "{}: {}{}",
                    server_name(row, record),
                    cut(&finding.message, LONGEST_MESSAGE),
                    accepted.unwrap_or_default()
                );
                rows.push(said);
            }
            let rest = rows.len().saturating_sub(MOST_ROWS);
            rows.truncate(MOST_ROWS);
            if rest > 0 {
                rows.push(format!("and {rest} more"));
            }
            Prose::default()
                .code(code.name())
                .text(format!(", {}: {}.", counted(noted.len(), "note"), rows.join("; ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{sample_record, sample_row};

    #[test]
    fn a_row_comes_out_as_expected_only_if_every_call_did() {
        let mut row = sample_row("memory");
        assert_eq!(came_out(&row), CameOut::AsExpected);
        row.probes[0].failures = 1;
        assert_eq!(came_out(&row), CameOut::InPart);
        row.probes.clear();
        assert_eq!(came_out(&row), CameOut::Listed);
        row.status = Status::Fail;
        assert_eq!(came_out(&row), CameOut::Broke);
    }

    #[test]
    fn every_row_is_counted_in_the_lead() {
        let record = sample_record();
        let said = format!("{:?}", lead(&record));
        for part in [
            "5 of 10 rows",
            "1 answered, but not every call",
            "2 failed",
            "1 cannot be started",
            "1 was not run",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
