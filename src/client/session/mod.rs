//! One life of one server: handshake of either era, list with paging, calls, answers to the server's
//! own requests, and the end. All that was out of the ordinary becomes an observation.
//!
//! It must not judge, and it must not let anything but the server be part of a figure: a span starts
//! just before a write and ends where the reader stamped the answer's line; parsing, matching, logging
//! and events come afterwards. Every wait has a limit and gives up when [`Stop`] says so.

mod answer;
mod call;
mod conversation;
mod expectation;
mod failures;
mod handshake;
mod hints;
mod list;
mod listening;
mod listing;
mod opening;
mod probe;
mod schema;
mod stop;
mod suspicion;
mod tally;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use crate::client::process;
use crate::client::protocol::Dialect;
use crate::event::{
    Era, Observation, ProcessIdentity, Seen, SessionFacts, SessionKind, ShutdownFacts, ShutdownStep, Sink,
};
use crate::finding::Phase;
use crate::plan::{Limits, Protocol};

use conversation::Conversation;

pub use expectation::FilledExpectation;
pub use stop::Stop;

/// What to start, and how.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// Counted from 1 within the row.
    pub number: u32,
    /// Which kind.
    pub kind: SessionKind,
    /// 1, or more on a retry.
    pub attempt: u32,
    /// The command with its complete environment.
    pub command: process::Command,
    /// The handshake to use; for later sessions of a row see [`protocol_of_next`].
    pub protocol: Protocol,
    /// The limits.
    pub limits: Limits,
}

/// A probe with its placeholders filled in for this session.
#[derive(Clone, Debug)]
pub struct FilledProbe {
    /// Its place in the row's plan.
    pub index: usize,
    /// The tool.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
    /// Calls that count.
    pub calls: u32,
    /// Calls before them.
    pub warmup: u32,
    /// The limit of each call.
    pub timeout: Duration,
    /// What the reply must be.
    pub expect: FilledExpectation,
    /// Calls in flight at once.
    pub concurrency: u32,
}

/// One life of one server.
#[derive(Debug)]
pub struct Session {
    spec: SessionSpec,
    sink: Sink,
    stop: Stop,
    facts: SessionFacts,
    /// Null if the handshake failed; the process is gone then.
    conversation: Option<Conversation>,
    dialect: Dialect,
    /// What every request of ours must carry (2026-07-28).
    meta: serde_json::Map<String, Value>,
    declares_tools: bool,
    /// Whether the tools of the facts are all there are.
    list_complete: bool,
    listed_again: bool,
    task_only: BTreeSet<String>,
    output_schemas: BTreeMap<String, Value>,
    death_reported: bool,
    phase: Phase,
}

/// The protocol to ask for in the next session of a row: what was found out is kept, so that a server
/// is not offered again what it has refused.
pub fn protocol_of_next(asked: &Protocol, facts: &SessionFacts) -> Protocol {
    let Some(handshake) = &facts.handshake else {
        return asked.clone();
    };
    match (asked, handshake.era) {
        (Protocol::Auto, Era::Discover) => Protocol::Discover,
        (Protocol::Auto, Era::Initialize) if handshake.requested != crate::client::protocol::NEWEST_LEGACY => {
            Protocol::Revision(handshake.requested.clone())
        }
        (Protocol::Auto | Protocol::Initialize | Protocol::Discover | Protocol::Revision(_), _) => asked.clone(),
    }
}

impl Session {
    /// Starts the server and shakes hands. Never fails: [`is_open`](Self::is_open) tells. A process whose
    /// handshake failed is gone when this returns.
    pub async fn open(spec: SessionSpec, sink: Sink, stop: Stop) -> Self {
        opening::open(spec, sink, stop).await
    }

    /// Whether the handshake stood and the server can still be spoken to.
    pub fn is_open(&self) -> bool {
        self.conversation.as_ref().is_some_and(Conversation::is_usable)
    }

    /// The pid of the open session's process.
    pub fn pid(&self) -> Option<u32> {
        self.conversation.as_ref().map(Conversation::pid)
    }

    /// What really ran, found out by somebody else while the session is open.
    pub fn set_identity(&mut self, identity: ProcessIdentity) {
        self.facts.identity = Some(identity);
    }

    /// Reads the list of tools. Does nothing in a session that is not open.
    pub async fn list_tools(&mut self) {
        self.phase = Phase::List;
        listing::list_tools(self).await;
    }

    /// Makes the calls of a probe. Does nothing in a session that is not open.
    pub async fn probe(&mut self, probe: &FilledProbe) {
        if self.is_open() {
            // A server that is gone by now died in the phase before.
            self.phase = Phase::Call;
        }
        listing::list_again_if_changed(self).await;
        probe::probe(self, probe).await;
    }

    /// Ends the server and returns all that was seen. To be called also after failures.
    pub async fn close(mut self) -> SessionFacts {
        listing::list_again_if_changed(&mut self).await;
        if let Some(conversation) = self.conversation.take() {
            self.end(conversation).await;
        }
        self.facts
    }

    async fn end(&mut self, mut conversation: Conversation) {
        let ended = conversation.end(self.spec.limits.shutdown_grace).await;
        if ended.shutdown.step == ShutdownStep::AlreadyGone && !self.death_reported {
            let ending = ended.ending.clone();
            self.observe(self.phase, None, Seen::ServerDied { ending });
        }
        self.facts.lifetime = Some(conversation.spawned_at().elapsed());
        self.facts.first_byte = conversation.first_byte();
        self.facts.resources = conversation.resources();
        self.facts.observations.extend(conversation.into_observations());
        if !ended.forced {
            self.facts.observations.extend(shutdown_observations(&ended.shutdown));
        }
        self.facts.shutdown = Some(ended.shutdown);
    }

    fn observe(&mut self, phase: Phase, probe: Option<usize>, what: Seen) {
        self.death_reported |= matches!(what, Seen::ServerDied { .. });
        self.facts.observations.push(Observation { phase, probe, what });
    }
}

/// What an ending showed that was out of the ordinary.
fn shutdown_observations(shutdown: &ShutdownFacts) -> Vec<Observation> {
    let observation = |what| Observation {
        phase: Phase::Shutdown,
        probe: None,
        what,
    };
    let signalled = matches!(shutdown.step, ShutdownStep::Terminated | ShutdownStep::Killed);
    let mut observations = Vec::new();
    if signalled || !shutdown.survivors.is_empty() {
        let (step, survivors) = (shutdown.step, shutdown.survivors.clone());
        observations.push(observation(Seen::UncleanShutdown { step, survivors }));
    }
    if !shutdown.left_over.is_empty() {
        observations.push(observation(Seen::LeftOver {
            processes: shutdown.left_over.clone(),
        }));
    }
    observations
}

#[cfg(test)]
mod tests;
