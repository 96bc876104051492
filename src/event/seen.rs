//! Everything out of the ordinary that can be seen, as data with its evidence. No verdicts: `judge`
//! gives each its name and its weight.

use std::time::Duration;

use super::ShutdownStep;
use crate::finding::Phase;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Exit code, if it exited.
    pub code: Option<i32>,
    /// Signal, if one ended it.
    pub signal: Option<i32>,
    /// Its last lines on stderr, oldest first; empty if it wrote none.
    pub last_lines: Vec<String>,
}

/// What came while we waited in vain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Bytes on stdout since the request was written.
    pub bytes: u64,
    /// Lines that were no messages.
    pub noise_lines: u32,
    /// Whole messages that were no answer to this request (notifications, other ids).
    pub other_messages: u32,
    /// The last line without its end, if output stopped in the middle of one.
    pub unfinished: Option<String>,
    /// The last line on stderr.
    pub last_stderr: Option<String>,
}

/// Something out of the ordinary, as data; `judge` gives it a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Where it was seen.
    pub phase: Phase,
    /// Which probe it belongs to (its place in the row's plan).
    pub probe: Option<usize>,
    /// What was seen.
    pub what: Seen,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant says what its fields hold")]
pub enum Seen {
    /// The manifest's entry cannot be used: the field and what is wrong.
    ConfigError { field: String, problem: String },
    /// A package could not be installed.
    InstallFailed {
        what: String,
        problem: String,
        last_lines: Vec<String>,
    },
    /// An update failed, and the earlier installation runs.
    InstallStale {
        what: String,
        installed: String,
        problem: String,
    },
    /// npx or uvx fetched something while it started: the line that says so.
    Downloaded { line: String },
    /// The system would not start it: what was tried and why not, with a cure.
    SpawnFailed {
        program: String,
        problem: String,
        hint: Option<String>,
    },
    /// It ended before it answered.
    ExitedEarly { ending: Ending },
    /// It ended later on.
    ServerDied { ending: Ending },
    /// No answer to the handshake within the limit.
    InitTimeout {
        limit: Duration,
        received: Received,
        hint: Option<String>,
    },
    /// The handshake was answered with an error.
    InitError { code: i64, message: String },
    /// The handshake result is not one: what is wrong.
    InvalidInitialize { problem: String },
    /// No revision in common: what we offered, what it speaks.
    ProtocolVersion { offered: String, answered: String },
    /// A part of the identity is missing or empty: `serverInfo`, `serverInfo.name`, `serverInfo.version`.
    IdentityMissing { field: String },
    /// `tools/list` was answered with an error.
    ListError { code: i64, message: String },
    /// No answer to `tools/list` within the limit.
    ListTimeout { limit: Duration, received: Received },
    /// More pages or tools than we read.
    ListTooLong { pages: u32, tools: usize },
    /// A cursor came again.
    PaginationLoop { cursor: String, tools: usize },
    /// Something about the list is not as it should be.
    ListInvalid { problem: String },
    /// A tool is not as it should be: its name and what is wrong.
    ToolInvalid { tool: String, problem: String },
    /// A name is listed more than once.
    ToolDuplicate { tool: String, times: usize },
    /// The server has no tools: whether it declares the capability.
    NoTools { declared: bool },
    /// A probe's tool is not listed.
    ToolMissing { tool: String, listed: usize },
    /// `isError: true` where none was expected: the text.
    ToolError {
        tool: String,
        text: String,
        failures: u32,
        calls: u32,
    },
    /// A JSON-RPC error where none was expected.
    RpcError {
        tool: String,
        code: i64,
        message: String,
        failures: u32,
        calls: u32,
    },
    /// The backend said 429 or the like; the calls after it were not made.
    RateLimited {
        tool: String,
        text: String,
        failures: u32,
        calls: u32,
    },
    /// No answer within the limit.
    CallTimeout {
        tool: String,
        limit: Duration,
        received: Received,
        failures: u32,
        calls: u32,
    },
    /// The call needs something that we do not offer: what.
    CallUnsupported {
        tool: String,
        needs: String,
        failures: u32,
        calls: u32,
    },
    /// The reply misses the probe's expectation.
    UnexpectedResult {
        tool: String,
        expected: String,
        actual: String,
        failures: u32,
        calls: u32,
    },
    /// The reply is not a proper result.
    CallInvalid { tool: String, problem: String },
    /// A probe without expectation whose reply reads like an error.
    SoftError { tool: String, text: String },
    /// Lines on stdout that are no messages: the first, and how many.
    StdoutNoise { first: String, lines: u32 },
    /// Messages nobody asked for: the first, described, and how many.
    StrayMessage { first: String, messages: u32 },
    /// A message that is not UTF-8: its start, lossily decoded.
    BadEncoding { excerpt: String, messages: u32 },
    /// Output in a framing that is not ours: what it looks like.
    BadFraming { looks_like: String, excerpt: String },
    /// A line longer than the limit.
    OutputLimit { limit: u64 },
    /// An answer came back under another id than asked for.
    IdMismatch {
        expected: String,
        actual: String,
        tolerated: bool,
    },
    /// A request of the server's that was answered with -32601.
    ServerRequestRefused { method: String, times: u32 },
    /// Ending it took a signal, or something of it had to be ended.
    UncleanShutdown { step: ShutdownStep, survivors: Vec<String> },
    /// A process could not be ended.
    LeftOver { processes: Vec<String> },
    /// What an earlier run left when it was killed: those that are gone now, and those that would not go.
    LeftByKilledRun { ended: Vec<String>, left_over: Vec<String> },
    /// The whole row took longer than its limit.
    RowTimeout { limit: Duration },
    /// Ctrl-C came while the row ran.
    Interrupted,
    /// A later session disagrees with the first: what, then and now.
    SessionDisagrees { what: String, first: String, later: String },
}
