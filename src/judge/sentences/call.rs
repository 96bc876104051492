//! Sentences for `tools/call`.

use std::time::Duration;

use crate::event::Received;
use crate::finding::Code;
use crate::judge::hints;
use crate::judge::sentences::{Told, rpc_words};
use crate::judge::words::{code, line, quote, received};
use crate::text::duration_words;

/// The call that is spoken of.
pub(super) struct Call {
    /// The probe with a colon and a space, or nothing.
    pub(super) probe: String,
    /// The tool.
    pub(super) tool: String,
}

impl Call {
    pub(super) fn tool_error(&self, text: &str, failures: u32, calls: u32) -> Told {
        let message = format!("{} failed (isError): {}", self.these(failures, calls), quote(text));
        Told::new(Code::ToolError, message)
            .actual(line(text))
            .hint(hints::from_reply(text))
    }

    pub(super) fn rpc_error(&self, number: i64, message: &str, failures: u32, calls: u32) -> Told {
        let words = rpc_words(number, message);
        Told::new(
            Code::RpcError,
            format!("{} got {words} instead of a result", self.these(failures, calls)),
        )
        .actual(words)
        .hint(hints::from_reply(message))
    }

    pub(super) fn rate_limited(&self, text: &str, failures: u32, calls: u32) -> Told {
        let message = format!(
            "{} hit a rate limit, so the calls after it were not made: {}",
            self.these(failures, calls),
            quote(text)
        );
        Told::new(Code::RateLimited, message).actual(line(text)).hint(Some(
            "make fewer calls (`calls` of the probe), or give the row a key with a higher limit",
        ))
    }

    pub(super) fn timeout(&self, limit: Duration, came: &Received, failures: u32, calls: u32) -> Told {
        let message = format!(
            "{} got no answer within {}: {}",
            self.these(failures, calls),
            duration_words(limit),
            received(came)
        );
        Told::new(Code::CallTimeout, message)
    }

    pub(super) fn unsupported(&self, needs: &str, failures: u32, calls: u32) -> Told {
        let message = format!(
            "{} needs what this client does not offer: {}",
            self.these(failures, calls),
            line(needs)
        );
        Told::new(Code::CallUnsupported, message).actual(line(needs))
    }

    pub(super) fn unexpected_result(&self, expected: &str, actual: &str, failures: u32, calls: u32) -> Told {
        let message = format!(
            "{} did not reply as expected: wanted {}, got {}",
            self.these(failures, calls),
            line(expected),
            quote(actual)
        );
        Told::new(Code::UnexpectedResult, message)
            .expected(line(expected))
            .actual(line(actual))
            .hint(hints::from_reply(actual))
    }

    pub(super) fn invalid(&self, problem: &str) -> Told {
        Told::new(
            Code::CallInvalid,
            format!(
                "{}the result of {} is not proper: {}",
                self.probe,
                code(&self.tool),
                line(problem)
            ),
        )
    }

    pub(super) fn soft_error(&self, text: &str) -> Told {
        let message = format!(
            "{}the reply of {} is no error and reads like one: {}",
            self.probe,
            code(&self.tool),
            quote(text)
        );
        let hint =
            hints::from_reply(text).unwrap_or_else(|| "say in the probe's `expect` what a good reply holds".to_owned());
        Told::new(Code::SoftError, message).actual(line(text)).hint(Some(hint))
    }

    /// Which calls: "the call of `echo`", "each of the 3 calls of `echo`", "1 of 3 calls of `echo`".
    fn these(&self, failures: u32, calls: u32) -> String {
        let tool = code(&self.tool);
        let probe = &self.probe;
        match (failures, calls) {
            // A failed warm-up call is a failure and does not count as a call.
            (_, 0 | 1) if failures <= 1 => format!("{probe}the call of {tool}"),
            _ if failures > calls => format!("{probe}{failures} calls of {tool}, warm-up included,"),
            _ if failures == calls => format!("{probe}each of the {calls} calls of {tool}"),
            _ => format!("{probe}{failures} of {calls} calls of {tool}"),
        }
    }
}
