//! Every probe of every row that was called, with the figures that the main table has no room for.

use crate::record::{Outcome, ProbeRecord, RunRecord};
use crate::report::main_table::server_name;
use crate::stats;
use crate::text::milliseconds;

use super::main_section::DAGGER;
use super::{Column, Mark, Part, Prose, Table, UNKNOWN};

const COLUMNS: [Column; 12] = [
    Column::text("Server"),
    Column::text("Probe"),
    Column::text("Outcome"),
    Column::number("Calls"),
    Column::number("Failures"),
    Column::milliseconds("First"),
    Column::milliseconds("Median"),
    Column::milliseconds("95 % interval of the median"),
    Column::milliseconds("p95"),
    Column::milliseconds("Min"),
    Column::milliseconds("Max"),
    Column::number("Outliers"),
];

/// Adds the section, if any probe was called.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    let mut table = Table {
        title: "The probes".to_owned(),
        columns: COLUMNS.to_vec(),
        rows: Vec::new(),
        caption: "First is the first call of the first session. The interval holds within one session, and where \
                  samples of several are pooled only if these are alike. Outliers (modified z-score above 3.5) are \
                  counted, never dropped."
            .to_owned(),
        notes: Vec::new(),
    };
    for row in &record.rows {
        let server = server_name(row, record);
        for probe in row.probes.iter().filter(|probe| probe.outcome.is_some()) {
            let cells = cells(&server, probe, &mut table);
            table.rows.push(cells);
        }
    }
    if !table.rows.is_empty() {
        parts.push(Part::Heading("The probes".to_owned()));
        parts.push(Part::Table(table));
    }
}

fn cells(server: &str, probe: &ProbeRecord, table: &mut Table) -> Vec<Prose> {
    let samples = &probe.samples;
    let interval = stats::median_interval(samples);
    vec![
        Prose::plain(server),
        Prose::plain(&probe.name),
        Prose::plain(probe.outcome.map_or(UNKNOWN, Outcome::name)),
        Prose::plain(probe.calls.to_string()),
        Prose::plain(probe.failures.to_string()),
        Prose::time(probe.first),
        Prose::time(stats::median(samples)),
        interval.map_or_else(Prose::unknown, |(low, high)| {
            Prose::plain(format!("{} to {}", milliseconds(low), milliseconds(high)))
        }),
        Prose::time(stats::p95(samples)).mark(dagger(samples.len(), table)),
        Prose::time(samples.iter().min().copied()),
        Prose::time(samples.iter().max().copied()),
        Prose::plain(stats::outliers(samples).len().to_string()),
    ]
}

/// The mark of a p95 of that many samples.
pub(super) fn dagger(samples: usize, table: &mut Table) -> Option<Mark> {
    (1..stats::P95_NEEDS)
        .contains(&samples)
        .then(|| table.fixed_note(Mark::Dagger, DAGGER))
}
