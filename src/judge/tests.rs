//! Statuses, exit codes, grouping and order, over small records.

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

use crate::event::{Observation, Seen, SessionKind, ShutdownStep, Skip, SkipReason};
use crate::finding::{Class, Code, Finding, Phase, Severity, SeverityChoice};
use crate::judge::fixtures::{
    codes, exited, expecting, judged, judged_by, messages, observation, plan, planned, row, run, session, silent, with,
};
use crate::judge::{Past, judge};
use crate::plan::{Entry, Problem};
use crate::record::Status;

fn noise() -> Observation {
    observation(
        Phase::Initialize,
        Seen::StdoutNoise {
            first: "hello".to_owned(),
            lines: 2,
        },
    )
}

fn unclean() -> Observation {
    let what = Seen::UncleanShutdown {
        step: ShutdownStep::Terminated,
        survivors: Vec::new(),
    };
    observation(Phase::Shutdown, what)
}

fn skip(reason: SkipReason) -> Skip {
    Skip {
        reason,
        message: "chromium is not on PATH".to_owned(),
        cure: Some("apt-get install chromium".to_owned()),
    }
}

#[test]
fn a_row_that_did_all_that_was_asked_passes() {
    let run = judged_by(row("row", vec![session(1, &["echo"])]), &plan(vec![planned("row")]));
    assert_eq!((run.rows[0].status, run.exit_code), (Status::Pass, 0));
    assert_eq!((run.totals.rows, run.totals.pass), (1, 1));
    assert!(run.rows[0].findings.is_empty());
}

#[test]
fn warnings_warn_and_fail_only_under_strict() {
    let record = || row("row", vec![with(session(1, &[]), vec![noise()])]);
    let run = judged_by(record(), &plan(vec![planned("row")]));
    assert_eq!((run.rows[0].status, run.exit_code), (Status::Warn, 0));
    let mut strict = plan(vec![planned("row")]);
    strict.settings.strict = true;
    let run = judged_by(record(), &strict);
    assert_eq!((run.rows[0].status, run.exit_code), (Status::Fail, 1));
    assert_eq!(
        run.rows[0].findings[0].severity,
        Severity::Warn,
        "the finding stays what it is"
    );
}

#[test]
fn under_strict_warnings_of_versions_alone_exit_with_3() {
    let mut later = session(2, &["echo"]);
    later.handshake.as_mut().expect("a good session has one").version = Some("1.2.4".to_owned());
    let mut strict = plan(vec![planned("row")]);
    strict.settings.strict = true;
    let run = judged_by(row("row", vec![session(1, &["echo"]), later]), &strict);
    assert_eq!(codes(&run.rows[0]), ["version-changed"]);
    assert_eq!(run.exit_code, 3);
}

#[test]
fn an_interrupted_run_exits_with_130_whatever_failed() {
    let mut run = run(vec![row("row", vec![silent(1, Phase::Initialize, exited())])]);
    run.interrupted = true;
    judge(&mut run, &plan(vec![planned("row")]), &Past::default());
    assert_eq!((run.rows[0].status, run.exit_code), (Status::Fail, 130));
}

#[test]
fn a_skipped_row_says_why_and_how_to_cure_it_and_is_no_pass() {
    let mut record = row("row", Vec::new());
    record.skip = Some(skip(SkipReason::ProgramMissing));
    let run = judged_by(record, &plan(vec![planned("row")]));
    let row = &run.rows[0];
    assert_eq!((row.status, run.exit_code), (Status::Skip, 4));
    assert_eq!(messages(row), ["not run (program-missing): chromium is not on PATH"]);
    assert_eq!(row.findings[0].severity, Severity::Note);
    assert_eq!(row.findings[0].hint.as_deref(), Some("apt-get install chromium"));
}

#[test]
fn a_skip_that_the_manifest_makes_fail_fails() {
    let mut record = row("row", Vec::new());
    record.skip = Some(skip(SkipReason::Offline));
    let planned = expecting(|row| row.severity.extend([(Code::RowSkipped, SeverityChoice::Fail)]));
    let run = judged_by(record, &plan(vec![planned]));
    assert_eq!((run.rows[0].status, run.exit_code), (Status::Fail, 1));
}

