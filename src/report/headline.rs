//! What a report says first: what does not work or went backwards, in sentences for somebody who has
//! never seen a protocol, then what is new. A quiet night is one line. It only chooses and words
//! findings that `judge` made.

use std::fmt::Write;

use crate::event::SkipReason;
use crate::finding::{ALREADY, Class, Code, Finding, Severity};
use crate::record::{RowRecord, RunRecord, Status};
use crate::report::main_table::server_name;
use crate::text::{clean_for_markdown, clean_for_terminal, counted, cut, wrap};

/// No list is longer; the findings below the table are complete.
const MOST: usize = 10;
/// No row has more sentences of its own at the top.
const MOST_OF_A_ROW: usize = 3;
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
    /// A sentence for each row that does not work, then for each that went backwards, that needs a look, and that is
    /// gone from the manifest.
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
    let (broken, odd) = (told(does_not_work), told(needs_a_look));
    let fell: Vec<&RowRecord> = record
        .rows
        .iter()
        .filter(|row| !went_backwards(row).is_empty())
        .collect();
    let falls = fell.iter().flat_map(|row| falls_of(row, &server_name(row, record)));
    let gone = record
        .gone
        .iter()
        .map(|row| format!("{}: `mcp-smoke lock` takes it out of the lock", row.0));
    let new: Vec<String> = record.rows.iter().flat_map(|row| news(row, record)).collect();
    Headline {
        first: first_line(record, [broken.len(), fell.len(), odd.len()]),
        backwards: at_most(broken.into_iter().chain(falls).chain(odd).chain(gone).collect()),
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

fn first_line(record: &RunRecord, [broken, fell, odd]: [usize; 3]) -> String {
    let rows = counted(record.rows.len(), "row");
    if record.rows.iter().all(|row| row.status == Status::Skip) {
        return format!("nothing was run: {rows}, all skipped");
    }
    let interrupted = if record.interrupted {
        "the run was interrupted; until then "
    } else {
        ""
    };
    let verb = |count: usize, one: &'static str, many: &'static str| if count == 1 { one } else { many };
    let mut parts: Vec<String> = [
        (broken, verb(broken, "does not work", "do not work")),
        (fell, "went backwards"),
        (odd, verb(odd, "needs a look", "need a look")),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .enumerate()
    .map(|(place, (count, what))| {
        let of = if place == 0 {
            format!(" of {rows}")
        } else {
            String::new()
        };
        format!("{count}{of} {what}")
    })
    .collect();
    if !record.gone.is_empty() {
        let is = verb(record.gone.len(), "is", "are");
        parts.push(format!(
            "{} of the lock {is} no longer in the manifest",
            counted(record.gone.len(), "row")
        ));
    }
    if parts.is_empty() {
        return format!("{interrupted}nothing went backwards in {rows}: {}", how(record));
    }
    format!("{interrupted}{}:", parts.join(", "))
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

/// What of a row went backwards: all that fails it by versions and tools, or a warning that says so. Also of a row
/// that does not work: what fails every night must not hide what fell tonight.
fn went_backwards(row: &RowRecord) -> Vec<&Finding> {
    let of_versions = |finding: &&Finding| finding.code.class() == Class::VersionsAndTools;
    let fails = row.findings.iter().filter(|finding| finding.severity == Severity::Fail);
    let fails: Vec<&Finding> = fails.filter(of_versions).collect();
    if !fails.is_empty() {
        return fails;
    }
    let warned = |finding: &&Finding| finding.severity == Severity::Warn && is_a_fall(finding.code);
    let falls = row.findings.iter().find(warned);
    // Under `--strict` warnings fail.
    let strictly = || {
        warnings_that_fail(row)
            .find(of_versions)
            .filter(|_| does_not_work(row).is_none())
    };
    falls.or_else(strictly).into_iter().collect()
}

/// A sentence for each fall of a row, and how many more there are.
fn falls_of(row: &RowRecord, name: &str) -> Vec<String> {
    let falls = went_backwards(row);
    let mut sentences: Vec<String> = falls
        .iter()
        .take(MOST_OF_A_ROW)
        .map(|finding| sentence(name, finding))
        .collect();
    if falls.len() > MOST_OF_A_ROW {
        sentences.push(format!("{name}: {} more below", falls.len() - MOST_OF_A_ROW));
    }
    sentences
}

/// A warning of a row that works and fell nowhere, where it is more than how the server is night after night.
fn needs_a_look(row: &RowRecord) -> Option<&Finding> {
    if does_not_work(row).is_some() || !went_backwards(row).is_empty() {
        return None;
    }
    // That is said of the whole run.
    let was_interrupted = row
        .skip
        .as_ref()
        .is_some_and(|skip| skip.reason == SkipReason::Interrupted);
    let odd = |finding: &&Finding| {
        let codes = [
            Code::LatencyRegression,
            Code::Flaky,
            Code::RowSkipped,
            Code::InstallStale,
            Code::LeftOver,
        ];
        finding.severity == Severity::Warn && codes.contains(&finding.code) && !was_interrupted
    };
    row.findings.iter().find(odd).or_else(|| warnings_that_fail(row).next())
}

fn warnings_that_fail(row: &RowRecord) -> impl Iterator<Item = &Finding> {
    let failed = matches!(row.status, Status::Fail | Status::Error);
    let warnings = row.findings.iter().filter(|finding| finding.severity == Severity::Warn);
    warnings.filter(move |_| failed)
}

/// Warnings that mean a step back.
fn is_a_fall(code: Code) -> bool {
    matches!(code, Code::VersionDowngrade | Code::VersionSplit | Code::HeldBack)
}

/// What has changed since the last run without being a step back, and that nobody has accepted yet. What merely
/// is not yet as the lock has it stands at its row.
fn news<'record>(row: &'record RowRecord, record: &'record RunRecord) -> impl Iterator<Item = String> + 'record {
    let name = server_name(row, record);
    let told_above: Vec<&Finding> = went_backwards(row).into_iter().chain(needs_a_look(row)).collect();
    let fell = row
        .findings
        .iter()
        .any(|finding| finding.code == Code::VersionDowngrade);
    row.findings
        .iter()
        .filter(|finding| finding.accepted.is_none() && finding.severity < Severity::Fail)
        .filter(move |finding| !told_above.contains(finding))
        .filter(move |finding| !(fell && finding.code == Code::VersionUpgraded))
        .filter(|finding| !stood_already(finding))
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

/// Whether its sentence ends with the run in which it was so already. A name within it is not at its end.
fn stood_already(finding: &Finding) -> bool {
    let end = finding.message.rsplit_once(ALREADY);
    end.is_some_and(|(_, run)| run.starts_with("the run of ") && !run.contains(" since "))
}

/// `Firecrawl, node20 is not the newest it could be: …`.
fn sentence(server: &str, finding: &Finding) -> String {
    let reason = cut(&finding.message, LONGEST_REASON).into_owned();
    // Its message begins with those words.
    if finding.code == Code::RowSkipped {
        return format!("{server} was {reason}");
    }
    let plainly = by_its_words(finding).unwrap_or_else(|| plainly(finding.code));
    format!("{server} {plainly}: {reason}")
}

/// Where one code stands for several things, which of them it is.
fn by_its_words(finding: &Finding) -> Option<&'static str> {
    let begins = |words: &str| finding.message.starts_with(words);
    match finding.code {
        Code::VersionChanged if begins("the protocol ") => Some("speaks another revision of the protocol"),
        Code::VersionChanged if begins("another package ") => Some("is another package"),
        Code::VersionChanged if begins("the reported ") => Some("reports another version"),
        Code::ToolDrift if begins("lists ") => Some("does not always list the same tools"),
        Code::ToolDrift if begins("`") && !finding.message.contains("` changed: ") => Some("has new tools"),
        _ => None,
    }
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
        Code::ConfigError => "has an entry that needs mending",
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
mod tests;
