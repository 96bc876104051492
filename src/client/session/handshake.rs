//! One handshake on one fresh process, of either era, and the ways it can fail.

use std::time::Instant;

use super::answer::Ended;
use super::conversation::Conversation;
use super::hints;
use super::stop::Stop;
use super::wording::excerpt;
use super::{SessionSpec, conversation::EndedProcess};
use crate::client::process::SpawnProblem;
use crate::client::protocol::{
    Client, Dialect, Handshake, HandshakeProblem, LEGACY_REVISIONS, MODERN_REVISIONS, RpcError,
    UNSUPPORTED_PROTOCOL_VERSION, discover_result, initialize_params, initialize_result, initialized, meta_params,
};
use crate::client::transport::LONGEST_LINE;
use crate::event::{Ending, Received, Seen, Sink};

/// What is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) dialect: Dialect,
    pub(super) revision: String,
}

/// A handshake that stood.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) offered: Offer,
    pub(super) handshake: Handshake,
    /// When the last byte of its result was read.
    pub(super) at: Instant,
}

/// Why a handshake failed.
#[derive(Debug)]
pub(super) enum Failure {
    Spawn(SpawnProblem),
    Ended(Ending),
    TimedOut(Received),
    Refused(RpcError),
    Unusable(HandshakeProblem),
    Framing { looks_like: String, excerpt: String },
    ForeignId { expected: String, actual: String },
    TooLong,
    Stopped,
}

