//! The same server on several runtimes, one below the other, and what differs in words: the same
//! command may install an older server, with fewer tools, where the runtime is older.

use std::collections::BTreeSet;

use crate::record::{RowRecord, RunRecord, ToolRecord};
use crate::report::main_table::{MainRow, main_table};
use crate::text::counted;

use super::{Column, Part, Prose, Table, enumerated, known};

/// More names of missing and further tools than this are counted only.
const MOST_NAMES: usize = 12;
/// More names of changed tools than this are counted only: a release may touch them all.
const MOST_CHANGED: usize = 3;

const COLUMNS: [Column; 9] = [
    Column::text("Server"),
    Column::text("Runtime"),
    Column::text("Installed"),
    Column::text("Reported"),
    Column::text("Protocol"),
    Column::number("Tools"),
    Column::milliseconds("Cold start"),
    Column::milliseconds("Median"),
    Column::text("What differs"),
];

/// Rows of one server, with what differs from the last of them.
pub(super) struct Siblings<'record> {
    pub(super) title: &'record str,
    pub(super) rows: Vec<&'record RowRecord>,
}

/// Adds the section, if some server runs on several runtimes.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    let servers = siblings(record);
    if servers.is_empty() {
        return;
    }
    let figures = main_table(record);
    let mut table = Table {
        title: "The same server on several runtimes".to_owned(),
        columns: COLUMNS.to_vec(),
        rows: Vec::new(),
        caption: "Times in milliseconds, with the n of the table above. What differs is said of each row against the \
                  last of its server; times are not, since they always differ."
            .to_owned(),
        notes: Vec::new(),
    };
    for server in &servers {
        for row in &server.rows {
            let place = record.rows.iter().position(|other| other.id == row.id);
            if let Some(figures) = place.and_then(|place| figures.rows.get(place)) {
                table.rows.push(cells(server, row, figures));
            }
        }
    }
    parts.push(Part::Heading("The same server on several runtimes".to_owned()));
    parts.push(Part::Table(table));
}

/// The servers with more than one row, in the order of the manifest.
pub(super) fn siblings(record: &RunRecord) -> Vec<Siblings<'_>> {
    let mut seen = BTreeSet::new();
    let servers = record.rows.iter().filter(|row| seen.insert(row.server.as_str()));
    servers
        .map(|row| Siblings {
            title: &row.title,
            rows: record.rows.iter().filter(|other| other.server == row.server).collect(),
        })
        .filter(|siblings| siblings.rows.len() > 1)
        .collect()
}

fn cells(server: &Siblings<'_>, row: &RowRecord, figures: &MainRow) -> Vec<Prose> {
    let is_first = server.rows.first().is_some_and(|first| first.id == row.id);
    vec![
        if is_first {
            Prose::plain(server.title)
        } else {
            Prose::default()
        },
        Prose::plain(runtime(row)),
        Prose::known(row.identity.package.installed.as_deref()),
        Prose::known(row.identity.reported_version.as_deref()),
        Prose::known(row.identity.negotiated.as_deref()),
        Prose::count(row.tools.as_ref().map(Vec::len)),
        Prose::time(figures.cold_start),
        Prose::time(figures.median),
        Prose::plain(in_words(server, row)),
    ]
}

/// `node20 (20.20.2)`.
fn runtime(row: &RowRecord) -> String {
    let name = row.runtime.as_deref().unwrap_or(super::UNKNOWN);
    let version = row.identity.runtime.as_ref().and_then(|facts| facts.version.as_deref());
    version.map_or_else(|| name.to_owned(), |version| format!("{name} ({version})"))
}

fn in_words(server: &Siblings<'_>, row: &RowRecord) -> String {
    let Some(last) = server.rows.last().filter(|last| last.id != row.id) else {
        return String::new();
    };
    if row.sessions.is_empty() || last.sessions.is_empty() {
        return "not compared: a row was not run".to_owned();
    }
    let differences = differences(row, last);
    if differences.is_empty() {
        "nothing: version, name, protocol and tools are the same".to_owned()
    } else {
        differences.join("; ")
    }
}

/// What is different in the first row, in words; times aside.
pub(super) fn differences(row: &RowRecord, other: &RowRecord) -> Vec<String> {
    let (own, others) = (&row.identity, &other.identity);
    let facts = [
        ("installed", &own.package.installed, &others.package.installed),
        ("reports the name", &own.reported_name, &others.reported_name),
        ("reports the version", &own.reported_version, &others.reported_version),
        ("speaks the protocol", &own.negotiated, &others.negotiated),
    ];
    let mut said: Vec<String> = facts
        .into_iter()
        .filter(|(_, own, others)| own != others)
        .map(|(what, own, others)| format!("{what} {}, not {}", known(own.as_deref()), known(others.as_deref())))
        .collect();
    match (&row.tools, &other.tools) {
        (Some(own), Some(others)) => said.extend(tool_differences(own, others)),
        (None, None) => {}
        (None, Some(_)) => said.push("its tools could not be listed".to_owned()),
        (Some(_), None) => said.push("the other's tools could not be listed".to_owned()),
    }
    said
}

