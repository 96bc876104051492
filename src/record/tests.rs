//! What becomes of a row's events.

use std::path::Path;
use std::time::Duration;

use super::samples::{launch, measuring, npm, plan, record, row, run};
use super::{Host, Outcome, PackageSource, RowRecord, RunRecord, Status};
use crate::event::samples::{package, session};
use crate::event::{
    Ecosystem, EventKind, Launcher, Observation, PackageFacts, Seen, SessionFacts, SessionKind, Skip, SkipReason,
};
use crate::finding::Phase;
use crate::plan::{Entry, Launch, Plan, Problem};
use crate::text::Mask;

fn only(record: RunRecord) -> RowRecord {
    let [row] = <[RowRecord; 1]>::try_from(record.rows).expect("one row");
    row
}

fn one_row(launch: Launch) -> Plan {
    plan(vec![row("row", run(launch))])
}

fn of(kind: SessionKind, change: impl FnOnce(&mut SessionFacts)) -> EventKind {
    let mut facts = session("text");
    facts.kind = kind;
    facts.observations.clear();
    change(&mut facts);
    EventKind::Session(Box::new(facts))
}

fn repeat(number: u32, change: impl FnOnce(&mut SessionFacts)) -> EventKind {
    of(SessionKind::Repeat(number), change)
}

fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}

fn seen(row: &RowRecord) -> Vec<&Seen> {
    row.observations.iter().map(|observation| &observation.what).collect()
}

#[test]
fn rows_stand_in_the_order_of_the_plan_and_no_others_come_in() {
    let plan = plan(vec![
        row("z", run(launch("z", &[]))),
        row("row", run(launch("a", &[]))),
        row("b", Entry::Disabled),
    ]);
    let mut builder = super::samples::builder(&plan);
    for id in ["row", "stranger", "z"] {
        let mut event = crate::event::samples::event(repeat(1, |_| {}));
        event.row.0 = id.to_owned();
        builder.apply(event);
    }
    let record = builder.finish("2026-11-30T02:16:40Z".parse().expect("a moment"), false);
    let ids: Vec<_> = record.rows.iter().map(|row| row.id.0.as_str()).collect();
    assert_eq!(ids, ["z", "row", "b"]);
    assert_eq!(record.rows[1].log, Path::new("logs/20261130T021500Z/row.log"));
}

#[test]
fn repeats_are_pooled_and_the_first_session_gives_the_first_call() {
    let plan = one_row(launch("x", &["echo", "add"]));
    let kinds = vec![
        measuring(),
        repeat(1, |facts| {
            facts.probes[0].first = None;
            facts.probes[0].reply = None;
        }),
        repeat(2, |facts| {
            facts.probes[0].samples = vec![millis(9)];
            facts.probes[0].calls = 1;
        }),
        of(SessionKind::ColdStart, |facts| facts.probes.clear()),
        EventKind::RowDone,
    ];
    let row = only(record(&plan, kinds, false));
    assert_eq!(row.sessions.len(), 3);
    let echo = &row.probes[0];
    assert_eq!(echo.samples, [millis(3), millis(6), millis(9)]);
    assert_eq!((echo.calls, echo.failures, echo.first), (3, 0, None));
    assert_eq!((echo.outcome, echo.reply.as_deref()), (Some(Outcome::Ok), Some("text")));
    assert_eq!((row.probes[1].outcome, row.probes[1].calls), (None, 0));
    assert!(row.observations.is_empty());
}

#[test]
fn a_probe_is_failed_by_one_failure_and_refused_only_if_every_call_was() {
    let outcome = |refused: [bool; 2], failures: u32| {
        let plan = one_row(launch("x", &["echo"]));
        let kinds = vec![
            repeat(1, |facts| facts.probes[0].refused = refused[0]),
            repeat(2, |facts| {
                facts.probes[0].refused = refused[1];
                facts.probes[0].failures = failures;
            }),
            EventKind::RowDone,
        ];
        only(record(&plan, kinds, false)).probes[0].outcome
    };
    assert_eq!(outcome([true, true], 0), Some(Outcome::Refused));
    assert_eq!(outcome([true, false], 0), Some(Outcome::Ok));
    assert_eq!(outcome([true, true], 1), Some(Outcome::Failed));
}

