//! How it was measured: what a reader needs to compare the figures with others, and the rules by which
//! they were made. What the system did not tell is left out.

use crate::event::SessionFacts;
use crate::record::{Host, ProbeRecord, RunRecord};
use crate::report::sentences;
use crate::text::{counted, duration_words};

use super::{Part, Prose};

const RULES: [(&str, &str); 3] = [
    (
        "Cold start and list",
        "a cold start goes from just before the process is spawned to the last byte of the handshake result; a fresh \
         installation was started once before, so that installing, first imports and byte-compiling are no part of \
         it. tools/list goes from its write to the last byte of the last page.",
    ),
    (
        "Calls",
        "from just before the write to the last byte of the answer, one in flight unless said above (closed loop). Calls that failed are counted and never timed.",
    ),
    (
        "Quantile rule",
        "the median is the middle value, or the midpoint of the two; its 95 % interval comes from exact order \
         statistics (n = 30: ranks 10 and 21) and exists from six samples on. p95 is the nearest rank, the ceil(0.95 \
         n)th of the sorted samples, always a value that was seen; below n = 20 it is the maximum.",
    ),
];

/// Adds the section.
pub(super) fn push(parts: &mut Vec<Part>, record: &RunRecord) {
    let mut facts: Vec<(&str, String)> = vec![("When", when(record)), ("With", with(record))];
    facts.extend(host(&record.host).map(|host| ("Host", format!("{host}."))));
    facts.extend(load(record).map(|load| ("Load", load)));
    facts.push(("Order", order(record)));
    facts.push(("n", counts(record)));
    facts.extend(warmup(record).map(|warmup| ("Warm-up", warmup)));
    facts.extend(pinned(record).map(|pinned| ("Protocol", pinned)));
    facts.extend(sentences::concurrency(record).map(|several| ("In flight", several)));
    facts.push(("Calibration", calibration(record)));
    let rules = RULES.into_iter().map(|(what, rule)| (what, rule.to_owned()));
    let lines = facts.into_iter().chain(rules);
    parts.push(Part::Heading("How it was measured".to_owned()));
    parts.push(Part::List(
        lines
            .map(|(what, said)| Prose::default().strong(what).text(format!(": {said}")))
            .collect(),
    ));
}

fn when(record: &RunRecord) -> String {
    let started = record.started.strftime("%Y-%m-%d %H:%M:%S UTC");
    let took = std::time::Duration::try_from(record.finished.duration_since(record.started)).ok();
    let took = took.map_or_else(String::new, |took| {
        format!("; the whole run took {}", duration_words(took))
    });
    format!("{started}{took}.")
}

fn with(record: &RunRecord) -> String {
    let set: Vec<String> = record
        .settings
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    let set = if set.is_empty() {
        String::new()
    } else {
        format!(" Set on the command line: {}.", set.join(", "))
    };
    let sha256: String = record.manifest_sha256.chars().take(12).collect();
    format!(
        "mcp-smoke {}, manifest {} (SHA-256 {sha256}…).{set}",
        record.tool_version,
        record.manifest.to_string_lossy()
    )
}

