//! A table for each group, and for the other rows of several sessions: every figure of every session,
//! so that nobody has to trust a median. The first start after an installation stands apart.

use std::collections::BTreeSet;

use crate::event::{ProbeFacts, SessionFacts, SessionKind};
use crate::record::{RowRecord, RunRecord};
use crate::report::main_table::server_name;
use crate::stats;
use crate::text::counted;

use super::probes::dagger;
use super::{Column, Part, Prose, Table, known};

const COLUMNS: [Column; 9] = [
    Column::text("Server"),
    Column::text("Session"),
    Column::milliseconds("Cold start"),
    Column::milliseconds("tools/list"),
    Column::text("Probe"),
    Column::milliseconds("First call"),
    Column::milliseconds("Median"),
    Column::milliseconds("p95"),
    Column::number("n"),
];

/// Adds the section, if there is a group or a row of several sessions.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    let mut sections = Vec::new();
    let mut seen = BTreeSet::new();
    for group in record.rows.iter().filter_map(|row| row.group.as_deref()) {
        if seen.insert(group) {
            let rows = record.rows.iter().filter(|row| row.group.as_deref() == Some(group));
            push_group(&mut sections, &format!("Group {group}"), rows.collect(), record);
        }
    }
    let others = record
        .rows
        .iter()
        .filter(|row| row.group.is_none() && row.sessions.len() > 1);
    push_group(
        &mut sections,
        "Other rows of several sessions",
        others.collect(),
        record,
    );
    if !sections.is_empty() {
        parts.push(Part::Heading("Repeats".to_owned()));
        parts.extend(sections);
    }
}

fn push_group(parts: &mut Vec<Part>, title: &str, mut rows: Vec<&RowRecord>, record: &RunRecord) {
    rows.retain(|row| !row.sessions.is_empty() || row.first_start.is_some());
    if rows.is_empty() {
        return;
    }
    let mut table = Table {
        title: title.to_owned(),
        columns: COLUMNS.to_vec(),
        rows: Vec::new(),
        caption: "One line per session, in the order in which a row lived through them, and below them the figures over all of a row: the \
                  median of the cold starts and lists, median and p95 of all samples. The first start after an \
                  installation is in none of them."
            .to_owned(),
        notes: Vec::new(),
    };
    for row in &rows {
        push_row(&mut table, row, &server_name(row, record));
    }
    parts.push(Part::Subheading(title.to_owned()));
    parts.push(Part::List(rows.iter().map(|row| what_ran(row, record)).collect()));
    parts.push(Part::Table(table));
}

/// `Three tools, FastMCP: fastmcp 4.2.3 on python 3.11.7, 3 tools.`
fn what_ran(row: &RowRecord, record: &RunRecord) -> Prose {
    let package = &row.identity.package;
    let mut said = Vec::new();
    if let (Some(name), Some(installed)) = (&package.name, &package.installed) {
        said.push(format!("{name} {}", known(Some(installed))));
    }
    if let Some(runtime) = &row.identity.runtime {
        let version = runtime.version.as_deref().unwrap_or_default();
        said.push(format!("{} {version}", runtime.kind).trim_end().to_owned());
    }
    if let Some(tools) = &row.tools {
        said.push(counted(tools.len(), "tool"));
    }
    if said.is_empty() {
        said.push("nothing is known of what ran".to_owned());
    }
    Prose::default()
        .strong(server_name(row, record))
        .text(format!(": {}.", said.join(", ")))
}

fn push_row(table: &mut Table, row: &RowRecord, server: &str) {
    let mut server = Some(server);
    if let Some(first_start) = row.first_start {
        table.rows.push(vec![
            name(&mut server),
            Prose::plain("first start after installation"),
            Prose::time(Some(first_start)),
            Prose::unknown(),
            Prose::unknown(),
            Prose::unknown(),
            Prose::unknown(),
            Prose::unknown(),
            Prose::unknown(),
        ]);
    }
    for session in &row.sessions {
        push_session(table, row, session, &mut server);
    }
    push_summary(table, row, &mut server);
}

/// A session has a line for each of its probes, and one where it has none.
fn push_session(table: &mut Table, row: &RowRecord, session: &SessionFacts, server: &mut Option<&str>) {
    let mut figures = Some((
        Prose::plain(session_name(session)),
        Prose::time(session.cold_start),
        Prose::time(session.list),
    ));
    let probes: Vec<Option<&ProbeFacts>> = match session.probes.as_slice() {
        [] => vec![None],
        some => some.iter().map(Some).collect(),
    };
    for probe in probes {
        let (session, cold_start, list) = figures.take().unwrap_or_default();
        let called = probe.and_then(|probe| Some((probe, row.probes.get(probe.index)?)));
        let mut cells = vec![name(server), session, cold_start, list];
        match called {
            Some((facts, probe)) => cells.extend([
                Prose::plain(&probe.name),
                Prose::time(facts.first),
                Prose::time(stats::median(&facts.samples)),
                Prose::time(stats::p95(&facts.samples)).mark(dagger(facts.samples.len(), table)),
                Prose::plain(facts.samples.len().to_string()),
            ]),
            None => cells.extend((0..5).map(|_| Prose::unknown())),
        }
        table.rows.push(cells);
    }
}

/// What the main table says of the row, below the sessions that it is made of.
fn push_summary(table: &mut Table, row: &RowRecord, server: &mut Option<&str>) {
    if row.sessions.len() < 2 {
        return;
    }
    let of = |figure: fn(&SessionFacts) -> Option<std::time::Duration>| {
        let values: Vec<_> = row.sessions.iter().filter_map(figure).collect();
        stats::median(&values)
    };
    let mut figures = Some((
        Prose::default().strong(format!("all {}", counted(row.sessions.len(), "session"))),
        Prose::time(of(|session| session.cold_start)),
        Prose::time(of(|session| session.list)),
    ));
    let called: Vec<_> = row.probes.iter().filter(|probe| probe.outcome.is_some()).collect();
    let lines = called.len().max(1);
    for place in 0..lines {
        let (session, cold_start, list) = figures.take().unwrap_or_default();
        let mut cells = vec![name(server), session, cold_start, list];
        match called.get(place) {
            Some(probe) => cells.extend([
                Prose::plain(&probe.name),
                Prose::unknown(),
                Prose::time(stats::median(&probe.samples)),
                Prose::time(stats::p95(&probe.samples)).mark(dagger(probe.samples.len(), table)),
                Prose::plain(probe.samples.len().to_string()),
            ]),
            None => cells.extend((0..5).map(|_| Prose::unknown())),
        }
        table.rows.push(cells);
    }
}

fn session_name(session: &SessionFacts) -> String {
    let name = match session.kind {
        SessionKind::Repeat(repeat) => format!("repeat {repeat}"),
        SessionKind::ColdStart => "handshake and list only".to_owned(),
        SessionKind::FirstStart => "first start after installation".to_owned(),
    };
    match session.attempt {
        0 | 1 => name,
        attempt => format!("{name}, attempt {attempt}"),
    }
}

/// The server's name on the first line of its row, nothing below.
fn name(server: &mut Option<&str>) -> Prose {
    server.take().map(Prose::plain).unwrap_or_default()
}
