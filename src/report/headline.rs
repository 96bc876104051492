//! What a report says first: what does not work or went backwards, in sentences for somebody who has
//! never seen a protocol, then what is new. A quiet night is one line. It only chooses and words
//! findings that `judge` made.

use std::fmt::Write;

use crate::finding::{Class, Code, Finding, Severity};
use crate::record::{RowRecord, RunRecord, Status};
use crate::report::main_table::server_name;
use crate::text::{clean_for_markdown, clean_for_terminal, counted, cut, wrap};

/// No list is longer; the findings below the table are complete.
const MOST: usize = 10;
/// Longer reasons end with an ellipsis; they stand in full below the table.
const LONGEST_REASON: usize = 240;
/// What a sentence's further lines begin with.
const INDENT: &str = "    ";
const INFALLIBLE: &str = "writing to a string cannot fail";

/// The opening of a report, its texts not cleaned yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headline {
    /// The line at the top.
    pub(crate) first: String,
    /// A sentence for each row that does not work, then for each that went backwards.
    pub(crate) backwards: Vec<String>,
    /// A sentence for each thing that is new.
    pub(crate) new: Vec<String>,
}

/// What is to be said first about a run.
pub(crate) fn headline(record: &RunRecord) -> Headline {
    let told = |wanted: fn(&RowRecord) -> Option<&Finding>| -> Vec<String> {
        record
            .rows
            .iter()
            .filter_map(|row| Some(sentence(&server_name(row, record), wanted(row)?)))
            .collect()
    };
    let (broken, fell) = (told(does_not_work), told(went_backwards));
    let new: Vec<String> = record.rows.iter().flat_map(|row| news(row, record)).collect();
    Headline {
        first: first_line(record, broken.len(), fell.len()),
        backwards: at_most(broken.into_iter().chain(fell).collect()),
        new: at_most(new),
    }
}

/// Puts the opening on top of the terminal's summary.
pub(super) fn push_terminal(text: &mut String, record: &RunRecord, width: usize) {
    let Headline { first, backwards, new } = headline(record);
    let mut push = |said: &str, mark: &str, indent: &str| {
        let room = width.saturating_sub(indent.len());
        for (number, line) in wrap(&clean_for_terminal(said), room).into_iter().enumerate() {
            text.push_str(if number == 0 { mark } else { indent });
            text.push_str(&line);
            text.push('\n');
        }
    };
    push(&first, "", "");
    for said in &backwards {
        push(said, "  - ", INDENT);
    }
    if !new.is_empty() {
        push("new:", "", "");
    }
    for said in &new {
        push(said, "  - ", INDENT);
    }
    text.push('\n');
}

/// Puts the opening below the title of a Markdown report.
pub(super) fn push_markdown(text: &mut String, record: &RunRecord) {
    let Headline { first, backwards, new } = headline(record);
    let mut list = |head: &str, said: &[String]| {
        writeln!(text, "\n{head}").expect(INFALLIBLE);
        for (number, sentence) in said.iter().enumerate() {
            let gap = if number == 0 { "\n" } else { "" };
            writeln!(text, "{gap}- {}", clean_for_markdown(sentence)).expect(INFALLIBLE);
        }
    };
    list(
        &format!("**{}**", clean_for_markdown(&sentence_case(&first))),
        &backwards,
    );
    if !new.is_empty() {
        list("New:", &new);
    }
}

fn first_line(record: &RunRecord, broken: usize, fell: usize) -> String {
    let rows = counted(record.rows.len(), "row");
    if record.rows.iter().all(|row| row.status == Status::Skip) {
        return format!("nothing was run: {rows}, all skipped");
    }
    let interrupted = if record.interrupted {
        "the run was interrupted; until then "
    } else {
        ""
    };
    let works_not = if broken == 1 { "does" } else { "do" };
    match (broken, fell) {
        (0, 0) => format!("{interrupted}nothing went backwards in {rows}: {}", how(record)),
        (0, fell) => format!("{interrupted}{fell} of {rows} went backwards:"),
        (broken, 0) => format!("{interrupted}{broken} of {rows} {works_not} not work:"),
        (broken, fell) => format!("{interrupted}{broken} of {rows} {works_not} not work, {fell} went backwards:"),
    }
}

/// `20 pass, 1 skip`, and how much of it a person has accepted.
fn how(record: &RunRecord) -> String {
    let totals = &record.totals;
    let counts = [
        (totals.pass, Status::Pass),
        (totals.warn, Status::Warn),
        (totals.fail, Status::Fail),
        (totals.error, Status::Error),
        (totals.skip, Status::Skip),
    ];
    let mut parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {}", status.name()))
        .collect();
    let findings = record.rows.iter().flat_map(|row| &row.findings);
    let accepted = findings.filter(|finding| finding.accepted.is_some()).count();
    if accepted > 0 {
        parts.push(format!("{} as accepted", counted(accepted, "finding")));
    }
    parts.join(", ")
}

