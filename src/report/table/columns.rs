//! Which columns the terminal table has at a given width, and how wide each one is. All columns of
//! the main table are there at every width; with less room they are stacked in one cell, in order.

use std::time::Duration;

use crate::report::main_table::{MainRow, MainTable};
use crate::text::{clean_for_terminal, counted, cut, display_width, milliseconds, wrap};

/// What stands for something unknown.
const UNKNOWN: &str = "–";
/// No part of a cell takes more lines than this.
const MOST_LINES: usize = 3;
/// No column of text gets narrower than this.
const NARROWEST: usize = 8;

/// How much is stacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Density {
    /// A column for everything, one line per row.
    Wide,
    /// Two lines per row: runtime under server, version under name, result under call.
    Medium,
    /// Three lines per row; rows are ruled off.
    Narrow,
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alignment {
    /// Left, and it may be wrapped.
    Text,
    /// Right, and it keeps its width.
    Number,
}

/// A column: cells are made of parts, each of which begins a line.
#[derive(Clone, Debug)]
pub(super) struct Column {
    header: Vec<&'static str>,
    pub(super) alignment: Alignment,
    /// It may be shrunk to this without harm.
    comfortable: usize,
    pub(super) cells: Vec<Vec<String>>,
    pub(super) width: usize,
}

/// A column as text, wrapped to its width.
pub(super) struct Fitted {
    pub(super) header: String,
    pub(super) cells: Vec<String>,
}

/// The columns for a terminal of that width.
pub(super) fn lay_out(table: &MainTable, width: usize) -> (Density, Vec<Column>) {
    for density in [Density::Wide, Density::Medium] {
        let columns = columns(table, density);
        let comfortable = columns
            .iter()
            .map(|column| column.width.min(column.comfortable))
            .sum::<usize>();
        if comfortable + gaps(&columns) <= width {
            return (density, shrunk(columns, width));
        }
    }
    (Density::Narrow, shrunk(columns(table, Density::Narrow), width))
}

impl Column {
    fn new(header: &[&'static str], alignment: Alignment, comfortable: usize, cells: Vec<Vec<String>>) -> Self {
        let parts = cells.iter().flatten().map(String::as_str);
        let width = parts
            .chain(header.iter().copied())
            .map(display_width)
            .max()
            .unwrap_or(0);
        let header_width = header.iter().map(|line| display_width(line)).max().unwrap_or(0);
        let comfortable = match alignment {
            Alignment::Text => comfortable.max(header_width),
            Alignment::Number => width,
        };
        Self {
            header: header.to_vec(),
            alignment,
            comfortable,
            cells,
            width,
        }
    }

    pub(super) fn fitted(&self) -> Fitted {
        let cell = |parts: &Vec<String>| {
            let lines: Vec<String> = parts.iter().flat_map(|part| wrap_at_most(part, self.width)).collect();
            lines.join("\n")
        };
        Fitted {
            header: self
                .header
                .iter()
                .map(|line| cut(line, self.width))
                .collect::<Vec<_>>()
                .join("\n"),
            cells: self.cells.iter().map(cell).collect(),
        }
    }
}

fn columns(table: &MainTable, density: Density) -> Vec<Column> {
    let text = |header: &[&'static str], comfortable: usize, cell: fn(&MainRow) -> Vec<String>| {
        Column::new(
            header,
            Alignment::Text,
            comfortable,
            table.rows.iter().map(cell).collect(),
        )
    };
    let number = |header: &[&'static str], cell: fn(&MainRow) -> Vec<String>| {
        Column::new(header, Alignment::Number, 0, table.rows.iter().map(cell).collect())
    };
    let status = status_column(table);
    match density {
        Density::Wide => vec![
            status,
            text(&["Server"], 27, |row| vec![clean(&row.server)]),
            text(&["Reported name", "and version"], 27, |row| {
                vec![reported(row).join(" ")]
            }),
            text(&["Installed"], 10, |row| vec![installed(row)]),
            text(&["Runtime"], 14, |row| vec![known(row.runtime.as_deref())]),
            number(&["Cold start", "(ms)"], cold_start),
            number(&["tools/list", "(ms)"], |row| vec![time(row.list)]),
            number(&["Tools"], tools),
            text(&["Timed call"], 20, |row| vec![known(row.timed_call.as_deref())]),
            number(&["Median", "(ms)"], median),
            number(&["p95", "(ms)"], |row| vec![p95(row)]),
            text(&["Call result"], 21, |row| vec![clean(&row.result)]),
        ],
        Density::Medium => vec![
            status,
            text(&["Server", "Runtime"], 17, server_and_runtime),
            text(&["Reported name", "and version"], 21, reported),
            text(&["Installed"], 10, |row| vec![installed(row)]),
            number(&["Cold", "start", "(ms)"], cold_start),
            number(&["tools/", "list", "(ms)"], |row| vec![time(row.list)]),
            number(&["Tools"], tools),
            text(&["Timed call", "Call result"], 18, call_and_result),
            number(&["Median", "(ms)"], median),
            number(&["p95", "(ms)"], |row| vec![p95(row)]),
        ],
        Density::Narrow => vec![
            status,
            text(&["Server", "Reported name", "and version"], 20, |row| {
                let mut parts = vec![clean(&row.server)];
                parts.extend(reported(row));
                parts
            }),
            text(&["Installed", "Runtime"], 13, |row| {
                vec![installed(row), known(row.runtime.as_deref())]
            }),
            number(&["Cold start", "tools/list", "(ms)"], |row| {
                let mut parts = cold_start(row);
                parts.insert(1, time(row.list));
                parts.extend(row.tools.map(|count| counted(count, "tool")));
                parts
            }),
            text(&["Timed call", "Call result"], 16, call_and_result),
            number(&["Median", "p95", "(ms)"], |row| {
                let mut parts = median(row);
                parts.insert(1, p95(row));
                parts
            }),
        ],
    }
}

/// The status column is text that is never shrunk.
fn status_column(table: &MainTable) -> Column {
    let cells = table
        .rows
        .iter()
        .map(|row| vec![row.status.name().to_owned()])
        .collect();
    Column::new(&["Status"], Alignment::Text, 0, cells)
}

/// Takes width from the columns of text, the one with most to spare first.
fn shrunk(mut columns: Vec<Column>, width: usize) -> Vec<Column> {
    let room = width.saturating_sub(gaps(&columns));
    while columns.iter().map(|column| column.width).sum::<usize>() > room {
        let shrinkable = columns[1..]
            .iter_mut()
            .filter(|column| column.alignment == Alignment::Text);
        // Above its comfortable width a column gives first, and then in proportion to it.
        let spare = |column: &Column| {
            let over = column.width.saturating_sub(column.comfortable);
            (over, column.width * 100 / column.comfortable)
        };
        let candidate = shrinkable
            .filter(|column| column.width > NARROWEST)
            .max_by_key(|column| spare(column));
        let Some(column) = candidate else {
            break;
        };
        column.width -= 1;
    }
    columns
}

fn gaps(columns: &[Column]) -> usize {
    usize::from(super::GAP) * columns.len().saturating_sub(1)
}

fn wrap_at_most(part: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(part, width);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut() {
            last.push('…');
            *last = cut(last, width).into_owned();
        }
    }
    lines
}

