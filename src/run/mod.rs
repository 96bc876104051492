//! A run: packages put in place, rows measured, one stream of events out, every string in it
//! already masked. It judges nothing and writes nothing.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::event::{Event, EventKind, Observation, RowId, Seen, Sink, Skip, SkipReason};
use crate::finding::Phase;
use crate::plan::{Entry, Plan};
use crate::prepare;

mod calibration;
mod host_load;
mod interruption;
mod launch;
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
    let mut hand_over = |mut event: Event| {
        event.mask(&plan.mask);
        on_event(event);
    };
    let broken = {
        let mut work = pin!(prepare_and_measure(plan, interruption, sender));
        loop {
            tokio::select! {
                biased;
                Some(event) = receiver.recv() => hand_over(event),
                broken = &mut work => break broken,
            }
        }
    };
    while let Ok(event) = receiver.try_recv() {
        hand_over(event);
    }
    broken
}

/// Takes every row from the plan to its end.
async fn prepare_and_measure(
    plan: &Arc<Plan>,
    interruption: &Interruption,
    sender: UnboundedSender<Event>,
) -> Vec<RowId> {
    let sink = |row: &RowId| Sink::new(row.clone(), sender.clone());
    for row in &plan.rows {
        tell_unusable(&row.entry, &sink(&row.id));
    }
    let ready = prepare::prepare(plan, &sink, &interruption.wind_down).await;
    schedule::measure_all(plan, ready, interruption, &sink).await
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
