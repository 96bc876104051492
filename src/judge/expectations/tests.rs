//! What is expected against what was shown.

use crate::event::{Ecosystem, Seen};
use crate::finding::Phase;
use crate::judge::fixtures::{
    codes, exited, expecting, judged, judged_by, messages, observation, plan, ran_on, row, session, silent, with,
};
use crate::plan::{Runtime, RuntimeKind};
use crate::record::Status;
use crate::text::Mask;

#[test]
fn a_name_and_a_version_that_are_not_as_expected_fail_as_of_versions() {
    let planned = expecting(|row| {
        row.expect.name = Some("other".to_owned());
        row.expect.version = Some(">=2".to_owned());
    });
    let run = judged_by(
        row("row", vec![session(1, &["echo"]), session(2, &["echo"])]),
        &plan(vec![planned]),
    );
    assert_eq!(
        messages(&run.rows[0]),
        [
            "calls itself \"example\", expected \"other\" (in 2 of 2 sessions)",
            "reports version 1.2.3, expected >=2 (in 2 of 2 sessions)",
        ]
    );
    assert_eq!(run.exit_code, 3);
}

#[test]
fn versions_are_held_against_ranges_and_what_is_no_version_against_the_text() {
    for (reported, wanted, code) in [
        (Some("1.2.3"), "^1.2", None),
        (Some("v1.2.3"), ">=1.2", None),
        (Some("2026.8.31"), ">=2026", None),
        (Some("0.6.2"), "^0.7", Some("version-mismatch")),
        (Some("unknown"), "*", None),
        (Some("unknown"), ">=1", Some("version-mismatch")),
        (Some("rolling/abc"), "rolling/abc", None),
        (Some(""), "*", Some("version-unverifiable")),
        (None, ">=1", Some("version-unverifiable")),
    ] {
        let mut session = session(1, &[]);
        session.handshake.as_mut().expect("a good session has one").version = reported.map(str::to_owned);
        let planned = expecting(|row| row.expect.version = Some(wanted.to_owned()));
        let row = judged(row("row", vec![session]), planned);
        assert_eq!(codes(&row).first().copied(), code, "{reported:?} against {wanted}");
    }
}

#[test]
fn an_installed_version_is_held_against_its_own_expectation() {
    let check = |installed: Option<&str>| {
        let mut record = row("row", vec![session(1, &[])]);
        record.identity.package.ecosystem = Some(Ecosystem::Npm);
        record.identity.package.name = Some("chrome-devtools-mcp".to_owned());
        record.identity.package.installed = installed.map(str::to_owned);
        judged(
            record,
            expecting(|row| row.expect.package_version = Some(">=1.11".to_owned())),
        )
    };
    assert_eq!(check(Some("1.12.0")).status, Status::Pass);
    assert_eq!(
        messages(&check(Some("0.2.7"))),
        ["`chrome-devtools-mcp` 0.2.7 is installed, expected >=1.11"]
    );
    assert_eq!(codes(&check(None)), ["version-unverifiable"]);
}

#[test]
fn nothing_is_expected_of_a_server_that_never_answered() {
    let planned = expecting(|row| {
        row.expect.name = Some("example".to_owned());
        row.expect.version = Some("*".to_owned());
        row.expect.package_version = Some("*".to_owned());
        row.expect.tools = vec!["echo".to_owned()];
        row.expect.tool_count = Some(1);
    });
    let row = judged(row("row", vec![silent(1, Phase::Initialize, exited())]), planned);
    assert_eq!(codes(&row), ["exited-early"]);
}

#[test]
fn expected_tools_that_are_gone_and_another_count_are_told() {
    let planned = expecting(|row| {
        row.expect.tools = vec!["read_text_file".to_owned(), "echo".to_owned()];
        row.expect.tool_count = Some(14);
    });
    let row = judged(row("row", vec![session(1, &["echo", "echo", "read_file"])]), planned);
    assert_eq!(
        messages(&row),
        [
            "`read_text_file` is expected and not among the 2 tools it lists",
            "lists 2 tools, expected 14"
        ]
    );
}

#[test]
fn a_list_that_was_cut_short_says_nothing_about_what_is_missing() {
    let planned = expecting(|row| row.expect.tools = vec!["last".to_owned()]);
    let cut = vec![observation(
        Phase::List,
        Seen::ListTooLong {
            pages: 100,
            tools: 5000,
        },
    )];
    assert_eq!(
        codes(&judged(row("row", vec![with(session(1, &["a"]), cut)]), planned)),
        ["list-too-long"]
    );
}

#[test]
fn the_runtime_that_ran_must_fit_the_rows() {
    let check = |kind: RuntimeKind, range: &str, ran: &str, version: Option<&str>| {
        let mut session = session(1, &[]);
        session.identity = Some(ran_on(ran, version));
        let planned = expecting(|row| {
            row.runtime = Some(Runtime {
                name: "wanted".to_owned(),
                kind,
                range: range.to_owned(),
            });
        });
        messages(&judged(row("row", vec![session]), planned)).join("; ")
    };
    assert_eq!(check(RuntimeKind::Node, "20", "node", Some("20.20.2")), "");
    assert_eq!(
        check(RuntimeKind::Node, "24", "node", Some("20.20.2")),
        "ran on node 20.20.2 (/usr/bin/node), expected node 24 (wanted)"
    );
    assert_eq!(check(RuntimeKind::Python, ">=3.10", "python", Some("3.11.7")), "");
    assert_eq!(check(RuntimeKind::Python, "3.12", "python", Some("3.12.4")), "");
    assert!(check(RuntimeKind::Node, "20", "python", Some("3.11.7")).contains("ran on python 3.11.7"));
    assert_eq!(
        check(RuntimeKind::Node, "20", "node", None),
        "",
        "unknown is not a mismatch"
    );
    assert_eq!(
        check(RuntimeKind::Node, "20", "docker", None),
        "",
        "nobody saw what is inside"
    );
}

#[test]
fn a_secret_in_an_expectation_is_not_shown_and_still_compared() {
    let mut plan = plan(vec![expecting(|row| {
        row.expect.name = Some("tenant-s3cret-key".to_owned());
        row.expect.version = Some(">=2026.8".to_owned());
        row.expect.tools = vec!["s3cret-key".to_owned()];
    })]);
    plan.mask = Mask::new(["s3cret-key".to_owned(), ">=2026.8".to_owned()]);
    let check = |name: &str, version: &str, tool: &str| {
        let mut session = session(1, &[tool]);
        let handshake = session.handshake.as_mut().expect("a good session has one");
        handshake.name = Some(name.to_owned());
        handshake.version = Some(version.to_owned());
        messages(&judged_by(row("row", vec![session]), &plan).rows[0]).join("; ")
    };
    assert_eq!(check("tenant-***", "2026.9.1", "***"), "");
    assert_eq!(
        check("other", "1.2.3", "echo"),
        "calls itself \"other\", expected \"tenant-***\"; reports version 1.2.3, expected ***; \
         `***` is expected and not among the 1 tool it lists"
    );
}
