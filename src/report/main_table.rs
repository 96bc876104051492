//! The figures of the main table, once for every format: which sample counts for which cell, what
//! is unknown, and what the call came to. Texts are still as the servers sent them; each format
//! cleans them for its own target.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::SessionFacts;
use crate::finding::{Class, Code, Finding, Phase, Severity};
use crate::record::{Outcome, PackageSource, ProbeRecord, RowRecord, RunRecord, Status};
use crate::stats;

/// The main table of a run.
#[derive(Clone, Debug)]
pub(crate) struct MainTable {
    /// In the order of the manifest.
    pub(crate) rows: Vec<MainRow>,
    /// How many samples the median and p95 of most rows have; null if no row has any.
    pub(crate) usual_samples: Option<usize>,
    /// How many sessions the cold start of most rows has; null if no row has one.
    pub(crate) usual_sessions: Option<usize>,
    /// Whether some p95 is only the maximum.
    pub(crate) has_dagger: bool,
}

/// One row of it.
#[derive(Clone, Debug)]
pub(crate) struct MainRow {
    pub(crate) status: Status,
    /// The title, with the runtime's name where the server runs on several.
    pub(crate) server: String,
    pub(crate) reported_name: Option<String>,
    pub(crate) reported_version: Option<String>,
    pub(crate) package: Option<String>,
    pub(crate) installed: Option<String>,
    /// Whether the package was taken from the manifest, since none owned the running script.
    pub(crate) by_manifest: bool,
    /// `node 20.20.2`.
    pub(crate) runtime: Option<String>,
    /// The median over all sessions.
    pub(crate) cold_start: Option<Duration>,
    /// The median over all sessions.
    pub(crate) list: Option<Duration>,
    /// How many sessions that is, where it is not the usual number.
    pub(crate) unusual_sessions: Option<usize>,
    /// How many lists that is, where it is not as many as cold starts.
    pub(crate) unusual_lists: Option<usize>,
    pub(crate) tools: Option<usize>,
    /// The tool of the first probe.
    pub(crate) timed_call: Option<String>,
    pub(crate) median: Option<Duration>,
    pub(crate) p95: Option<Duration>,
    /// Whether the p95 is only the maximum.
    pub(crate) dagger: bool,
    /// How many samples that is, where it is not the usual number.
    pub(crate) unusual_samples: Option<usize>,
    pub(crate) result: String,
}

/// The figures of a run's main table.
pub(crate) fn main_table(record: &RunRecord) -> MainTable {
    let sample_counts = record.rows.iter().map(|row| timed_samples(row).len());
    let session_counts = record
        .rows
        .iter()
        .map(|row| durations(row, |session| session.cold_start).len());
    let usual_samples = most_frequent(sample_counts);
    let usual_sessions = most_frequent(session_counts);
    let rows: Vec<MainRow> = record
        .rows
        .iter()
        .map(|row| MainRow {
            unusual_samples: unusual(timed_samples(row).len(), usual_samples),
            unusual_sessions: unusual(durations(row, |session| session.cold_start).len(), usual_sessions),
            ..main_row(row, &server_name(row, record))
        })
        .collect();
    MainTable {
        has_dagger: rows.iter().any(|row| row.dagger),
        rows,
        usual_samples,
        usual_sessions,
    }
}

/// The row's title, with the runtime's name where the server runs on several.
pub(crate) fn server_name(row: &RowRecord, record: &RunRecord) -> String {
    let rows_of_server = record.rows.iter().filter(|other| other.server == row.server).count();
    match &row.runtime {
        Some(runtime) if rows_of_server > 1 => format!("{}, {runtime}", row.title),
        _ => row.title.clone(),
    }
}

