//! Which handshakes are tried, on which processes, and what is kept of those that failed.
//!
//! `initialize` comes first, since it harms no server; `server/discover` is only ever sent to a process of
//! its own, since it ends or silences some (protocol, part 1). If both fail, the first failure is told.

use std::collections::{BTreeMap, BTreeSet};

use super::conversation::{Conversation, EndedProcess};
use super::handshake::{Failure, Greeting, Offer, attempt, client};
use super::hints;
use super::stop::Stop;
use super::{Session, SessionSpec, shutdown_observations};
use crate::client::protocol::{Dialect, NEWEST_LEGACY, NEWEST_MODERN, meta_params};
use crate::event::{Era, HandshakeFacts, Observation, Seen, SessionFacts, Sink};
use crate::finding::Phase;
use crate::plan::Protocol;

/// A process whose handshake failed, and which is gone.
struct Failed {
    offered: Offer,
    failure: Failure,
    remains: Option<Remains>,
}

/// What is left of it.
struct Remains {
    conversation: Conversation,
    ended: EndedProcess,
}

pub(super) async fn open(spec: SessionSpec, sink: Sink, stop: Stop) -> Session {
    let mut session = new_session(spec, sink, stop);
    let offer = first_offer(&session.spec.protocol);
    let first = match try_offer(&session, offer).await {
        Ok((conversation, greeting)) => {
            session.greet(conversation, greeting);
            return session;
        }
        Err(failed) => failed,
    };
    let is_auto = session.spec.protocol == Protocol::Auto;
    let second = second_offer(&first).filter(|_| is_auto && !session.stop.is_due());
    let Some(second) = second else {
        session.fail(first);
        return session;
    };
    sink_note(&session, &first, &second);
    match try_offer(&session, second).await {
        Ok((conversation, greeting)) => {
            session.keep_of_first(first, &greeting);
            session.greet(conversation, greeting);
        }
        Err(second) => {
            session.keep_left_over(second.remains.as_ref());
            session.fail(first);
        }
    }
    session
}

fn first_offer(protocol: &Protocol) -> Offer {
    match protocol {
        Protocol::Auto | Protocol::Initialize => Offer::initialize(NEWEST_LEGACY),
        Protocol::Discover => Offer::discover(NEWEST_MODERN),
        Protocol::Revision(revision) => match Dialect::of_revision(revision) {
            Dialect::Legacy => Offer::initialize(revision),
            Dialect::Modern => Offer::discover(revision),
        },
    }
}

/// What to try on a fresh process: an older revision if the server asks for one, else the other era.
fn second_offer(first: &Failed) -> Option<Offer> {
    if let Some(offer) = first.failure.legacy_alternative(&first.offered) {
        return Some(offer);
    }
    first.failure.may_be_modern().then(|| Offer::discover(NEWEST_MODERN))
}

async fn try_offer(session: &Session, offer: Offer) -> Result<(Conversation, Greeting), Failed> {
    let (conversation, greeted) = attempt(&session.spec, offer.clone(), &session.sink, &session.stop).await;
    match (conversation, greeted) {
        (Some(conversation), Ok(greeting)) => Ok((conversation, greeting)),
        (None, Ok(_)) => unreachable!("a greeting comes from a conversation"),
        (conversation, Err(failure)) => {
            let remains = match conversation {
                Some(mut conversation) => {
                    let ended = conversation.end(session.spec.limits.shutdown_grace).await;
                    Some(Remains { conversation, ended })
                }
                None => None,
            };
            Err(Failed {
                offered: offer,
                failure,
                remains,
            })
        }
    }
}

fn sink_note(session: &Session, first: &Failed, second: &Offer) {
    if let Some(remains) = &first.remains {
        let method = match second.dialect {
            Dialect::Legacy => "initialize",
            Dialect::Modern => "server/discover",
        };
        let words = first.failure.words();
        let revision = &second.revision;
        remains.conversation.note(format!(
            "session {}: the handshake failed ({words}); trying {method} with {revision} on a fresh process",
            session.spec.number
        ));
    }
}

fn new_session(spec: SessionSpec, sink: Sink, stop: Stop) -> Session {
    let facts = SessionFacts {
        number: spec.number,
        kind: spec.kind,
        attempt: spec.attempt,
        first_byte: None,
        cold_start: None,
        list: None,
        lifetime: None,
        handshake: None,
        identity: None,
        tools: None,
        probes: Vec::new(),
        shutdown: None,
        resources: None,
        observations: Vec::new(),
    };
    Session {
        spec,
        sink,
        stop,
        facts,
        conversation: None,
        dialect: Dialect::Legacy,
        meta: serde_json::Map::new(),
        declares_tools: false,
        list_complete: false,
        listed_again: false,
        task_only: BTreeSet::new(),
        output_schemas: BTreeMap::new(),
        death_reported: false,
        phase: Phase::Initialize,
    }
}

