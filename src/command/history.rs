//! `history [ROW]`: versions, status and median over time, and the nights on which something changed.

use anyhow::anyhow;

use crate::cli::HistoryArgs;
use crate::console;
use crate::manifest::closest;
use crate::report;
use crate::store::{self, Earlier};
use crate::text::clean_for_terminal;

/// Prints the history of all rows, or of those that are named.
pub(super) fn print(args: &HistoryArgs) -> anyhow::Result<u8> {
    let earlier = store::runs_so_far(&args.reports, &args.manifest)?;
    tell_passed_over(&earlier);
    let runs = earlier.runs;
    if runs.is_empty() {
        console::print_result(&clean_for_terminal(&format!(
            "no run of {} lies in {}",
            args.manifest.display(),
            args.reports.display()
        )))?;
        return Ok(0);
    }
    let text = match args.row.as_deref() {
        None => report::history_overview(&runs),
        Some(row) => {
            let rows = named(row, &report::rows_of(&runs))?;
            let histories = rows.iter().filter_map(|id| report::history_of_row(&runs, id));
            histories.collect::<Vec<_>>().join("\n")
        }
    };
    console::print_result(&text)?;
    Ok(0)
}

/// Says which records could not be read; the others are enough to go on.
pub(super) fn tell_passed_over(earlier: &Earlier) {
    for problem in &earlier.passed_over {
        let mut causes = problem.to_string();
        let mut source = std::error::Error::source(problem);
        while let Some(cause) = source {
            causes.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        console::say(&clean_for_terminal(&format!(
            "note: an earlier run is passed over: {causes}"
        )));
    }
}

/// A row by its id, or all rows of a server.
fn named(row: &str, known: &[String]) -> anyhow::Result<Vec<String>> {
    let of_server = format!("{row}@");
    let found: Vec<String> = known
        .iter()
        .filter(|id| *id == row || id.starts_with(&of_server))
        .cloned()
        .collect();
    if found.is_empty() {
        let meant = closest(row, known.iter().map(String::as_str)).map_or_else(
            || format!("its rows are {}", known.join(", ")),
            |meant| format!("did you mean {meant}?"),
        );
        return Err(anyhow!("no run has a row {row:?}\nhint: {meant}"));
    }
    Ok(found)
}