fn main_row(row: &RowRecord, server: &str) -> MainRow {
    let samples = timed_samples(row);
    let cold_starts = durations(row, |session| session.cold_start).len();
    let identity = &row.identity;
    MainRow {
        status: row.status,
        server: server.to_owned(),
        reported_name: identity.reported_name.clone(),
        reported_version: identity.reported_version.clone(),
        package: identity.package.name.clone(),
        installed: identity.package.installed.clone(),
        by_manifest: identity.package.source == Some(PackageSource::Manifest),
        runtime: identity.runtime.as_ref().map(|runtime| match &runtime.version {
            Some(version) => format!("{} {version}", runtime.kind),
            None => runtime.kind.clone(),
        }),
        cold_start: stats::median(&durations(row, |session| session.cold_start)),
        list: stats::median(&durations(row, |session| session.list)),
        unusual_sessions: None,
        unusual_lists: unusual(durations(row, |session| session.list).len(), Some(cold_starts)),
        tools: row.tools.as_ref().map(Vec::len),
        timed_call: row.probes.first().map(|probe| probe.tool.clone()),
        median: stats::median(samples),
        p95: stats::p95(samples),
        dagger: !samples.is_empty() && samples.len() < stats::P95_NEEDS,
        unusual_samples: None,
        result: call_result(row),
    }
}

/// What the timed call came to, in the words of the last column.
fn call_result(row: &RowRecord) -> String {
    if let Some(skip) = &row.skip {
        return skip.reason.name().to_owned();
    }
    let Some(probe) = row.probes.first() else {
        return match row.status {
            Status::Fail | Status::Error => worst(&row.findings).map_or("no probe", |it| it.code.name()).to_owned(),
            Status::Pass | Status::Warn | Status::Skip => "no probe".to_owned(),
        };
    };
    let result = match probe.outcome {
        Some(Outcome::Ok) => "ok".to_owned(),
        Some(Outcome::Refused) => "refused, as it should".to_owned(),
        Some(Outcome::Failed) => failure(row, probe),
        None => match reason_of_silence(row) {
            Some(finding) if finding.phase == Phase::Call => finding.code.name().to_owned(),
            Some(finding) => format!("not reached: {}", finding.code),
            None => "not reached".to_owned(),
        },
    };
    let others = row.probes[1..]
        .iter()
        .filter(|other| other.outcome == Some(Outcome::Failed));
    match (probe.outcome, others.count()) {
        (Some(Outcome::Failed) | None, _) | (_, 0) => result,
        (_, 1) => format!("{result}, but another probe failed"),
        (_, count) => format!("{result}, but {count} other probes failed"),
    }
}

/// Why a call was not made: what fails the row as a server, an interruption, or what it does worst; which version
/// it is in and which tools it has stops no call.
fn reason_of_silence(row: &RowRecord) -> Option<&Finding> {
    let behaviour = || {
        let findings = row.findings.iter();
        findings.filter(|finding| finding.code.class() == Class::Behaviour && finding.severity > Severity::Note)
    };
    let fails = behaviour().find(|finding| finding.severity == Severity::Fail);
    let interrupted = || row.findings.iter().find(|finding| finding.code == Code::Interrupted);
    fails.or_else(interrupted).or_else(|| worst(behaviour()))
}

/// Which finding a failed probe has, and how often it failed where not always.
fn failure(row: &RowRecord, probe: &ProbeRecord) -> String {
    let of_calls = || row.findings.iter().filter(|finding| finding.phase == Phase::Call);
    // A finding does not say which probe it is about; those of one probe name its tool.
    let own = of_calls().filter(|finding| finding.message.contains(&probe.tool));
    let finding = own.max_by_key(|finding| finding.severity).or_else(|| worst(of_calls()));
    let code = finding.map_or("failed", |finding| finding.code.name());
    if probe.failures > 0 && probe.failures < probe.calls {
        return format!("{code} ({} of {} calls)", probe.failures, probe.calls);
    }
    code.to_owned()
}

/// The first of the gravest findings.
fn worst<'row>(findings: impl IntoIterator<Item = &'row Finding>) -> Option<&'row Finding> {
    let findings = findings.into_iter();
    findings.reduce(|worst, other| if other.severity > worst.severity { other } else { worst })
}