fn tool_differences(own: &[ToolRecord], others: &[ToolRecord]) -> Vec<String> {
    let missing = |here: &[ToolRecord], there: &[ToolRecord]| -> Vec<String> {
        let lacks = |tool: &&ToolRecord| here.iter().all(|other| other.name != tool.name);
        there.iter().filter(lacks).map(|tool| tool.name.clone()).collect()
    };
    let both = |differs: fn(&ToolRecord, &ToolRecord) -> bool| -> Vec<String> {
        let pair = |tool: &&ToolRecord| {
            let other = others.iter().find(|other| other.name == tool.name);
            other.is_some_and(|other| differs(tool, other))
        };
        own.iter().filter(pair).map(|tool| tool.name.clone()).collect()
    };
    let another_schema =
        both(|tool, other| (&tool.input_schema, &tool.output_schema) != (&other.input_schema, &other.output_schema));
    let reworded = both(|tool, other| tool.description_sha256 != other.description_sha256);
    [
        (missing(own, others), "fewer", MOST_NAMES),
        (missing(others, own), "more", MOST_NAMES),
        (another_schema, "with another schema", MOST_CHANGED),
        (reworded, "described in other words", MOST_CHANGED),
    ]
    .into_iter()
    .filter(|(names, ..)| !names.is_empty())
    .map(|(names, how, most)| match names.len() {
        many if many > MOST_CHANGED && most == MOST_CHANGED => format!("{many} tools {how}"),
        count => format!("{} {how}: {}", counted(count, "tool"), some_names(&names)),
    })
    .collect()
}

fn some_names(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        Some(rest) if rest > 0 => format!("{} and {rest} others", names[..MOST_NAMES].join(", ")),
        _ => names.join(", "),
    }
}

/// Where a server is not the same on all of its runtimes, one sentence each.
pub(super) fn sentences(record: &RunRecord) -> Vec<Prose> {
    let mut said = Vec::new();
    for server in siblings(record) {
        let ran = |row: &&&RowRecord| !row.sessions.is_empty();
        let Some(last) = server.rows.last().filter(ran) else {
            continue;
        };
        for row in server.rows.iter().filter(ran).filter(|row| row.id != last.id) {
            let differences = differences(row, last);
            if !differences.is_empty() {
                let on = |row: &RowRecord| row.runtime.clone().unwrap_or_default();
                said.push(Prose::default().strong(server.title).text(format!(
                    " is not the same on {} as on {}: {}.",
                    on(row),
                    on(last),
                    differences.join("; ")
                )));
            }
        }
    }
    said
}

/// Servers that are the same on all of their runtimes, as `Filesystem, Memory and Everything`.
pub(super) fn alike(record: &RunRecord) -> Option<String> {
    let is_alike = |server: &Siblings<'_>| {
        let ran = server.rows.iter().all(|row| !row.sessions.is_empty());
        ran && server
            .rows
            .iter()
            .all(|row| differences(row, server.rows[0]).is_empty())
    };
    let titles: Vec<String> = siblings(record)
        .iter()
        .filter(|server| is_alike(server))
        .map(|server| server.title.to_owned())
        .collect();
    (!titles.is_empty()).then(|| enumerated(&titles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_row;

    fn without_tool(row: &RowRecord) -> RowRecord {
        let mut fewer = row.clone();
        fewer.tools.as_mut().expect("it has tools").pop();
        fewer
    }

    #[test]
    fn the_same_is_no_difference_and_times_are_none() {
        let row = sample_row("memory");
        let mut other = row.clone();
        other.sessions[0].cold_start = None;
        assert!(differences(&row, &other).is_empty());
    }

    #[test]
    fn missing_and_further_tools_are_named() {
        let row = sample_row("memory");
        assert_eq!(differences(&without_tool(&row), &row), ["1 tool fewer: tool_1"]);
        assert_eq!(differences(&row, &without_tool(&row)), ["1 tool more: tool_1"]);
    }

    #[test]
    fn versions_names_and_schemas_are_compared() {
        let row = sample_row("memory");
        let mut other = row.clone();
        other.identity.package.installed = Some("2.0.0".to_owned());
        other.tools.as_mut().expect("it has tools")[0].input_schema = Some(serde_json::json!({"type": "object"}));
        assert_eq!(
            differences(&row, &other),
            ["installed 2026.10.19, not 2.0.0", "1 tool with another schema: tool_0"]
        );
    }

    #[test]
    fn many_names_are_cut_short() {
        let names: Vec<String> = (0..15).map(|number| format!("tool_{number}")).collect();
        assert!(some_names(&names).ends_with("tool_11 and 3 others"));
        assert!(some_names(&names[..12]).ends_with("tool_11"));
    }
}