/// Who we say we are, in every request.
pub(super) fn client() -> Client {
    Client {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

impl Offer {
    pub(super) fn initialize(revision: &str) -> Self {
        Self {
            dialect: Dialect::Legacy,
            revision: revision.to_owned(),
        }
    }

    pub(super) fn discover(revision: &str) -> Self {
        Self {
            dialect: Dialect::Modern,
            revision: revision.to_owned(),
        }
    }
}

/// Starts a process and shakes hands. The conversation is null only if nothing was started.
pub(super) async fn attempt(
    spec: &SessionSpec,
    offer: Offer,
    sink: &Sink,
    stop: &Stop,
) -> (Option<Conversation>, Result<Greeting, Failure>) {
    let mut conversation = match Conversation::start(&spec.command, sink.clone(), spec.number, stop.clone()) {
        Ok(conversation) => conversation,
        Err(problem) => return (None, Err(Failure::Spawn(problem))),
    };
    let deadline = conversation.spawned_at() + spec.limits.startup;
    let greeted = match offer.dialect {
        Dialect::Legacy => initialize(&mut conversation, offer, deadline).await,
        Dialect::Modern => discover(&mut conversation, offer, deadline).await,
    };
    conversation.hand_over_wire();
    (Some(conversation), greeted)
}

async fn initialize(conversation: &mut Conversation, offered: Offer, deadline: Instant) -> Result<Greeting, Failure> {
    let params = initialize_params(&offered.revision, &client());
    let exchange = conversation.request("initialize", &params, deadline).await;
    let (result, at) = answered(exchange.ended)?.map_err(Failure::Refused)?;
    let handshake = initialize_result(&result).map_err(Failure::Unusable)?;
    conversation.notify(initialized(), deadline).await;
    Ok(Greeting { offered, handshake, at })
}

/// Tried once more on the same process if the server names a revision that we speak, too.
async fn discover(conversation: &mut Conversation, offered: Offer, deadline: Instant) -> Result<Greeting, Failure> {
    match discover_once(conversation, offered.clone(), deadline).await {
        Err(Failure::Refused(error)) if error.code == UNSUPPORTED_PROTOCOL_VERSION => {
            let spoken = error.supported_revisions();
            let mutual = spoken
                .iter()
                .find(|revision| MODERN_REVISIONS.contains(&revision.as_str()) && **revision != offered.revision);
            match mutual {
                Some(revision) => discover_once(conversation, Offer::discover(revision), deadline).await,
                None => Err(Failure::Refused(error)),
            }
        }
        greeted @ (Ok(_) | Err(_)) => greeted,
    }
}

async fn discover_once(
    conversation: &mut Conversation,
    offered: Offer,
    deadline: Instant,
) -> Result<Greeting, Failure> {
    let params = serde_json::Value::Object(meta_params(offered.dialect, &offered.revision, &client())).to_string();
    let exchange = conversation.request("server/discover", &params, deadline).await;
    let (result, at) = answered(exchange.ended)?.map_err(Failure::Refused)?;
    let handshake = discover_result(&result, &offered.revision).map_err(Failure::Unusable)?;
    Ok(Greeting { offered, handshake, at })
}

type Outcome = Result<(serde_json::Value, Instant), RpcError>;

fn answered(ended: Ended) -> Result<Outcome, Failure> {
    let unreadable = |problem| Failure::Unusable(HandshakeProblem::Invalid(problem));
    match ended {
        Ended::Answered(answer) => match answer.problem {
            Some(problem) => Err(unreadable(problem)),
            None => Ok(answer.outcome.map(|result| (result, answer.at))),
        },
        Ended::TimedOut(received) => Err(Failure::TimedOut(received)),
        Ended::Gone(ending) => Err(Failure::Ended(ending)),
        Ended::Framing { looks_like, excerpt } => Err(Failure::Framing { looks_like, excerpt }),
        Ended::ForeignId { expected, actual } => Err(Failure::ForeignId { expected, actual }),
        Ended::Unreadable { problem } => Err(unreadable(problem)),
        Ended::TooLong => Err(Failure::TooLong),
        Ended::Stopped => Err(Failure::Stopped),
    }
}

impl Failure {
    /// The revision of the `initialize` era that a refusal names as spoken, if we speak it, too.
    pub(super) fn legacy_alternative(&self, offered: &Offer) -> Option<Offer> {
        let Self::Refused(error) = self else {
            return None;
        };
        let spoken = error.supported_revisions();
        let both = LEGACY_REVISIONS
            .iter()
            .rev()
            .find(|revision| spoken.iter().any(|other| other == *revision));
        both.filter(|revision| **revision != offered.revision)
            .map(|revision| Offer::initialize(revision))
    }

    /// Whether a server of the other era may fail in this way: by an error, an exit or silence.
    pub(super) fn may_be_modern(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Ended(_) | Self::TimedOut(_) => true,
            Self::Unusable(problem) => problem.is_modern(),
            Self::Spawn(_) | Self::Framing { .. } | Self::ForeignId { .. } | Self::TooLong | Self::Stopped => false,
        }
    }

    /// The failure as it is told; null if it is not the server's. `ended` is how its process was ended.
    pub(super) fn seen(self, spec: &SessionSpec, offered: &Offer, ended: Option<&EndedProcess>) -> Option<Seen> {
        let limit = spec.limits.startup;
        let offered = offered.revision.clone();
        Some(match self {
            Self::Spawn(problem) => {
                let SpawnProblem { program, problem, hint } = problem;
                Seen::SpawnFailed { program, problem, hint }
            }
            Self::Ended(ending) => Seen::ExitedEarly { ending },
            Self::TimedOut(received) => {
                let answered_late = ended.is_some_and(|ended| ended.answered_late);
                let stderr = ended
                    .map(|ended| ended.ending.last_lines.as_slice())
                    .unwrap_or_default();
                let hint = hints::init_timeout(&spec.command, &received, stderr, answered_late);
                Seen::InitTimeout { limit, received, hint }
            }
            Self::Refused(error) => {
                let speaks = error.supported_revisions();
                if error.code == UNSUPPORTED_PROTOCOL_VERSION || !speaks.is_empty() {
                    let answered = if speaks.is_empty() {
                        excerpt(&error.message)
                    } else {
                        speaks.join(", ")
                    };
                    Seen::ProtocolVersion { offered, answered }
                } else {
                    Seen::InitError {
                        code: error.code,
                        message: excerpt(&error.message),
                    }
                }
            }
            Self::Unusable(HandshakeProblem::Invalid(problem)) => Seen::InvalidInitialize { problem },
            Self::Unusable(HandshakeProblem::Revision(answered)) => Seen::ProtocolVersion { offered, answered },
            Self::Framing { looks_like, excerpt } => Seen::BadFraming { looks_like, excerpt },
            Self::ForeignId { expected, actual } => Seen::IdMismatch {
                expected,
                actual,
                tolerated: false,
            },
            Self::TooLong => Seen::OutputLimit {
                limit: LONGEST_LINE as u64,
            },
            Self::Stopped => return None,
        })
    }

    /// For a line of the log.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Spawn(problem) => problem.problem.clone(),
            Self::Ended(ending) => match (ending.code, ending.signal) {
                (Some(code), _) => format!("it exited with code {code}"),
                (None, Some(signal)) => format!("it was ended by signal {signal}"),
                (None, None) => "it closed its pipes".to_owned(),
            },
            Self::TimedOut(received) => format!("no answer within the limit ({} bytes came)", received.bytes),
            Self::Refused(error) => format!("error {}: {}", error.code, excerpt(&error.message)),
            Self::Unusable(HandshakeProblem::Invalid(problem)) => problem.clone(),
            Self::Unusable(HandshakeProblem::Revision(revision)) => format!("it speaks {revision}"),
            Self::Framing { looks_like, .. } => looks_like.clone(),
            Self::ForeignId { actual, .. } => format!("it answered under the id {actual}"),
            Self::TooLong => "a line was too long".to_owned(),
            Self::Stopped => "given up".to_owned(),
        }
    }
}
