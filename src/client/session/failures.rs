//! The failed calls of one probe: one observation for each kind, however often it came.

use std::mem::discriminant;
use std::time::Duration;

use super::call::CallFailure;
use crate::client::transport::LONGEST_LINE;
use crate::event::Seen;

/// The failures of one probe, counted by kind.
#[derive(Debug, Default)]
pub(super) struct Failures {
    kinds: Vec<(CallFailure, u32)>,
}

impl Failures {
    pub(super) fn add(&mut self, failure: CallFailure) {
        let kind = discriminant(&failure);
        match self.kinds.iter_mut().find(|(first, _)| discriminant(first) == kind) {
            Some((_, times)) => *times += 1,
            None => self.kinds.push((failure, 1)),
        }
    }

    /// What is told of them; `calls` were made in all, warm-up included, each with this `limit`.
    pub(super) fn into_seen(self, tool: &str, limit: Duration, calls: u32) -> Vec<Seen> {
        self.kinds
            .into_iter()
            .map(|(failure, failures)| seen(failure, tool.to_owned(), limit, failures, calls))
            .collect()
    }
}

fn seen(failure: CallFailure, tool: String, limit: Duration, failures: u32, calls: u32) -> Seen {
    match failure {
        CallFailure::ToolError(text) => Seen::ToolError {
            tool,
            text,
            failures,
            calls,
        },
        CallFailure::RpcError { code, message } => Seen::RpcError {
            tool,
            code,
            message,
            failures,
            calls,
        },
        CallFailure::RateLimited(text) => Seen::RateLimited {
            tool,
            text,
            failures,
            calls,
        },
        CallFailure::TimedOut(received) => Seen::CallTimeout {
            tool,
            limit,
            received,
            failures,
            calls,
        },
        CallFailure::Unsupported(needs) => Seen::CallUnsupported {
            tool,
            needs,
            failures,
            calls,
        },
        CallFailure::Unexpected { expected, actual } => Seen::UnexpectedResult {
            tool,
            expected,
            actual,
            failures,
            calls,
        },
        CallFailure::Invalid(problem) => Seen::CallInvalid { tool, problem },
        CallFailure::Framing { looks_like, excerpt } => Seen::BadFraming { looks_like, excerpt },
        CallFailure::ForeignId { expected, actual } => Seen::IdMismatch {
            expected,
            actual,
            tolerated: false,
        },
        CallFailure::TooLong => Seen::OutputLimit {
            limit: LONGEST_LINE as u64,
        },
        CallFailure::Died(ending) => Seen::ServerDied { ending },
    }
}
