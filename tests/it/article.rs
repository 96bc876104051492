//! The article and the `report` command: no number that the record does not hold, the same text from a
//! run and from its record, tables that programs load, and errors for what is no record.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::complaints::complaints;
use crate::fleet::{Fleet, server};

/// The record of a real fleet of 21 rows, without the machine's own paths and ids.
const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/records/fleet.json");

fn fleet_record() -> Value {
    serde_json::from_str(&fs::read_to_string(FLEET).unwrap()).unwrap()
}

fn report(args: &[&str]) -> String {
    let outcome = Fleet::new("").run(&[&["report", FLEET], args].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    outcome.stdout
}

#[test]
fn every_number_of_the_article_follows_from_the_record() {
    let article = report(&[]);
    let wrong = complaints(&fleet_record(), &article);
    assert!(wrong.is_empty(), "{}\n{article}", wrong.join("\n"));
}

#[test]
fn a_wrong_number_would_be_noticed() {
    let record = fleet_record();
    let article = report(&[]);
    for (right, wrong) in [
        ("| 144ᵃ |", "| 145ᵃ |"),
        ("0.84 to 1.04", "0.84 to 1.05"),
        ("| repeat 2 | 1582 |", "| repeat 2 | 1583 |"),
        ("607 calls", "608 calls"),
        ("3 tools fewer", "4 tools fewer"),
        ("n = 90", "n = 91"),
        ("26.1 %", "26.2 %"),
    ] {
        assert!(article.contains(right), "{right}");
        let tampered = article.replace(right, wrong);
        assert!(!complaints(&record, &tampered).is_empty(), "{wrong} went unnoticed");
    }
}

#[test]
fn the_article_has_every_part_that_a_study_needs() {
    let article = report(&[]);
    for heading in [
        "What broke and what held",
        "The servers",
        "The same server on several runtimes",
        "Repeats",
        "The probes",
        "How it was measured",
        "What to keep in mind",
    ] {
        assert!(article.contains(&format!("\n## {heading}\n")), "{heading}");
    }
    assert!(article.contains("first start after installation | 2754"), "{article}");
}

fn small_fleet() -> Fleet {
    let three = server("again", "ok", &[], "group = \"pair\"\nrepeats = 3\ncold_starts = 4");
    let other = server("other", "ok", &[], "group = \"pair\"\nrepeats = 2");
    let broken = server("broken", "no-such-mode", &[], "title = \"=1+1 | broken\"");
    Fleet::new(&format!("[defaults]\ncalls = 3\n{three}\n{other}\n{broken}"))
}

#[test]
fn a_run_and_its_record_give_the_same_article_and_every_number_of_it_follows() {
    let fleet = small_fleet();
    let run = fleet.run(&["run"]);
    let written = fs::read_to_string(fleet.path().join("reports/latest/report.md")).unwrap();
    let again = fleet.run(&["report", "latest"]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    assert_eq!(again.stdout, written);
    let wrong = complaints(run.record(), &written);
    assert!(wrong.is_empty(), "{}\n{written}", wrong.join("\n"));
    let json = fleet.run(&["report", "--format", "json"]);
    assert_eq!(
        json.stdout,
        fs::read_to_string(fleet.path().join("reports/latest/report.json")).unwrap()
    );
}

/// Loads both tables with Python's csv module and checks the one against the other.
const LOAD: &str = r#"
import csv, statistics, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
samples = list(csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8")))
assert None not in rows[0] and None not in samples[0]
for row in rows:
    own = [float(sample["sample_ms"]) for sample in samples
           if sample["row_id"] == row["row_id"] and sample["probe"] == row["probe"] and sample["pooled"] == "true"]
    assert len(own) == int(row["samples"] or 0), row
    if own:
        assert abs(statistics.median(own) - float(row["median_ms"])) < 0.0001, row
        assert max(own) == float(row["max_ms"]), row
print(len(rows), len(samples), ",".join(rows[0]), ",".join(samples[0]), sep="\n")
"#;

#[test]
fn both_csv_tables_load_in_python_with_the_stated_columns_and_agree() {
    let fleet = Fleet::new("");
    let rows = fleet.write("rows.csv", &report(&["--format", "csv", "--table", "rows"]));
    let samples = fleet.write("samples.csv", &report(&["--format", "csv"]));
    let loaded = python(LOAD, &[&rows, &samples]);
    let lines: Vec<&str> = loaded.lines().collect();
    assert_eq!(lines[0], "21");
    assert_eq!(lines[1], "607");
    assert!(lines[2].starts_with("run_id,row_id,server,title,") && lines[2].contains(",cold_start_ms,list_ms,tools,"));
    assert_eq!(
        lines[3],
        "run_id,row_id,server,title,runtime,group,session,repeat,attempt,probe,tool,sample,sample_ms,pooled"
    );
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reports.md")).unwrap();
    for column in lines[2].split(',').chain(lines[3].split(',')) {
        assert!(page.contains(&format!("`{column}`")), "docs/reports.md lacks {column}");
    }
}

fn python(script: &str, args: &[&Path]) -> String {
    let mut child = Command::new("python3")
        .arg("-")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_formula_in_a_title_stays_text() {
    let fleet = small_fleet();
    fleet.run(&["run", "--smoke"]);
    let rows = fleet.run(&["report", "--format", "csv", "--table", "rows"]);
    assert!(rows.stdout.contains(",'=1+1 | broken,"), "{}", rows.stdout);
}

#[test]
fn the_latex_document_is_whole() {
    let document = report(&["--format", "latex"]);
    assert!(document.contains("\\documentclass") && document.trim_end().ends_with("\\end{document}"));
    assert_eq!(document.matches("\\begin{longtable}").count(), 4);
    assert!(document.contains("Cold start (ms)"));
}

#[test]
fn what_is_no_run_is_one_clear_error_and_exit_code_2() {
    let fleet = Fleet::new("");
    let check = |args: &[&str], said: &[&str]| {
        let outcome = fleet.run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert_eq!(outcome.stderr.matches("error: ").count(), 1, "{}", outcome.stderr);
        for part in said {
            assert!(outcome.stderr.contains(part), "{args:?}: {}", outcome.stderr);
        }
    };
    check(
        &["report"],
        &["there is no run latest in reports", "no run has been stored"],
    );
    fleet.write("reports/20261130T021500Z/report.json", "{\"format\": 99}");
    fleet.write("reports/20261130T021600Z/report.json", "{\"format\": 1, \"rows\": [");
    fleet.write("reports/20261130T021700Z/report.json", "{}");
    fs::create_dir_all(fleet.path().join("reports/20261130T021800Z")).unwrap();
    check(
        &["report", "20261130T999999Z"],
        &["there is no run 20261130T999999Z", "20261130T021800Z"],
    );
    check(&["report", "20261130T021500Z"], &["format 99, newer than format 1"]);
    check(
        &["report", "20261130T021600Z"],
        &["report.json", "cannot be read", "line 1"],
    );
    check(&["report", "reports/20261130T021700Z"], &["it has no `format`"]);
    check(&["report", "20261130T021800Z"], &["cannot read", "No such file"]);
    check(&["report", "--table", "rows"], &["--table is for --format csv"]);
}