#[test]
fn a_probe_whose_only_call_was_a_failed_warm_up_has_failed() {
    let plan = one_row(launch("x", &["echo"]));
    let kinds = vec![
        repeat(1, |facts| {
            facts.probes[0].calls = 0;
            facts.probes[0].failures = 1;
            facts.probes[0].samples.clear();
        }),
        EventKind::RowDone,
    ];
    assert_eq!(
        only(record(&plan, kinds, false)).probes[0].outcome,
        Some(Outcome::Failed)
    );
}

#[test]
fn a_repeat_that_was_tried_again_counts_by_its_last_try() {
    let plan = one_row(launch("x", &["echo"]));
    let kinds = vec![
        repeat(1, |facts| {
            facts.probes[0].failures = 2;
            facts.probes[0].samples.clear();
        }),
        repeat(1, |facts| {
            facts.attempt = 2;
            facts.probes[0].samples = vec![millis(5)];
        }),
        EventKind::RowDone,
    ];
    let row = only(record(&plan, kinds, false));
    assert_eq!(row.sessions.len(), 2, "both are kept");
    assert_eq!((row.probes[0].outcome, row.probes[0].failures), (Some(Outcome::Ok), 0));
    assert_eq!(row.probes[0].samples, [millis(5)]);
}

#[test]
fn tools_and_identity_are_the_first_sessions_that_have_them() {
    let plan = one_row(launch("x", &[]));
    let kinds = vec![
        repeat(1, |facts| {
            facts.handshake = None;
            facts.identity = None;
            facts.tools = None;
            facts.resources = None;
        }),
        repeat(2, |_| {}),
        repeat(3, |facts| {
            facts.tools = Some(Vec::new());
            facts.handshake = None;
        }),
        EventKind::RowDone,
    ];
    let row = only(record(&plan, kinds, false));
    assert_eq!(row.tools.expect("a list").len(), 1);
    assert_eq!(row.identity.reported_name.as_deref(), Some("text"));
    assert_eq!(row.identity.launcher, Some(Launcher::Direct));
    assert_eq!(row.identity.package.source, Some(PackageSource::Walk));
    assert_eq!(row.identity.package.wanted, None, "nothing was asked for by name");
    assert_eq!(row.resources.expect("two told").peak_rss_bytes, 1_000_000);
}

#[test]
fn the_largest_figures_of_all_sessions_are_kept() {
    let plan = one_row(launch("x", &[]));
    let used = |rss, cpu| {
        repeat(1, move |facts| {
            facts.resources = Some(crate::event::ResourceFacts {
                peak_rss_bytes: rss,
                cpu: millis(cpu),
            });
        })
    };
    let row = only(record(&plan, vec![used(5, 9), used(8, 2), EventKind::RowDone], false));
    let resources = row.resources.expect("both told");
    assert_eq!((resources.peak_rss_bytes, resources.cpu), (8, millis(9)));
}

#[test]
fn the_start_after_an_installation_is_a_time_and_no_session() {
    let plan = one_row(launch("x", &["echo"]));
    let kinds = vec![
        EventKind::Installed(millis(700)),
        EventKind::Installed(millis(300)),
        of(SessionKind::FirstStart, |facts| {
            facts.cold_start = Some(millis(900));
            facts.observations = vec![Observation {
                phase: Phase::Spawn,
                probe: None,
                what: Seen::NoTools { declared: true },
            }];
        }),
        measuring(),
        repeat(1, |_| {}),
        EventKind::RowDone,
    ];
    let row = only(record(&plan, kinds, false));
    assert_eq!((row.install, row.first_start), (Some(millis(1000)), Some(millis(900))));
    assert_eq!((row.sessions.len(), row.probes[0].samples.len()), (1, 2));
    assert!(row.observations.is_empty(), "it judges nothing");
    assert_eq!(row.load.load_average_1m, Some(0.75));
}