impl Session {
    fn greet(&mut self, mut conversation: Conversation, greeting: Greeting) {
        let Greeting { offered, handshake, at } = greeting;
        self.facts.cold_start = Some(at.saturating_duration_since(conversation.spawned_at()));
        self.dialect = offered.dialect;
        self.meta = meta_params(offered.dialect, &handshake.negotiated, &client());
        self.declares_tools = handshake
            .capabilities
            .get("tools")
            .is_some_and(|tools| !tools.is_null());
        conversation.note(format!(
            "handshake done: {} {}, revision {}",
            handshake.name.as_deref().unwrap_or("(no name)"),
            match handshake.version.as_deref() {
                None => "(no version)",
                Some("") => "(empty version)",
                Some(version) => version,
            },
            handshake.negotiated
        ));
        for field in missing_identity(&handshake) {
            self.observe(
                Phase::Initialize,
                None,
                Seen::IdentityMissing {
                    field: field.to_owned(),
                },
            );
        }
        if let Some(line) = hints::download_line(&conversation.last_stderr_lines()) {
            self.observe(Phase::Initialize, None, Seen::Downloaded { line });
        }
        self.facts.handshake = Some(HandshakeFacts {
            era: match offered.dialect {
                Dialect::Legacy => Era::Initialize,
                Dialect::Modern => Era::Discover,
            },
            requested: offered.revision,
            negotiated: handshake.negotiated,
            name: handshake.name,
            title: handshake.title,
            version: handshake.version,
            instructions: handshake.instructions,
            capabilities: handshake.capabilities,
        });
        conversation.look();
        self.conversation = Some(conversation);
    }

    /// The first process stands in the log only, but for what matters still: that the server refuses to
    /// negotiate (the official clients stop there), and what could not be ended.
    fn keep_of_first(&mut self, first: Failed, greeting: &Greeting) {
        self.keep_left_over(first.remains.as_ref());
        if greeting.offered.dialect == first.offered.dialect {
            let seen = first.failure.seen(&self.spec, &first.offered, None);
            self.facts.observations.extend(seen.map(|what| Observation {
                phase: Phase::Initialize,
                probe: None,
                what,
            }));
        }
    }

    fn keep_left_over(&mut self, remains: Option<&Remains>) {
        let observations = remains
            .map(|remains| shutdown_observations(&remains.ended.shutdown))
            .unwrap_or_default();
        let left_over = observations
            .into_iter()
            .filter(|seen| matches!(seen.what, Seen::LeftOver { .. }));
        self.facts.observations.extend(left_over);
    }

    fn fail(&mut self, failed: Failed) {
        let Failed {
            offered,
            failure,
            mut remains,
        } = failed;
        let timed_out = matches!(failure, Failure::TimedOut(_));
        let is_framing = matches!(failure, Failure::Framing { .. });
        let seen = failure.seen(&self.spec, &offered, remains.as_ref().map(|remains| &remains.ended));
        if let Some(what) = seen {
            let phase = if matches!(what, Seen::SpawnFailed { .. }) {
                Phase::Spawn
            } else {
                Phase::Initialize
            };
            self.observe(phase, None, what);
        }
        let Some(Remains {
            mut conversation,
            ended,
        }) = remains.take()
        else {
            return;
        };
        if is_framing {
            conversation.forget_noise(Phase::Initialize);
            conversation.forget_noise(Phase::Shutdown);
        }
        self.facts.lifetime = Some(conversation.spawned_at().elapsed());
        self.facts.first_byte = conversation.first_byte();
        self.facts.resources = conversation.resources();
        self.facts.observations.extend(conversation.into_observations());
        if !ended.forced {
            // A server that hangs while it starts cannot see that its stdin was closed.
            let observations = shutdown_observations(&ended.shutdown).into_iter();
            let kept = observations.filter(|seen| {
                !timed_out
                    || match &seen.what {
                        Seen::UncleanShutdown { survivors, .. } => !survivors.is_empty(),
                        _ => true,
                    }
            });
            self.facts.observations.extend(kept);
        }
        self.facts.shutdown = Some(ended.shutdown);
    }
}

/// The parts of the identity that are missing or empty.
fn missing_identity(handshake: &crate::client::protocol::Handshake) -> Vec<&'static str> {
    if !handshake.has_server_info {
        return vec!["serverInfo"];
    }
    let is_empty = |field: &Option<String>| field.as_deref().is_none_or(|text| text.trim().is_empty());
    let mut missing = Vec::new();
    if is_empty(&handshake.name) {
        missing.push("serverInfo.name");
    }
    if is_empty(&handshake.version) {
        missing.push("serverInfo.version");
    }
    missing
}
