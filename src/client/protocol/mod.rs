//! JSON-RPC and MCP as pure functions: bytes to messages, messages to facts, facts to bytes.
//!
//! What a server does wrong comes back as data ([`Violation`], [`Quirk`], a list of problems) and
//! never as a panic. Nothing here reads, writes, waits or knows about processes.

mod handshake;
mod message;
mod reply;
mod request;
mod spread;
mod tools;
mod violation;

pub use handshake::{Handshake, HandshakeProblem, discover_result, initialize_result};
pub use message::{IdForm, Line, Message, Quirk, Response, RpcError, matches_id, parse};
pub use reply::{CallResult, ResultKind, call_result};
pub use request::{
    Client, call_params, cancelled, error_reply, initialize_params, initialized, list_params, meta_params, ok_reply,
    request,
};
pub use spread::Spread;
pub use tools::{ListPage, Listed, NextCursor, list_page};
pub use violation::Violation;

/// The newest revision of the `initialize` era; what we offer unless a manifest pins another one.
pub const NEWEST_LEGACY: &str = "2025-11-25";

/// The revision that has `server/discover` instead of `initialize`.
pub const NEWEST_MODERN: &str = "2026-07-28";

/// The revisions with an `initialize` handshake, oldest first. The first was never final, but some SDKs accept it.
pub const LEGACY_REVISIONS: &[&str] = &["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", NEWEST_LEGACY];

/// The revisions without one.
pub const MODERN_REVISIONS: &[&str] = &[NEWEST_MODERN];

/// JSON-RPC: no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// 2026-07-28: the call needs a client capability that was not declared.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// 2026-07-28: the revision is not spoken; `data.supported` lists those that are.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// 2025-11-25: the call needs a person to visit a URL first.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// Which rules a connection follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `initialize`, revisions up to 2025-11-25.
    Legacy,
    /// `server/discover`, 2026-07-28: the revision travels in every request.
    Modern,
}

impl Dialect {
    /// The dialect of a revision; dates compare as strings.
    pub fn of_revision(revision: &str) -> Self {
        if revision >= NEWEST_MODERN {
            Self::Modern
        } else {
            Self::Legacy
        }
    }
}

#[cfg(test)]
mod tests;
