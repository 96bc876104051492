//! What was accepted stays quiet, and what is new does not.

use crate::event::Cause;
use crate::finding::{Code, Finding, Severity};
use crate::judge::fixtures::{answered, codes, expecting, locked, plan, planned, ran_on, run};
use crate::judge::sentences::{Case, Told};
use crate::judge::{Past, acceptable, judge};
use crate::lock::Lock;
use crate::plan::Plan;
use crate::record::{RowRecord, RunRecord, Status};

use super::accepted;

fn held_back(version: &str, newest: &str, cause: &str) -> RowRecord {
    let mut row = answered("x@node20", version, &["echo"]);
    row.identity.runtime = ran_on("node", Some("20.20.2")).runtime;
    row.identity.package.newest.version = Some(newest.to_owned());
    row.identity.package.newest.held_back = Some(Cause {
        cause: cause.to_owned(),
        detail: Some(">=22 on 20.20.2".to_owned()),
    });
    row
}

fn current(version: &str) -> RowRecord {
    let mut row = answered("x@node24", version, &["echo"]);
    row.identity.runtime = ran_on("node", Some("24.13.0")).runtime;
    row
}

fn told(code: Code) -> Told {
    Told::new(code, "said")
}

fn case(record: &RowRecord) -> Case<'_> {
    Case { plan: None, record }
}

fn both() -> Plan {
    plan(vec![planned("x@node20"), planned("x@node24")])
}

fn judged(rows: Vec<RowRecord>, plan: &Plan, lock: Option<&Lock>) -> RunRecord {
    let mut run = run(rows);
    judge(&mut run, plan, &Past { lock, runs: &[] });
    run
}

/// A lock that has accepted a split and, where it says so, the cause of it.
fn lock_with(cause: Option<&str>, old: &RowRecord, new: &RowRecord) -> Lock {
    let mut seen = judged(vec![old.clone(), new.clone()], &both(), None);
    let findings = &mut seen.rows[0].findings;
    findings.retain(|finding| finding.code != Code::HeldBack);
    if cause.is_some() {
        let mut of_cause = findings[0].clone();
        of_cause.code = Code::HeldBack;
        (of_cause.expected, of_cause.actual) = (None, None);
        findings.push(of_cause);
    }
    locked(&seen.rows, &both())
}

#[test]
fn the_cause_is_accepted_whatever_the_versions_are() {
    let lock = lock_with(
        Some("engines"),
        &held_back("0.36.0", "0.39.0", "engines"),
        &current("0.39.0"),
    );
    let check = |row: &RowRecord, expected: bool| {
        let on = accepted(&told(Code::HeldBack), case(row), Some(&lock));
        assert_eq!(on.is_some(), expected);
    };
    check(&held_back("0.36.0", "0.39.0", "engines"), true);
    check(&held_back("0.36.0", "0.41.0", "engines"), true);
    check(&held_back("0.36.0", "0.41.0", "deprecated"), false);
}

#[test]
fn a_split_stays_quiet_while_an_accepted_cause_explains_it() {
    let lock = lock_with(
        Some("engines"),
        &held_back("0.36.0", "0.39.0", "engines"),
        &current("0.39.0"),
    );
    let facts: Vec<_> = lock
        .rows
        .values()
        .flat_map(|row| &row.accepted)
        .map(|known| known.fact.as_str())
        .collect();
    assert_eq!(facts, ["engines", "x@node20 and x@node24"]);
    // Upstream goes on releasing; nobody has to accept each release.
    let later = judged(
        vec![held_back("0.36.0", "0.40.0", "engines"), current("0.40.0")],
        &both(),
        Some(&lock),
    );
    let split = later.rows[0]
        .findings
        .iter()
        .find(|finding| finding.code == Code::VersionSplit)
        .expect("a split");
    assert_eq!(
        (split.severity, split.accepted.as_deref()),
        (Severity::Note, Some("2026-11-29"))
    );
    // The cause went, the split stayed: that is new.
    let mut freed = held_back("0.36.0", "0.40.0", "engines");
    freed.identity.package.newest.held_back = None;
    let later = judged(vec![freed, current("0.40.0")], &both(), Some(&lock));
    let split = later.rows[0]
        .findings
        .iter()
        .find(|finding| finding.code == Code::VersionSplit)
        .expect("a split");
    assert_eq!((split.severity, split.accepted.as_deref()), (Severity::Warn, None));
}

