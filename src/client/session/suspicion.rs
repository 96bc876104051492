//! Why an answer may never come although something did: told instead of a bare timeout.

use std::time::Duration;

use crate::event::Received;

use super::answer::Ended;
use super::wording::excerpt;

/// A message may still follow what looks like another framing (it may have been a log line); a server
/// that really frames otherwise is not waited for until the limit.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// What makes us doubt that an answer will come.
#[derive(Clone, Debug)]
pub(super) enum Suspicion {
    /// The server frames its messages in another way.
    Framing { looks_like: &'static str, excerpt: String },
    /// It answered a request that was never made.
    ForeignId { actual: String },
    /// It sent a message that cannot be read.
    Unreadable { problem: String },
}

impl Suspicion {
    pub(super) fn framing(looks_like: &'static str, line: &str) -> Self {
        Self::Framing {
            looks_like,
            excerpt: excerpt(line),
        }
    }

    /// How long to wait from now on; null for the request's own limit.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self {
            Self::Framing { .. } | Self::Unreadable { .. } => Some(PATIENCE),
            Self::ForeignId { .. } => None,
        }
    }

    /// What the wait for request `id` came to.
    pub(super) fn confirmed(self, id: u64) -> Ended {
        match self {
            Self::Framing { looks_like, excerpt } => Ended::Framing {
                looks_like: looks_like.to_owned(),
                excerpt,
            },
            Self::ForeignId { actual } => Ended::ForeignId {
                expected: id.to_string(),
                actual,
            },
            Self::Unreadable { problem } => Ended::Unreadable { problem },
        }
    }
}

/// A whole message that only lacks its line end.
pub(super) fn unfinished_message(received: &Received) -> Option<Suspicion> {
    let text = received.unfinished.as_deref()?;
    crate::client::protocol::parse(text.as_bytes()).ok()?;
    Some(Suspicion::framing("a message without a line end", text))
}
