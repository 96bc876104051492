//! One sentence for each thing seen: its code, its severity, and what a stranger reads in the morning.
//!
//! The match is exhaustive: a new observation does not compile until it has its sentence.
//! Nothing here knows of other rows, of `[severity]` or of statuses.

use jiff::civil::Date;

use crate::event::{Era, Seen};
use crate::finding::{Code, Phase, Severity};
use crate::judge::groups::Group;
use crate::plan::{Launch, Protocol, Row};
use crate::record::RowRecord;

mod call;
mod end;
mod list;
mod start;
mod wire;

#[cfg(test)]
pub(super) mod examples;
#[cfg(test)]
mod tests;

/// A finding before `[severity]` and before it is known in how many sessions it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) code: Code,
    pub(super) severity: Severity,
    pub(super) phase: Phase,
    pub(super) message: String,
    pub(super) expected: Option<String>,
    pub(super) actual: Option<String>,
    pub(super) hint: Option<String>,
    /// The day on which a person accepted it.
    pub(super) accepted: Option<Date>,
}

/// The row that something was seen on.
#[derive(Clone, Copy)]
pub(super) struct Case<'row> {
    /// What was planned; null for a row that no plan knows.
    pub(super) plan: Option<&'row Row>,
    /// What was seen.
    pub(super) record: &'row RowRecord,
}

impl Told {
    /// A finding of its code's own severity; the caller sets the phase.
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.default_severity(),
            phase: Phase::Compare,
            message: message.into(),
            expected: None,
            actual: None,
            hint: None,
            accepted: None,
        }
    }

    pub(super) fn phase(self, phase: Phase) -> Self {
        Self { phase, ..self }
    }

    pub(super) fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// A note, since it was accepted.
    pub(super) fn accepted(self, on: Date) -> Self {
        Self {
            severity: Severity::Note,
            accepted: Some(on),
            ..self
        }
    }

    pub(super) fn expected(self, expected: impl Into<String>) -> Self {
        Self {
            expected: Some(expected.into()),
            ..self
        }
    }

    pub(super) fn actual(self, actual: impl Into<String>) -> Self {
        Self {
            actual: Some(actual.into()),
            ..self
        }
    }

    pub(super) fn hint(self, hint: Option<impl Into<String>>) -> Self {
        Self {
            hint: hint.map(Into::into),
            ..self
        }
    }
}

impl<'row> Case<'row> {
    /// How the row is started, if it can be.
    pub(super) fn launch(self) -> Option<&'row Launch> {
        self.plan.and_then(Row::launch)
    }

    /// The request that opens a session of this row, as the row asks for it.
    pub(super) fn handshake(self) -> &'static str {
        let answered = self.record.identity.era;
        let era = answered.unwrap_or(match self.launch().map(|launch| &launch.protocol) {
            Some(Protocol::Discover) => Era::Discover,
            Some(Protocol::Revision(revision)) if revision == "2026-07-28" => Era::Discover,
            Some(Protocol::Auto | Protocol::Initialize | Protocol::Revision(_)) | None => Era::Initialize,
        });
        match era {
            Era::Initialize => "initialize",
            Era::Discover => "server/discover",
        }
    }

    /// The names of the row's listed tools.
    pub(super) fn tools(self) -> impl Iterator<Item = &'row str> {
        self.record.tools.iter().flatten().map(|tool| tool.name.as_str())
    }

    /// Which probe, where its name says more than its tool's: `probe "refuses to leave": `.
    fn probe(self, index: Option<usize>, tool: &str) -> String {
        let name = index.and_then(|index| {
            let planned = self
                .launch()
                .and_then(|launch| launch.probes.get(index))
                .map(|probe| probe.name.as_str());
            planned.or_else(|| self.record.probes.get(index).map(|probe| probe.name.as_str()))
        });
        name.filter(|name| *name != tool)
            .map(|name| format!("probe {}: ", super::words::quote(name)))
            .unwrap_or_default()
    }
}

