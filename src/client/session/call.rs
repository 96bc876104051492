//! What one call came to, seen from its probe. Pure: the answer is in, the clock is stopped.

use std::time::Instant;

use serde_json::Value;

use super::answer::{Answer, Ended};
use super::expectation::Expectation;
use super::wording::{excerpt, reads_like_error, reads_like_rate_limit};
use crate::client::protocol::{
    CallResult, Dialect, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, ResultKind, RpcError, URL_ELICITATION_REQUIRED,
    call_result,
};
use crate::event::{Ending, Received};

/// How a call went.
#[derive(Debug)]
pub(super) struct Call {
    /// When its answer's last byte was read; null if there was none.
    pub(super) at: Option<Instant>,
    /// Whether it ended as its probe expects.
    pub(super) outcome: Outcome,
    /// The text of its result or error.
    pub(super) text: Option<String>,
    /// What is wrong with its result.
    pub(super) problems: Vec<String>,
    /// `structuredContent` of a result that is no error.
    pub(super) structured: Option<Value>,
    /// Whether it is a whole result that is no error.
    pub(super) is_result: bool,
}

/// Whether a call ended as its probe expects.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It did.
    Expected {
        /// It was refused, as expected.
        refused: bool,
        /// Nothing was expected, and the reply reads like an error.
        soft_error: bool,
    },
    /// It did not.
    Failed(CallFailure),
    /// We were told to give up.
    Stopped,
    /// The server wants its own state back first (2026-07-28).
    Again(Value),
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub(super) enum CallFailure {
    ToolError(String),
    RpcError { code: i64, message: String },
    RateLimited(String),
    TimedOut(Received),
    Unsupported(String),
    Unexpected { expected: String, actual: String },
    Invalid(String),
    Framing { looks_like: String, excerpt: String },
    ForeignId { expected: String, actual: String },
    TooLong,
    Died(Ending),
}

/// What a call is judged by.
pub(super) struct Context<'a> {
    pub(super) expectation: &'a Expectation<'a>,
    pub(super) dialect: Dialect,
    /// The server's requests that were refused while the call was pending.
    pub(super) asked: &'a [String],
    /// Whether the tool can only be called as a task.
    pub(super) task_only: bool,
}

/// Judges how a call ended.
pub(super) fn judge(ended: Ended, context: &Context<'_>) -> Call {
    let failed = |failure| Call {
        at: None,
        outcome: Outcome::Failed(failure),
        text: None,
        problems: Vec::new(),
        structured: None,
        is_result: false,
    };
    match ended {
        Ended::Answered(Answer {
            at,
            outcome: Ok(result),
            problem,
        }) => {
            let result = call_result(result, context.dialect);
            let mut call = judge_result(at, result, context);
            if let Some(problem) = problem {
                call.outcome = Outcome::Failed(CallFailure::Invalid(problem));
            }
            call
        }
        Ended::Answered(Answer {
            at,
            outcome: Err(error),
            ..
        }) => judge_error(at, &error, context),
        Ended::TimedOut(received) => failed(match needed(context.asked) {
            Some(needs) => CallFailure::Unsupported(needs),
            None => CallFailure::TimedOut(received),
        }),
        Ended::Gone(ending) => failed(CallFailure::Died(ending)),
        Ended::Framing { looks_like, excerpt } => failed(CallFailure::Framing { looks_like, excerpt }),
        Ended::ForeignId { expected, actual } => failed(CallFailure::ForeignId { expected, actual }),
        Ended::Unreadable { problem } => failed(CallFailure::Invalid(problem)),
        Ended::TooLong => failed(CallFailure::TooLong),
        Ended::Stopped => Call {
            outcome: Outcome::Stopped,
            ..failed(CallFailure::TooLong)
        },
    }
}

fn judge_result(at: Instant, result: CallResult, context: &Context<'_>) -> Call {
    let CallResult {
        is_error,
        text,
        structured,
        kind,
        mut problems,
    } = result;
    let is_complete = kind == ResultKind::Complete;
    let outcome = match kind {
        ResultKind::Complete if is_error => judge_tool_error(&text, context),
        ResultKind::Complete => judge_success(&text, structured.as_ref(), context),
        ResultKind::InputRequired {
            needs,
            request_state: Some(state),
        } if needs.is_empty() => Outcome::Again(state),
        ResultKind::InputRequired { needs, .. } => {
            let needs = if needs.is_empty() {
                "nothing it names".to_owned()
            } else {
                needs.join(", ")
            };
            Outcome::Failed(CallFailure::Unsupported(format!("an input: {needs}")))
        }
        ResultKind::Task => Outcome::Failed(CallFailure::Unsupported("a task".to_owned())),
        ResultKind::Other(kind) => {
            problems.clear();
            Outcome::Failed(CallFailure::Invalid(format!("`resultType` is {kind:?}")))
        }
    };
    if is_error {
        problems.clear();
    }
    let is_result = is_complete && !is_error;
    Call {
        at: Some(at),
        outcome,
        text: Some(text),
        problems,
        structured,
        is_result,
    }
}

