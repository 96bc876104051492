//! The same thing seen several times is one group: within a session, and in several sessions of a row.
//!
//! What makes two observations the same is decided here and nowhere else; it must not name or weigh them.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use crate::event::{HandshakeFacts, Observation, Seen, SessionFacts};
use crate::finding::Phase;
use crate::judge::words;

/// Observations that say the same.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The first of them; its counts are the sums of all.
    pub(super) observation: Observation,
    /// The tools it was said of, where that is all that differs.
    pub(super) tools: Vec<String>,
    /// The handshake of the session that it was first seen in.
    pub(super) first_handshake: Option<HandshakeFacts>,
    /// The sessions it was seen in, by number; none if it was seen outside.
    pub(super) sessions: Vec<u32>,
}

/// What two observations must share to be one finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    phase: Phase,
    probe: Option<usize>,
    what: Discriminant<Seen>,
    subject: String,
}

/// Groups what was seen outside sessions and in these sessions, in the order it was first seen.
pub(super) fn group(outside: &[Observation], sessions: &[&SessionFacts]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    let outside = outside.iter().map(|observation| (observation, None));
    let inside = sessions.iter().flat_map(|session| {
        session
            .observations
            .iter()
            .map(move |observation| (observation, Some(*session)))
    });
    for (observation, session) in outside.chain(inside) {
        let index = *known.entry(key(observation)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.add(observation, session),
            None => groups.push(Group::new(observation, session)),
        }
    }
    groups
}

impl Group {
    fn new(observation: &Observation, session: Option<&SessionFacts>) -> Self {
        Self {
            observation: observation.clone(),
            tools: invalid_tool(&observation.what).into_iter().collect(),
            first_handshake: session.and_then(|session| session.handshake.clone()),
            sessions: session.map(|session| session.number).into_iter().collect(),
        }
    }

    fn add(&mut self, observation: &Observation, session: Option<&SessionFacts>) {
        // Of what has no counts nothing is added up: it is simply the same again.
        let mut again = observation.what.clone();
        for (sum, more) in counts(&mut self.observation.what).into_iter().zip(counts(&mut again)) {
            *sum = sum.saturating_add(*more);
        }
        if let Some(tool) = invalid_tool(&observation.what)
            && !self.tools.contains(&tool)
        {
            self.tools.push(tool);
        }
        if let Some(session) = session
            && !self.sessions.contains(&session.number)
        {
            self.sessions.push(session.number);
        }
    }
}

fn key(observation: &Observation) -> Key {
    let wire = is_about_the_wire(&observation.what);
    Key {
        phase: observation.phase,
        probe: observation.probe.filter(|_| !wire),
        what: discriminant(&observation.what),
        subject: subject(&observation.what),
    }
}

fn invalid_tool(seen: &Seen) -> Option<String> {
    if let Seen::ToolInvalid { tool, .. } = seen {
        Some(tool.clone())
    } else {
        None
    }
}

/// Whether it is the same whatever probe was running.
fn is_about_the_wire(seen: &Seen) -> bool {
    matches!(
        seen,
        Seen::StdoutNoise { .. }
            | Seen::StrayMessage { .. }
            | Seen::BadEncoding { .. }
            | Seen::IdMismatch { .. }
            | Seen::ServerRequestRefused { .. }
    )
}

