//! One package on two runtimes, in one run.

use crate::judge::Past;
use crate::judge::fixtures::{answered, codes, messages, night, ran_on};
use crate::record::{Identity, RowRecord, RunRecord};

fn on(id: &str, node: &str, version: &str, tools: &[&str]) -> RowRecord {
    let mut row = answered(id, version, tools);
    row.identity.runtime = ran_on("node", Some(node)).runtime;
    row
}

fn judged(rows: Vec<RowRecord>) -> RunRecord {
    night(rows, &Past::default())
}

#[test]
fn the_older_row_is_told_what_it_lacks() {
    let run = judged(vec![
        on("sentry@node20", "20.20.2", "0.36.0", &["echo", "old"]),
        on("sentry@node24", "24.13.0", "0.39.0", &["echo", "new"]),
    ]);
    assert_eq!(codes(&run.rows[0]), ["version-split"]);
    assert!(codes(&run.rows[1]).is_empty());
    assert_eq!(
        messages(&run.rows[0]),
        [
            "not the same on two runtimes: 0.36.0 on sentry@node20 (node 20.20.2), 0.39.0 on sentry@node24 (node 24.13.0); \
          of 2 tools here and 2 there, only here: `old`; only there: `new`"
        ]
    );
    let finding = &run.rows[0].findings[0];
    assert_eq!(finding.actual.as_deref(), Some("0.36.0 on sentry@node20"));
    assert_eq!(finding.expected.as_deref(), Some("0.39.0 on sentry@node24"));
}

#[test]
fn what_is_reported_is_told_only_where_it_is_not_what_is_installed() {
    let mut hard_coded = on("x@node20", "20.20.2", "0.36.0", &["echo"]);
    hard_coded.identity.reported_version = Some("1.0.0".to_owned());
    let run = judged(vec![hard_coded, on("x@node24", "24.13.0", "0.39.0", &["echo"])]);
    let said = messages(&run.rows[0])[0];
    assert!(
        said.ends_with("; reports version \"1.0.0\" here and \"0.39.0\" there"),
        "{said}"
    );
}

#[test]
fn the_order_of_rows_does_not_matter_and_the_newest_is_what_counts() {
    let run = judged(vec![
        on("x@node24", "24.13.0", "0.39.0", &["echo"]),
        on("x@node20", "20.20.2", "0.36.0", &["echo"]),
        on("x@node22", "22.1.0", "0.38.0", &["echo"]),
    ]);
    assert!(codes(&run.rows[0]).is_empty());
    for row in &run.rows[1..] {
        assert_eq!(codes(row), ["version-split"]);
        assert_eq!(row.findings[0].expected.as_deref(), Some("0.39.0 on x@node24"));
    }
}

#[test]
fn another_tool_set_name_or_protocol_of_one_version_is_a_split_too() {
    let base = || on("x@node24", "24.13.0", "1.0.0", &["echo", "more"]);
    let check = |change: fn(&mut RowRecord), part: &str| {
        let mut old = on("x@node20", "20.20.2", "1.0.0", &["echo", "more"]);
        change(&mut old);
        let run = judged(vec![old, base()]);
        assert_eq!(codes(&run.rows[0]), ["version-split"]);
        assert!(
            messages(&run.rows[0])[0].ends_with(part),
            "{:?}",
            messages(&run.rows[0])
        );
        assert!(codes(&run.rows[1]).is_empty());
    };
    check(
        |row| drop(row.tools.as_mut().expect("tools").pop()),
        "of 1 tool here and 2 there, only there: `more`",
    );
    check(
        |row| row.identity.reported_name = Some("other".to_owned()),
        "calls itself \"other\" here and \"example\" there",
    );
    check(
        |row| row.identity.negotiated = Some("2025-06-18".to_owned()),
        "speaks initialize 2025-06-18 here and initialize 2025-11-25 there",
    );
}

#[test]
fn what_is_the_same_or_meant_to_differ_is_no_split() {
    let quiet = |rows: Vec<RowRecord>| {
        let run = judged(rows);
        for row in &run.rows {
            assert!(codes(row).is_empty(), "{:?}", messages(row));
        }
    };
    let old = || on("x@node20", "20.20.2", "1.0.0", &["echo"]);
    quiet(vec![old(), on("x@node24", "24.13.0", "1.0.0", &["echo"])]);
    // Two entries of one package: pinned apart, or with other tools switched on.
    let mut pinned = on("y@node24", "24.13.0", "2.0.0", &["echo"]);
    pinned.identity.package.wanted = Some("2.0.0".to_owned());
    quiet(vec![old(), pinned]);
    quiet(vec![old(), on("y@node24", "24.13.0", "1.0.0", &["echo", "more"])]);
    // One runtime.
    quiet(vec![old(), on("z@node20", "20.20.2", "2.0.0", &["echo"])]);
    // A row that did not answer.
    let mut silent = on("x@node24", "24.13.0", "2.0.0", &["echo"]);
    silent.identity = Identity::default();
    quiet(vec![old(), silent]);
}

#[test]
fn two_entries_of_one_package_split_by_version() {
    let run = judged(vec![
        on("a@node20", "20.20.2", "1.0.0", &["echo"]),
        on("b@node24", "24.13.0", "2.0.0", &["echo", "more"]),
    ]);
    assert_eq!(codes(&run.rows[0]), ["version-split"]);
}

/// Three servers of one package on two runtimes, held back on the older one: what each split is between.
#[test]
fn a_row_is_held_against_its_own_server_whatever_other_rows_there_are() {
    let servers = ["demo", "d1", "d2"];
    let fleet = |chosen: &[&str], newer: &[&str]| -> Vec<RowRecord> {
        let of = |server: &&str| {
            let newest = if newer.contains(server) { "2.1.0" } else { "2.0.0" };
            [
                on(&format!("{server}@n20"), "20.20.2", "1.4.0", &["echo"]),
                on(&format!("{server}@n24"), "24.13.0", newest, &["echo"]),
            ]
        };
        chosen.iter().flat_map(of).collect()
    };
    let pairs = |rows: Vec<RowRecord>| -> Vec<(String, String)> {
        let run = judged(rows);
        let splits = run.rows.iter().flat_map(|row| &row.findings);
        let side = |words: Option<&str>| {
            let (_, id) = words.and_then(|words| words.split_once(" on ")).expect("a side");
            id.to_owned()
        };
        splits
            .map(|split| (side(split.actual.as_deref()), side(split.expected.as_deref())))
            .collect()
    };
    let own = |chosen: &[&str]| -> Vec<(String, String)> {
        let pair = |server: &&str| (format!("{server}@n20"), format!("{server}@n24"));
        chosen.iter().map(pair).collect()
    };
    for newer in [&[] as &[&str], &["demo"], &["d1"], &["d2"], &servers] {
        assert_eq!(pairs(fleet(&servers, newer)), own(&servers), "newer: {newer:?}");
        for server in servers {
            assert_eq!(pairs(fleet(&[server], newer)), own(&[server]));
        }
        // A twin that does not answer is no reason to look elsewhere.
        let mut rows = fleet(&servers, newer);
        rows[3].identity = Identity::default();
        let told = pairs(rows).into_iter().filter(|(here, _)| here == "d1@n20").count();
        assert_eq!(told, 0);
    }
}
