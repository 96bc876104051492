//! `run`: the main job, from manifest to logs, record, report and table.

use std::collections::BTreeSet;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;

use crate::cli::{Output, RunArgs};
use crate::client::process;
use crate::console::{self, Progress};
use crate::event::RowId;
use crate::judge::{self, Past};
use crate::lock::{Lock, RowFacts};
use crate::plan::Plan;
use crate::record::{Calibration, Host, RecordBuilder, RunHeader, RunRecord, Status};
use crate::run::{self, Interruption};
use crate::store::{Folders, Store, StoreProblem};
use crate::{report, stats, store};

use super::{BUG, USAGE, history, lock, plan};

/// Runs the fleet and gives the code to exit with.
pub(super) fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let Some(plan) = plan::for_run(args)? else {
        return Ok(USAGE);
    };
    let path = Lock::path_beside(&plan.manifest);
    let Ok(lock) = lock::read(&path)? else {
        return Ok(USAGE);
    };
    if plan.settings.locked && lock.is_none() {
        let path = path.display();
        anyhow::bail!("there is no {path}, which `--locked` asks for\nhint: `mcp-smoke lock` writes it after a run");
    }
    // Rows that were not selected are not missed.
    let whole = args.selection.selectors.is_empty();
    let rows = || plan.rows.iter().map(|row| &row.id);
    let gone = lock
        .iter()
        .filter(|_| whole)
        .flat_map(|lock| lock.gone_from(rows()))
        .collect();
    let plan = Arc::new(plan);
    let started = Timestamp::now();
    let settings = &plan.settings;
    let folders = Folders {
        reports: settings.reports.clone(),
        logs: settings.logs.clone(),
    };
    let mut store = Store::create(folders, started, plan.mask.clone())?;
    process::adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the system gave no event queue")?;
    let (mut record, broken) = runtime.block_on(measure(&plan, &mut store, started, gone));
    // A name look-up that still hangs must not hold the exit.
    runtime.shutdown_background();

    let earlier = earlier(&store, &record);
    let past = Past {
        lock: lock.as_ref(),
        runs: &earlier,
    };
    judge::judge(&mut record, &plan, &past);
    if !broken.is_empty() {
        record.exit_code = BUG;
    }
    let written = write(&mut store, &record, &plan, lock.as_ref(), &earlier);
    if let Err(problem) = print(&record, written.as_deref(), &plan, args.output) {
        // Everything ran and the record is written: the run's own exit code stands.
        console::say(&format!("warning: {problem:#}"));
    }
    for row in broken {
        console::say(&format!(
            "{row}: a bug in mcp-smoke ended this row; please report it with what stands above"
        ));
    }
    Ok(record.exit_code)
}

/// The run itself: calibration, every row, one stream of events into progress, logs and record.
async fn measure(plan: &Arc<Plan>, store: &mut Store, started: Timestamp, gone: Vec<RowId>) -> (RunRecord, Vec<RowId>) {
    let interruption = Interruption::default();
    let header = RunHeader {
        id: store.run_id().name(),
        started,
        host: Host::read(),
        partition: None,
        manifest_file: store::manifest_file(&plan.manifest),
        gone,
    };
    let mut builder = RecordBuilder::new(header, plan, |row| store.log_path(row));
    let mut progress = Progress::new(plan.rows.len());
    let work = async {
        let samples = run::calibrate(&interruption).await.unwrap_or_default();
        builder.calibration(calibration(&samples));
        run::run(plan, &interruption, |event| {
            progress.event(&event);
            store.log_event(&event);
            builder.apply(event);
        })
        .await
    };
    let broken = tokio::select! {
        broken = work => broken,
        () = interruption.listen() => Vec::new(),
    };
    progress.finish();
    (builder.finish(Timestamp::now(), interruption.came()), broken)
}

fn calibration(samples: &[std::time::Duration]) -> Option<Calibration> {
    Some(Calibration {
        samples: samples.len(),
        median: stats::median(samples)?,
        p95: stats::p95(samples)?,
    })
}

/// The record first, then what is made from it. What cannot be written is told, and the run's
/// exit code stands. Gives the record's path, if it was written.
fn write(
    store: &mut Store,
    record: &RunRecord,
    plan: &Plan,
    lock: Option<&Lock>,
    earlier: &[RunRecord],
) -> Option<PathBuf> {
    let written = told(store.write_record(record));
    told(store.write_report(store::MARKDOWN, &report::markdown(record)));
    for row in &record.rows {
        told(store.finish_row_log(&row.id, &report::log_header(row)));
    }
    for problem in store.log_problems() {
        console::say(&format!("warning: {problem}"));
    }
    told(store.point_latest());
    let needed = needed(record, earlier);
    told(store.prune(plan.settings.keep_runs, lock, &needed));
    written
}

/// The runs that the next one is held against: of each row the last that saw it, and the last in which it was
/// well. Nights that broke, were interrupted or had other rows must not push them out.
fn needed(record: &RunRecord, earlier: &[RunRecord]) -> Vec<String> {
    let (mut seen, mut well) = (BTreeSet::new(), BTreeSet::new());
    let mut runs = Vec::new();
    for run in iter::once(record).chain(earlier).filter(|run| !run.interrupted) {
        for row in &run.rows {
            let is_last = RowFacts::of(row).is_some() && seen.insert(&row.id);
            let was_well = matches!(row.status, Status::Pass | Status::Warn) && well.insert(&row.id);
            if is_last || was_well {
                runs.push(run.id.clone());
            }
        }
    }
    runs
}

/// The earlier runs of the same manifest. What cannot be read of them is told, and taken as not there.
fn earlier(store: &Store, record: &RunRecord) -> Vec<RunRecord> {
    let earlier = told(store.earlier_runs(&record.manifest)).unwrap_or_default();
    history::tell_passed_over(&earlier);
    earlier.runs
}

fn told<T>(done: Result<T, StoreProblem>) -> Option<T> {
    done.map_err(|problem| console::say(&format!("warning: {:#}", anyhow::Error::new(problem))))
        .ok()
}

fn print(record: &RunRecord, written: Option<&Path>, plan: &Plan, output: Output) -> anyhow::Result<()> {
    let text = match output {
        Output::Table => {
            let table = report::terminal(record, console::terminal_width(), console::colour_choice());
            let line = written.map(report::record_line).unwrap_or_default();
            format!("{table}{line}\n")
        }
        Output::Json => crate::record::json::to_json(record),
        Output::Markdown => report::markdown(record),
        Output::None => return Ok(()),
    };
    console::print_result(&plan.mask.apply(&text)).context("could not write to stdout")
}
