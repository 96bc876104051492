//! `report`: an earlier run rendered anew from its record. Starts nothing and writes no file.

use anyhow::{Context, bail};

use crate::cli::{CsvTable, ReportArgs, ReportFormat};
use crate::record::json::to_json;
use crate::{console, report, store};

/// Prints the report on stdout.
pub(super) fn report(args: &ReportArgs) -> anyhow::Result<u8> {
    if args.table.is_some() && args.format != ReportFormat::Csv {
        bail!("--table is for --format csv");
    }
    let record = store::read_record_file(&store::find_record(&args.reports, args.run.as_deref())?)?;
    let text = match args.format {
        ReportFormat::Markdown => report::markdown(&record),
        ReportFormat::Csv => report::csv(&record, csv_table(args.table)),
        ReportFormat::Latex => report::latex(&record),
        ReportFormat::Json => to_json(&record),
    };
    console::print_result(&text).context("could not write to stdout")?;
    Ok(0)
}

fn csv_table(table: Option<CsvTable>) -> report::CsvTable {
    match table {
        None | Some(CsvTable::Samples) => report::CsvTable::Samples,
        Some(CsvTable::Rows) => report::CsvTable::Rows,
    }
}
