//! What lies on disk after a run, half a run, and many runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Folders, RunId, Store, StoreProblem, earlier_runs, last_run, read_record, runs};
use crate::event::samples::{event, every_kind, session, wire};
use crate::event::{Era, Event, EventKind, LogLine, LogSource, RowId};
use crate::lock::{Lock, LockedRow, RowFacts};
use crate::record::RunRecord;
use crate::record::samples::{launch, plan, record, row, run};
use crate::text::Mask;

const SECRET: &str = "s3cr\"et\\key";

fn started() -> Timestamp {
    "2026-11-30T02:15:00Z".parse().expect("a moment")
}

fn folders(top: &TempDir) -> Folders {
    Folders {
        reports: top.path().join("reports"),
        logs: top.path().join("logs"),
    }
}

fn store(top: &TempDir) -> Store {
    Store::create(folders(top), started(), Mask::new([SECRET.to_owned()])).expect("a store")
}

fn sample(title: &str) -> RunRecord {
    let mut plan = plan(vec![row("row", run(launch("x", &["echo"])))]);
    plan.rows[0].title = title.to_owned();
    record(&plan, vec![EventKind::RowDone], false)
}

fn line(source: LogSource, text: &str) -> Event {
    event(EventKind::Log(LogLine {
        source,
        at: Duration::from_millis(1_234),
        session: 1,
        text: text.to_owned(),
    }))
}

