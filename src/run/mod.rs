//! A run: packages put in place, rows measured, one stream of events out, every string in it
//! already masked. It judges nothing and writes nothing.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::event::{Event, EventKind, Observation, RowId, Seen, Sink, Skip, SkipReason};
use crate::finding::Phase;
use crate::plan::{Entry, Plan};
use crate::prepare::{self, Readiness, ReadyRow};

mod calibration;
mod host_load;
mod interruption;
mod launch;
mod newest;
mod retry;
mod row;
mod schedule;
mod stage;

pub use calibration::{CALIBRATION_CALLS, calibrate};
pub use interruption::Interruption;
pub use launch::program_of;
pub use retry::went_wrong;
pub use stage::{Stage, Staged, StagedRow, stage};

/// Runs the plan. Events reach `on_event` in the order in which they happened in each row. Gives
/// the rows that broke: bugs of ours.
pub async fn run(plan: &Arc<Plan>, interruption: &Interruption, mut on_event: impl FnMut(Event)) -> Vec<RowId> {
    let (sender, mut receiver) = unbounded_channel();
    let mut answered = newest::Answered::default();
    let mut hand_over = |mut event: Event| {
        answered.take(&event);
        event.mask(&plan.mask);
        on_event(event);
    };
    let sink = |row: &RowId| Sink::new(row.clone(), sender.clone());
    let work = prepare_and_measure(plan, interruption, &sink);
    let (broken, ready) = pump(&mut receiver, work, &mut hand_over).await;
    let asking = newest::tell_all(plan, &ready, &answered, interruption, &sink);
    let mut hand_over = |mut event: Event| {
        event.mask(&plan.mask);
        on_event(event);
    };
    pump(&mut receiver, asking, &mut hand_over).await;
    broken
}

/// Hands events over while the work goes on, and those that are left when it is done.
async fn pump<Done>(
    receiver: &mut UnboundedReceiver<Event>,
    work: impl Future<Output = Done>,
    hand_over: &mut impl FnMut(Event),
) -> Done {
    let done = {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                Some(event) = receiver.recv() => hand_over(event),
                done = &mut work => break done,
            }
        }
    };
    while let Ok(event) = receiver.try_recv() {
        hand_over(event);
    }
    done
}

/// Takes every row from the plan to its end. Gives the rows that broke, and what each was given that ran.
async fn prepare_and_measure(
    plan: &Arc<Plan>,
    interruption: &Interruption,
    sink: &dyn Fn(&RowId) -> Sink,
) -> (Vec<RowId>, BTreeMap<RowId, ReadyRow>) {
    for row in &plan.rows {
        tell_unusable(&row.entry, &sink(&row.id));
    }
    let readiness = prepare::prepare(plan, sink, &interruption.wind_down).await;
    let ready = readiness.iter().filter_map(|(row, readiness)| match readiness {
        Readiness::Ready(ready) => Some((row.clone(), ready.clone())),
        Readiness::Skipped(_) | Readiness::Failed => None,
    });
    let ready = ready.collect();
    let broken = schedule::measure_all(plan, readiness, interruption, sink).await;
    (broken, ready)
}

/// Rows that no process is started for end here.
fn tell_unusable(entry: &Entry, sink: &Sink) {
    match entry {
        Entry::Run(_) => return,
        Entry::Disabled => sink.send(EventKind::Skipped(Skip {
            reason: SkipReason::Disabled,
            message: "disabled in the manifest".into(),
            cure: Some("set enabled = true".into()),
        })),
        Entry::Remote(url) => sink.send(EventKind::Skipped(Skip {
            reason: SkipReason::Remote,
            message: format!("{url} is remote, and only stdio is supported yet"),
            cure: None,
        })),
        Entry::Unusable(problems) => {
            for problem in problems {
                let what = Seen::ConfigError {
                    field: problem.field.clone(),
                    problem: problem.problem.clone(),
                };
                sink.send(EventKind::Observed(Observation {
                    phase: Phase::Prepare,
                    probe: None,
                    what,
                }));
            }
        }
    }
    sink.send(EventKind::RowDone);
}
