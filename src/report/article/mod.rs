//! The article of a run as data: headings, sentences, lists and tables with their notes. It is made
//! once, from the record alone, for every format that prints prose; texts in it are as the servers
//! sent them, and each format cleans them for its own target.

use std::time::Duration;

use crate::record::RunRecord;
use crate::text::milliseconds;

mod caveats;
mod conditions;
mod groups;
mod main_section;
mod opening;
mod probes;
mod runtimes;

/// What stands for something unknown.
const UNKNOWN: &str = "–";

/// An article: its title and what follows.
#[derive(Clone, Debug)]
pub(crate) struct Article {
    pub(crate) title: String,
    pub(crate) parts: Vec<Part>,
}

/// A part of an article.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Heading(String),
    Subheading(String),
    Paragraph(Prose),
    List(Vec<Prose>),
    Table(Table),
}

/// A sentence, several of them, or a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prose(pub(crate) Vec<Span>);

/// A stretch of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Plain(String),
    Strong(String),
    /// A word of our own, such as a finding's code.
    Code(&'static str),
    /// A note's mark.
    Mark(Mark),
}

/// What points from a cell to a note below its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A p95 that is only the maximum.
    Dagger,
    /// A package taken from the manifest.
    DoubleDagger,
    /// A note of this table, counted from 0.
    Letter(usize),
}

/// The letters of notes: no q, which has no superscript form, and neither n nor o, which are taken for
/// something else behind a figure.
pub(crate) const LETTERS: &[u8; 23] = b"abcdefghijklmprstuvwxyz";

/// A table with its caption above and its notes below.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// A title of a few words.
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    /// Each with as many cells as there are columns.
    pub(crate) rows: Vec<Vec<Prose>>,
    /// What its figures are.
    pub(crate) caption: String,
    pub(crate) notes: Vec<(Mark, String)>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) header: &'static str,
    /// `ms`, `%`; empty where it is no quantity or a count.
    pub(crate) unit: &'static str,
    pub(crate) alignment: Alignment,
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    Text,
    Number,
}

/// The article of a run.
pub(crate) fn article(record: &RunRecord) -> Article {
    let mut parts = Vec::new();
    opening::push(&mut parts, record);
    main_section::push(&mut parts, record);
    runtimes::push(&mut parts, record);
    groups::push(&mut parts, record);
    probes::push(&mut parts, record);
    conditions::push(&mut parts, record);
    caveats::push(&mut parts, record);
    Article {
        title: format!("MCP smoke test {}", record.id),
        parts,
    }
}

impl Prose {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::default().text(text)
    }

    /// What is unknown.
    pub(crate) fn unknown() -> Self {
        Self::plain(UNKNOWN)
    }

    /// Cleaned by the format; an empty text is a fact of its own and not the same as an unknown one.
    pub(crate) fn known(text: Option<&str>) -> Self {
        Self::plain(known(text))
    }

    /// A duration in a column of milliseconds.
    pub(crate) fn time(duration: Option<Duration>) -> Self {
        Self::plain(time(duration))
    }

    pub(crate) fn count(count: Option<usize>) -> Self {
        Self::plain(count.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string()))
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Plain(text.into()));
        self
    }

    pub(crate) fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Strong(text.into()));
        self
    }

    pub(crate) fn code(mut self, word: &'static str) -> Self {
        self.0.push(Span::Code(word));
        self
    }

    pub(crate) fn mark(mut self, mark: Option<Mark>) -> Self {
        self.0.extend(mark.map(Span::Mark));
        self
    }
}

impl Table {
    /// The mark of a note with this text, which is added where it is not there yet.
    pub(crate) fn note(&mut self, text: String) -> Mark {
        let letters = || self.notes.iter().filter(|(mark, _)| matches!(mark, Mark::Letter(_)));
        if let Some((mark, _)) = letters().find(|(_, said)| *said == text) {
            return *mark;
        }
        let mark = Mark::Letter(letters().count());
        // Letters first, the fixed marks behind them.
        let place = letters().count();
        self.notes.insert(place, (mark, text));
        mark
    }

    /// Adds a note under a fixed mark, once.
    pub(crate) fn fixed_note(&mut self, mark: Mark, text: &str) -> Mark {
        if self.notes.iter().all(|(other, _)| *other != mark) {
            self.notes.push((mark, text.to_owned()));
        }
        mark
    }
}

impl Column {
    pub(crate) const fn text(header: &'static str) -> Self {
        Self {
            header,
            unit: "",
            alignment: Alignment::Text,
        }
    }

    pub(crate) const fn number(header: &'static str) -> Self {
        Self {
            header,
            unit: "",
            alignment: Alignment::Number,
        }
    }

    pub(crate) const fn milliseconds(header: &'static str) -> Self {
        Self {
            header,
            unit: "ms",
            alignment: Alignment::Number,
        }
    }

    /// The header with its unit: `Median (ms)`.
    pub(crate) fn heading(&self) -> String {
        match self.unit {
            "" => self.header.to_owned(),
            unit => format!("{} ({unit})", self.header),
        }
    }
}

fn known(text: Option<&str>) -> String {
    match text {
        None => UNKNOWN.to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(text) => text.to_owned(),
    }
}

fn time(duration: Option<Duration>) -> String {
    duration.map_or_else(|| UNKNOWN.to_owned(), milliseconds)
}

/// `a`, `a and b`, `a, b and c`; with semicolons where a comma is in one of them.
fn enumerated(words: &[String]) -> String {
    if words.iter().any(|word| word.contains(',')) {
        return words.join("; ");
    }
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_one_text_share_a_mark_and_fixed_marks_take_no_letter() {
        let mut table = Table {
            title: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            caption: String::new(),
            notes: Vec::new(),
        };
        assert_eq!(table.note("n = 10".to_owned()), Mark::Letter(0));
        assert_eq!(table.fixed_note(Mark::Dagger, "the maximum"), Mark::Dagger);
        assert_eq!(table.note("n = 3".to_owned()), Mark::Letter(1));
        assert_eq!(table.note("n = 10".to_owned()), Mark::Letter(0));
        table.fixed_note(Mark::Dagger, "the maximum");
        assert_eq!(table.notes.len(), 3);
    }

    #[test]
    fn words_are_enumerated_as_in_a_sentence() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(enumerated(&words(&["a"])), "a");
        assert_eq!(enumerated(&words(&["a", "b", "c"])), "a, b and c");
        assert_eq!(enumerated(&words(&["tools, A", "b", "c"])), "tools, A; b; c");
    }

    #[test]
    fn every_row_of_every_table_has_as_many_cells_as_columns() {
        let article = article(&crate::report::sample::sample_record());
        let mut tables = 0;
        for part in &article.parts {
            let Part::Table(table) = part else { continue };
            tables += 1;
            for row in &table.rows {
                assert_eq!(row.len(), table.columns.len(), "{}", table.title);
            }
        }
        assert!(tables >= 4, "{tables}");
    }
}
