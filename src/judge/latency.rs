//! `latency-regression`: a timed call that is clearly slower than on earlier nights. The rule is made for
//! silence: better a slow week unnoticed than an alarm that nobody believes. `docs/measuring.md` has its
//! rates of false and missed alarms, as `benches/latency_simulation.rs` prints them.

use std::time::Duration;

use crate::finding::Code;
use crate::judge::nights::{Night, Tonight};
use crate::judge::sentences::Told;
use crate::judge::words::code;
use crate::record::{Host, Outcome, ProbeRecord, RowRecord};
use crate::stats;
use crate::text::{counted, duration_words};

#[cfg(test)]
mod tests;

/// Tonight's median must be above this many times the median of the earlier nights' medians.
const FACTOR: f64 = 1.5;
/// Fewer earlier nights say nothing.
const NIGHTS: usize = 5;
/// What is needed where the earlier nights do not agree well.
const NIGHTS_IF_SCATTERED: usize = 10;
/// Fewer samples of one session are a median of whatever the machine did just then.
const SAMPLES: usize = 5;
/// A smaller difference is no server's: pipes and the scheduler of a busy machine make it.
const LEAST: Duration = Duration::from_micros(100);
/// From which standard deviation on, as a share of the mean, they do not.
const SCATTERED: f64 = 0.10;

/// How much slower it is than it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slower {
    /// The median of the earlier nights' medians.
    pub usual: Duration,
    /// The slowest of them.
    pub slowest: Duration,
    /// How many there are.
    pub nights: usize,
}

/// Whether tonight's median is a regression against those of earlier nights, which must be comparable.
pub fn slower(tonight: Duration, earlier: &[Duration]) -> Option<Slower> {
    let needed = if scatter(earlier)? > SCATTERED {
        NIGHTS_IF_SCATTERED
    } else {
        NIGHTS
    };
    let usual = stats::median(earlier)?;
    let slowest = *earlier.iter().max()?;
    let regressed = tonight > usual.mul_f64(FACTOR) && tonight > slowest;
    (earlier.len() >= needed && regressed).then_some(Slower {
        usual,
        slowest,
        nights: earlier.len(),
    })
}

/// The finding for the timed call of a row, its first probe.
pub(super) fn against(row: &RowRecord, tonight: &Tonight, nights: &[Night<'_>]) -> Option<Told> {
    let probe = timed(row)?;
    if samples_of_a_session(probe) < SAMPLES {
        return None;
    }
    let median = stats::median(&probe.samples)?;
    let earlier: Vec<Duration> = nights
        .iter()
        .filter(|night| same_conditions(tonight, row, night))
        .filter_map(|night| timed(night.row))
        .filter(|before| same_call(probe, before))
        .filter_map(|before| stats::median(&before.samples))
        .collect();
    let Slower { usual, slowest, nights } = slower(median, &earlier)?;
    let least = tonight.client_share.unwrap_or_default().max(LEAST);
    if median.saturating_sub(usual) <= least {
        return None;
    }
    let limit = usual.mul_f64(FACTOR).max(slowest).max(usual + least);
    let message = format!(
        "{} took {} at the median, {:.1} times the usual {} of {} (the slowest of them took {})",
        code(&probe.tool),
        duration_words(median),
        median.div_duration_f64(usual),
        duration_words(usual),
        counted(nights, "earlier night"),
        duration_words(slowest),
    );
    Some(
        Told::new(Code::LatencyRegression, message)
            .expected(format!("up to {}", duration_words(limit)))
            .actual(duration_words(median))
            .hint(busy(row, &tonight.host)),
    )
}

/// The timed call, where every call of it ended as expected.
fn timed(row: &RowRecord) -> Option<&ProbeRecord> {
    row.probes
        .first()
        .filter(|probe| matches!(probe.outcome, Some(Outcome::Ok | Outcome::Refused)))
}

/// How many calls each session was to make of it; where an earlier record does not say, how many there are.
fn samples_of_a_session(probe: &ProbeRecord) -> usize {
    let planned = probe.planned_calls.map(|calls| calls as usize);
    planned.unwrap_or(probe.samples.len()).min(probe.samples.len())
}

/// Same host, runtime, version and jobs; what is not known on one side is another thing here.
fn same_conditions(tonight: &Tonight, row: &RowRecord, night: &Night<'_>) -> bool {
    let machine = |host: &Host| (host.id.clone(), host.cpu.clone(), host.logical_cpus);
    let facts = |row: &RowRecord| {
        let identity = &row.identity;
        (
            identity.package.name.clone(),
            identity.package.installed.clone(),
            identity.reported_version.clone(),
            identity
                .runtime
                .as_ref()
                .map(|runtime| (runtime.kind.clone(), runtime.version.clone())),
            identity.era,
        )
    };
    machine(&tonight.host) == machine(&night.run.host)
        && tonight.jobs == night.run.jobs
        && facts(row) == facts(night.row)
}

fn same_call(one: &ProbeRecord, other: &ProbeRecord) -> bool {
    one.name == other.name
        && one.tool == other.tool
        && one.outcome == other.outcome
        && one.calls == other.calls
        && one.samples.len() == other.samples.len()
}

/// The standard deviation as a share of the mean; null for fewer than two nights.
fn scatter(medians: &[Duration]) -> Option<f64> {
    let count = medians.len() as f64;
    let seconds = || medians.iter().map(Duration::as_secs_f64);
    let mean = seconds().sum::<f64>() / count;
    if medians.len() < 2 || mean <= 0.0 {
        return None;
    }
    let variance = seconds().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Some(variance.sqrt() / mean)
}

/// More waiting for a core than there are cores is the usual reason, and no fault of the server.
fn busy(row: &RowRecord, host: &Host) -> Option<String> {
    let load = row.load.load_average_1m?;
    let cores = host.logical_cpus?;
    (load > cores as f64).then(|| {
        format!(
            "the host was busy just before: load {load:.1} on {}",
            counted(cores, "core")
        )
    })
}
