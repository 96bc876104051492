//! How wide the columns of a table are, estimated in characters: no column narrower than its longest
//! word, and what room is left goes to those that want more, the modest ones first.

use std::fmt::Write;

use crate::report::article::{Alignment, Prose, Span, Table};

use super::escape::{LONGEST_WORD, may_break_after};

/// How many characters fit beside each other on a page of A4, at the size of its tables.
const PORTRAIT: usize = 115;
const LANDSCAPE: usize = 205;
/// What a column takes beside its text.
const GAP: usize = 3;
/// A column of text may want no more than this.
const WIDEST: usize = 90;

/// Which way a table's page is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Portrait,
    Landscape,
}

/// The widths of a table's columns.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) page: Page,
    /// In characters, with the gap.
    widths: Vec<usize>,
    alignments: Vec<Alignment>,
}

impl Layout {
    pub(super) fn of(table: &Table) -> Self {
        let needs: Vec<Need> = (0..table.columns.len()).map(|place| Need::of(table, place)).collect();
        let wanted: usize = needs.iter().map(|need| need.most).sum();
        let (page, room) = if wanted <= PORTRAIT {
            (Page::Portrait, PORTRAIT)
        } else {
            (Page::Landscape, LANDSCAPE)
        };
        Self {
            page,
            widths: shared(&needs, room),
            alignments: table.columns.iter().map(|column| column.alignment).collect(),
        }
    }

    /// The column types, each as a share of the line.
    pub(super) fn columns(&self) -> String {
        let room = match self.page {
            Page::Portrait => PORTRAIT,
            Page::Landscape => LANDSCAPE,
        };
        // Where even the longest words have no room, every column gives in proportion.
        let whole = self.widths.iter().sum::<usize>().max(room);
        let mut columns = String::new();
        for (width, alignment) in self.widths.iter().zip(&self.alignments) {
            let kind = match alignment {
                Alignment::Text => 'L',
                Alignment::Number => 'R',
            };
            let share = *width as f64 / whole as f64;
            write!(columns, "{kind}{{{share:.4}}}").expect("writing to a string cannot fail");
        }
        columns
    }
}

/// The least and the most that a column can use, with its gap.
#[derive(Clone, Copy, Debug)]
struct Need {
    least: usize,
    most: usize,
}

impl Need {
    fn of(table: &Table, place: usize) -> Self {
        let heading = table.columns[place].heading();
        let cells: Vec<String> = table.rows.iter().map(|row| plain(&row[place])).collect();
        let least = cells.iter().chain([&heading]).map(|text| longest_word(text)).max();
        // A heading may take several lines.
        let most = cells.iter().map(|cell| cell.chars().count()).max();
        let least = least.unwrap_or_default() + GAP;
        Self {
            least,
            most: (most.unwrap_or_default().min(WIDEST) + GAP).max(least),
        }
    }
}

/// Every column its least, and of the rest an equal share or as much as it can use.
fn shared(needs: &[Need], room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = needs.iter().map(|need| need.least).collect();
    let mut left = room.saturating_sub(widths.iter().sum());
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|place| needs[*place].most - needs[*place].least);
    for (done, place) in order.iter().enumerate() {
        let fair = left / (order.len() - done);
        let given = fair.min(needs[*place].most - needs[*place].least);
        widths[*place] += given;
        left -= given;
    }
    widths
}

fn plain(cell: &Prose) -> String {
    cell.0
        .iter()
        .map(|span| match span {
            Span::Plain(text) | Span::Strong(text) => text.as_str(),
            Span::Code(word) => word,
            Span::Mark(_) => "*",
        })
        .collect()
}

/// The longest stretch without a place to break.
fn longest_word(text: &str) -> usize {
    let (mut longest, mut current) = (0, 0);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == ' ' {
            current = 0;
            continue;
        }
        current += 1;
        longest = longest.max(current);
        let breaks = may_break_after(character, characters.peek().copied());
        if breaks || current >= LONGEST_WORD {
            current = 0;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modest_columns_get_all_they_want_and_the_others_share() {
        let need = |least, most| Need { least, most };
        assert_eq!(shared(&[need(5, 8), need(5, 90), need(5, 90)], 50), [8, 21, 21]);
        assert_eq!(shared(&[need(5, 8), need(5, 9)], 50), [8, 9]);
        assert_eq!(shared(&[need(40, 80), need(40, 80)], 50), [40, 40]);
    }

    #[test]
    fn words_end_where_a_line_may_break() {
        assert_eq!(longest_word("@scope/server-filesystem 2026.8.31"), 10);
        assert_eq!(longest_word(&"a".repeat(99)), LONGEST_WORD);
    }
}