fn row_id() -> RowId {
    RowId("row".to_owned())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file of text")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

fn wire_lines(store: &Store) -> Vec<Value> {
    let text = read(&store.wire_path(&row_id()));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect()
}

#[test]
fn runs_of_one_second_get_folders_of_their_own() {
    let top = tempfile::tempdir().expect("a folder");
    let names: Vec<_> = (0..3).map(|_| store(&top).run_id().name()).collect();
    assert_eq!(names, ["20261130T021500Z", "20261130T021500Z-2", "20261130T021500Z-3"]);
    fs::create_dir(top.path().join("logs/20261130T021500Z-4")).expect("made");
    let next = store(&top);
    assert_eq!(next.run_id().name(), "20261130T021500Z-5", "its logs were taken");
    assert!(!top.path().join("reports/20261130T021500Z-4").exists());
    assert!(next.report_folder().is_dir() && next.log_folder().is_dir());
}

#[test]
fn records_and_logs_may_share_a_folder() {
    let top = tempfile::tempdir().expect("a folder");
    let both = Folders {
        reports: top.path().join("out"),
        logs: top.path().join("out"),
    };
    let store = Store::create(both, started(), Mask::default()).expect("a store");
    assert_eq!(store.report_folder(), store.log_folder());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let top = tempfile::tempdir().expect("a folder");
    fs::write(top.path().join("reports"), "a file").expect("written");
    let problem = Store::create(folders(&top), started(), Mask::default()).expect_err("a file is in the way");
    assert!(problem.to_string().starts_with("cannot create "), "{problem}");
    assert!(problem.to_string().ends_with("reports"), "{problem}");
}

#[test]
fn the_record_is_written_whole_and_read_back() {
    let top = tempfile::tempdir().expect("a folder");
    let store = store(&top);
    assert_eq!(
        last_run(&folders(&top).reports).expect("listed"),
        None,
        "a folder without record is no run yet"
    );
    let path = store.write_record(&sample("first")).expect("written");
    store.write_record(&sample("second")).expect("written over");
    assert_eq!(path, store.report_folder().join("report.json"));
    assert_eq!(names(&store.report_folder()), ["report.json"]);
    let last = last_run(&folders(&top).reports).expect("listed").expect("one run");
    assert_eq!(&last, store.run_id());
    let record = read_record(&folders(&top).reports, &last).expect("a record");
    assert_eq!(record.rows[0].title, "second");
}

#[test]
fn a_record_that_cannot_be_read_is_named_with_its_reason() {
    let top = tempfile::tempdir().expect("a folder");
    let store = store(&top);
    fs::write(store.report_folder().join("report.json"), r#"{"format": 99}"#).expect("written");
    let problem = read_record(&folders(&top).reports, store.run_id()).expect_err("too new");
    assert!(matches!(problem, StoreProblem::Record { .. }));
    assert!(format!("{:#}", anyhow::Error::from(problem)).contains("newer than format 1"));
}

#[test]
fn reports_lie_beside_the_record_and_nowhere_else() {
    let top = tempfile::tempdir().expect("a folder");
    let store = store(&top);
    let path = store.write_report("report.md", "# text\n").expect("written");
    assert_eq!(read(&path), "# text\n");
    for name in ["../report.md", "/report.md", "a/b.md", "..", "", "."] {
        let problem = store.write_report(name, "x").expect_err("no plain name");
        assert!(matches!(problem, StoreProblem::Name(_)), "{name}");
    }
    assert_eq!(names(top.path()), ["logs", "reports"]);
}

#[test]
fn the_secret_is_in_no_file_whoever_forgot_to_mask_it() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    for event in every_kind(&format!("key {SECRET} here")) {
        store.log_event(&event);
    }
    store
        .finish_row_log(&row_id(), &[format!("failed with {SECRET}")])
        .expect("written");
    store.write_record(&sample(SECRET)).expect("written");
    store
        .write_report("report.md", &format!("a {SECRET}\nand {}\n", json!(SECRET)))
        .expect("written");
    let files = [
        store.log_path(&row_id()),
        store.wire_path(&row_id()),
        store.report_folder().join("report.json"),
        store.report_folder().join("report.md"),
    ];
    for file in files {
        let text = read(&file);
        assert!(text.contains("***"), "{}", file.display());
        for form in [
            SECRET.to_owned(),
            json!(SECRET).to_string(),
            json!(json!(SECRET).to_string()).to_string(),
        ] {
            assert!(!text.contains(form.trim_matches('"')), "{}: {text}", file.display());
        }
    }
    assert!(store.log_problems().is_empty());
}

#[test]
fn the_records_own_words_are_never_masked() {
    let top = tempfile::tempdir().expect("a folder");
    let words = ["samples_ms", "totals", "manifest", "report"].map(str::to_owned);
    let store = Store::create(folders(&top), started(), Mask::new(words)).expect("a store");
    store.write_record(&sample("title")).expect("written");
    assert!(read_record(&folders(&top).reports, store.run_id()).is_ok());
}

#[test]
fn a_row_that_failed_has_reason_and_last_lines_first() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    store.log_event(&line(LogSource::Runner, "starting it"));
    for number in 0..30 {
        store.log_event(&line(LogSource::Stderr, &format!("line {number}")));
    }
    store.log_event(&event(EventKind::RowDone));
    let before = read(&store.log_path(&row_id()));
    let header = ["FAIL exited-early: it ended before it answered".to_owned()];
    store.finish_row_log(&row_id(), &header).expect("written");
    let after = read(&store.log_path(&row_id()));
    let lines: Vec<_> = after.lines().collect();
    assert_eq!(
        lines[..4],
        [header[0].as_str(), "", "last lines of the server:", "  line 10"]
    );
    assert_eq!(
        lines[22..26],
        [
            "  line 29",
            "",
            "all that happened:",
            before.lines().next().expect("a line")
        ]
    );
    assert!(after.ends_with(&before));
    assert_eq!(lines[25], "[session 1      1.234 s] starting it");
    assert!(before.contains("[session 1      1.234 s] stderr: line 7\n"), "{before}");
    assert_eq!(names(&store.log_folder()), ["row.log"], "nothing is left beside it");
}

#[test]
fn a_row_that_did_well_keeps_its_log_and_one_without_events_has_one() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    store.log_event(&line(LogSource::Stderr, "ready"));
    store.finish_row_log(&row_id(), &[]).expect("written");
    assert_eq!(
        read(&store.log_path(&row_id())),
        "[session 1      1.234 s] stderr: ready\n"
    );
    let silent = RowId("silent@node24".to_owned());
    store
        .finish_row_log(&silent, &["FAIL row-timeout".to_owned()])
        .expect("written");
    assert_eq!(
        read(&store.log_path(&silent)),
        "FAIL row-timeout\n\nall that happened:\n"
    );
}