/// Why a row does not work, by its worst finding that is no matter of versions.
fn does_not_work(row: &RowRecord) -> Option<&Finding> {
    let failed = matches!(row.status, Status::Fail | Status::Error);
    let behaviour = |finding: &&Finding| finding.code.class() == Class::Behaviour && finding.severity == Severity::Fail;
    row.findings.iter().find(behaviour).filter(|_| failed)
}

/// What of a row that works went backwards: what fails it, or a warning that says so.
fn went_backwards(row: &RowRecord) -> Option<&Finding> {
    if does_not_work(row).is_some() {
        return None;
    }
    let failed = matches!(row.status, Status::Fail | Status::Error);
    let fails = row.findings.iter().find(|finding| finding.severity == Severity::Fail);
    // Under `--strict` warnings fail.
    let warns = || {
        row.findings
            .iter()
            .find(|finding| finding.severity == Severity::Warn && (failed || is_backwards(finding.code)))
    };
    fails.or_else(warns)
}

/// Warnings that mean a step back; the others are about how a server behaves, night after night.
fn is_backwards(code: Code) -> bool {
    matches!(
        code,
        Code::VersionDowngrade | Code::VersionSplit | Code::LatencyRegression | Code::Flaky | Code::HeldBack
    )
}

/// What has changed without being a step back, and that nobody has accepted yet.
fn news<'record>(row: &'record RowRecord, record: &'record RunRecord) -> impl Iterator<Item = String> + 'record {
    let name = server_name(row, record);
    let told_above = does_not_work(row).or_else(|| went_backwards(row));
    row.findings
        .iter()
        .filter(|finding| finding.accepted.is_none() && finding.severity < Severity::Fail)
        .filter(move |finding| told_above != Some(*finding))
        .filter(|finding| {
            matches!(
                finding.code,
                Code::VersionUpgraded
                    | Code::VersionChanged
                    | Code::RuntimeChanged
                    | Code::NameChanged
                    | Code::ToolAdded
                    | Code::ToolRemoved
                    | Code::ToolSchemaChanged
                    | Code::ToolDrift
                    | Code::ToolReworded
                    | Code::NotInLock
            )
        })
        .map(move |finding| sentence(&name, finding))
}

/// `Firecrawl, node20 is not the newest it could be: …`.
fn sentence(server: &str, finding: &Finding) -> String {
    let reason = cut(&finding.message, LONGEST_REASON).into_owned();
    format!("{server} {}: {reason}", plainly(finding.code))
}

/// What a finding means to somebody who does not know its code.
fn plainly(code: Code) -> &'static str {
    match code {
        Code::SpawnFailed | Code::ExitedEarly => "does not start",
        Code::InitTimeout | Code::ListTimeout | Code::CallTimeout => "does not answer in time",
        Code::InitError | Code::InvalidInitialize | Code::ProtocolVersion => "cannot be talked to",
        Code::ServerDied => "breaks down while it is used",
        Code::ListError | Code::ListTooLong | Code::PaginationLoop | Code::ListInvalid => "cannot tell what it offers",
        Code::ToolMissing | Code::ToolRemoved => "lacks a tool that was there",
        Code::ToolError | Code::RpcError => "answers with an error",
        Code::UnexpectedResult | Code::CallInvalid | Code::SoftError => "gives a wrong answer",
        Code::RateLimited => "is held off by a rate limit",
        Code::CallUnsupported => "asks for something that no unattended client has",
        Code::BadFraming | Code::OutputLimit | Code::IdMismatch | Code::BadEncoding => "sends what no client can read",
        Code::RowTimeout => "takes too long",
        Code::InstallFailed => "could not be installed",
        Code::NeedsAuthorization => "wants a login",
        Code::ConfigError => "was not started, its entry needs mending",
        Code::RuntimeMismatch | Code::RuntimeChanged => "runs on another runtime",
        Code::NameChanged => "calls itself something else",
        Code::VersionMismatch => "is not the version it should be",
        Code::VersionDowngrade => "fell back to an older version",
        Code::VersionUnverifiable => "does not tell its version",
        Code::HeldBack => "gets an older version than there is",
        Code::ToolCountChanged => "has another number of tools",
        Code::ToolSchemaChanged => "wants to be called differently",
        Code::VersionSplit => "is older here than elsewhere",
        Code::VersionChanged => "is another version",
        Code::VersionUpgraded => "was upgraded",
        Code::ToolAdded => "has new tools",
        Code::ToolDrift => "has tools that changed",
        Code::ToolReworded => "describes its tools differently",
        Code::NotInLock => "is not accepted yet",
        Code::NewestUnknown => "may or may not be up to date",
        Code::BehindNewest => "is not up to date",
        Code::ReportedVersionStale => "reports a version that is not true",
        Code::LatencyRegression => "became slower",
        Code::Flaky => "works only sometimes",
        Code::StdoutNoise | Code::StrayMessage => "prints what does not belong there",
        Code::UncleanShutdown => "does not end as it should",
        Code::LeftOver => "had processes left over",
        Code::IdentityMissing => "does not say who it is",
        Code::ToolInvalid | Code::ToolDuplicate => "has tools that are not well described",
        Code::NoTools => "offers nothing",
        Code::InstallStale => "could not be updated",
        Code::Interrupted => "was interrupted",
        Code::ServerRequestRefused => "asked for what we do not offer",
        Code::Downloaded => "downloaded something first",
        Code::RowSkipped => "was not run",
    }
}

