//! Retries, nights that pass and fail, and what a failing row is told of the last time it passed.

use crate::event::{Era, Observation, Seen, SessionFacts, SessionKind};
use crate::finding::{Code, Finding, Phase, Severity, SeverityChoice};
use crate::judge::fixtures::{
    codes, exited, expecting, judged, messages, observation, plan, planned, ran_on, row, run, session, silent, with,
};
use crate::judge::groups::group;
use crate::judge::sentences::examples::everything;
use crate::judge::sentences::{Case, tell};
use crate::judge::{Past, judge};
use crate::record::{RowRecord, RunRecord, Status};
use crate::run::went_wrong;

/// The first session failed and its second try is as given.
fn tried_twice(first: crate::event::SessionFacts, second: crate::event::SessionFacts) -> RowRecord {
    let mut second = second;
    second.kind = SessionKind::Repeat(1);
    second.attempt = 2;
    row("row", vec![first, second])
}

fn noise() -> Observation {
    let what = Seen::StdoutNoise {
        first: "hello".to_owned(),
        lines: 1,
    };
    observation(Phase::Initialize, what)
}

#[test]
fn a_row_that_passes_on_its_second_try_is_flaky_and_says_why_the_first_failed() {
    let mut first = silent(1, Phase::Initialize, exited());
    first.observations.push(noise());
    let judged = judged(tried_twice(first, session(2, &["echo"])), planned("row"));
    assert_eq!(judged.status, Status::Warn);
    assert_eq!(
        codes(&judged),
        ["stdout-noise", "flaky"],
        "what is no reason to fail is not lost"
    );
    assert!(
        messages(&judged)[1].starts_with("passed on try 2 only; before that: exited with code 1 before it answered"),
        "{:?}",
        messages(&judged)
    );
}

#[test]
fn a_row_that_fails_on_every_try_fails_as_ever() {
    let failed = || silent(1, Phase::Initialize, exited());
    let judged = judged(tried_twice(failed(), failed()), planned("row"));
    assert_eq!((judged.status, codes(&judged)), (Status::Fail, vec!["exited-early"]));
}

#[test]
fn a_try_that_was_given_up_is_no_session_that_disagrees() {
    let mut first = with(session(1, &["echo"]), vec![observation(Phase::Call, exited())]);
    first.tools = None;
    let mut third = session(3, &["echo"]);
    third.kind = SessionKind::ColdStart;
    let mut record = tried_twice(first, session(2, &["echo"]));
    record.sessions.push(third);
    assert_eq!(codes(&judged(record, planned("row"))), ["flaky"]);
}

/// A night on which the row passed (`p`) or failed (`f`), was skipped (`s`) or interrupted (`i`).
fn night(letter: char, day: usize) -> RunRecord {
    let mut row = row("row", vec![session(1, &["echo"])]);
    row.identity.era = Some(Era::Initialize);
    row.identity.package.name = Some("server".to_owned());
    row.identity.package.installed = Some("1.2.3".to_owned());
    match letter {
        'f' => {
            row.status = Status::Fail;
            row.identity.era = None;
            row.findings = vec![finding(Code::InitTimeout)];
        }
        's' => row.status = Status::Skip,
        _ => {}
    }
    let mut run = run(vec![row]);
    run.interrupted = letter == 'i';
    run.started = format!("2026-11-{day:02}T02:15:00Z").parse().expect("a moment");
    run
}

fn finding(code: Code) -> Finding {
    Finding {
        code,
        severity: Severity::Fail,
        phase: Phase::Initialize,
        message: "no answer".to_owned(),
        expected: None,
        actual: None,
        hint: None,
        accepted: None,
    }
}

/// Judges a night after others, oldest first; all letters as in [`night`].
fn after(nights: &str, change: impl Fn(usize, &mut RunRecord), tonight: char) -> RowRecord {
    let mut past: Vec<RunRecord> = nights
        .chars()
        .zip(1..)
        .map(|(letter, day)| night(letter, day))
        .collect();
    for (place, run) in past.iter_mut().enumerate() {
        change(place, run);
    }
    past.reverse();
    let mut record = night('p', 29);
    record.rows[0].identity.package.wanted = Some("1.2.3".to_owned());
    record.rows[0].identity.runtime = ran_on("node", Some("24.1.0")).runtime;
    if tonight == 'f' {
        record.rows[0].sessions = vec![silent(1, Phase::Initialize, exited())];
    }
    let past = Past {
        runs: &past,
        ..Past::default()
    };
    judge(&mut record, &plan(vec![planned("row")]), &past);
    record.rows.remove(0)
}

fn is_flaky(nights: &str, tonight: char) -> bool {
    codes(&after(nights, |_, _| {}, tonight)).contains(&"flaky")
}

#[test]
fn a_row_is_flaky_that_passes_and_fails_and_not_one_that_broke_or_was_mended() {
    assert!(is_flaky("pfp", 'f') && is_flaky("pf", 'p') && is_flaky("pppfppp", 'p'));
    assert!(!is_flaky("", 'f') && !is_flaky("ppppp", 'p'));
    assert!(!is_flaky("ppppp", 'f') && !is_flaky("pppff", 'f'), "it broke");
    assert!(!is_flaky("ffff", 'p') && !is_flaky("ffpp", 'p'), "it was mended");
    assert!(
        is_flaky("psf", 'p') && !is_flaky("pip", 'p'),
        "a skipped or interrupted night says nothing"
    );
    assert!(!is_flaky("pfppppppppp", 'p'), "it has settled since");
}