#[test]
fn a_first_start_that_nothing_followed_is_not_dropped() {
    let plan = one_row(launch("x", &["echo"]));
    let first = || {
        of(SessionKind::FirstStart, |facts| {
            facts.observations = vec![Observation {
                phase: Phase::Spawn,
                probe: None,
                what: Seen::NoTools { declared: true },
            }];
        })
    };
    let row = only(record(&plan, vec![first(), EventKind::RowDone], false));
    assert!(row.sessions.is_empty());
    assert_eq!(seen(&row), [&Seen::NoTools { declared: true }]);
    assert_eq!(row.identity.reported_name.as_deref(), Some("text"));
    assert_eq!(row.tools.as_ref().expect("a list").len(), 1);
    assert_eq!(row.probes[0].outcome, None);

    let interrupted = EventKind::Observed(Observation {
        phase: Phase::Spawn,
        probe: None,
        what: Seen::Interrupted,
    });
    let row = only(record(&plan, vec![first(), interrupted, EventKind::RowDone], true));
    assert_eq!(
        seen(&row),
        [&Seen::Interrupted],
        "what our own end of it caused says nothing"
    );
}

#[test]
fn a_row_without_an_end_comes_out_and_is_not_clean() {
    let plan = one_row(launch("x", &[]));
    for kinds in [
        vec![],
        vec![EventKind::RowDone],
        vec![measuring()],
        vec![repeat(1, |_| {})],
        vec![of(SessionKind::FirstStart, |_| {}), EventKind::RowDone, measuring()],
    ] {
        let shown = format!("{kinds:?}");
        let row = only(record(&plan, kinds, false));
        assert_eq!(seen(&row), [&Seen::Interrupted], "{shown}");
    }
}

#[test]
fn a_row_whose_turn_did_not_come_is_skipped_as_interrupted() {
    let plan = one_row(launch("x", &[]));
    let preparing = vec![EventKind::Doing("installing".to_owned())];
    let row = only(record(&plan, preparing, true));
    assert_eq!(row.skip.expect("skipped").reason, SkipReason::Interrupted);
    assert_eq!(row.status, Status::Skip);
    assert!(row.observations.is_empty());
}

#[test]
fn entries_that_cannot_run_say_why_even_if_nobody_did() {
    let problem = Problem {
        field: "env.KEY".to_owned(),
        problem: "variable KEY is not set".to_owned(),
    };
    let plan = plan(vec![
        row("off", Entry::Disabled),
        row("far", Entry::Remote("http://127.0.0.1/mcp".to_owned())),
        row("bad", Entry::Unusable(vec![problem])),
    ]);
    let record = record(&plan, Vec::new(), false);
    let reasons: Vec<_> = record
        .rows
        .iter()
        .map(|row| row.skip.as_ref().map(|skip| skip.reason))
        .collect();
    assert_eq!(reasons, [Some(SkipReason::Disabled), Some(SkipReason::Remote), None]);
    assert_eq!(record.rows[2].status, Status::Error);
    assert!(matches!(seen(&record.rows[2])[..], [Seen::ConfigError { field, .. }] if field == "env.KEY"));
}

#[test]
fn the_first_reason_to_skip_a_row_is_kept() {
    let plan = one_row(launch("x", &[]));
    let skip = |reason| {
        EventKind::Skipped(Skip {
            reason,
            message: String::new(),
            cure: None,
        })
    };
    let kinds = vec![
        skip(SkipReason::Offline),
        skip(SkipReason::Interrupted),
        EventKind::RowDone,
    ];
    assert_eq!(
        only(record(&plan, kinds, true)).skip.expect("skipped").reason,
        SkipReason::Offline
    );
}

#[test]
fn where_no_package_owns_the_script_the_manifests_first_fills_in() {
    let mut launch = launch("x", &[]);
    launch.packages = vec![npm("server", "^2"), npm("other", "*")];
    let plan = one_row(launch);
    let found = |name: &str, version: &str| {
        EventKind::PackageInPlace(PackageFacts {
            version: version.to_owned(),
            ..package(name)
        })
    };
    let unknown = |facts: &mut SessionFacts| facts.identity = None;
    let kinds = vec![
        found("other", "9.9.9"),
        found("server", "2.3.4"),
        repeat(1, unknown),
        EventKind::RowDone,
    ];
    let package = only(record(&plan, kinds, false)).identity.package;
    assert_eq!(
        (package.name.as_deref(), package.installed.as_deref()),
        (Some("server"), Some("2.3.4"))
    );
    assert_eq!(
        (package.wanted.as_deref(), package.source),
        (Some("^2"), Some(PackageSource::Manifest))
    );

    let nothing_found = only(record(&plan, vec![repeat(1, unknown)], false)).identity.package;
    assert_eq!(
        (nothing_found.name.as_deref(), nothing_found.installed),
        (Some("server"), None)
    );
}

