//! The summary for a terminal: the main table in as many columns as the width allows, then what
//! there is to say about it. Nothing is cut to gain room before it has been stacked and wrapped.

mod columns;

use std::path::Path;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, Width};

use crate::record::{RunRecord, Status};
use crate::report::headline;
use crate::report::main_table::main_table;
use crate::report::sentences::{self, BY_MANIFEST_NOTE, DAGGER_NOTE, RowSentences, Sentence};
use crate::text::{clean_for_terminal, cut, wrap};
use columns::{Alignment, Column, Density, lay_out};

/// Spaces between columns.
const GAP: u16 = 2;
/// What a finding's further lines begin with: two spaces, the word, two spaces.
const SENTENCE_INDENT: &str = "        ";
/// Findings and footnotes are not set wider than this, or they could not be read.
const WIDEST_TEXT: usize = 120;
/// Longer messages end with an ellipsis; the record and the log have all of it.
const LONGEST_MESSAGE: usize = 600;

/// The summary of a run, at most `width` columns wide (80 and up; narrower terminals get lines that
/// fit as far as the figures allow). Colour only repeats what the words say.
pub fn terminal(record: &RunRecord, width: usize, colour: bool) -> String {
    let paint = Paint { colour };
    let figures = main_table(record);
    let mut text = String::new();
    headline::push_terminal(&mut text, record, width.min(WIDEST_TEXT));
    if !figures.rows.is_empty() {
        let (density, columns) = lay_out(&figures, width);
        let table = draw(&columns, density);
        for line in table.lines() {
            text.push_str(&paint.status_at_start(line));
            text.push('\n');
        }
        text.push('\n');
        let text_width = width.min(WIDEST_TEXT);
        push_lines(
            &mut text,
            &sentences::caption(&figures, "unless a cell says otherwise"),
            "",
            text_width,
        );
        if let Some(several) = sentences::concurrency(record) {
            push_lines(&mut text, &clean_for_terminal(&several), "", text_width);
        }
        if figures.has_dagger {
            push_lines(&mut text, DAGGER_NOTE, "", text_width);
        }
        if figures
            .rows
            .iter()
            .any(|row| row.by_manifest && row.installed.is_some())
        {
            push_lines(&mut text, BY_MANIFEST_NOTE, "", text_width);
        }
        text.push('\n');
    }
    for row in sentences::sentences(record) {
        push_row(&mut text, &row, width.min(WIDEST_TEXT), paint);
    }
    push_closing(&mut text, record, width.min(WIDEST_TEXT));
    text
}

/// The line that says where the record lies; a record does not know that itself.
pub fn record_line(path: &Path) -> String {
    format!("record: {}", clean_for_terminal(&path.to_string_lossy()))
}

fn push_closing(text: &mut String, record: &RunRecord, width: usize) {
    if let Some(notes) = sentences::notes(record) {
        push_lines(text, &notes, "", width);
        text.push('\n');
    }
    if record.jobs > 1 && record.rows.len() > 1 {
        let parallel = format!(
            "up to {} rows ran at a time and may have slowed each other down",
            record.jobs
        );
        push_lines(text, &parallel, "", width);
    }
    push_lines(text, &sentences::calibration(record), "", width);
    let interrupted = if record.interrupted { " (interrupted)" } else { "" };
    push_lines(
        text,
        &format!("{}{interrupted}", sentences::totals(&record.totals)),
        "",
        width,
    );
}

fn push_row(text: &mut String, row: &RowSentences<'_>, width: usize, paint: Paint) {
    text.push_str(&paint.bold(&cut(&clean_for_terminal(row.id), width)));
    text.push('\n');
    for sentence in &row.sentences {
        push_sentence(text, row.status, sentence, width, paint);
    }
    let failed = matches!(row.status, Status::Fail | Status::Error);
    if let Some(log) = row.log.filter(|_| failed) {
        push_lines(
            text,
            &format!("  log: {}", clean_for_terminal(&log.to_string_lossy())),
            "       ",
            width,
        );
    }
    text.push('\n');
}

fn push_sentence(text: &mut String, status: Status, sentence: &Sentence, width: usize, paint: Paint) {
    let (word, subject) = match sentence.code {
        Some(code) => (sentence.label, code.name()),
        None => (status.name(), sentence.label),
    };
    let message = clean_for_terminal(&sentence.text);
    let said = format!("{subject}: {}", cut(&message, LONGEST_MESSAGE));
    for (number, line) in wrap(&said, width.saturating_sub(SENTENCE_INDENT.len()))
        .into_iter()
        .enumerate()
    {
        if number == 0 {
            text.push_str("  ");
            text.push_str(&paint.status(word));
            text.push_str("  ");
        } else {
            text.push_str(SENTENCE_INDENT);
        }
        text.push_str(&line);
        text.push('\n');
    }
    if let Some(hint) = &sentence.hint {
        push_lines(
            text,
            &format!("        hint: {}", clean_for_terminal(hint)),
            "              ",
            width,
        );
    }
}

/// Wraps a text; its own spaces at the start stay, the lines after the first begin with `indent`.
fn push_lines(text: &mut String, said: &str, indent: &str, width: usize) {
    let body = said.trim_start();
    let first = &said[..said.len() - body.len()];
    let room = width.saturating_sub(first.len().max(indent.len()));
    for (number, line) in wrap(body, room).into_iter().enumerate() {
        text.push_str(if number == 0 { first } else { indent });
        text.push_str(&line);
        text.push('\n');
    }
}

fn draw(columns: &[Column], density: Density) -> String {
    let mut table = Table::new();
    table
        .force_no_tty()
        .set_content_arrangement(ContentArrangement::Disabled);
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    if density == Density::Narrow {
        table.set_style(TableComponent::HorizontalLines, '┈');
    }
    let fitted: Vec<_> = columns.iter().map(Column::fitted).collect();
    table.set_header(fitted.iter().map(|column| column.header.as_str()));
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        table.add_row(fitted.iter().map(|column| column.cells[row].as_str()));
    }
    let last = columns.len().saturating_sub(1);
    for (place, drawn) in table.column_iter_mut().enumerate() {
        let padding = if place == last { 0 } else { GAP };
        drawn.set_padding((0, padding));
        drawn.set_constraint(ColumnConstraint::Absolute(Width::Fixed(
            columns[place].width as u16 + padding,
        )));
        drawn.set_cell_alignment(match columns[place].alignment {
            Alignment::Text => CellAlignment::Left,
            Alignment::Number => CellAlignment::Right,
        });
    }
    table.trim_fmt()
}

/// Puts colour on words, if there is to be any.
#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    fn status(self, word: &str) -> String {
        let colour = match word {
            "pass" => AnsiColor::Green,
            "warn" => AnsiColor::Yellow,
            "fail" | "error" => AnsiColor::Red,
            _ => AnsiColor::Cyan,
        };
        self.with(colour.on_default().bold(), word)
    }

    /// The status stands at the very start of a row's first line, and nothing else does: the lines
    /// that follow begin with spaces, rules with a rule.
    fn status_at_start(self, line: &str) -> String {
        let (word, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
        match word {
            "pass" | "warn" | "fail" | "error" | "skip" => format!("{}{rest}", self.status(word)),
            _ => line.to_owned(),
        }
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
