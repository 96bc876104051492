//! From format 1 back to a record. Computed figures are left out: they follow from the samples.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::event::{
    Cause, Ecosystem, Era, HostLoad, Launcher, Newest, ProbeFacts, ResourceFacts, RowId, RuntimeFacts, SessionFacts,
    SessionKind, ShutdownFacts, ShutdownStep, Skip, SkipReason,
};
use crate::finding::{Code, Finding};
use crate::record::{
    Calibration, Host, Identity, Outcome, PackageIdentity, PackageSource, ProbeRecord, RowRecord, RunRecord, Status,
    ToolRecord, Totals,
};

use super::{RecordProblem, v1};

/// The exit code of an interrupted run.
const INTERRUPTED: u8 = 130;

pub(super) fn run(run: v1::Record) -> Result<RunRecord, RecordProblem> {
    let rows = run.rows.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Ok(RunRecord {
        tool_version: run.tool.version,
        interrupted: run.exit_code == INTERRUPTED || rows.iter().any(was_interrupted),
        id: run.run.id,
        started: word("started", &run.run.started, moment)?,
        finished: word("finished", &run.run.finished, moment)?,
        manifest: PathBuf::from(run.run.manifest.path),
        manifest_file: run.run.manifest.file.map(PathBuf::from),
        manifest_sha256: run.run.manifest.sha256,
        gone: run.run.manifest.gone_rows.into_iter().map(RowId).collect(),
        jobs: run.run.jobs,
        seed: run.run.seed,
        partition: run.run.partition,
        settings: run.run.settings,
        host: host(run.host),
        calibration: calibration(&run.calibration),
        rows,
        totals: totals(&run.totals),
        exit_code: run.exit_code,
    })
}

/// The format has no word of its own for it; its rows tell.
fn was_interrupted(row: &RowRecord) -> bool {
    let skipped = row
        .skip
        .as_ref()
        .is_some_and(|skip| skip.reason == SkipReason::Interrupted);
    skipped || row.findings.iter().any(|finding| finding.code == Code::Interrupted)
}

fn host(host: v1::Host) -> Host {
    Host {
        id: host.id,
        os: host.os,
        kernel: host.kernel,
        cpu: host.cpu,
        logical_cpus: host.logical_cpus,
        memory_bytes: host.memory_bytes,
        virtualization: host.virtualization,
        load_average: host.load_average,
    }
}

fn calibration(calibration: &v1::Calibration) -> Option<Calibration> {
    Some(Calibration {
        samples: calibration.samples?,
        median: duration(calibration.median_ms)?,
        p95: duration(calibration.p95_ms)?,
    })
}

fn totals(totals: &v1::Totals) -> Totals {
    Totals {
        rows: totals.rows,
        pass: totals.pass,
        warn: totals.warn,
        fail: totals.fail,
        skip: totals.skip,
        error: totals.error,
    }
}

fn row(row: v1::Row) -> Result<RowRecord, RecordProblem> {
    let findings: Vec<Finding> = row.findings.into_iter().filter_map(finding).collect();
    let sessions = row
        .sessions
        .into_iter()
        .zip(1..)
        .map(|(facts, number)| session(facts, number, &row.probes))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(RowRecord {
        id: RowId(row.id),
        server: row.server,
        title: row.title,
        runtime: row.runtime,
        group: row.group,
        command: row.command,
        status: word("status", &row.status, status)?,
        skip: skip(row.skip_reason.as_deref(), &findings)?,
        identity: identity(row.identity)?,
        install: duration(row.install_ms),
        first_start: duration(row.first_start_ms),
        sessions,
        tools: row.tools.list.map(|list| list.into_iter().map(tool).collect()),
        probes: row.probes.into_iter().map(probe).collect::<Result<_, _>>()?,
        resources: resources(&row.resources),
        load: HostLoad {
            load_average_1m: row.load_average_1m,
            cpu_pressure_avg10: row.cpu_pressure_avg10,
        },
        observations: Vec::new(),
        findings,
        log: PathBuf::from(row.log.unwrap_or_default()),
        concurrency: row.concurrency.unwrap_or(1),
    })
}