#[test]
fn a_run_that_crashed_leaves_what_was_known() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    store.log_event(&line(LogSource::Stderr, "before the crash"));
    store.log_event(&event(wire(r#"{"id":1}"#.to_owned())));
    let (log, wire) = (store.log_path(&row_id()), store.wire_path(&row_id()));
    drop(store);
    assert!(read(&log).contains("before the crash"));
    assert!(read(&wire).contains(r#""msg":{"id":1}"#));
}

#[test]
fn a_log_is_harmless_on_a_terminal() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    store.log_event(&line(LogSource::Stderr, "red \u{1b}[31m and\ntwo lines"));
    store
        .finish_row_log(&row_id(), &["reason\u{7}".to_owned()])
        .expect("written");
    let text = read(&store.log_path(&row_id()));
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
    assert!(text.contains(r"and\ntwo lines"), "{text}");
}

#[test]
fn sessions_and_sights_stand_in_the_log() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    store.log_event(&event(EventKind::Session(Box::new(session("grüße")))));
    let text = read(&store.log_path(&row_id()));
    assert!(
        text.contains("session 1 is over (repeat 1, attempt 1): first byte 3 ms, cold start 6 ms"),
        "{text}"
    );
    assert!(text.contains("tools 1, stdin-closed, exit code 0\n"), "{text}");
    assert!(
        text.contains("seen: InitError { code: -1, message: \"grüße\" }"),
        "{text}"
    );
}

#[test]
fn the_wire_log_holds_messages_as_they_came_and_the_rest_as_text() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    let large = json!({"id": 2, "text": "x".repeat(2_000_000)}).to_string();
    for text in [
        r#"{ "id":1,  "n":1.0e2 }"#,
        "listening on stdio",
        "{\"cut\": \"off",
        "{\"id\":\r 3}\r",
        "",
        large.as_str(),
    ] {
        store.log_event(&event(wire(text.to_owned())));
    }
    store.log_event(&event(EventKind::RowDone));
    let lines = wire_lines(&store);
    assert_eq!(
        lines[0],
        json!({"session": 1, "t_ms": 3, "dir": "in", "msg": {"id": 1, "n": 100.0}})
    );
    assert_eq!(lines[1]["msg"], json!("listening on stdio"));
    assert_eq!(lines[2]["msg"], json!("{\"cut\": \"off"));
    assert_eq!(lines[3]["msg"], json!({"id": 3}));
    assert_eq!(lines[4]["msg"], json!(""));
    assert_eq!(lines[5]["msg"]["text"].as_str().map(str::len), Some(2_000_000));
    let first = read(&store.wire_path(&row_id()));
    assert!(
        first.starts_with(r#"{"session":1,"t_ms":3,"dir":"in","msg":{ "id":1,  "n":1.0e2 }}"#),
        "{first}"
    );
}

#[test]
fn a_log_that_cannot_be_written_is_told_once_and_ends_nothing() {
    let top = tempfile::tempdir().expect("a folder");
    let mut store = store(&top);
    fs::create_dir(store.log_path(&row_id())).expect("in the way");
    for _ in 0..3 {
        store.log_event(&line(LogSource::Stderr, "text"));
    }
    let problems = store.log_problems();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("cannot write ") && problems[0].contains("row.log"),
        "{problems:?}"
    );
}

#[cfg(unix)]
#[test]
fn latest_points_to_the_newest_run() {
    let top = tempfile::tempdir().expect("a folder");
    let (first, second) = (store(&top), store(&top));
    let latest = top.path().join("reports/latest");
    first.point_latest().expect("made");
    assert_eq!(
        fs::read_link(&latest).expect("a link"),
        PathBuf::from("20261130T021500Z")
    );
    second.point_latest().expect("flipped");
    first.point_latest().expect("left alone");
    assert_eq!(
        fs::read_link(&latest).expect("a link"),
        PathBuf::from("20261130T021500Z-2")
    );
    second.write_report("report.md", "newest").expect("written");
    assert_eq!(read(&latest.join("report.md")), "newest");
    assert_eq!(
        names(&top.path().join("reports")),
        ["20261130T021500Z", "20261130T021500Z-2", "latest"]
    );
}

#[cfg(unix)]
#[test]
fn latest_takes_the_place_of_a_file_and_never_of_a_folder() {
    let top = tempfile::tempdir().expect("a folder");
    let store = store(&top);
    let latest = top.path().join("reports/latest");
    fs::write(&latest, "20251130T021500Z\n").expect("written");
    store.point_latest().expect("replaced");
    assert!(fs::read_link(&latest).is_ok());
    fs::remove_file(&latest).expect("removed");
    fs::create_dir(&latest).expect("made");
    fs::write(latest.join("mine"), "kept").expect("written");
    store.point_latest().expect_err("a folder is in the way");
    assert_eq!(read(&latest.join("mine")), "kept");
    assert_eq!(names(&top.path().join("reports")), ["20261130T021500Z", "latest"]);
}

#[test]
fn only_runs_are_pruned_and_never_this_one() {
    let top = tempfile::tempdir().expect("a folder");
    let Folders { reports, logs } = folders(&top);
    for name in [
        "20250101T000000Z",
        "20250102T000000Z",
        "20250102T000000Z-2",
        "20290101T000000Z",
    ] {
        fs::create_dir_all(reports.join(name)).expect("made");
        fs::create_dir_all(logs.join(name).join("deep")).expect("made");
    }
    fs::create_dir_all(logs.join("20240101T000000Z")).expect("logs without a record");
    fs::create_dir_all(reports.join("kept by hand")).expect("made");
    fs::write(reports.join("README.md"), "text").expect("written");
    fs::write(reports.join("20200101T000000Z"), "a file").expect("written");
    let store = store(&top);
    store.point_latest().expect("made");
    let gone: Vec<_> = store
        .prune(3, None, &[])
        .expect("pruned")
        .iter()
        .map(RunId::name)
        .collect();
    assert_eq!(gone, ["20240101T000000Z", "20250101T000000Z", "20250102T000000Z"]);
    let left = [
        "20200101T000000Z",
        "20250102T000000Z-2",
        "20261130T021500Z",
        "20290101T000000Z",
        "README.md",
    ];
    let mut expected: Vec<_> = left.into_iter().chain(["kept by hand", "latest"]).collect();
    assert_eq!(names(&reports), expected);
    expected.retain(|name| name.ends_with('Z') && !name.starts_with("2020") || name.ends_with("-2"));
    assert_eq!(names(&logs), expected);

    let gone: Vec<_> = store
        .prune(0, None, &[])
        .expect("pruned")
        .iter()
        .map(RunId::name)
        .collect();
    assert_eq!(gone, ["20250102T000000Z-2"], "this run stays, and what is newer");
    assert!(store.report_folder().is_dir() && store.log_folder().is_dir());
}

/// A row of a lock, named after the run that it was taken from.
fn locked_from(run: &str) -> (RowId, LockedRow) {
    let facts = RowFacts {
        package: None,
        reported_name: None,
        reported_version: None,
        runtime: None,
        era: Era::Initialize,
        protocol: "2025-11-25".to_owned(),
        tools: None,
    };
    let row = LockedRow {
        accepted_on: jiff::civil::date(2026, 11, 30),
        run: run.to_owned(),
        facts,
        accepted: Vec::new(),
    };
    (RowId(run.to_owned()), row)
}

#[test]
fn a_run_that_the_lock_names_is_never_pruned() {
    let top = tempfile::tempdir().expect("a folder");
    let Folders { reports, logs } = folders(&top);
    for name in ["20250101T000000Z", "20250102T000000Z", "20250103T000000Z"] {
        fs::create_dir_all(reports.join(name)).expect("made");
        fs::create_dir_all(logs.join(name)).expect("made");
    }
    let store = store(&top);
    let lock = Lock {
        rows: ["20250101T000000Z", "no run at all"]
            .map(locked_from)
            .into_iter()
            .collect(),
    };
    let gone: Vec<_> = store
        .prune(1, Some(&lock), &[])
        .expect("pruned")
        .iter()
        .map(RunId::name)
        .collect();
    assert_eq!(gone, ["20250102T000000Z", "20250103T000000Z"]);
    assert!(reports.join("20250101T000000Z").is_dir() && logs.join("20250101T000000Z").is_dir());
}

#[test]
fn earlier_runs_are_those_of_the_manifest_newest_first_and_a_damaged_one_is_passed_over() {
    let top = tempfile::tempdir().expect("a folder");
    let Folders { reports, .. } = folders(&top);
    let fixture = include_str!("../../tests/fixtures/records/v1.json");
    let put = |name: &str, text: &str| {
        fs::create_dir_all(reports.join(name)).expect("made");
        fs::write(reports.join(name).join("report.json"), text).expect("written");
    };
    let named = |name: &str| fixture.replacen("20261130T021500Z", name, 1);
    put("20261101T000000Z", &named("20261101T000000Z"));
    put(
        "20261102T000000Z",
        &named("20261102T000000Z").replace("\"servers.toml\"", "\"others.toml\""),
    );
    put("20261103T000000Z", "{\"format\": 1, \"too");
    put("20261104T000000Z", &fixture.replace("\"format\": 1", "\"format\": 99"));
    put("20261105T000000Z", &named("20261105T000000Z"));
    put("20261106T000000Z", &named("20261106T000000Z"));
    fs::create_dir_all(reports.join("20261107T000000Z")).expect("one that was killed");
    let tonight = RunId::parse("20261106T000000Z").expect("an id");
    let earlier = earlier_runs(&reports, Path::new("./servers.toml"), Some(&tonight)).expect("listed");
    let ids: Vec<&str> = earlier.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["20261105T000000Z", "20261101T000000Z"]);
    assert_eq!(earlier.passed_over.len(), 2);
    assert!(
        earlier_runs(&top.path().join("nowhere"), Path::new("x"), None)
            .expect("none")
            .runs
            .is_empty()
    );
}

