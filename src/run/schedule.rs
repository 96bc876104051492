//! Which row runs when: in an order drawn from the seed, `jobs` at a time, each on a thread and a
//! runtime of its own, so that nothing one row does can delay the clock of another. The rows of one
//! group share a thread and take turns, session by session, so that a busy minute hits them all.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::event::{EventKind, Launcher, RowId, Sink, Skip};
use crate::package::identity;
use crate::plan::{Entry, Fixtures, Plan, Row};
use crate::prepare::{Page, Readiness, ReadyRow};

use super::Interruption;
use super::launch;
use super::row::{Course, Measurement, not_begun};

/// Rows that take turns on one thread, and what they must not run beside.
struct Lane {
    /// Their places in the plan, with what was prepared for each.
    rows: Vec<(usize, ReadyRow)>,
    /// Rows of one npx or uvx spec share a folder that the package runner swaps in place.
    shared_folders: Vec<String>,
}

/// Measures every row that is ready, and tells why the others are not. Gives the rows whose
/// thread broke: bugs of ours.
pub(super) async fn measure_all(
    plan: &Arc<Plan>,
    mut readiness: BTreeMap<RowId, Readiness>,
    interruption: &Interruption,
    sink: &dyn Fn(&RowId) -> Sink,
) -> Vec<RowId> {
    let mut ready_rows = Vec::new();
    for index in in_order(plan) {
        let row = &plan.rows[index];
        let Entry::Run(_) = row.entry else { continue };
        match readiness.remove(&row.id) {
            Some(Readiness::Ready(ready)) => ready_rows.push((index, ready)),
            Some(Readiness::Skipped(skip)) => end(&sink(&row.id), Some(skip)),
            Some(Readiness::Failed) => end(&sink(&row.id), None),
            None => end(&sink(&row.id), Some(not_begun())),
        }
    }
    let page = start_page(plan, &ready_rows);
    work_off(
        plan,
        lanes(plan, ready_rows),
        page.as_ref().map(Page::address),
        interruption,
        sink,
    )
    .await
}

/// The rows in the order in which they run: drawn from the seed, so that no server always runs
/// right after the same other one.
fn in_order(plan: &Plan) -> Vec<usize> {
    let mut order: Vec<usize> = (0..plan.rows.len()).collect();
    fastrand::Rng::with_seed(plan.settings.seed).shuffle(&mut order);
    order
}

