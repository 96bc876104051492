//! The summary at three widths, as a person would see it.

use super::*;
use crate::report::sample::sample_record;
use crate::text::display_width;

#[test]
fn the_summary_reads_well_at_80_columns() {
    insta::assert_snapshot!(terminal(&sample_record(), 80, false));
}

#[test]
fn the_summary_reads_well_at_120_columns() {
    insta::assert_snapshot!(terminal(&sample_record(), 120, false));
}

#[test]
fn the_summary_reads_well_at_200_columns() {
    insta::assert_snapshot!(terminal(&sample_record(), 200, false));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let record = sample_record();
    for width in 80..=240 {
        for line in terminal(&record, width, false).lines() {
            assert!(display_width(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_escapes_and_no_text_of_a_server_does() {
    let record = sample_record();
    let coloured = terminal(&record, 120, true);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31mfail\u{1b}[0m"), "{coloured}");
    let plain = regex::Regex::new("\u{1b}\\[[0-9;]*m")
        .expect("a good pattern")
        .replace_all(&coloured, "")
        .into_owned();
    assert_eq!(plain, terminal(&record, 120, false));
    assert!(!plain.contains('\u{1b}') && !plain.contains('\u{202e}'));
}

#[test]
fn every_status_has_its_word() {
    let summary = terminal(&sample_record(), 200, false);
    for word in ["pass", "warn", "fail", "skip", "error"] {
        assert!(summary.lines().any(|line| line.starts_with(word)), "{word}");
    }
}

#[test]
fn a_run_without_rows_still_says_so() {
    let mut record = sample_record();
    record.rows.clear();
    record.totals = crate::record::Totals::default();
    assert!(terminal(&record, 80, false).ends_with("no rows\n"));
}
