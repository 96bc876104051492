//! `diff OLD NEW`: what changed between two runs, or between the lock and a run.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use crate::cli::DiffArgs;
use crate::console;
use crate::event::RowId;
use crate::lock::{Lock, LockedRow};
use crate::report::{self, Side, SideRow};
use crate::store::{self, RunId};

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
    let (folder, run_id) = run_of(named, reports)?;
    let record = store::read_record(&folder, &run_id).with_context(|| format!("{named} cannot be compared"))?;
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

fn run_of(named: &str, reports: &Path) -> anyhow::Result<(PathBuf, RunId)> {
    if let Some(run_id) = store::run_named(reports, named)?
        && reports.join(run_id.name()).is_dir()
    {
        return Ok((reports.to_owned(), run_id));
    }
    let path = Path::new(named);
    let path = if path.is_file() { path.parent() } else { Some(path) };
    let folder = path.and_then(|path| path.canonicalize().ok());
    let of_folder = folder.as_deref().and_then(|folder| {
        let run_id = RunId::parse(folder.file_name()?.to_str()?)?;
        Some((folder.parent()?.to_owned(), run_id))
    });
    of_folder.ok_or_else(|| {
        anyhow!(
            "{named} is no run\nhint: name a run of {} by its id, `latest`, or the folder of a run; a lock by its \
             file, which ends in .lock",
            reports.display()
        )
    })
}
