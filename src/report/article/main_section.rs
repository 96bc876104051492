//! The main table of the article: the columns of the design, in its order. What would crowd a cell
//! stands in a note below.

use crate::record::{RunRecord, Status};
use crate::report::main_table::{MainRow, main_table};
use crate::report::sentences;

use super::{Column, Mark, Part, Prose, Table, known};

/// What a p95 of few samples is.
pub(super) const DAGGER: &str = "fewer than 20 samples: this p95 is the maximum.";
/// What a package is that was not found by the process tree.
const FROM_MANIFEST: &str = "no package owns the running script; this is the one that the manifest names.";

const COLUMNS: [Column; 11] = [
    Column::text("Server"),
    Column::text("Reported name and version"),
    Column::text("Installed"),
    Column::text("Runtime"),
    Column::milliseconds("Cold start"),
    Column::milliseconds("tools/list"),
    Column::number("Tools"),
    Column::text("Timed call"),
    Column::milliseconds("Median"),
    Column::milliseconds("p95"),
    Column::text("Call result"),
];

/// Adds the section, if there is any row.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    let figures = main_table(record);
    if figures.rows.is_empty() {
        return;
    }
    let mut table = Table {
        title: "The servers".to_owned(),
        columns: COLUMNS.to_vec(),
        rows: Vec::new(),
        caption: sentences::caption(&figures, "unless a note says otherwise"),
        notes: Vec::new(),
    };
    for row in &figures.rows {
        let cells = cells(row, &mut table);
        table.rows.push(cells);
    }
    parts.push(Part::Heading("The servers".to_owned()));
    parts.push(Part::Table(table));
}

fn cells(row: &MainRow, table: &mut Table) -> Vec<Prose> {
    let from_manifest =
        (row.by_manifest && row.installed.is_some()).then(|| table.fixed_note(Mark::DoubleDagger, FROM_MANIFEST));
    let reported = match (&row.reported_name, &row.reported_version) {
        (None, None) => Prose::unknown(),
        (name, version) => Prose::plain(format!("{} {}", known(name.as_deref()), known(version.as_deref()))),
    };
    let installed = match (&row.package, &row.installed) {
        (Some(package), Some(version)) => Prose::plain(format!("{package} {}", known(Some(version)))),
        (_, version) => Prose::known(version.as_deref()),
    };
    let of_sessions = row
        .unusual_sessions
        .map(|count| table.note(format!("cold start: {}.", sentences::of_sessions(count))));
    let of_lists = row
        .unusual_lists
        .map(|count| table.note(format!("tools/list: {}.", sentences::of_sessions(count))));
    let of_samples = row
        .unusual_samples
        .map(|count| table.note(format!("median and p95: n = {count}.")));
    let dagger = row.dagger.then(|| table.fixed_note(Mark::Dagger, DAGGER));
    vec![
        Prose::plain(&row.server),
        reported,
        installed.mark(from_manifest),
        Prose::known(row.runtime.as_deref()),
        Prose::time(row.cold_start).mark(of_sessions),
        Prose::time(row.list).mark(of_lists),
        Prose::count(row.tools),
        Prose::known(row.timed_call.as_deref()),
        Prose::time(row.median).mark(of_samples),
        Prose::time(row.p95).mark(dagger),
        match row.status {
            Status::Pass => Prose::plain(&row.result),
            status => Prose::default().strong(status.name()).text(format!(": {}", row.result)),
        },
    ]
}
