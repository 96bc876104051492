//! `report.md`: the article as Markdown, as any reader of Markdown with tables shows it. Every text
//! of a stranger is shown literally; notes are letters that need no extension.

use std::fmt::Write;

use crate::record::RunRecord;
use crate::report::article::{Alignment, Article, LETTERS, Mark, Part, Prose, Span, Table, article};
use crate::report::headline;
use crate::text::clean_for_markdown;

/// Writing into a string cannot fail.
const INFALLIBLE: &str = "writing to a string cannot fail";
/// The letters of notes as superscripts: digits behind a figure would read as an exponent or as more of it.
const SUPERSCRIPTS: [char; LETTERS.len()] = [
    'ᵃ', 'ᵇ', 'ᶜ', 'ᵈ', 'ᵉ', 'ᶠ', 'ᵍ', 'ʰ', 'ⁱ', 'ʲ', 'ᵏ', 'ˡ', 'ᵐ', 'ᵖ', 'ʳ', 'ˢ', 'ᵗ', 'ᵘ', 'ᵛ', 'ʷ', 'ˣ', 'ʸ', 'ᶻ',
];

/// The report of a run as Markdown.
pub fn markdown(record: &RunRecord) -> String {
    let Article { title, parts } = article(record);
    let mut text = format!("# {}\n", clean_for_markdown(&title));
    headline::push_markdown(&mut text, record);
    for part in &parts {
        text.push('\n');
        push_part(&mut text, part);
    }
    text
}

fn push_part(text: &mut String, part: &Part) {
    match part {
        Part::Heading(heading) => writeln!(text, "## {}", clean_for_markdown(heading)).expect(INFALLIBLE),
        Part::Subheading(heading) => writeln!(text, "### {}", clean_for_markdown(heading)).expect(INFALLIBLE),
        Part::Paragraph(prose) => writeln!(text, "{}", prose_text(prose)).expect(INFALLIBLE),
        Part::List(items) => {
            for item in items {
                writeln!(text, "- {}", prose_text(item)).expect(INFALLIBLE);
            }
        }
        Part::Table(table) => push_table(text, table),
    }
}

fn push_table(text: &mut String, table: &Table) {
    let headings = table.columns.iter().map(|column| clean_for_markdown(&column.heading()));
    push_cells(text, headings);
    let rule = table.columns.iter().map(|column| match column.alignment {
        Alignment::Text => "---".to_owned(),
        Alignment::Number => "---:".to_owned(),
    });
    push_cells(text, rule);
    for row in &table.rows {
        push_cells(text, row.iter().map(prose_text));
    }
    writeln!(text, "\n{}", clean_for_markdown(&table.caption)).expect(INFALLIBLE);
    for (mark, note) in &table.notes {
        writeln!(text, "\n{} {}", mark_text(*mark), clean_for_markdown(note)).expect(INFALLIBLE);
    }
}

fn push_cells(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    writeln!(text, "| {} |", cells.join(" | ")).expect(INFALLIBLE);
}

fn prose_text(prose: &Prose) -> String {
    prose.0.iter().map(span_text).collect()
}

fn span_text(span: &Span) -> String {
    match span {
        Span::Plain(text) => clean_for_markdown(text),
        Span::Strong(text) => format!("**{}**", clean_for_markdown(text)),
        Span::Code(word) => format!("`{word}`"),
        Span::Mark(mark) => mark_text(*mark),
    }
}

fn mark_text(mark: Mark) -> String {
    match mark {
        Mark::Dagger => "†".to_owned(),
        Mark::DoubleDagger => "‡".to_owned(),
        // The alphabet twice over, and so on, for the run that needs it.
        Mark::Letter(place) => SUPERSCRIPTS[place % LETTERS.len()]
            .to_string()
            .repeat(1 + place / LETTERS.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_record;

    #[test]
    fn the_report_is_an_article_of_findings_figures_and_conditions() {
        insta::assert_snapshot!(markdown(&sample_record()));
    }

    #[test]
    fn the_main_table_has_the_columns_of_the_design_in_order_and_every_row_as_many_cells() {
        let report = markdown(&sample_record());
        let mut table = report
            .lines()
            .skip_while(|line| !line.starts_with("| Server | Reported"))
            .take_while(|line| line.starts_with('|'));
        let header = table.next().expect("a table");
        let names: Vec<&str> = header.trim_matches('|').split('|').map(str::trim).collect();
        let without_unit: Vec<&str> = names.iter().map(|name| name.trim_end_matches(" (ms)")).collect();
        assert_eq!(
            without_unit.join(" | "),
            "Server | Reported name and version | Installed | Runtime | Cold start | tools/list | Tools | Timed call | \
             Median | p95 | Call result"
        );
        for row in table.skip(1) {
            assert_eq!(row.replace("\\|", "").matches('|').count(), 12, "{row}");
        }
    }

    #[test]
    fn no_text_of_a_server_becomes_markup() {
        let report = markdown(&sample_record());
        for never in ["<img", "[x](", "\u{1b}", "\u{202e}"] {
            assert!(!report.replace("\\[x\\](", "").contains(never), "{never:?}");
        }
    }

    #[test]
    fn a_run_without_rows_makes_a_report() {
        let mut record = sample_record();
        record.rows.clear();
        record.totals = crate::record::Totals::default();
        assert!(markdown(&record).contains("Nothing failed and nothing warns."));
    }

    #[test]
    fn marks_are_single_letters_and_never_run_out() {
        assert_eq!(mark_text(Mark::Letter(0)), "ᵃ");
        assert_eq!(mark_text(Mark::Letter(LETTERS.len())), "ᵃᵃ");
        let marks: std::collections::BTreeSet<String> = (0..60).map(|place| mark_text(Mark::Letter(place))).collect();
        assert_eq!(marks.len(), 60);
    }
}
