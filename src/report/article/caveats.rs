//! What to keep in mind: caveats, each of them said only where the data of this run give cause.

use crate::event::Launcher;
use crate::record::{ProbeRecord, RowRecord, RunRecord};
use crate::report::main_table::server_name;
use crate::stats;
use crate::text::{counted, duration_words, milliseconds};

use super::{Part, Prose, enumerated};

/// Below this many samples the median has no 95 % interval: no pair of ranks will do.
const INTERVAL_NEEDS: usize = 6;
/// Our own choice: from this share of time on in which some process waited for a CPU, the times of a
/// row may be those of its host.
const MUCH_PRESSURE: f64 = 10.0;
/// Our own choice: a calibration whose p95 is this many times its median was not taken on a quiet
/// host. The first record of the whole fleet had 1.5 times.
const WIDE_SCATTER: u32 = 2;
/// Our own share is worth a word where it is more than a tenth of a median.
const SHARE: u32 = 10;
/// More rows than this are counted only.
const MOST_ROWS: usize = 8;

/// Adds the section.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    let caveats: Vec<String> = [
        interrupted(record),
        in_parallel(record),
        pressure(record),
        scatter(record),
        load(record),
        one_session(record),
        few_samples(record),
        pooled(record),
        first_calls(record),
        outliers(record),
        failures(record),
        wrappers(record),
        installed(record),
        own_share(record),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !caveats.is_empty() {
        parts.push(Part::Heading("What to keep in mind".to_owned()));
        parts.push(Part::List(caveats.into_iter().map(Prose::plain).collect()));
    }
}

fn interrupted(record: &RunRecord) -> Option<String> {
    record
        .interrupted
        .then(|| "The run was interrupted: what had not been measured by then is missing.".to_owned())
}

fn in_parallel(record: &RunRecord) -> Option<String> {
    (record.jobs > 1).then(|| {
        format!(
            "Up to {} rows ran at a time and may have slowed each other down; for figures to publish, use --jobs 1.",
            record.jobs
        )
    })
}

fn pressure(record: &RunRecord) -> Option<String> {
    let above = |row: &&RowRecord| {
        row.load
            .cpu_pressure_avg10
            .is_some_and(|pressure| pressure > MUCH_PRESSURE)
    };
    let rows: Vec<String> = record
        .rows
        .iter()
        .filter(above)
        .filter_map(|row| {
            let pressure = row.load.cpu_pressure_avg10?;
            Some(format!("{} ({pressure:.1} %)", server_name(row, record)))
        })
        .collect();
    some_of(rows).map(|rows| {
        format!(
            "A noisy host: in the 10 s before these rows some process waited for a CPU for more than \
             {MUCH_PRESSURE:.0} % of the time, which may be the row before or something else: {rows}."
        )
    })
}

fn scatter(record: &RunRecord) -> Option<String> {
    let calibration = record.calibration?;
    (calibration.p95 > calibration.median * WIDE_SCATTER).then(|| {
        format!(
            "A noisy host: the calibration scatters, its p95 ({} ms) is more than {WIDE_SCATTER} times its median \
             ({} ms).",
            milliseconds(calibration.p95),
            milliseconds(calibration.median)
        )
    })
}

fn load(record: &RunRecord) -> Option<String> {
    let cores = record.host.logical_cpus?;
    let above = |row: &&RowRecord| row.load.load_average_1m.is_some_and(|load| load > cores as f64);
    let rows = names(record.rows.iter().filter(above), record)?;
    Some(format!(
        "The load average was above the number of cores ({cores}) just before {rows}."
    ))
}

fn one_session(record: &RunRecord) -> Option<String> {
    let of = |count: usize| {
        record
            .rows
            .iter()
            .filter(|row| {
                row.sessions
                    .iter()
                    .filter(|session| session.cold_start.is_some())
                    .count()
                    == count
            })
            .count()
    };
    (of(1) > 0).then(|| {
        format!(
            "Cold start and tools/list of {} are single measurements, whose scatter is not known; --cold-starts and \
             --repeats measure more.",
            counted(of(1), "row")
        )
    })
}

fn few_samples(record: &RunRecord) -> Option<String> {
    let timed = || probes(record).filter(|probe| !probe.samples.is_empty());
    let below = |n: usize| timed().filter(|probe| probe.samples.len() < n).count();
    let (no_p95, no_interval) = (below(stats::P95_NEEDS), below(INTERVAL_NEEDS));
    let few = (no_p95 > 0).then(|| {
        format!(
            "Small n: fewer than {} samples in {no_p95} of {}, so that the p95 there is the maximum",
            stats::P95_NEEDS,
            counted(timed().count(), "probe"),
        )
    })?;
    Some(match no_interval {
        0 => format!("{few}."),
        count => format!("{few}; fewer than {INTERVAL_NEEDS} in {count}, too few for an interval of the median."),
    })
}

