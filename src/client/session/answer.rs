//! How the wait for an answer ended.

use std::time::Instant;

use serde_json::Value;

use crate::client::protocol::RpcError;
use crate::event::{Ending, Received};

/// A request and what became of it.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Just before its write; null if it was not written.
    pub(super) wrote: Option<Instant>,
    /// How it ended.
    pub(super) ended: Ended,
}

/// How a request ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// It was answered.
    Answered(Answer),
    /// Its limit passed.
    TimedOut(Received),
    /// The server is gone, or has closed its pipes.
    Gone(Ending),
    /// The server frames its messages in another way.
    Framing { looks_like: String, excerpt: String },
    /// An answer came, but under an id that was never used.
    ForeignId { expected: String, actual: String },
    /// An answer came that cannot be read.
    Unreadable { problem: String },
    /// A line was longer than we read.
    TooLong,
    /// We were told to give up.
    Stopped,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// When its last byte was read.
    pub(super) at: Instant,
    /// The result, or the error.
    pub(super) outcome: Result<Value, RpcError>,
    /// Why other clients would not accept it.
    pub(super) problem: Option<String>,
}
