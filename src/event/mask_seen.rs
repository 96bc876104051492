//! The strings of what was seen, masked; apart from `mask.rs` only for its length.

use super::mask::Masker;
use super::{Ending, Received, Seen};

impl Masker<'_> {
    pub(super) fn seen(self, seen: &mut Seen) {
        match seen {
            Seen::ConfigError { field, problem } => self.texts_of([field, problem]),
            Seen::InstallFailed {
                what,
                problem,
                last_lines,
            } => {
                self.texts_of([what, problem]);
                self.texts(last_lines);
            }
            Seen::InstallStale {
                what,
                installed,
                problem,
            } => self.texts_of([what, installed, problem]),
            Seen::Downloaded { line } => self.text(line),
            Seen::SpawnFailed { program, problem, hint } => {
                self.texts_of([program, problem]);
                self.optional(hint);
            }
            Seen::ExitedEarly { ending } | Seen::ServerDied { ending } => self.ending(ending),
            Seen::InitTimeout {
                limit: _,
                received,
                hint,
            } => {
                self.received(received);
                self.optional(hint);
            }
            Seen::InitError { code: _, message } | Seen::ListError { code: _, message } => self.text(message),
            Seen::InvalidInitialize { problem } | Seen::ListInvalid { problem } => self.text(problem),
            Seen::ProtocolVersion { offered, answered } => self.texts_of([offered, answered]),
            Seen::IdentityMissing { field } => self.text(field),
            Seen::ListTimeout { limit: _, received } => self.received(received),
            Seen::PaginationLoop { cursor, tools: _ } => self.text(cursor),
            Seen::ToolInvalid { tool, problem } | Seen::CallInvalid { tool, problem } => {
                self.texts_of([tool, problem]);
            }
            Seen::ToolDuplicate { tool, times: _ } | Seen::ToolMissing { tool, listed: _ } => self.text(tool),
            Seen::SoftError { tool, text }
            | Seen::ToolError {
                tool,
                text,
                failures: _,
                calls: _,
            }
            | Seen::RateLimited {
                tool,
                text,
                failures: _,
                calls: _,
            } => self.texts_of([tool, text]),
            Seen::RpcError {
                tool,
                code: _,
                message,
                failures: _,
                calls: _,
            } => self.texts_of([tool, message]),
            Seen::CallTimeout {
                tool,
                limit: _,
                received,
                failures: _,
                calls: _,
            } => {
                self.text(tool);
                self.received(received);
            }
            Seen::CallUnsupported {
                tool,
                needs,
                failures: _,
                calls: _,
            } => self.texts_of([tool, needs]),
            Seen::UnexpectedResult {
                tool,
                expected,
                actual,
                failures: _,
                calls: _,
            } => self.texts_of([tool, expected, actual]),
            Seen::StdoutNoise { first, lines: _ } | Seen::StrayMessage { first, messages: _ } => self.text(first),
            Seen::BadEncoding { excerpt, messages: _ } => self.text(excerpt),
            Seen::BadFraming { looks_like, excerpt } => self.texts_of([looks_like, excerpt]),
            Seen::IdMismatch {
                expected,
                actual,
                tolerated: _,
            } => self.texts_of([expected, actual]),
            Seen::ServerRequestRefused { method, times: _ } => self.text(method),
            Seen::UncleanShutdown { step: _, survivors } => self.texts(survivors),
            Seen::LeftOver { processes } => self.texts(processes),
            Seen::LeftByKilledRun { ended, left_over } => {
                self.texts(ended);
                self.texts(left_over);
            }
            Seen::SessionDisagrees { what, first, later } => self.texts_of([what, first, later]),
            Seen::ListTooLong { pages: _, tools: _ }
            | Seen::NoTools { declared: _ }
            | Seen::OutputLimit { limit: _ }
            | Seen::RowTimeout { limit: _ }
            | Seen::Interrupted => {}
        }
    }
    fn ending(self, ending: &mut Ending) {
        let Ending {
            code: _,
            signal: _,
            last_lines,
        } = ending;
        self.texts(last_lines);
    }

    fn received(self, received: &mut Received) {
        let Received {
            bytes: _,
            noise_lines: _,
            other_messages: _,
            unfinished,
            last_stderr,
        } = received;
        self.optional(unfinished);
        self.optional(last_stderr);
    }

    fn texts_of<const COUNT: usize>(self, texts: [&mut String; COUNT]) {
        for text in texts {
            self.text(text);
        }
    }
}