fn server_and_runtime(row: &MainRow) -> Vec<String> {
    vec![clean(&row.server), known(row.runtime.as_deref())]
}

fn call_and_result(row: &MainRow) -> Vec<String> {
    let call = row.timed_call.as_deref().map(clean);
    call.into_iter().chain([clean(&row.result)]).collect()
}

/// Name and version; one mark where neither is known.
fn reported(row: &MainRow) -> Vec<String> {
    match (&row.reported_name, &row.reported_version) {
        (None, None) => vec![UNKNOWN.to_owned()],
        (name, version) => vec![known(name.as_deref()), known(version.as_deref())],
    }
}

fn cold_start(row: &MainRow) -> Vec<String> {
    with_n(time(row.cold_start), row.unusual_sessions)
}

fn median(row: &MainRow) -> Vec<String> {
    with_n(time(row.median), row.unusual_samples)
}

fn with_n(figure: String, unusual: Option<usize>) -> Vec<String> {
    let n = unusual.map(|count| format!("n={count}"));
    [figure].into_iter().chain(n).collect()
}

fn p95(row: &MainRow) -> String {
    match (row.p95, row.dagger) {
        (Some(p95), true) => format!("{}†", milliseconds(p95)),
        (p95, _) => time(p95),
    }
}

fn tools(row: &MainRow) -> Vec<String> {
    vec![row.tools.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string())]
}

fn time(duration: Option<Duration>) -> String {
    duration.map_or_else(|| UNKNOWN.to_owned(), milliseconds)
}

/// Cleaned; an empty text is a fact of its own and not the same as an unknown one.
/// The version of the package, marked where it is only the manifest's word.
fn installed(row: &MainRow) -> String {
    let version = known(row.installed.as_deref());
    if row.by_manifest && row.installed.is_some() {
        format!("{version}‡")
    } else {
        version
    }
}

fn known(text: Option<&str>) -> String {
    match text {
        None => UNKNOWN.to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(text) => clean(text),
    }
}

fn clean(text: &str) -> String {
    clean_for_terminal(text).into_owned()
}