fn judge_success(text: &str, structured: Option<&Value>, context: &Context<'_>) -> Outcome {
    match context.expectation.missed_by_result(text, structured) {
        None => {
            let soft_error = context.expectation.is_empty() && reads_like_error(text);
            Outcome::Expected {
                refused: false,
                soft_error,
            }
        }
        Some(_) if context.expectation.wants_error().is_none() && reads_like_rate_limit(text) => {
            Outcome::Failed(CallFailure::RateLimited(excerpt(text)))
        }
        Some(expected) => Outcome::Failed(CallFailure::Unexpected {
            expected,
            actual: actual(text, structured),
        }),
    }
}

fn judge_tool_error(text: &str, context: &Context<'_>) -> Outcome {
    if let Some(outcome) = judge_wanted_error(text, context) {
        return outcome;
    }
    Outcome::Failed(match needed(context.asked) {
        Some(needs) => CallFailure::Unsupported(needs),
        None => CallFailure::ToolError(excerpt(text)),
    })
}

fn judge_error(at: Instant, error: &RpcError, context: &Context<'_>) -> Call {
    let text = error.message.clone();
    let outcome = judge_wanted_error(&text, context).unwrap_or_else(|| {
        let needs = needed_by_error(error, context.task_only).or_else(|| needed(context.asked));
        Outcome::Failed(match needs {
            Some(needs) => CallFailure::Unsupported(needs),
            None => CallFailure::RpcError {
                code: error.code,
                message: excerpt(&text),
            },
        })
    });
    Call {
        at: Some(at),
        outcome,
        text: Some(text),
        problems: Vec::new(),
        structured: None,
        is_result: false,
    }
}

/// An error that is expected, or that says that a backend wants fewer calls.
fn judge_wanted_error(text: &str, context: &Context<'_>) -> Option<Outcome> {
    if context.expectation.wants_error().is_some() {
        return Some(match context.expectation.missed_by_error(text) {
            None => Outcome::Expected {
                refused: true,
                soft_error: false,
            },
            Some(_) if reads_like_rate_limit(text) => Outcome::Failed(CallFailure::RateLimited(excerpt(text))),
            Some(expected) => Outcome::Failed(CallFailure::Unexpected {
                expected,
                actual: actual(text, None),
            }),
        });
    }
    reads_like_rate_limit(text).then(|| Outcome::Failed(CallFailure::RateLimited(excerpt(text))))
}

fn actual(text: &str, structured: Option<&Value>) -> String {
    match (text.trim().is_empty(), structured) {
        (false, _) => excerpt(text),
        (true, Some(structured)) => excerpt(&structured.to_string()),
        (true, None) => "no text".to_owned(),
    }
}

/// The capability that a server's own requests need.
fn needed(asked: &[String]) -> Option<String> {
    let method = asked.first()?;
    let capability = method.split('/').next().unwrap_or(method);
    Some(format!("the client capability {capability} (it asked for {method})"))
}

