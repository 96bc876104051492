//! From the record to format 1. Medians, percentiles and their like are computed here, once, by `stats`.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::event::{Cause, SessionFacts, SessionKind, ShutdownFacts};
use crate::finding::Finding;
use crate::record::{
    Calibration, Host, Identity, PackageIdentity, PackageSource, ProbeRecord, RowRecord, RunRecord, ToolRecord, Totals,
};
use crate::stats;

use super::v1;

pub(super) fn run(record: &RunRecord) -> v1::Record {
    v1::Record {
        format: super::FORMAT,
        tool: v1::Tool {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: record.tool_version.clone(),
        },
        run: v1::RunInfo {
            id: record.id.clone(),
            started: moment(record.started),
            finished: moment(record.finished),
            manifest: v1::Manifest {
                path: path(&record.manifest),
                file: record.manifest_file.as_deref().map(path),
                gone_rows: record.gone.iter().map(|row| row.0.clone()).collect(),
                sha256: record.manifest_sha256.clone(),
            },
            jobs: record.jobs,
            seed: record.seed,
            partition: record.partition.clone(),
            settings: record.settings.clone(),
        },
        host: host(&record.host),
        calibration: calibration(record.calibration),
        totals: totals(record.totals),
        exit_code: record.exit_code,
        rows: record.rows.iter().map(row).collect(),
    }
}

fn host(host: &Host) -> v1::Host {
    v1::Host {
        id: host.id.clone(),
        os: host.os.clone(),
        kernel: host.kernel.clone(),
        cpu: host.cpu.clone(),
        logical_cpus: host.logical_cpus,
        memory_bytes: host.memory_bytes,
        virtualization: host.virtualization.clone(),
        load_average: host.load_average,
    }
}

fn calibration(calibration: Option<Calibration>) -> v1::Calibration {
    v1::Calibration {
        samples: calibration.map(|calibration| calibration.samples),
        median_ms: milliseconds(calibration.map(|calibration| calibration.median)),
        p95_ms: milliseconds(calibration.map(|calibration| calibration.p95)),
    }
}

fn totals(totals: Totals) -> v1::Totals {
    let Totals {
        rows,
        pass,
        warn,
        fail,
        skip,
        error,
    } = totals;
    v1::Totals {
        rows,
        pass,
        warn,
        fail,
        skip,
        error,
    }
}

fn row(row: &RowRecord) -> v1::Row {
    v1::Row {
        id: row.id.0.clone(),
        server: row.server.clone(),
        title: row.title.clone(),
        runtime: row.runtime.clone(),
        group: row.group.clone(),
        command: row.command.clone(),
        status: row.status.name().to_owned(),
        skip_reason: row.skip.as_ref().map(|skip| skip.reason.name().to_owned()),
        identity: identity(&row.identity),
        install_ms: milliseconds(row.install),
        first_start_ms: milliseconds(row.first_start),
        sessions: row.sessions.iter().map(|facts| session(facts, &row.probes)).collect(),
        tools: tools(row.tools.as_deref()),
        probes: row.probes.iter().map(probe).collect(),
        resources: v1::Resources {
            peak_rss_bytes: row.resources.map(|resources| resources.peak_rss_bytes),
            cpu_ms: milliseconds(row.resources.map(|resources| resources.cpu)),
        },
        load_average_1m: row.load.load_average_1m,
        cpu_pressure_avg10: row.load.cpu_pressure_avg10,
        findings: row.findings.iter().map(finding).collect(),
        log: Some(path(&row.log)),
        concurrency: Some(row.concurrency),
    }
}

fn identity(identity: &Identity) -> v1::Identity {
    let runtime = identity.runtime.as_ref();
    v1::Identity {
        reported: v1::Reported {
            name: identity.reported_name.clone(),
            title: identity.reported_title.clone(),
            version: identity.reported_version.clone(),
        },
        package: package(&identity.package),
        runtime: v1::Runtime {
            kind: runtime.map(|runtime| runtime.kind.clone()),
            version: runtime.and_then(|runtime| runtime.version.clone()),
            executable: runtime.map(|runtime| path(&runtime.executable)),
        },
        launcher: identity.launcher.map(|launcher| launcher.name().to_owned()),
        protocol: v1::Protocol {
            era: identity.era.map(|era| era.name().to_owned()),
            pinned: identity.pinned.clone(),
            requested: identity.requested.clone(),
            negotiated: identity.negotiated.clone(),
        },
    }
}