/// One lane per group, one per row without a group, where the first of each comes in the order.
fn lanes(plan: &Plan, ready_rows: Vec<(usize, ReadyRow)>) -> VecDeque<Lane> {
    let mut lanes: Vec<(Option<&str>, Lane)> = Vec::new();
    for (index, ready) in ready_rows {
        let row = &plan.rows[index];
        let shared = shared_folder(row, &ready);
        let group = row.group.as_deref();
        match lanes.iter_mut().find(|(other, _)| group.is_some() && *other == group) {
            Some((_, lane)) => {
                lane.rows.push((index, ready));
                lane.shared_folders.extend(shared);
            }
            None => lanes.push((
                group,
                Lane {
                    rows: vec![(index, ready)],
                    shared_folders: shared.into_iter().collect(),
                },
            )),
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

fn start_page(plan: &Plan, rows: &[(usize, ReadyRow)]) -> Option<Page> {
    let needs_it = |(index, _): &(usize, ReadyRow)| plan.rows[*index].launch().is_some_and(|launch| launch.needs.http);
    // Without a page the rows that need it cannot lay out their fixtures, and say so.
    rows.iter().any(needs_it).then(Page::serve).and_then(Result::ok)
}

fn end(sink: &Sink, skip: Option<Skip>) {
    if let Some(skip) = skip {
        sink.send(EventKind::Skipped(skip));
    }
    sink.send(EventKind::RowDone);
}

/// The npx or uvx spec of a row, with the cache it uses.
fn shared_folder(row: &Row, ready: &ReadyRow) -> Option<String> {
    let command = launch::command(row.launch()?, ready, &Fixtures::default());
    match identity::launcher_of(&command) {
        Launcher::Npx | Launcher::Uvx => {
            let (ecosystem, name, _) = identity::wanted_of(&command)?;
            Some(format!("{} {name}", ecosystem.name()))
        }
        Launcher::Direct | Launcher::Shell | Launcher::Docker => None,
    }
}

/// Starts lanes as places become free; one whose shared folder is in use waits.
async fn work_off(
    plan: &Arc<Plan>,
    mut waiting: VecDeque<Lane>,
    page: Option<&str>,
    interruption: &Interruption,
    sink: &dyn Fn(&RowId) -> Sink,
) -> Vec<RowId> {
    let (done, mut finished) = unbounded_channel();
    let mut running: Vec<Running> = Vec::new();
    let mut broken = Vec::new();
    let mut begun = 0;
    loop {
        while running.len() < plan.settings.jobs
            && !interruption.came()
            && let Some(lane) = take_next(&mut waiting, &running)
        {
            begun += 1;
            let shared_folders = lane.shared_folders;
            let measurements = lane.rows.into_iter().map(|(row, ready)| Measurement {
                plan: Arc::clone(plan),
                row,
                ready,
                page: page.map(str::to_owned),
                sink: sink(&plan.rows[row].id),
                interruption: interruption.clone(),
            });
            let thread = start(
                measurements.collect(),
                Done {
                    lane: begun,
                    sender: done.clone(),
                },
            );
            running.push(Running {
                lane: begun,
                shared_folders,
                thread,
            });
        }
        if running.is_empty() {
            break;
        }
        // Some lane is running, so that a word from it must come.
        let Some((lane, broken_rows)) = finished.recv().await else {
            break;
        };
        broken.extend(broken_rows);
        if let Some(at) = running.iter().position(|other| other.lane == lane) {
            // It said its last word and is about to return; what it could not survive it has told.
            drop(running.swap_remove(at).thread.join());
        }
    }
    for (left, _) in waiting.into_iter().flat_map(|lane| lane.rows) {
        end(&sink(&plan.rows[left].id), Some(not_begun()));
    }
    broken
}

/// The first waiting lane that may run beside those that do.
fn take_next(waiting: &mut VecDeque<Lane>, running: &[Running]) -> Option<Lane> {
    let in_use = |folder: &String| running.iter().any(|other| other.shared_folders.contains(folder));
    let at = waiting
        .iter()
        .position(|lane| !lane.shared_folders.iter().any(in_use))?;
    waiting.remove(at)
}

/// A lane on its thread.
struct Running {
    lane: usize,
    shared_folders: Vec<String>,
    thread: JoinHandle<()>,
}

/// How a lane tells that it is over.
struct Done {
    lane: usize,
    sender: UnboundedSender<(usize, Vec<RowId>)>,
}

fn start(measurements: Vec<Measurement>, done: Done) -> JoinHandle<()> {
    let rows: Vec<(RowId, Sink)> = measurements
        .iter()
        .map(|measurement| {
            (
                measurement.plan.rows[measurement.row].id.clone(),
                measurement.sink.clone(),
            )
        })
        .collect();
    thread::spawn(move || {
        // A bug in one row must not take the others and the record with it.
        let lived = panic::catch_unwind(AssertUnwindSafe(|| on_this_thread(measurements)));
        for (_, sink) in &rows {
            end(sink, None);
        }
        let broken = if lived.is_err() {
            rows.into_iter().map(|(id, _)| id).collect()
        } else {
            Vec::new()
        };
        // The scheduler waits for as long as a lane runs.
        drop(done.sender.send((done.lane, broken)));
    })
}

/// A current-thread runtime costs a call the least.
fn on_this_thread(measurements: Vec<Measurement>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the system gives a thread its event queue");
    runtime.block_on(async {
        let mut courses: Vec<Course> = measurements.into_iter().filter_map(Course::begin).collect();
        while !courses.is_empty() {
            let mut going_on = Vec::new();
            for mut course in courses {
                if course.next().await {
                    going_on.push(course);
                }
            }
            courses = going_on;
        }
    });
    // What is still blocked in a name look-up must not hold the run.
    runtime.shutdown_background();
}