/// The sentence and the cure of a skip stand in its finding.
fn skip(reason: Option<&str>, findings: &[Finding]) -> Result<Option<Skip>, RecordProblem> {
    let Some(reason) = reason else { return Ok(None) };
    let finding = findings.iter().find(|finding| finding.code == Code::RowSkipped);
    Ok(Some(Skip {
        reason: word("skip_reason", reason, skip_reason)?,
        message: finding.map(|finding| skip_message(reason, finding)).unwrap_or_default(),
        cure: finding.and_then(|finding| finding.hint.clone()),
    }))
}

/// The finding says that the row was not run, in front of why.
fn skip_message(reason: &str, finding: &Finding) -> String {
    let opening = format!("not run ({reason}): ");
    finding
        .message
        .strip_prefix(&opening)
        .unwrap_or(&finding.message)
        .to_owned()
}

fn identity(identity: v1::Identity) -> Result<Identity, RecordProblem> {
    let runtime = identity.runtime;
    Ok(Identity {
        reported_name: identity.reported.name,
        reported_title: identity.reported.title,
        reported_version: identity.reported.version,
        package: package(identity.package)?,
        runtime: runtime
            .kind
            .zip(runtime.executable)
            .map(|(kind, executable)| RuntimeFacts {
                kind,
                version: runtime.version,
                executable: PathBuf::from(executable),
            }),
        launcher: optional_word("launcher", identity.launcher.as_deref(), launcher)?,
        era: optional_word("era", identity.protocol.era.as_deref(), era)?,
        pinned: identity.protocol.pinned,
        requested: identity.protocol.requested,
        negotiated: identity.protocol.negotiated,
    })
}

fn package(package: v1::Package) -> Result<PackageIdentity, RecordProblem> {
    Ok(PackageIdentity {
        ecosystem: optional_word("ecosystem", package.ecosystem.as_deref(), ecosystem)?,
        name: package.name,
        wanted: package.wanted,
        installed: package.installed,
        newest: Newest {
            version: package.newest,
            as_of: package.newest_as_of,
            requires: package.newest_requires,
            deprecated: package.newest_deprecated,
            held_back: cause(package.held_back),
            behind: cause(package.behind),
            unknown: package.newest_unknown,
        },
        source: optional_word("source", package.source.as_deref(), |source| match source {
            "walk" => Some(PackageSource::Walk),
            "manifest" => Some(PackageSource::Manifest),
            _ => None,
        })?,
        path: package.path.map(PathBuf::from),
    })
}

fn cause(cause: v1::Cause) -> Option<Cause> {
    let v1::Cause { cause, detail } = cause;
    cause.map(|cause| Cause { cause, detail })
}

fn session(facts: v1::Session, number: u32, probes: &[v1::Probe]) -> Result<SessionFacts, RecordProblem> {
    let step = optional_word("shutdown", facts.shutdown.as_deref(), shutdown_step)?;
    Ok(SessionFacts {
        number,
        kind: facts.repeat.map_or(SessionKind::ColdStart, SessionKind::Repeat),
        attempt: facts.attempt,
        first_byte: duration(facts.first_byte_ms),
        cold_start: duration(facts.cold_start_ms),
        list: duration(facts.list_ms),
        lifetime: duration(facts.total_ms),
        handshake: None,
        identity: None,
        tools: None,
        probes: session_probes(facts.probes, probes),
        shutdown: step.map(|step| ShutdownFacts {
            took: duration(facts.shutdown_ms),
            step,
            exit_code: facts.exit_code,
            signal: facts.signal,
            survivors: Vec::new(),
            left_over: facts.left_over,
        }),
        resources: None,
        observations: Vec::new(),
    })
}

/// Names tell which probe it was; where a name comes twice, its place does, as sessions keep the order.
fn session_probes(facts: Vec<v1::SessionProbe>, probes: &[v1::Probe]) -> Vec<ProbeFacts> {
    let mut next = 0;
    facts
        .into_iter()
        .filter_map(|facts| {
            let index = next + probes.get(next..)?.iter().position(|probe| probe.name == facts.name)?;
            next = index + 1;
            Some(ProbeFacts {
                index,
                first: duration(facts.first_ms),
                calls: u32::try_from(facts.samples_ms.len()).unwrap_or(u32::MAX),
                samples: durations(&facts.samples_ms),
                failures: 0,
                refused: probes[index].outcome.as_deref() == Some(Outcome::Refused.name()),
                reply: None,
            })
        })
        .collect()
}

