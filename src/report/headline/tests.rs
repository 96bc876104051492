//! What is said first of small records, and of one with a stranger's texts.

use super::*;
use crate::finding::Phase;
use crate::record::Totals;
use crate::report::sample::{self, sample_record, sample_row};

fn finding(code: Code, severity: Severity) -> Finding {
    sample::finding(code, severity, Phase::Compare, "the reason")
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
    assert_eq!(
        said.first,
        "1 of 4 rows does not work, 1 went backwards, 1 needs a look:"
    );
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
fn only_what_fails_by_versions_or_fell_went_backwards() {
    let first = |status: Status, code: Code, severity: Severity| {
        headline(&record_of(vec![(status, vec![finding(code, severity)])])).first
    };
    for (code, expected) in [
        (Code::VersionDowngrade, "1 of 1 row went backwards:"),
        (Code::HeldBack, "1 of 1 row went backwards:"),
        (Code::VersionSplit, "1 of 1 row went backwards:"),
        (Code::Flaky, "1 of 1 row needs a look:"),
        (Code::LatencyRegression, "1 of 1 row needs a look:"),
        (Code::StdoutNoise, "nothing went backwards in 1 row: 1 warn"),
    ] {
        assert_eq!(first(Status::Warn, code, Severity::Warn), expected);
    }
    // Under `--strict`.
    assert_eq!(
        first(Status::Fail, Code::ToolDrift, Severity::Warn),
        "1 of 1 row went backwards:"
    );
    assert_eq!(
        first(Status::Fail, Code::StdoutNoise, Severity::Warn),
        "1 of 1 row needs a look:"
    );
}

#[test]
fn a_code_of_several_meanings_is_put_in_the_words_of_its_finding() {
    let said = |code: Code, message: &str| {
        let mut finding = finding(code, Severity::Warn);
        finding.message = message.to_owned();
        headline(&record_of(vec![(Status::Warn, vec![finding])])).new
    };
    for (code, message, expected) in [
        (
            Code::VersionChanged,
            "the protocol changed from a to b",
            "speaks another revision of the protocol",
        ),
        (
            Code::VersionChanged,
            "version changed from a to b",
            "is another version",
        ),
        (
            Code::VersionChanged,
            "another package answers: b in place of a",
            "is another package",
        ),
        (
            Code::ToolDrift,
            "`shell` is new, though the version is still 1",
            "has new tools",
        ),
        (
            Code::ToolDrift,
            "`shell` changed: input: a is new",
            "has tools that changed",
        ),
    ] {
        assert_eq!(said(code, message), [format!("server-1 {expected}: {message}")]);
    }
}

#[test]
fn what_stood_already_is_no_news_and_a_row_that_fell_was_not_upgraded() {
    let mut stood = finding(Code::VersionUpgraded, Severity::Note);
    stood.message = format!("version rose since the lock{ALREADY}the run of yesterday");
    assert!(headline(&record_of(vec![(Status::Pass, vec![stood])])).new.is_empty());
    let mut named = finding(Code::ToolAdded, Severity::Note);
    named.message = format!("`x{ALREADY}the run of 2020` is new since the lock of today");
    assert_eq!(headline(&record_of(vec![(Status::Pass, vec![named])])).new.len(), 1);
    let both = vec![
        finding(Code::VersionDowngrade, Severity::Fail),
        finding(Code::VersionUpgraded, Severity::Note),
    ];
    let said = headline(&record_of(vec![(Status::Fail, both)]));
    assert_eq!((said.backwards.len(), said.new.len()), (1, 0));
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

#[test]
fn what_fails_every_night_does_not_hide_what_fell_tonight() {
    let fails = |code| finding(code, Severity::Fail);
    let record = record_of(vec![
        (
            Status::Fail,
            vec![fails(Code::ToolError), fails(Code::VersionDowngrade)],
        ),
        (Status::Fail, vec![fails(Code::NameChanged), fails(Code::ToolRemoved)]),
    ]);
    let said = headline(&record);
    assert_eq!(said.first, "1 of 2 rows does not work, 2 went backwards:");
    assert_eq!(
        said.backwards,
        [
            "server-1 answers with an error: the reason",
            "server-1 fell back to an older version: the reason",
            "server-2 calls itself something else: the reason",
            "server-2 lacks a tool that was there: the reason",
        ]
    );
    let all = [
        Code::NameChanged,
        Code::ToolRemoved,
        Code::ToolCountChanged,
        Code::VersionDowngrade,
        Code::HeldBack,
    ];
    let said = headline(&record_of(vec![(Status::Fail, all.map(fails).to_vec())]));
    assert_eq!(
        said.backwards.last().map(String::as_str),
        Some("server-1: 2 more below")
    );
}