fn pooled(record: &RunRecord) -> Option<String> {
    let several = |row: &&RowRecord| {
        let with_samples =
            |session: &&crate::event::SessionFacts| session.probes.iter().any(|probe| !probe.samples.is_empty());
        row.sessions.iter().filter(with_samples).count() > 1
    };
    let rows = names(record.rows.iter().filter(several), record)?;
    Some(format!(
        "Samples of several sessions are pooled in the median and p95 of {rows}; each session's own stand under \
         Repeats."
    ))
}

/// Without a warm-up the first call is a sample, and often the slowest.
fn first_calls(record: &RunRecord) -> Option<String> {
    let without_warmup =
        || probes(record).filter(|probe| probe.warmup.unwrap_or_default() == 0 && probe.samples.len() > 1);
    let is_slowest = |probe: &&ProbeRecord| {
        probe.first.is_some()
            && probe.samples.first() == probe.first.as_ref()
            && probe.samples.iter().max() == probe.first.as_ref()
    };
    let slowest = without_warmup().filter(is_slowest).count();
    (slowest > 0).then(|| {
        format!(
            "The first call of a session counts where there is no warm-up: in {slowest} of {} with more than one \
             sample it was the slowest. It moves a p95 far more than a median.",
            counted(without_warmup().count(), "probe")
        )
    })
}

fn outliers(record: &RunRecord) -> Option<String> {
    let flagged = probes(record).map(|probe| stats::outliers(&probe.samples).len());
    let (outliers, with_some) = flagged
        .filter(|count| *count > 0)
        .fold((0, 0), |(sum, probes), count| (sum + count, probes + 1));
    let samples: usize = probes(record).map(|probe| probe.samples.len()).sum();
    (outliers > 0).then(|| {
        format!(
            "{outliers} of {} are outliers (modified z-score above 3.5), in {}; they are in every figure.",
            counted(samples, "sample"),
            counted(with_some, "probe")
        )
    })
}

fn failures(record: &RunRecord) -> Option<String> {
    let of_rows = record
        .rows
        .iter()
        .flat_map(|row| row.probes.iter().map(move |probe| (row, probe)));
    let failed: Vec<String> = of_rows
        .filter(|(_, probe)| probe.failures > 0)
        .map(|(row, probe)| {
            format!(
                "{}, {} ({} of {})",
                server_name(row, record),
                probe.name,
                probe.failures,
                counted(probe.calls as usize, "call")
            )
        })
        .collect();
    some_of(failed)
        .map(|failed| format!("Failed calls have no part in the figures, which are those of the rest: {failed}."))
}

fn wrappers(record: &RunRecord) -> Option<String> {
    let rows: Vec<String> = record
        .rows
        .iter()
        .filter(|row| !row.sessions.is_empty())
        .filter_map(|row| match row.identity.launcher? {
            Launcher::Direct => None,
            wrapper @ (Launcher::Npx | Launcher::Uvx | Launcher::Shell | Launcher::Docker) => {
                Some(format!("{} ({})", server_name(row, record), wrapper.name()))
            }
        })
        .collect();
    some_of(rows).map(|rows| format!("The cold start has the time of a wrapper in it, as its users have it: {rows}."))
}

fn installed(record: &RunRecord) -> Option<String> {
    let rows: Vec<String> = record
        .rows
        .iter()
        .filter_map(|row| {
            Some(format!(
                "{} ({})",
                server_name(row, record),
                duration_words(row.install?)
            ))
        })
        .collect();
    some_of(rows).map(|rows| {
        format!("Installed in this run, which is in no figure; caches of the system may still have been cold: {rows}.")
    })
}

fn own_share(record: &RunRecord) -> Option<String> {
    let calibration = record.calibration?;
    let is_small = |row: &&RowRecord| {
        let samples = row.probes.first().map_or(&[][..], |probe| &probe.samples);
        stats::median(samples).is_some_and(|median| median < calibration.median * SHARE)
    };
    let rows = names(record.rows.iter().filter(is_small), record)?;
    Some(format!(
        "The client's own share ({} ms) is more than a tenth of the median of {rows}.",
        milliseconds(calibration.median)
    ))
}

fn probes(record: &RunRecord) -> impl Iterator<Item = &ProbeRecord> {
    record.rows.iter().flat_map(|row| &row.probes)
}

fn names<'record>(rows: impl Iterator<Item = &'record RowRecord>, record: &RunRecord) -> Option<String> {
    some_of(rows.map(|row| server_name(row, record)).collect())
}

/// The first of them in words, and how many others there are; null without any.
fn some_of(mut words: Vec<String>) -> Option<String> {
    let rest = words.len().saturating_sub(MOST_ROWS);
    words.truncate(MOST_ROWS);
    if rest > 0 {
        words.push(counted(rest, "other"));
    }
    (!words.is_empty()).then(|| enumerated(&words))
}