fn tool(tool: v1::ListedTool) -> ToolRecord {
    ToolRecord {
        name: tool.name,
        description_sha256: tool.description_sha256,
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
        annotations: tool.annotations,
    }
}

fn probe(probe: v1::Probe) -> Result<ProbeRecord, RecordProblem> {
    Ok(ProbeRecord {
        name: probe.name,
        tool: probe.tool,
        outcome: optional_word("outcome", probe.outcome.as_deref(), outcome)?,
        planned_calls: probe.planned_calls,
        warmup: probe.warmup,
        calls: probe.calls,
        failures: probe.failures,
        first: duration(probe.first_ms),
        samples: durations(&probe.samples_ms),
        reply: probe.reply,
    })
}

fn resources(resources: &v1::Resources) -> Option<ResourceFacts> {
    Some(ResourceFacts {
        peak_rss_bytes: resources.peak_rss_bytes?,
        cpu: duration(resources.cpu_ms)?,
    })
}

/// A finding whose code a later build has added says nothing to this one.
fn finding(finding: v1::Finding) -> Option<Finding> {
    Some(Finding {
        code: Code::parse(&finding.code)?,
        severity: finding.severity,
        phase: finding.phase,
        message: finding.message,
        expected: finding.expected,
        actual: finding.actual,
        hint: finding.hint,
        accepted: finding.accepted,
    })
}

fn moment(word: &str) -> Option<Timestamp> {
    word.parse().ok()
}

fn status(word: &str) -> Option<Status> {
    let all = [Status::Pass, Status::Warn, Status::Fail, Status::Skip, Status::Error];
    all.into_iter().find(|status| status.name() == word)
}

fn skip_reason(word: &str) -> Option<SkipReason> {
    let all = [
        SkipReason::Disabled,
        SkipReason::Offline,
        SkipReason::ProgramMissing,
        SkipReason::NotInstalled,
        SkipReason::Remote,
        SkipReason::Interrupted,
    ];
    all.into_iter().find(|reason| reason.name() == word)
}

fn launcher(word: &str) -> Option<Launcher> {
    let all = [
        Launcher::Direct,
        Launcher::Npx,
        Launcher::Uvx,
        Launcher::Shell,
        Launcher::Docker,
    ];
    all.into_iter().find(|launcher| launcher.name() == word)
}

fn era(word: &str) -> Option<Era> {
    [Era::Initialize, Era::Discover]
        .into_iter()
        .find(|era| era.name() == word)
}

fn ecosystem(word: &str) -> Option<Ecosystem> {
    [Ecosystem::Npm, Ecosystem::Pypi]
        .into_iter()
        .find(|ecosystem| ecosystem.name() == word)
}

fn shutdown_step(word: &str) -> Option<ShutdownStep> {
    let all = [
        ShutdownStep::StdinClosed,
        ShutdownStep::Terminated,
        ShutdownStep::Killed,
        ShutdownStep::AlreadyGone,
    ];
    all.into_iter().find(|step| step.name() == word)
}

fn outcome(word: &str) -> Option<Outcome> {
    let all = [Outcome::Ok, Outcome::Refused, Outcome::Failed];
    all.into_iter().find(|outcome| outcome.name() == word)
}

fn word<T>(key: &'static str, word: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, RecordProblem> {
    parse(word).ok_or_else(|| RecordProblem::UnknownWord {
        key,
        value: word.to_owned(),
    })
}

fn optional_word<T>(
    key: &'static str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, RecordProblem> {
    text.map(|text| word(key, text, parse)).transpose()
}

fn durations(milliseconds: &[f64]) -> Vec<Duration> {
    milliseconds.iter().filter_map(|time| duration(Some(*time))).collect()
}

/// Written to a tenth of a microsecond, read to the same; what is no length of time is unknown.
fn duration(milliseconds: Option<f64>) -> Option<Duration> {
    let tenths = (milliseconds? * 10_000.0).round();
    // Up to 2^53 every whole number is exact, which is far beyond any run.
    let known = (0.0..=9_007_199_254_740_992.0).contains(&tenths);
    #[expect(clippy::cast_sign_loss, reason = "no negative number gets here")]
    known.then(|| Duration::from_nanos(tenths as u64 * 100))
}