fn at_most(mut sentences: Vec<String>) -> Vec<String> {
    let more = sentences.len().saturating_sub(MOST);
    sentences.truncate(MOST);
    if more > 0 {
        sentences.push(format!("and {more} more, below"));
    }
    sentences
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Phase;
    use crate::record::Totals;
    use crate::report::sample::{sample_record, sample_row};

    fn finding(code: Code, severity: Severity) -> Finding {
        Finding {
            code,
            severity,
            phase: Phase::Compare,
            message: "the reason".to_owned(),
            expected: None,
            actual: None,
            hint: None,
            accepted: None,
        }
    }

    fn record_of(rows: Vec<(Status, Vec<Finding>)>) -> RunRecord {
        let mut record = sample_record();
        record.rows = rows
            .into_iter()
            .zip(1..)
            .map(|((status, findings), number)| RowRecord {
                status,
                findings,
                ..sample_row(&format!("server-{number}"))
            })
            .collect();
        let of = |status: Status| record.rows.iter().filter(|row| row.status == status).count();
        record.totals = Totals {
            rows: record.rows.len(),
            pass: of(Status::Pass),
            warn: of(Status::Warn),
            fail: of(Status::Fail),
            skip: of(Status::Skip),
            error: of(Status::Error),
        };
        record
    }

    #[test]
    fn a_quiet_night_is_one_line() {
        let mut accepted = finding(Code::HeldBack, Severity::Note);
        accepted.accepted = Some("2026-11-01".to_owned());
        let noisy = finding(Code::StdoutNoise, Severity::Warn);
        let record = record_of(vec![(Status::Pass, vec![accepted]), (Status::Warn, vec![noisy])]);
        let said = headline(&record);
        assert_eq!(
            said.first,
            "nothing went backwards in 2 rows: 1 pass, 1 warn, 1 finding as accepted"
        );
        assert!(said.backwards.is_empty() && said.new.is_empty());
        let mut text = String::new();
        push_terminal(&mut text, &record, 100);
        assert_eq!(text.lines().count(), 2, "{text:?}");
    }

    #[test]
    fn what_does_not_work_comes_before_what_went_backwards_and_then_what_is_new() {
        let record = record_of(vec![
            (Status::Fail, vec![finding(Code::HeldBack, Severity::Fail)]),
            (Status::Fail, vec![finding(Code::InitTimeout, Severity::Fail)]),
            (Status::Warn, vec![finding(Code::LatencyRegression, Severity::Warn)]),
            (Status::Pass, vec![finding(Code::VersionUpgraded, Severity::Note)]),
        ]);
        let said = headline(&record);
        assert_eq!(said.first, "1 of 4 rows does not work, 2 went backwards:");
        assert_eq!(
            said.backwards,
            [
                "server-2 does not answer in time: the reason",
                "server-1 gets an older version than there is: the reason",
                "server-3 became slower: the reason",
            ]
        );
        assert_eq!(said.new, ["server-4 was upgraded: the reason"]);
    }

    #[test]
    fn a_run_that_tested_nothing_does_not_say_that_nothing_went_backwards() {
        let skipped = record_of(vec![(Status::Skip, Vec::new())]);
        assert_eq!(headline(&skipped).first, "nothing was run: 1 row, all skipped");
        let mut interrupted = record_of(vec![(Status::Pass, Vec::new())]);
        interrupted.interrupted = true;
        assert!(
            headline(&interrupted)
                .first
                .starts_with("the run was interrupted; until then nothing")
        );
    }

    #[test]
    fn a_bad_night_does_not_bury_the_table() {
        let failed = || (Status::Fail, vec![finding(Code::ExitedEarly, Severity::Fail)]);
        let said = headline(&record_of((0..40).map(|_| failed()).collect()));
        assert_eq!(said.backwards.len(), MOST + 1);
        assert_eq!(said.backwards[MOST], "and 30 more, below");
    }

    #[test]
    fn no_text_of_a_stranger_gets_through() {
        let record = sample_record();
        let (mut terminal, mut markdown) = (String::new(), String::new());
        push_terminal(&mut terminal, &record, 80);
        push_markdown(&mut markdown, &record);
        assert!(
            !terminal.contains('\u{1b}') && !terminal.contains('\u{202e}'),
            "{terminal:?}"
        );
        assert!(
            !markdown.contains("<img") && !markdown.contains("\u{202e}"),
            "{markdown:?}"
        );
    }
}