#[test]
fn another_version_or_command_makes_other_nights() {
    let version = |place: usize, run: &mut RunRecord| {
        if place < 2 {
            run.rows[0].identity.package.installed = Some("1.2.2".to_owned());
        }
    };
    assert!(!codes(&after("pfp", version, 'p')).contains(&"flaky"));
    let command = |place: usize, run: &mut RunRecord| {
        if place < 2 {
            run.rows[0].command = Some("another".to_owned());
        }
    };
    assert!(!codes(&after("pfp", command, 'p')).contains(&"flaky"));
}

#[test]
fn the_finding_counts_the_nights_and_names_the_last_bad_one() {
    let row = after("pfpf", |_, _| {}, 'p');
    assert_eq!(
        messages(&row),
        ["failed on 2 of its last 5 nights, the last time on 2026-11-04, with the same command, package and runtime"]
    );
    assert_eq!(row.status, Status::Warn);
}

#[test]
fn a_row_that_fails_tonight_is_told_when_it_passed() {
    let said =
        |nights: &str, change: &dyn Fn(usize, &mut RunRecord)| messages(&after(nights, change, 'f'))[0].to_owned();
    assert!(said("pp", &|_, _| {}).ends_with("; it passed on 2026-11-02 with the same command"));
    assert!(
        said("pff", &|_, _| {})
            .ends_with("; it last passed on 2026-11-01 with the same command, and has failed on 2 nights since")
    );
    assert!(!said("ff", &|_, _| {}).contains("passed"));
    let older = |_, run: &mut RunRecord| run.rows[0].identity.package.installed = Some("1.2.2".to_owned());
    assert!(said("p", &older).ends_with("with the same command, then server 1.2.2, now server 1.2.3"));
    let another = |_, run: &mut RunRecord| run.rows[0].command = Some("another".to_owned());
    assert!(!said("p", &another).contains("passed"));
    let wanted = |wanted: &'static str| {
        move |_, run: &mut RunRecord| run.rows[0].identity.package.wanted = Some(wanted.to_owned())
    };
    assert!(said("p", &wanted("1.2.3")).ends_with("; it passed on 2026-11-01 with the same command"));
    assert!(
        said("p", &wanted("1.2.2"))
            .ends_with("; it passed on 2026-11-01, asked for as `server 1.2.2` then, as `server 1.2.3` now")
    );
    let node = |_, run: &mut RunRecord| run.rows[0].identity.runtime = ran_on("node", Some("20.1.0")).runtime;
    assert!(said("p", &node).ends_with("; it passed on 2026-11-01, then node 20.1.0, now node 24.1.0"));
    let unknown = |_, run: &mut RunRecord| {
        run.rows[0].command = None;
        run.manifest_sha256 = "another".to_owned();
    };
    assert!(
        !said("p", &unknown).contains("passed"),
        "an earlier build's record, another manifest"
    );
}

#[test]
fn a_row_that_no_try_helped_says_how_often_it_was_tried() {
    let failed = |number: u32, attempt: u32| {
        let mut session = silent(number, Phase::Initialize, exited());
        (session.kind, session.attempt) = (SessionKind::Repeat(1), attempt);
        session
    };
    let said = |sessions: Vec<SessionFacts>| messages(&judged(row("row", sessions), planned("row")))[0].to_owned();
    assert!(!said(vec![failed(1, 1)]).contains("tried"));
    let thrice = said(vec![failed(1, 1), failed(2, 2), failed(3, 3)]);
    assert!(
        thrice.starts_with("exited with code 1") && thrice.ends_with("; tried 3 times, and no try went well"),
        "{thrice}"
    );
}

#[test]
fn flaky_can_be_left_out() {
    let settled = expecting(|row| {
        row.severity.insert(Code::Flaky, SeverityChoice::Ignore);
    });
    let failed = silent(1, Phase::Initialize, exited());
    let judged = judged(tried_twice(failed, session(2, &["echo"])), settled);
    assert_eq!((judged.status, codes(&judged)), (Status::Pass, vec![]));
}

#[test]
fn what_fails_a_session_is_what_is_tried_again() {
    for (phase, seen) in everything() {
        // Told of the row, not of a session.
        let of_row = matches!(
            seen,
            Seen::ConfigError { .. }
                | Seen::InstallFailed { .. }
                | Seen::RowTimeout { .. }
                | Seen::SessionDisagrees { .. }
        );
        let session = with(session(1, &["echo"]), vec![observation(phase, seen)]);
        let record = row("row", vec![session.clone()]);
        let groups = group(&[], &[&session]);
        let case = Case {
            plan: None,
            record: &record,
        };
        let told = tell(&groups[0], case);
        let fails = told.severity == Severity::Fail && !of_row;
        assert_eq!(went_wrong(&session), fails, "{}", told.message);
    }
}