fn timed_samples(row: &RowRecord) -> &[Duration] {
    row.probes.first().map_or(&[], |probe| &probe.samples)
}

fn durations(row: &RowRecord, figure: fn(&SessionFacts) -> Option<Duration>) -> Vec<Duration> {
    row.sessions.iter().filter_map(figure).collect()
}

/// The most frequent of the counts that are not zero; of two, the larger.
fn most_frequent(counts: impl Iterator<Item = usize>) -> Option<usize> {
    let mut times = BTreeMap::new();
    for count in counts.filter(|count| *count > 0) {
        *times.entry(count).or_insert(0_usize) += 1;
    }
    times
        .into_iter()
        .max_by_key(|(count, times)| (*times, *count))
        .map(|(count, _)| count)
}

fn unusual(count: usize, usual: Option<usize>) -> Option<usize> {
    (count > 0 && Some(count) != usual).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{sample_record, sample_row};

    fn result_of(change: impl FnOnce(&mut RowRecord)) -> String {
        let mut row = sample_row("memory");
        change(&mut row);
        call_result(&row)
    }

    #[test]
    fn the_call_result_says_what_came_of_the_timed_call() {
        assert_eq!(result_of(|_| {}), "ok");
        assert_eq!(
            result_of(|row| row.probes[0].outcome = Some(Outcome::Refused)),
            "refused, as it should"
        );
        assert_eq!(result_of(|row| row.probes[0].outcome = None), "not reached");
        assert_eq!(result_of(|row| row.probes.clear()), "no probe");
    }

    #[test]
    fn no_version_and_no_tool_is_why_a_call_was_not_reached() {
        let finding = |code: Code, severity: Severity| Finding {
            code,
            severity,
            phase: Phase::Compare,
            message: "the reason".to_owned(),
            expected: None,
            actual: None,
            hint: None,
            accepted: None,
        };
        let of_versions = Code::ALL.iter().filter(|code| code.class() == Class::VersionsAndTools);
        for code in of_versions {
            for severity in [Severity::Fail, Severity::Warn, Severity::Note] {
                let unreached = |others: Vec<Finding>| {
                    result_of(|row| {
                        row.probes[0].outcome = None;
                        row.findings = [vec![finding(*code, severity)], others].concat();
                    })
                };
                let interrupted = || finding(Code::Interrupted, Severity::Warn);
                let noise = finding(Code::StdoutNoise, Severity::Warn);
                let fails = finding(Code::ListTimeout, Severity::Fail);
                assert_eq!(unreached(Vec::new()), "not reached");
                assert_eq!(
                    unreached(vec![noise.clone(), interrupted()]),
                    "not reached: interrupted"
                );
                assert_eq!(unreached(vec![noise]), "not reached: stdout-noise");
                assert_eq!(unreached(vec![interrupted(), fails]), "not reached: list-timeout");
            }
        }
    }

    #[test]
    fn a_failed_further_probe_is_not_hidden_by_a_timed_call_that_went_well() {
        let result = result_of(|row| {
            let mut other = row.probes[0].clone();
            other.outcome = Some(Outcome::Failed);
            row.probes.push(other);
        });
        assert_eq!(result, "ok, but another probe failed");
    }

    #[test]
    fn the_usual_n_is_the_most_frequent_and_only_others_stand_in_cells() {
        let table = main_table(&sample_record());
        assert_eq!(table.usual_samples, Some(30));
        let unusual: Vec<usize> = table.rows.iter().filter_map(|row| row.unusual_samples).collect();
        assert_eq!(unusual, [27, 3]);
        assert!(table.has_dagger);
    }

    #[test]
    fn the_runtime_is_named_only_where_a_server_runs_on_several() {
        let table = main_table(&sample_record());
        let names: Vec<&str> = table.rows.iter().map(|row| row.server.as_str()).collect();
        assert!(names.contains(&"Filesystem, node20"), "{names:?}");
        assert!(names.contains(&"Fetch (--allow-private-ips)"), "{names:?}");
    }
}