#[test]
fn an_entry_that_cannot_be_used_is_an_error_even_if_its_finding_is_ignored() {
    let planned = |choice| {
        expecting(|row| {
            let problem = "variable TOKEN is not set".to_owned();
            row.entry = Entry::Unusable(vec![Problem {
                field: "env.TOKEN".to_owned(),
                problem,
            }]);
            row.severity.insert(Code::ConfigError, choice);
        })
    };
    let run = judged_by(row("row", Vec::new()), &plan(vec![planned(SeverityChoice::Fail)]));
    assert_eq!(
        (run.rows[0].status, run.exit_code, run.totals.error),
        (Status::Error, 1, 1)
    );
    assert_eq!(
        messages(&run.rows[0]),
        ["`env.TOKEN`: variable TOKEN is not set; it was not started"]
    );
    let run = judged_by(row("row", Vec::new()), &plan(vec![planned(SeverityChoice::Ignore)]));
    assert_eq!((run.rows[0].status, run.exit_code), (Status::Error, 1));
}

#[test]
fn what_run_and_plan_both_say_of_an_entry_is_said_once() {
    let field = || ("env.TOKEN".to_owned(), "variable TOKEN is not set".to_owned());
    let mut record = row("row", Vec::new());
    let (name, problem) = field();
    record
        .observations
        .push(observation(Phase::Prepare, Seen::ConfigError { field: name, problem }));
    let (name, problem) = field();
    let planned = expecting(|row| row.entry = Entry::Unusable(vec![Problem { field: name, problem }]));
    assert_eq!(codes(&judged(record, planned)), ["config-error"]);
}

#[test]
fn a_row_without_a_session_is_never_a_pass() {
    let row = judged(row("row", Vec::new()), planned("row"));
    assert_eq!(row.status, Status::Fail);
    assert_eq!(codes(&row), ["spawn-failed"]);
    let mut run = run(vec![super::fixtures::row("row", Vec::new())]);
    run.interrupted = true;
    judge(&mut run, &plan(vec![planned("row")]), &Past::default());
    assert_eq!(run.rows[0].status, Status::Warn);
    assert_eq!(codes(&run.rows[0]), ["interrupted"]);
}

#[test]
fn a_row_that_never_answered_can_be_lowered_to_a_warning_and_no_further() {
    for choice in [SeverityChoice::Ignore, SeverityChoice::Note, SeverityChoice::Warn] {
        let planned = expecting(|row| row.severity.extend([(Code::ExitedEarly, choice)]));
        let row = judged(row("row", vec![silent(1, Phase::Initialize, exited())]), planned);
        assert_eq!(
            (row.status, codes(&row)),
            (Status::Warn, vec!["exited-early"]),
            "{choice:?}"
        );
    }
}

#[test]
fn severities_of_the_manifest_hold_and_ignore_drops() {
    for (choice, status, count) in [
        (SeverityChoice::Fail, Status::Fail, 1),
        (SeverityChoice::Warn, Status::Warn, 1),
        (SeverityChoice::Note, Status::Pass, 1),
        (SeverityChoice::Ignore, Status::Pass, 0),
    ] {
        let planned = expecting(|row| row.severity.extend([(Code::StdoutNoise, choice)]));
        let row = judged(row("row", vec![with(session(1, &[]), vec![noise()])]), planned);
        assert_eq!((row.status, row.findings.len()), (status, count), "{choice:?}");
    }
}

#[test]
fn the_start_after_an_installation_judges_nothing() {
    let mut first = silent(1, Phase::Initialize, exited());
    first.kind = SessionKind::FirstStart;
    let row = judged(row("row", vec![first, session(2, &["echo"])]), planned("row"));
    assert_eq!((row.status, row.findings.len()), (Status::Pass, 0));
}

#[test]
fn the_same_in_several_sessions_is_one_finding_with_its_count() {
    let sessions = vec![
        with(session(1, &[]), vec![noise(), unclean()]),
        with(session(2, &[]), vec![unclean()]),
        with(session(3, &[]), vec![noise(), noise(), unclean()]),
    ];
    let row = judged(row("row", sessions), planned("row"));
    assert_eq!(
        messages(&row),
        [
            "6 lines on stdout are no messages, the first: \"hello\" (in 2 of 3 sessions)",
            "did not end when its stdin was closed: it took SIGTERM (in 3 of 3 sessions)",
        ]
    );
}

#[test]
fn failed_calls_add_up_over_full_sessions_only() {
    let error = || Observation {
        phase: Phase::Call,
        probe: Some(0),
        what: Seen::ToolError {
            tool: "echo".to_owned(),
            text: "no".to_owned(),
            failures: 1,
            calls: 10,
        },
    };
    let mut cold = session(3, &[]);
    cold.kind = SessionKind::ColdStart;
    let sessions = vec![
        with(session(1, &[]), vec![error()]),
        with(session(2, &[]), vec![error()]),
        cold,
    ];
    let row = judged(row("row", sessions), planned("row"));
    assert_eq!(
        messages(&row),
        ["2 of 20 calls of `echo` failed (isError): \"no\" (in 2 of 2 sessions)"]
    );
}