#[cfg(unix)]
#[test]
fn a_link_named_like_a_run_is_not_followed() {
    let top = tempfile::tempdir().expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a folder");
    fs::write(elsewhere.path().join("file"), "kept").expect("written");
    let store = store(&top);
    let link = top.path().join("reports/20200101T000000Z");
    std::os::unix::fs::symlink(elsewhere.path(), &link).expect("made");
    assert!(store.prune(1, None, &[]).expect("pruned").is_empty());
    assert_eq!(read(&link.join("file")), "kept");
    assert_eq!(
        runs(&top.path().join("reports")).expect("listed"),
        [store.run_id().clone()]
    );
}

#[test]
fn where_there_is_no_folder_there_are_no_runs() {
    let top = tempfile::tempdir().expect("a folder");
    assert!(runs(&top.path().join("nothing")).expect("listed").is_empty());
    assert_eq!(last_run(&top.path().join("nothing")).expect("listed"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_line_of_a_wire_log_is_json(texts in proptest::collection::vec(any::<String>(), 1..8)) {
        let top = tempfile::tempdir().expect("a folder");
        let mut store = store(&top);
        for text in &texts {
            store.log_event(&event(wire(text.clone())));
        }
        store.log_event(&event(EventKind::RowDone));
        let text = read(&store.wire_path(&row_id()));
        let lines: Vec<_> = text.split_terminator('\n').collect();
        prop_assert_eq!(lines.len(), texts.len());
        for line in lines {
            prop_assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
    }
}

#[test]
fn a_flood_does_not_fill_the_disk_through_the_wire_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let folders = Folders {
        reports: folder.path().join("reports"),
        logs: folder.path().join("logs"),
    };
    let mut store = Store::create(folders, Timestamp::UNIX_EPOCH, Mask::default()).expect("a store");
    let row = RowId("flood".to_owned());
    let text = "x".repeat(1024 * 1024);
    for _ in 0..80 {
        let line = crate::event::WireLine {
            session: 1,
            at: std::time::Duration::ZERO,
            direction: crate::event::Direction::In,
            text: text.clone(),
        };
        let kind = crate::event::EventKind::Wire(line);
        store.log_event(&Event { row: row.clone(), kind });
    }
    store.finish_row_log(&row, &[]).expect("finished");
    let log = fs::read_to_string(store.wire_path(&row)).expect("a wire log");
    assert!(log.len() < 66 * 1024 * 1024, "{}", log.len());
    assert!(log.trim_end().ends_with("ends here)\"}"));
}