/// What was wanted of the package `name` that answered to a command.
fn wanted(ecosystem: Ecosystem, name: &str, command: Launch) -> Option<String> {
    let plan = one_row(command);
    let walked = repeat(1, |facts| {
        let identity = facts.identity.as_mut().expect("the sample has one");
        identity.package = Some(PackageFacts {
            ecosystem,
            ..package(name)
        });
    });
    only(record(&plan, vec![walked], false)).identity.package.wanted
}

#[test]
fn what_was_wanted_is_read_off_the_command_that_fetches() {
    for (command, name, expected) in [
        ("npx -y @scope/server", "@scope/server", Some("*")),
        ("npx -y @scope/server@1.2.3 /folder", "@scope/server", Some("1.2.3")),
        ("npx --package=server@^2 bin", "server", Some("^2")),
        ("npx -p server@latest bin", "server", Some("latest")),
        ("/opt/node/bin/npm exec -- server@1", "server", Some("1")),
        ("npx server-extra", "server", None),
        ("npx bin-name", "server", None),
        ("node server", "server", None),
    ] {
        let found = wanted(Ecosystem::Npm, name, launch(command, &[]));
        assert_eq!(found.as_deref(), expected, "{command}");
    }
    for (command, name, expected) in [
        ("uvx mcp-server-time", "mcp_server_time", Some("*")),
        ("uvx mcp-server-time==1.0 --local", "mcp-server-time", Some("==1.0")),
        ("uvx mcp-server-time@1.0", "mcp-server-time", Some("1.0")),
        ("uvx --from=mcp_server.time>=2 bin", "mcp-server-time", Some(">=2")),
        (
            "uv tool run --from mcp-server-time[all]==3 bin",
            "mcp-server-time",
            Some("[all]==3"),
        ),
        ("python -m mcp_server_time", "mcp-server-time", None),
    ] {
        let found = wanted(Ecosystem::Pypi, name, launch(command, &[]));
        assert_eq!(found.as_deref(), expected, "{command}");
    }
    let mut shell = launch("bash -c", &[]);
    shell
        .args
        .push(crate::plan::Template::literal("cd /x && npx -y 'server@4' --flag"));
    assert_eq!(wanted(Ecosystem::Npm, "server", shell).as_deref(), Some("4"));
}

#[test]
fn the_manifests_package_says_what_was_wanted_before_the_command_does() {
    let mut both = launch("npx server@1", &[]);
    both.packages = vec![npm("first", "*"), npm("server", "~3")];
    assert_eq!(wanted(Ecosystem::Npm, "server", both).as_deref(), Some("~3"));
}

#[test]
fn what_comes_from_the_plan_is_masked_too() {
    let mut launch = launch("x", &["key-12345"]);
    launch.packages = vec![npm("server", "key-12345")];
    let mut plan = one_row(launch);
    plan.rows[0].title = "Title key-12345".to_owned();
    plan.mask = Mask::new(["key-12345".to_owned()]);
    let record = record(&plan, vec![EventKind::RowDone], false);
    let shown = format!("{record:?}");
    assert!(!shown.contains("key-12345"), "{shown}");
    assert!(shown.contains("Title ***"), "{shown}");
}

#[test]
fn the_host_is_the_same_from_one_look_to_the_next() {
    let (one, other) = (Host::read(), Host::read());
    assert_eq!(one.id, other.id);
    assert_eq!(
        (&one.cpu, &one.kernel, one.memory_bytes),
        (&other.cpu, &other.kernel, other.memory_bytes)
    );
    assert_eq!(one.id.map(|id| id.len()), Some(16));
}
