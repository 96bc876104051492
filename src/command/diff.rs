//! `diff OLD NEW`: what changed between two runs, or between the lock and a run.

use std::path::Path;

use anyhow::{Context, anyhow};

use crate::cli::DiffArgs;
use crate::console;
use crate::event::RowId;
use crate::lock::{Lock, LockedRow};
use crate::report::{self, Side, SideRow};
use crate::store;

use super::{USAGE, lock};

/// Prints the differences. That there are some is no failure: `run` judges, this only shows.
pub(super) fn print(args: &DiffArgs) -> anyhow::Result<u8> {
    let (Some(old), Some(new)) = (side(&args.old, &args.reports)?, side(&args.new, &args.reports)?) else {
        return Ok(USAGE);
    };
    console::print_result(&report::diff(&old, &new))?;
    Ok(0)
}

/// A lock by its file, or a run by its id, `latest`, its folder or its record.
fn side(named: &str, reports: &Path) -> anyhow::Result<Option<Side>> {
    if Path::new(named)
        .extension()
        .is_some_and(|extension| extension == "lock")
    {
        let lock = match lock::read(Path::new(named))? {
            Ok(lock) => {
                lock.ok_or_else(|| anyhow!("there is no {named}\nhint: `mcp-smoke lock` writes it after a run"))?
            }
            Err(()) => return Ok(None),
        };
        return Ok(Some(of_lock(named, lock)));
    }
    let record = store::find_record(reports, Some(Path::new(named)))
        .and_then(|path| store::read_record_file(&path))
        .with_context(|| {
            format!("{named} cannot be compared\nhint: name a run by its id, `latest` or its folder; a lock by its file, which ends in .lock")
        })?;
    Ok(Some(Side::of_run(&record)))
}

/// What a lock holds; it knows of no status and of no time.
fn of_lock(named: &str, lock: Lock) -> Side {
    let row = |(id, row): (RowId, LockedRow)| {
        let facts = row.facts;
        let (package, installed) = facts.package.map(|package| (package.name, package.installed)).unzip();
        let (runtime, runtime_version) = facts.runtime.map(|runtime| (runtime.kind, runtime.version)).unzip();
        SideRow {
            id: id.0,
            package,
            installed: installed.flatten(),
            reported_name: facts.reported_name,
            reported_version: facts.reported_version,
            runtime,
            runtime_version: runtime_version.flatten(),
            protocol: Some(facts.protocol),
            tools: facts.tools.map(|tools| tools.into_values().collect()),
            ..SideRow::default()
        }
    };
    Side {
        name: named.to_owned(),
        rows: lock.rows.into_iter().map(row).collect(),
    }
}
