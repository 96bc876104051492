//! `diff OLD NEW`: what changed between two runs, or between the lock and a run.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use crate::cli::DiffArgs;
use crate::console;
use crate::report::{self, Side};
use crate::store::{self, RunId};

/// Prints the differences. That there are some is no failure: `run` judges, this only shows.
pub(super) fn print(args: &DiffArgs) -> anyhow::Result<u8> {
    let old = side(&args.old, &args.reports)?;
    let new = side(&args.new, &args.reports)?;
    console::print_result(&report::diff(&old, &new))?;
    Ok(0)
}

/// A run by its id, `latest`, its folder or its record.
fn side(named: &str, reports: &Path) -> anyhow::Result<Side> {
    let (folder, run_id) = run_of(named, reports)?;
    let record = store::read_record(&folder, &run_id).with_context(|| format!("{named} cannot be compared"))?;
    Ok(Side::of_run(&record))
}

fn run_of(named: &str, reports: &Path) -> anyhow::Result<(PathBuf, RunId)> {
    if named == "latest" {
        let last = store::last_run(reports)?;
        let last = last.ok_or_else(|| anyhow!("there is no run in {}", reports.display()))?;
        return Ok((reports.to_owned(), last));
    }
    if let Some(run_id) = RunId::parse(named)
        && reports.join(named).is_dir()
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
            "{named} is no run\nhint: name a run of {} by its id, `latest`, or the folder of a run; `mcp-smoke history` shows \
             what is there",
            reports.display()
        )
    })
}