fn host(host: &Host) -> Option<String> {
    let memory = host
        .memory_bytes
        .map(|bytes| format!("{:.1} GiB of memory", bytes as f64 / f64::from(1 << 30)));
    let parts: Vec<String> = [
        host.os.clone(),
        host.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        host.cpu.clone(),
        host.logical_cpus.map(|count| counted(count, "logical core")),
        memory,
        host.virtualization.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn load(record: &RunRecord) -> Option<String> {
    let at_start = record.host.load_average.map(|[one, five, fifteen]| {
        format!("load average at the start {one:.2}, {five:.2}, {fifteen:.2} (1, 5 and 15 minutes)")
    });
    let loads = record.rows.iter().filter_map(|row| row.load.load_average_1m);
    let of_rows = range(loads, 2).map(|range| format!("just before each row {range} (1 minute)"));
    let pressures = record.rows.iter().filter_map(|row| row.load.cpu_pressure_avg10);
    let pressure = range(pressures, 1).map(|range| format!("CPU pressure just before each row {range} % (some, 10 s)"));
    let parts: Vec<String> = [at_start, of_rows, pressure].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

fn order(record: &RunRecord) -> String {
    let jobs = match record.jobs {
        0 | 1 => "rows ran one at a time (jobs = 1)".to_owned(),
        jobs => format!("up to {jobs} rows ran at a time (jobs = {jobs})"),
    };
    format!(
        "{jobs}, in an order drawn from the seed {}; rows of one group take turns, session by session.",
        record.seed
    )
}

fn counts(record: &RunRecord) -> String {
    let planned = range(probes(record).filter_map(|probe| probe.planned_calls.map(f64::from)), 0);
    let planned = planned.map_or_else(String::new, |calls| {
        format!("; {calls} calls planned per probe and session")
    });
    let probes = probes(record).filter(|probe| probe.outcome.is_some()).count();
    format!(
        "{} and {}{planned}. The n of each figure stands with its table.",
        counted(sessions(record), "session"),
        counted(probes, "probe"),
    )
}

/// Null where neither the probes nor the command line tell.
fn warmup(record: &RunRecord) -> Option<String> {
    let told = range(probes(record).filter_map(|probe| probe.warmup.map(f64::from)), 0)?;
    Some(match told.as_str() {
        "0" => "none; the first call of a session is among its samples.".to_owned(),
        some => format!("{some} calls per probe and session before those that count."),
    })
}

/// Rows that do not leave the protocol to us.
fn pinned(record: &RunRecord) -> Option<String> {
    let rows: Vec<String> = record
        .rows
        .iter()
        .filter_map(|row| Some(format!("{} ({})", row.id, row.identity.pinned.as_deref()?)))
        .collect();
    (!rows.is_empty()).then(|| format!("asked for by the manifest in {}.", rows.join(", ")))
}

fn calibration(record: &RunRecord) -> String {
    let said = sentences::calibration(record);
    let said = said.strip_prefix("calibration: ").unwrap_or(&said);
    format!("the embedded echo server, measured first by the same code: {said}.")
}

fn probes(record: &RunRecord) -> impl Iterator<Item = &ProbeRecord> {
    record.rows.iter().flat_map(|row| &row.probes)
}

fn sessions(record: &RunRecord) -> usize {
    let reached = |session: &&SessionFacts| session.cold_start.is_some();
    record.rows.iter().flat_map(|row| &row.sessions).filter(reached).count()
}

/// `0.42`, or `0.42 to 1.90`.
fn range(values: impl Iterator<Item = f64>, decimals: usize) -> Option<String> {
    let (least, most) = values
        .map(|value| (value, value))
        .reduce(|(least, most), (value, _)| (least.min(value), most.max(value)))?;
    let (least, most) = (format!("{least:.decimals$}"), format!("{most:.decimals$}"));
    Some(if least == most {
        least
    } else {
        format!("{least} to {most}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_record;

    fn conditions(record: &RunRecord) -> String {
        let mut parts = Vec::new();
        push(&mut parts, record);
        format!("{parts:?}")
    }

    #[test]
    fn parallel_rows_are_told() {
        let mut record = sample_record();
        assert!(conditions(&record).contains("one at a time (jobs = 1)"));
        record.jobs = 4;
        assert!(conditions(&record).contains("up to 4 rows ran at a time"));
    }

    #[test]
    fn what_the_system_did_not_tell_is_left_out() {
        let mut record = sample_record();
        record.host = Host::default();
        for row in &mut record.rows {
            row.load = crate::event::HostLoad::default();
        }
        let said = conditions(&record);
        assert!(
            !said.contains("Host") && !said.contains("Load") && !said.contains("pressure"),
            "{said}"
        );
    }

    #[test]
    fn a_record_that_does_not_know_its_warm_up_says_nothing_of_it() {
        let mut record = sample_record();
        assert!(conditions(&record).contains("Warm-up"));
        for probe in record.rows.iter_mut().flat_map(|row| &mut row.probes) {
            probe.warmup = None;
            probe.planned_calls = None;
        }
        let said = conditions(&record);
        assert!(!said.contains("Warm-up") && !said.contains("planned"), "{said}");
    }

    #[test]
    fn loads_are_given_as_a_range() {
        assert_eq!(range([0.4, 1.9, 0.2].into_iter(), 2).as_deref(), Some("0.20 to 1.90"));
        assert_eq!(range([0.4].into_iter(), 1).as_deref(), Some("0.4"));
        assert_eq!(range(std::iter::empty(), 1), None);
    }
}