/// What it is about, so far as that tells it from others of its kind. Texts that may differ from one
/// session to the next (times, folders, process ids) are left out.
fn subject(seen: &Seen) -> String {
    match seen {
        Seen::ConfigError { field, problem } => format!("{field}\n{problem}"),
        Seen::InstallFailed { what, .. } | Seen::InstallStale { what, .. } => what.clone(),
        Seen::SessionDisagrees { what, first, later } => format!("{what}\n{first}\n{later}"),
        Seen::SpawnFailed { program, .. } => program.clone(),
        Seen::ExitedEarly { ending } | Seen::ServerDied { ending } => words::ending(ending),
        Seen::InitError { code, .. } | Seen::ListError { code, .. } => code.to_string(),
        Seen::InvalidInitialize { problem } | Seen::ListInvalid { problem } | Seen::ToolInvalid { problem, .. } => {
            problem.clone()
        }
        Seen::ProtocolVersion { answered, .. } => answered.clone(),
        Seen::IdentityMissing { field } => field.clone(),
        Seen::NoTools { declared } => declared.to_string(),
        Seen::ToolDuplicate { tool, .. }
        | Seen::ToolMissing { tool, .. }
        | Seen::ToolError { tool, .. }
        | Seen::RateLimited { tool, .. }
        | Seen::CallTimeout { tool, .. }
        | Seen::UnexpectedResult { tool, .. }
        | Seen::SoftError { tool, .. } => tool.clone(),
        Seen::RpcError { tool, code, .. } => format!("{tool}\n{code}"),
        Seen::CallUnsupported { tool, needs, .. } => format!("{tool}\n{needs}"),
        Seen::CallInvalid { tool, problem } => format!("{tool}\n{problem}"),
        Seen::BadFraming { looks_like, .. } => looks_like.clone(),
        Seen::IdMismatch { tolerated, .. } => tolerated.to_string(),
        Seen::ServerRequestRefused { method, .. } => method.clone(),
        Seen::UncleanShutdown { step, survivors } => format!("{}\n{}", step.name(), survivors.is_empty()),
        Seen::LeftOver { processes } => processes.join("\n"),
        Seen::LeftByKilledRun { ended, left_over } => [ended.as_slice(), left_over].concat().join("\n"),
        Seen::Downloaded { .. }
        | Seen::InitTimeout { .. }
        | Seen::ListTimeout { .. }
        | Seen::ListTooLong { .. }
        | Seen::PaginationLoop { .. }
        | Seen::StdoutNoise { .. }
        | Seen::StrayMessage { .. }
        | Seen::BadEncoding { .. }
        | Seen::OutputLimit { .. }
        | Seen::RowTimeout { .. }
        | Seen::Interrupted => String::new(),
    }
}

/// The counts that add up when it is seen again.
fn counts(seen: &mut Seen) -> Vec<&mut u32> {
    match seen {
        Seen::ToolError { failures, calls, .. }
        | Seen::RpcError { failures, calls, .. }
        | Seen::RateLimited { failures, calls, .. }
        | Seen::CallTimeout { failures, calls, .. }
        | Seen::CallUnsupported { failures, calls, .. }
        | Seen::UnexpectedResult { failures, calls, .. } => vec![failures, calls],
        Seen::StdoutNoise { lines, .. } => vec![lines],
        Seen::StrayMessage { messages, .. } | Seen::BadEncoding { messages, .. } => vec![messages],
        Seen::ServerRequestRefused { times, .. } => vec![times],
        Seen::ConfigError { .. }
        | Seen::InstallFailed { .. }
        | Seen::InstallStale { .. }
        | Seen::Downloaded { .. }
        | Seen::SpawnFailed { .. }
        | Seen::ExitedEarly { .. }
        | Seen::ServerDied { .. }
        | Seen::InitTimeout { .. }
        | Seen::InitError { .. }
        | Seen::InvalidInitialize { .. }
        | Seen::ProtocolVersion { .. }
        | Seen::IdentityMissing { .. }
        | Seen::ListError { .. }
        | Seen::ListTimeout { .. }
        | Seen::ListTooLong { .. }
        | Seen::PaginationLoop { .. }
        | Seen::ListInvalid { .. }
        | Seen::ToolInvalid { .. }
        | Seen::ToolDuplicate { .. }
        | Seen::NoTools { .. }
        | Seen::ToolMissing { .. }
        | Seen::CallInvalid { .. }
        | Seen::SoftError { .. }
        | Seen::BadFraming { .. }
        | Seen::OutputLimit { .. }
        | Seen::IdMismatch { .. }
        | Seen::UncleanShutdown { .. }
        | Seen::LeftOver { .. }
        | Seen::LeftByKilledRun { .. }
        | Seen::RowTimeout { .. }
        | Seen::Interrupted
        | Seen::SessionDisagrees { .. } => Vec::new(),
    }
}
