//! What a conversation makes of each line that comes: the answer it waits for, a request of the server's
//! to be answered at once, or something to be counted.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::{Answer, Ended};
use super::conversation::Conversation;
use super::suspicion::Suspicion;
use super::wording::excerpt;
use crate::client::protocol::{
    IdForm, Line, METHOD_NOT_FOUND, Message, Response, RpcError, Violation, error_reply, matches_id, ok_reply, parse,
};
use crate::client::transport::Arrival;
use crate::event::Direction;

/// How long an answer of ours may take to be written; it fits into any pipe that is read at all.
const REPLY_LIMIT: Duration = Duration::from_secs(2);

impl Conversation {
    /// Takes what has come already.
    pub(super) async fn take_backlog(&mut self, pending: Option<u64>) {
        while let Some(arrival) = self.transport.next_now() {
            drop(self.take(arrival, pending).await);
        }
    }

    /// Takes one line; how the wait for `pending` ended, if this line ends it.
    pub(super) async fn take(&mut self, arrival: Arrival, pending: Option<u64>) -> Option<Ended> {
        let (bytes, at, ended) = match arrival {
            Arrival::Line { bytes, at, ended } => (bytes, at, ended),
            Arrival::TooLong { .. } => {
                if pending.is_none() {
                    self.tally.noise(self.phase, "a line longer than is read");
                }
                return pending.map(|_| Ended::TooLong);
            }
        };
        let taken = match parse(&bytes) {
            Ok(line) => {
                self.spread.clear();
                for quirk in &line.quirks {
                    self.tally.quirk(self.phase, *quirk, &bytes);
                }
                if !ended {
                    self.tally.noise(self.phase, "a last message without a line end");
                }
                self.take_messages(line, at, pending, None).await
            }
            Err(Violation::Blank) => return None,
            Err(Violation::NotANumber { token, repaired }) => {
                let problem = format!("the answer holds {token}, which JSON does not have");
                self.take_messages(repaired, at, pending, Some(problem)).await
            }
            Err(Violation::NoVersion { id }) if pending.is_some_and(|pending| matches_id(&id, pending).is_some()) => {
                Some(Ended::Unreadable {
                    problem: "the answer has no `\"jsonrpc\": \"2.0\"`".to_owned(),
                })
            }
            Err(violation) => {
                self.take_noise(&violation, &bytes, at);
                None
            }
        };
        self.wire.keep(Direction::In, at, bytes);
        taken
    }

    fn take_noise(&mut self, violation: &Violation, bytes: &[u8], at: Instant) {
        let text = String::from_utf8_lossy(bytes);
        self.waiting.noise_lines += 1;
        self.tally.noise(self.phase, &text);
        self.wire.keep_noise(at, &text);
        let spread = self.spread.completes(&text);
        let suspicion = match violation {
            Violation::ContentLength => Some(Suspicion::framing("a Content-Length header", &text)),
            Violation::Glued { .. } => Some(Suspicion::framing(
                "other output before a message on the same line",
                &text,
            )),
            Violation::Several => Some(Suspicion::framing(
                "something else behind a message on the same line",
                &text,
            )),
            Violation::Unreadable { problem } => Some(Suspicion::Unreadable {
                problem: problem.clone(),
            }),
            Violation::Unfinished | Violation::NoMessage if spread => {
                Some(Suspicion::framing("a message spread over several lines", &text))
            }
            Violation::Unfinished
            | Violation::NoMessage
            | Violation::Blank
            | Violation::NoVersion { .. }
            | Violation::NotANumber { .. } => None,
        };
        if self.waiting.suspicion.is_none() {
            self.waiting.suspicion = suspicion;
        }
    }

    /// Takes the messages of one line; how the wait for `pending` ended, if one of them ends it.
    pub(super) async fn take_messages(
        &mut self,
        line: Line,
        at: Instant,
        pending: Option<u64>,
        problem: Option<String>,
    ) -> Option<Ended> {
        let mut answer = None;
        for message in line.messages {
            match message {
                Message::Request { id, method, .. } => self.refuse(&id, method).await,
                Message::Notification { method, .. } => {
                    self.waiting.other_messages += 1;
                    self.list_changed |= method == "notifications/tools/list_changed";
                }
                Message::Response(response) => {
                    let form =
                        pending.and_then(|pending| matches_id(&response.id, pending).map(|form| (pending, form)));
                    match form {
                        Some((pending, form)) if answer.is_none() => {
                            if form == IdForm::Other {
                                self.tally.other_id(self.phase, pending, &response.id);
                            }
                            let problem = problem.clone();
                            answer = Some(Ended::Answered(Answer {
                                at,
                                outcome: response.outcome,
                                problem,
                            }));
                        }
                        Some(_) | None => self.stray(&response, pending.is_some()),
                    }
                }
            }
        }
        answer
    }

    /// Answers a request of the server's at once: it may be waiting for it before it answers us.
    async fn refuse(&mut self, id: &Value, method: String) {
        let reply = if method == "ping" {
            ok_reply(id)
        } else {
            // A recognisable text: some servers hand it back to us as the error of our call.
            let message = format!("mcp-smoke declares no client capabilities and does not serve {method}");
            let error = RpcError {
                code: METHOD_NOT_FOUND,
                message,
                data: Value::Null,
            };
            self.tally.refused(self.phase, &method);
            self.waiting.asked.push(method);
            error_reply(id, &error)
        };
        self.waiting.other_messages += 1;
        // Small enough for any pipe that is read at all; a server that does not read is not waited for.
        drop(self.write(reply, Instant::now() + REPLY_LIMIT).await);
    }

    /// An answer that nobody waits for.
    fn stray(&mut self, response: &Response, is_waiting: bool) {
        self.waiting.other_messages += 1;
        if self.stop.is_due() {
            // We gave up on it ourselves.
            return;
        }
        let asked = (1..self.next_id)
            .rev()
            .find(|id| matches_id(&response.id, *id).is_some());
        match asked {
            Some(id) if self.timed_out.contains(&id) => {
                self.tally
                    .stray(self.phase, || format!("an answer to request {id} after its limit"));
            }
            Some(id) => self
                .tally
                .stray(self.phase, || format!("a second answer to request {id}")),
            None => {
                let description = match &response.outcome {
                    Err(error) if response.id.is_null() => {
                        format!("an error without an id: {} {}", error.code, excerpt(&error.message))
                    }
                    Ok(_) | Err(_) => format!("an answer under the id {}, which was never used", response.id),
                };
                let is_foreign = is_waiting && !(response.id.is_null() && response.outcome.is_err());
                if is_foreign && self.waiting.foreign.is_none() {
                    self.waiting.foreign = Some(description);
                    let actual = response.id.to_string();
                    self.waiting.suspicion.get_or_insert(Suspicion::ForeignId { actual });
                } else {
                    self.tally.stray(self.phase, || description);
                }
            }
        }
    }
}