fn package(package: &PackageIdentity) -> v1::Package {
    v1::Package {
        ecosystem: package.ecosystem.map(|ecosystem| ecosystem.name().to_owned()),
        name: package.name.clone(),
        wanted: package.wanted.clone(),
        installed: package.installed.clone(),
        source: package.source.map(|source| match source {
            PackageSource::Walk => "walk".to_owned(),
            PackageSource::Manifest => "manifest".to_owned(),
        }),
        path: package.path.as_deref().map(path),
        newest: package.newest.version.clone(),
        newest_as_of: package.newest.as_of.clone(),
        newest_requires: package.newest.requires.clone(),
        newest_deprecated: package.newest.deprecated.clone(),
        held_back: cause(package.newest.held_back.as_ref()),
        behind: cause(package.newest.behind.as_ref()),
        newest_unknown: package.newest.unknown.clone(),
    }
}

fn cause(cause: Option<&Cause>) -> v1::Cause {
    v1::Cause {
        cause: cause.map(|cause| cause.cause.clone()),
        detail: cause.and_then(|cause| cause.detail.clone()),
    }
}

fn session(facts: &SessionFacts, probes: &[ProbeRecord]) -> v1::Session {
    let shutdown = facts.shutdown.as_ref();
    v1::Session {
        repeat: match facts.kind {
            SessionKind::Repeat(repeat) => Some(repeat),
            SessionKind::FirstStart | SessionKind::ColdStart => None,
        },
        attempt: facts.attempt,
        first_byte_ms: milliseconds(facts.first_byte),
        cold_start_ms: milliseconds(facts.cold_start),
        list_ms: milliseconds(facts.list),
        shutdown_ms: milliseconds(shutdown.and_then(|shutdown| shutdown.took)),
        total_ms: milliseconds(facts.lifetime),
        shutdown: shutdown.map(|shutdown| shutdown.step.name().to_owned()),
        exit_code: shutdown.and_then(|shutdown| shutdown.exit_code),
        signal: shutdown.and_then(|shutdown| shutdown.signal),
        left_over: shutdown.map_or_else(Vec::new, |ShutdownFacts { left_over, .. }| left_over.clone()),
        probes: facts
            .probes
            .iter()
            .filter_map(|facts| {
                Some(v1::SessionProbe {
                    name: probes.get(facts.index)?.name.clone(),
                    first_ms: milliseconds(facts.first),
                    samples_ms: all_milliseconds(&facts.samples),
                    median_ms: milliseconds(stats::median(&facts.samples)),
                    p95_ms: milliseconds(stats::p95(&facts.samples)),
                })
            })
            .collect(),
    }
}

fn tools(tools: Option<&[ToolRecord]>) -> v1::Tools {
    v1::Tools {
        count: tools.map(<[_]>::len),
        names: tools.map(|tools| tools.iter().map(|tool| tool.name.clone()).collect()),
        list: tools.map(|tools| tools.iter().map(listed_tool).collect()),
    }
}

fn listed_tool(tool: &ToolRecord) -> v1::ListedTool {
    v1::ListedTool {
        name: tool.name.clone(),
        description_sha256: tool.description_sha256.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        annotations: tool.annotations.clone(),
    }
}

fn probe(probe: &ProbeRecord) -> v1::Probe {
    let samples = &probe.samples;
    v1::Probe {
        name: probe.name.clone(),
        tool: probe.tool.clone(),
        outcome: probe.outcome.map(|outcome| outcome.name().to_owned()),
        planned_calls: probe.planned_calls,
        warmup: probe.warmup,
        calls: probe.calls,
        failures: probe.failures,
        first_ms: milliseconds(probe.first),
        samples_ms: all_milliseconds(samples),
        median_ms: milliseconds(stats::median(samples)),
        median_ci95_ms: stats::median_interval(samples)
            .map(|(low, high)| [in_milliseconds(low), in_milliseconds(high)]),
        p95_ms: milliseconds(stats::p95(samples)),
        min_ms: milliseconds(samples.iter().min().copied()),
        max_ms: milliseconds(samples.iter().max().copied()),
        reply: probe.reply.clone(),
    }
}

fn finding(finding: &Finding) -> v1::Finding {
    v1::Finding {
        code: finding.code.name().to_owned(),
        severity: finding.severity,
        phase: finding.phase,
        message: finding.message.clone(),
        expected: finding.expected.clone(),
        actual: finding.actual.clone(),
        hint: finding.hint.clone(),
        accepted: finding.accepted.clone(),
    }
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// RFC 3339 in UTC, to the millisecond: nine digits would hide the date.
fn moment(time: Timestamp) -> String {
    format!("{time:.3}")
}

fn all_milliseconds(times: &[Duration]) -> Vec<f64> {
    times.iter().copied().map(in_milliseconds).collect()
}

fn milliseconds(time: Option<Duration>) -> Option<f64> {
    time.map(in_milliseconds)
}

/// To four decimals, a tenth of a microsecond: finer than any clock read twice, coarse enough to read.
pub(crate) fn in_milliseconds(time: Duration) -> f64 {
    (time.as_nanos() as f64 / 100.0).round() / 10_000.0
}