#[test]
fn tools_with_the_same_fault_share_a_sentence_and_a_flood_is_cut() {
    let invalid = |tool: usize, problem: String| {
        observation(
            Phase::List,
            Seen::ToolInvalid {
                tool: format!("t{tool}"),
                problem,
            },
        )
    };
    let same: Vec<_> = (0..10)
        .map(|tool| invalid(tool, "it has no inputSchema".to_owned()))
        .collect();
    let row_of = |observations| judged(row("row", vec![with(session(1, &[]), observations)]), planned("row"));
    assert_eq!(
        messages(&row_of(same)),
        ["tools `t0`, `t1`, `t2`, `t3`, `t4`, `t5`, `t6`, `t7` and 2 more: it has no inputSchema"]
    );
    let flood: Vec<_> = (0..400).map(|tool| invalid(tool, format!("odd {tool}"))).collect();
    let row = row_of(flood);
    assert_eq!(row.findings.len(), 20);
    assert_eq!(messages(&row)[19], "tool `t19`: odd 19 (and 380 more like it)");
}

#[test]
fn what_fails_comes_first_and_each_severity_in_the_order_of_phases() {
    let sessions = vec![with(
        session(1, &[]),
        vec![
            observation(
                Phase::Initialize,
                Seen::ServerRequestRefused {
                    method: "roots/list".to_owned(),
                    times: 1,
                },
            ),
            unclean(),
            noise(),
            observation(
                Phase::List,
                Seen::ListError {
                    code: 1,
                    message: String::new(),
                },
            ),
        ],
    )];
    let row = judged(row("row", sessions), planned("row"));
    assert_eq!(
        codes(&row),
        [
            "list-error",
            "stdout-noise",
            "unclean-shutdown",
            "server-request-refused"
        ]
    );
}

#[test]
fn judging_again_changes_nothing() {
    let plan = plan(vec![planned("row")]);
    let mut run = judged_by(row("row", vec![with(session(1, &[]), vec![noise(), unclean()])]), &plan);
    let first = (
        run.rows[0].findings.clone(),
        run.rows[0].status,
        run.totals,
        run.exit_code,
    );
    judge(&mut run, &plan, &Past::default());
    assert_eq!(
        first,
        (
            run.rows[0].findings.clone(),
            run.rows[0].status,
            run.totals,
            run.exit_code
        )
    );
}

fn any_code() -> impl Strategy<Value = Code> {
    select(Code::ALL)
}

fn any_severity() -> impl Strategy<Value = Severity> {
    select(&[Severity::Note, Severity::Warn, Severity::Fail][..])
}

fn any_finding() -> impl Strategy<Value = Finding> {
    (any_code(), any_severity()).prop_map(|(code, severity)| Finding {
        code,
        severity,
        phase: Phase::Call,
        message: String::new(),
        expected: None,
        actual: None,
        hint: None,
        accepted: None,
    })
}

proptest! {
    #[test]
    fn the_laws_of_the_exit_code(
        rows in proptest::collection::vec((proptest::collection::vec(any_finding(), 0..4), 0..4_u8), 0..5),
        strict in any::<bool>(),
        interrupted in any::<bool>(),
    ) {
        use crate::judge::status::{Bar, Course, exit_code, status, totals};
        let bar = Bar::new(strict);
        let rows = rows.into_iter().map(|(findings, course)| {
            let course = match course { 0 => Course::Skipped, 1 => Course::Unusable, _ => Course::Run };
            let mut record = row("row", Vec::new());
            record.status = status(&findings, course, bar);
            record.findings = findings;
            record
        });
        let mut record = run(rows.collect());
        record.interrupted = interrupted;
        let code = exit_code(&record, bar);
        let totals = totals(&record.rows);
        prop_assert_eq!(totals.pass + totals.warn + totals.fail + totals.skip + totals.error, totals.rows);
        let fails = |finding: &&Finding| finding.severity == Severity::Fail || (strict && finding.severity == Severity::Warn);
        let failing: Vec<&Finding> = record.rows.iter().flat_map(|row| row.findings.iter().filter(fails)).collect();
        let of_versions = failing.iter().all(|finding| finding.code.class() == Class::VersionsAndTools);
        prop_assert!([0, 1, 3, 4, 130].contains(&code));
        prop_assert_eq!(code == 130, interrupted);
        if !interrupted {
            prop_assert_eq!(matches!(code, 1 | 3), totals.fail + totals.error > 0);
            prop_assert_eq!(code == 4, totals.skip == totals.rows);
            prop_assert_eq!(code == 3, totals.fail > 0 && totals.error == 0 && of_versions);
        }
        if strict {
            prop_assert_eq!(totals.warn, 0);
        }
    }
}
