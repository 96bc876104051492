//! Every time of a record, rounded to what its file holds. So a report that is made from a
//! run and one that is made from its record later cannot differ in a digit.

use std::time::Duration;

use jiff::Timestamp;

use crate::event::{ProbeFacts, ResourceFacts, SessionFacts, ShutdownFacts};

use super::{Calibration, ProbeRecord, RowRecord, RunRecord};

/// A tenth of a microsecond: finer than any clock read twice, coarse enough to read.
const GRAIN: u64 = 100;

impl RunRecord {
    /// Rounds every time: moments as the file writes them, down to the millisecond.
    pub(super) fn round(&mut self) {
        for moment in [&mut self.started, &mut self.finished] {
            let milliseconds = Timestamp::from_millisecond(moment.as_millisecond());
            *moment = milliseconds.expect("what lies near a moment is one");
        }
        if let Some(Calibration {
            samples: _,
            median,
            p95,
        }) = &mut self.calibration
        {
            *median = rounded(*median);
            *p95 = rounded(*p95);
        }
        self.rows.iter_mut().for_each(round_row);
    }
}

fn round_row(row: &mut RowRecord) {
    optional(&mut row.install);
    optional(&mut row.first_start);
    row.sessions.iter_mut().for_each(round_session);
    for ProbeRecord { first, samples, .. } in &mut row.probes {
        optional(first);
        every(samples);
    }
    round_resources(&mut row.resources);
}

fn round_session(session: &mut SessionFacts) {
    for time in [
        &mut session.first_byte,
        &mut session.cold_start,
        &mut session.list,
        &mut session.lifetime,
    ] {
        optional(time);
    }
    for ProbeFacts { first, samples, .. } in &mut session.probes {
        optional(first);
        every(samples);
    }
    if let Some(ShutdownFacts { took, .. }) = &mut session.shutdown {
        optional(took);
    }
    round_resources(&mut session.resources);
}

fn round_resources(resources: &mut Option<ResourceFacts>) {
    if let Some(resources) = resources {
        resources.cpu = rounded(resources.cpu);
    }
}

fn every(times: &mut [Duration]) {
    for time in times {
        *time = rounded(*time);
    }
}

fn optional(time: &mut Option<Duration>) {
    *time = time.map(rounded);
}

fn rounded(time: Duration) -> Duration {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - GRAIN);
    Duration::from_nanos((nanos + GRAIN / 2) / GRAIN * GRAIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::json::{from_json, to_json};
    use crate::record::samples;

    #[test]
    fn times_are_rounded_to_the_nearest_tenth_of_a_microsecond() {
        let check = |nanos: u64, to: u64| assert_eq!(rounded(Duration::from_nanos(nanos)), Duration::from_nanos(to));
        check(3_034_960, 3_035_000);
        check(3_034_949, 3_034_900);
        check(49, 0);
        assert!(rounded(Duration::MAX) > Duration::from_secs(1 << 32));
    }

    #[test]
    fn moments_are_what_the_file_holds_of_them() {
        let finished = "2026-11-30T02:15:02.4256789Z".parse().expect("a moment");
        let run = samples::builder(&samples::plan(Vec::new())).finish(finished, false);
        let read = from_json(&to_json(&run)).expect("a record");
        assert_eq!((run.started, run.finished), (read.started, read.finished));
    }
}