#[test]
fn an_accepted_split_stays_quiet_when_a_part_of_the_fleet_runs_or_is_upgraded() {
    let fleet = |newest: &str| -> Vec<RowRecord> {
        let of = |server: &str, newest: &str| {
            let mut rows = [held_back("1.4.0", newest, "engines"), current(newest)];
            for row in &mut rows {
                row.id.0 = row.id.0.replace("x@", &format!("{server}@"));
                server.clone_into(&mut row.server);
            }
            rows
        };
        [of("demo", newest), of("d1", "2.0.0"), of("d2", "2.0.0")].concat()
    };
    let planned_all = plan(fleet("2.0.0").iter().map(|row| planned(&row.id.0)).collect());
    let lock = locked(&judged(fleet("2.0.0"), &planned_all, None).rows, &planned_all);
    for rows in [
        fleet("2.0.0"),
        fleet("2.1.0"),
        fleet("2.0.0").split_off(4),
        fleet("2.1.0").split_off(2),
    ] {
        let run = judged(rows, &planned_all, Some(&lock));
        let is_split = |finding: &&Finding| finding.code == Code::VersionSplit;
        let splits: Vec<_> = run.rows.iter().flat_map(|row| &row.findings).filter(is_split).collect();
        assert_eq!(splits.len(), run.rows.len() / 2);
        assert!(splits.iter().all(|split| split.accepted.is_some()), "{splits:?}");
    }
}

#[test]
fn a_split_without_a_cause_is_accepted_for_its_two_versions() {
    let old = || answered("x@node20", "0.36.0", &["echo"]);
    let lock = lock_with(None, &old(), &current("0.39.0"));
    let severity = |newest: &str| {
        let run = judged(vec![old(), current(newest)], &both(), Some(&lock));
        let split = run.rows[0]
            .findings
            .iter()
            .find(|finding| finding.code == Code::VersionSplit);
        split.expect("a split").severity
    };
    assert_eq!(severity("0.39.0"), Severity::Note);
    assert_eq!(severity("0.40.0"), Severity::Warn);
}

#[test]
fn standing_facts_against_the_manifest_are_accepted_as_they_are() {
    let expecting = plan(vec![expecting(|row| {
        row.expect.version = Some(">=2".to_owned());
        row.expect.tool_count = Some(3);
        row.expect.tools = vec!["echo".to_owned(), "lost".to_owned()];
        row.expect.name = Some("another".to_owned());
    })]);
    let night = |version: &str, lock: Option<&Lock>| {
        let mut strict = expecting.clone();
        strict.settings.strict = true;
        judged(vec![answered("row", version, &["echo"])], &strict, lock)
    };
    let first = night("1.0.0", None);
    let mut found = codes(&first.rows[0]);
    found.sort_unstable();
    assert_eq!(
        found,
        ["name-changed", "tool-count-changed", "tool-removed", "version-mismatch"]
    );
    assert_eq!(first.exit_code, 3);
    let lock = locked(&first.rows, &expecting);
    let second = night("1.0.0", Some(&lock));
    assert_eq!((second.rows[0].status, second.exit_code), (Status::Pass, 0));
    assert_eq!(second.rows[0].findings.len(), first.rows[0].findings.len());
    assert!(second.rows[0].findings.iter().all(|finding| finding.accepted.is_some()));
    // Locking again takes the same facts.
    let planned = &expecting.rows[0];
    assert_eq!(
        acceptable(&second.rows[0], Some(planned)),
        acceptable(&first.rows[0], Some(planned))
    );
    let third = night("1.1.0", Some(&lock));
    assert_eq!(third.rows[0].status, Status::Fail);
}

#[test]
fn what_does_not_work_cannot_be_accepted() {
    let mut row = answered("row", "1.0.0", &["echo"]);
    row.findings = judged(vec![row.clone()], &plan(vec![planned("row")]), Some(&Lock::default())).rows[0]
        .findings
        .clone();
    assert_eq!(codes(&row), ["not-in-lock"]);
    row.findings[0].code = Code::CallTimeout;
    assert!(acceptable(&row, None).is_empty());
}