/// What an error says that the call needs.
fn needed_by_error(error: &RpcError, task_only: bool) -> Option<String> {
    match error.code {
        MISSING_CLIENT_CAPABILITY => {
            let required = error.data.get("requiredCapabilities").and_then(Value::as_object);
            let names: Vec<&str> = required
                .into_iter()
                .flat_map(|required| required.keys().map(String::as_str))
                .collect();
            let names = if names.is_empty() {
                excerpt(&error.message)
            } else {
                names.join(", ")
            };
            Some(format!("the client capability {names}"))
        }
        URL_ELICITATION_REQUIRED => {
            let url = error.data.pointer("/elicitations/0/url").and_then(Value::as_str);
            Some(format!("a person to visit {}", url.unwrap_or("a URL")))
        }
        METHOD_NOT_FOUND if task_only => Some("a task (the tool cannot be called otherwise)".to_owned()),
        // What the Python SDK says in the modern era where a tool asks the client for something.
        _ if error.message.contains("back-channel") => {
            Some(format!("a client capability: {}", excerpt(&error.message)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::FilledExpectation;
    use super::*;

    fn answered(outcome: Result<Value, RpcError>) -> Ended {
        Ended::Answered(Answer {
            at: Instant::now(),
            outcome,
            problem: None,
        })
    }

    fn error(code: i64, message: &str, data: Value) -> Ended {
        answered(Err(RpcError {
            code,
            message: message.to_owned(),
            data,
        }))
    }

    fn text(text: &str, is_error: bool) -> Ended {
        answered(Ok(
            json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }),
        ))
    }

    /// The outcome in debug form.
    fn outcome(ended: Ended, filled: &FilledExpectation, asked: &[&str], dialect: Dialect) -> String {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        let expectation = Expectation::new(filled);
        let context = Context {
            expectation: &expectation,
            dialect,
            asked: &asked,
            task_only: true,
        };
        format!("{:?}", judge(ended, &context).outcome)
    }

    fn plain(ended: Ended) -> String {
        outcome(ended, &FilledExpectation::default(), &[], Dialect::Legacy)
    }

    #[test]
    fn tool_errors_and_protocol_errors_are_told_apart() {
        assert!(plain(text("boom", true)).contains("ToolError(\"boom\")"));
        assert!(plain(error(-32603, "boom", Value::Null)).contains("RpcError { code: -32603"));
        assert!(plain(text("429 Too Many Requests", true)).contains("RateLimited"));
        assert!(plain(text("Error: 401", false)).contains("soft_error: true"));
        assert!(plain(text("fine", false)).contains("soft_error: false"));
    }

    #[test]
    fn what_we_do_not_offer_is_no_fault_of_the_tool() {
        let capability = json!({ "requiredCapabilities": { "elicitation": {} } });
        assert!(plain(error(-32021, "x", capability)).contains("elicitation"));
        let url = json!({ "elicitations": [{ "url": "https://example.com/" }] });
        assert!(plain(error(-32042, "x", url)).contains("https://example.com/"));
        assert!(plain(error(-32601, "x", Value::Null)).contains("task"));
        assert!(plain(answered(Ok(json!({ "task": { "taskId": "1" } })))).contains("task"));
        let nothing = FilledExpectation::default();
        let asked = outcome(
            error(-32601, "x", Value::Null),
            &nothing,
            &["sampling/createMessage"],
            Dialect::Modern,
        );
        assert!(asked.contains("Unsupported"), "{asked}");
        let asked = outcome(text("no", true), &nothing, &["roots/list"], Dialect::Legacy);
        assert!(asked.contains("the client capability roots"), "{asked}");
        let fine = outcome(text("yes", false), &nothing, &["roots/list"], Dialect::Legacy);
        assert!(fine.contains("Expected"), "{fine}");
        let silent = outcome(
            Ended::TimedOut(Received::default()),
            &nothing,
            &["elicitation/create"],
            Dialect::Legacy,
        );
        assert!(silent.contains("elicitation"), "{silent}");
        let input =
            json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "elicitation/create" } } });
        assert!(outcome(answered(Ok(input)), &nothing, &[], Dialect::Modern).contains("elicitation/create"));
        let state = json!({ "resultType": "input_required", "requestState": "s" });
        assert!(outcome(answered(Ok(state)), &nothing, &[], Dialect::Modern).contains("Again"));
        let odd = json!({ "resultType": "odd" });
        assert!(outcome(answered(Ok(odd)), &nothing, &[], Dialect::Modern).contains("Invalid"));
    }

    #[test]
    fn an_expected_refusal_is_right_in_both_forms() {
        let filled = FilledExpectation {
            error: Some("denied".into()),
            ..FilledExpectation::default()
        };
        let judged = |ended| outcome(ended, &filled, &[], Dialect::Legacy);
        assert!(judged(text("access denied", true)).contains("refused: true"));
        assert!(judged(error(-32602, "access denied", Value::Null)).contains("refused: true"));
        assert!(judged(text("access denied", false)).contains("Unexpected"));
        assert!(judged(text("disk full", true)).contains("Unexpected"));
    }

    #[test]
    fn a_reply_that_misses_its_expectation_is_quoted() {
        let filled = FilledExpectation {
            text: Some("hello".into()),
            ..FilledExpectation::default()
        };
        let judged = |ended| outcome(ended, &filled, &[], Dialect::Legacy);
        assert!(judged(text("401 Unauthorized", false)).contains("actual: \"401 Unauthorized\""));
        assert!(judged(answered(Ok(json!({})))).contains("actual: \"no text\""));
        assert!(judged(text("Too many requests, slow down", false)).contains("RateLimited"));
    }
}
