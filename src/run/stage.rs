//! Rows made ready for another client: put in place and laid out as for a session of ours, so that a
//! client of somebody else's can start the very same server. Nothing is started here.

use tokio::sync::mpsc::unbounded_channel;

use crate::client::process::Command;
use crate::client::session::FilledProbe;
use crate::event::{RowId, Sink};
use crate::plan::{Launch, Plan};
use crate::prepare::{self, Page, Readiness, ReadyRow, Scratch};

use super::{Interruption, launch};

/// Rows and their fixtures, which are there until this is dropped.
#[derive(Debug)]
pub struct Stage {
    /// In the order of the plan; those that no plan can run are left out.
    pub rows: Vec<StagedRow>,
    /// Held for its drop.
    _page: Option<Page>,
}

/// A row that is ready, or why it is not.
#[derive(Debug)]
pub struct StagedRow {
    /// The row.
    pub id: RowId,
    /// How it would be started.
    pub outcome: Result<Staged, String>,
}

/// How a row would be started.
#[derive(Debug)]
pub struct Staged {
    /// What would be started.
    pub command: Command,
    /// The calls that would be made, with the names of their probes.
    pub probes: Vec<(String, FilledProbe)>,
    /// Held for its drop.
    _scratch: Scratch,
}

/// Makes the rows of a plan ready.
pub async fn stage(plan: &Plan, interruption: &Interruption) -> Stage {
    // What is said on the way is `check`'s and `run`'s to tell.
    let (sender, _) = unbounded_channel();
    let sink = |row: &RowId| Sink::new(row.clone(), sender.clone());
    let mut prepared = prepare::prepare(plan, &sink, &interruption.wind_down).await;
    let needs_page = plan
        .rows
        .iter()
        .filter_map(|row| row.launch())
        .any(|row| row.needs.http);
    let page = needs_page.then(Page::serve).and_then(Result::ok);
    let rows = plan.rows.iter().filter_map(|row| {
        let outcome = match prepared.remove(&row.id)? {
            Readiness::Ready(ready) => lay_out(row.launch()?, &ready, page.as_ref()),
            Readiness::Skipped(skip) => Err(skip.message),
            Readiness::Failed => Err("it could not be put in place; `mcp-smoke check` says why".to_owned()),
        };
        Some(StagedRow {
            id: row.id.clone(),
            outcome,
        })
    });
    Stage {
        rows: rows.collect(),
        _page: page,
    }
}

fn lay_out(launch: &Launch, ready: &ReadyRow, page: Option<&Page>) -> Result<Staged, String> {
    let scratch =
        Scratch::lay_out(&launch.needs, ready, page.map(Page::address)).map_err(|error| format!("{error:#}"))?;
    let fixtures = scratch.fixtures();
    let probes = launch.probes.iter().enumerate().map(|(index, probe)| {
        let filled = launch::probe(index, probe, launch.concurrency, fixtures);
        (probe.name.clone(), filled)
    });
    Ok(Staged {
        command: launch::command(launch, ready, fixtures),
        probes: probes.collect(),
        _scratch: scratch,
    })
}
