//! From the events of a run to its record. Takes facts in as they come and puts them in order; it does
//! not judge, so statuses, totals and the exit code are `judge`'s to fill in.
//!
//! No row of the plan is ever lost: one that never reported its end still comes out, and never clean.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::event::{Event, EventKind, RowId};
use crate::plan::Plan;
use crate::text::Mask;

use super::row::RowDraft;
use super::{Calibration, Host, RunRecord, Totals};

/// What is known of a run before it begins.
#[derive(Clone, Debug)]
pub struct RunHeader {
    /// The run's id, from the store.
    pub id: String,
    /// When it started.
    pub started: jiff::Timestamp,
    /// The machine.
    pub host: Host,
    /// `--partition`.
    pub partition: Option<String>,
    /// Where the manifest is, links resolved.
    pub manifest_file: Option<PathBuf>,
    /// Rows that the lock has and the manifest no longer.
    pub gone: Vec<RowId>,
}

/// Makes a record of a run's events.
#[derive(Debug)]
pub struct RecordBuilder {
    record: RunRecord,
    rows: Vec<RowDraft>,
    places: BTreeMap<RowId, usize>,
    mask: Mask,
}

impl RecordBuilder {
    /// A record without facts: every row of the plan, in its order. `log_path` gives the log of a row
    /// as the record names it.
    pub fn new(header: RunHeader, plan: &Plan, log_path: impl Fn(&RowId) -> PathBuf) -> Self {
        let rows: Vec<_> = plan
            .rows
            .iter()
            .map(|row| RowDraft::new(row.clone(), log_path(&row.id)))
            .collect();
        let places = plan.rows.iter().enumerate();
        Self {
            places: places.map(|(place, row)| (row.id.clone(), place)).collect(),
            rows,
            mask: plan.mask.clone(),
            record: RunRecord {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                id: header.id,
                started: header.started,
                finished: header.started,
                manifest: plan.manifest.clone(),
                manifest_file: header.manifest_file,
                gone: header.gone,
                manifest_sha256: plan.manifest_sha256.clone(),
                jobs: plan.settings.jobs,
                seed: plan.settings.seed,
                partition: header.partition,
                settings: plan.settings.flags.clone(),
                host: header.host,
                calibration: None,
                rows: Vec::new(),
                totals: Totals::default(),
                exit_code: 0,
                interrupted: false,
            },
        }
    }

    /// Takes one event in, masked already. Events of rows that the plan does not have are left out:
    /// the calibration's are of that kind.
    pub fn apply(&mut self, event: Event) {
        let Some(row) = self.places.get(&event.row).map(|place| &mut self.rows[*place]) else {
            return;
        };
        match event.kind {
            // For progress and logs only.
            EventKind::Doing(_) | EventKind::Log(_) | EventKind::Wire(_) | EventKind::CallDone { .. } => {}
            EventKind::Installed(took) => row.installed(took),
            EventKind::PackageInPlace(package) => row.package_in_place(package),
            EventKind::Newest(newest) => row.newest(newest),
            EventKind::Measuring(load) => row.measuring(load),
            EventKind::Session(session) => row.session(*session),
            EventKind::Observed(observation) => row.observed(observation),
            EventKind::Skipped(skip) => row.skipped(skip),
            EventKind::RowDone => row.done(),
        }
    }

    /// What the client itself costs.
    pub fn calibration(&mut self, calibration: Option<Calibration>) {
        self.record.calibration = calibration;
    }

    /// The record, ready to be judged.
    pub fn finish(self, finished: jiff::Timestamp, interrupted: bool) -> RunRecord {
        let mut record = self.record;
        record.finished = finished;
        record.interrupted = interrupted;
        record.rows = self.rows.into_iter().map(|row| row.finish(interrupted)).collect();
        record.round();
        // Events came masked; titles, probe names and settings come from the plan.
        record.mask(&self.mask);
        record
    }
}