/// The sentence for what was seen.
pub(super) fn tell(group: &Group, case: Case<'_>) -> Told {
    let observation = &group.observation;
    let call = |tool: &str| call::Call {
        probe: case.probe(observation.probe, tool),
        tool: tool.to_owned(),
    };
    let told = match &observation.what {
        Seen::ConfigError { field, problem } => start::config_error(field, problem),
        Seen::InstallFailed {
            what,
            problem,
            last_lines,
        } => start::install_failed(what, problem, last_lines),
        Seen::InstallStale {
            what,
            installed,
            problem,
        } => start::install_stale(what, installed, problem),
        Seen::Downloaded { line } => start::downloaded(line),
        Seen::SpawnFailed { program, problem, hint } => start::spawn_failed(program, problem, hint.as_deref()),
        Seen::ExitedEarly { ending } => start::exited_early(ending, case),
        Seen::InitTimeout { limit, received, hint } => start::init_timeout(*limit, received, hint.as_deref(), case),
        Seen::InitError { code, message } => start::init_error(*code, message, case),
        Seen::InvalidInitialize { problem } => start::invalid_initialize(problem, case),
        Seen::ProtocolVersion { offered, answered } => start::protocol_version(offered, answered),
        Seen::IdentityMissing { field } => start::identity_missing(field, group.first_handshake.as_ref()),
        Seen::ServerDied { ending } => end::server_died(ending, observation.phase, case),
        Seen::UncleanShutdown { step, survivors } => end::unclean_shutdown(*step, survivors),
        Seen::LeftOver { processes } => end::left_over(processes),
        Seen::LeftByKilledRun { ended, left_over } => end::left_by_killed_run(ended, left_over),
        Seen::RowTimeout { limit } => end::row_timeout(*limit),
        Seen::Interrupted => end::interrupted(),
        Seen::SessionDisagrees { what, first, later } => end::session_disagrees(what, first, later),
        Seen::ListError { code, message } => list::list_error(*code, message),
        Seen::ListTimeout { limit, received } => list::list_timeout(*limit, received),
        Seen::ListTooLong { pages, tools } => list::list_too_long(*pages, *tools),
        Seen::PaginationLoop { cursor, tools } => list::pagination_loop(cursor, *tools),
        Seen::ListInvalid { problem } => list::list_invalid(problem),
        Seen::ToolInvalid { tool: _, problem } => list::tool_invalid(&group.tools, problem),
        Seen::ToolDuplicate { tool, times } => list::tool_duplicate(tool, *times),
        Seen::NoTools { declared } => list::no_tools(*declared),
        Seen::ToolMissing { tool, listed } => {
            list::tool_missing(&case.probe(observation.probe, tool), tool, *listed, case)
        }
        Seen::ToolError {
            tool,
            text,
            failures,
            calls,
        } => call(tool).tool_error(text, *failures, *calls),
        Seen::RpcError {
            tool,
            code,
            message,
            failures,
            calls,
        } => call(tool).rpc_error(*code, message, *failures, *calls),
        Seen::RateLimited {
            tool,
            text,
            failures,
            calls,
        } => call(tool).rate_limited(text, *failures, *calls),
        Seen::CallTimeout {
            tool,
            limit,
            received,
            failures,
            calls,
        } => call(tool).timeout(*limit, received, *failures, *calls),
        Seen::CallUnsupported {
            tool,
            needs,
            failures,
            calls,
        } => call(tool).unsupported(needs, *failures, *calls),
        Seen::UnexpectedResult {
            tool,
            expected,
            actual,
            failures,
            calls,
        } => call(tool).unexpected_result(expected, actual, *failures, *calls),
        Seen::CallInvalid { tool, problem } => call(tool).invalid(problem),
        Seen::SoftError { tool, text } => call(tool).soft_error(text),
        Seen::StdoutNoise { first, lines } => wire::stdout_noise(first, *lines),
        Seen::StrayMessage { first, messages } => wire::stray_message(first, *messages),
        Seen::BadEncoding { excerpt, messages } => wire::bad_encoding(excerpt, *messages, case),
        Seen::BadFraming { looks_like, excerpt } => wire::bad_framing(looks_like, excerpt),
        Seen::OutputLimit { limit } => wire::output_limit(*limit),
        Seen::IdMismatch {
            expected,
            actual,
            tolerated,
        } => wire::id_mismatch(expected, actual, *tolerated),
        Seen::ServerRequestRefused { method, times } => wire::server_request_refused(method, *times),
    };
    told.phase(observation.phase)
}

/// The words of a JSON-RPC error: `error -32603 "…"`.
fn rpc_words(code: i64, message: &str) -> String {
    if message.trim().is_empty() {
        format!("error {code} without a message")
    } else {
        format!("error {code} {}", super::words::quote(message))
    }
}
