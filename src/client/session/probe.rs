//! The calls of one probe: a closed loop, one call in flight unless its server's `concurrency` says
//! otherwise (`concurrent`), the clock running only between a write and the answer's last byte.

mod concurrent;

use std::time::{Duration, Instant};

use serde_json::Value;

use super::call::{Call, CallFailure, Context, Outcome, judge};
use super::expectation::Expectation;
use super::failures::Failures;
use super::wording::{excerpt, first_line};
use super::{FilledProbe, Session, schema};
use crate::client::protocol::call_params;
use crate::event::{EventKind, ProbeFacts, Seen};
use crate::finding::Phase;

/// After so many calls in a row without any answer the probe is over: a server that hangs would cost
/// its limit each time.
const MOST_UNANSWERED: u32 = 3;
/// How often the wire log and the progress are handed over between calls. Another thread takes them, and
/// while it does it would run beside the next call, on the core of the server.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// How often a server may want its own state back (the SDKs' default).
const MOST_ROUNDS: u32 = 10;

/// What is called, and what it is held against.
struct CallSpec<'a> {
    probe: &'a FilledProbe,
    expectation: &'a Expectation<'a>,
    params: &'a str,
}

/// What is gathered while a probe runs.
struct Progress {
    facts: ProbeFacts,
    failures: Failures,
    problem: Option<String>,
    soft_error: Option<String>,
    made: u32,
    unanswered_in_a_row: u32,
}

pub(super) async fn probe(session: &mut Session, probe: &FilledProbe) {
    if !session.is_open() {
        return;
    }
    let mut progress = Progress::new(probe.index);
    if let Some(listed) = missing_from(session, &probe.tool) {
        let seen = Seen::ToolMissing {
            tool: probe.tool.clone(),
            listed,
        };
        session.observe(Phase::Call, Some(probe.index), seen);
        session.facts.probes.push(progress.facts);
        return;
    }
    let expectation = Expectation::new(&probe.expect);
    let params = call_params(&session.meta, &probe.tool, &probe.arguments, None);
    let spec = CallSpec {
        probe,
        expectation: &expectation,
        params: &params,
    };
    if probe.concurrency > 1 {
        concurrent::make_calls(session, &spec, &mut progress).await;
    } else {
        make_calls(session, &spec, &mut progress).await;
    }
    progress.conclude(session, probe);
    if let Some(conversation) = &mut session.conversation {
        conversation.look();
    }
}

/// One call after the other.
async fn make_calls(session: &mut Session, spec: &CallSpec<'_>, progress: &mut Progress) {
    let probe = spec.probe;
    let all = probe.warmup.saturating_add(probe.calls);
    let mut told = Instant::now();
    for _ in 0..all {
        let Some((call, took)) = make_call(session, probe, spec.expectation, spec.params).await else {
            break;
        };
        if matches!(call.outcome, Outcome::Stopped) {
            break;
        }
        let goes_on = progress.take(session, probe, call, took);
        if told.elapsed() >= TELL_EVERY {
            tell(session, probe, progress.made);
            told = Instant::now();
        }
        if !goes_on || !session.is_open() {
            break;
        }
    }
    tell(session, probe, progress.made);
}

/// Hands over what was kept while the clock was running.
fn tell(session: &mut Session, probe: &FilledProbe, done: u32) {
    if let Some(conversation) = &mut session.conversation {
        conversation.hand_over_wire();
    }
    session.sink.send(EventKind::CallDone {
        tool: probe.tool.clone(),
        done,
        of: probe.warmup.saturating_add(probe.calls),
    });
}

/// How many tools are listed, if the list is complete and this one is not among them.
fn missing_from(session: &Session, tool: &str) -> Option<usize> {
    let tools = session.facts.tools.as_ref().filter(|_| session.list_complete)?;
    let is_listed = tools.iter().any(|listed| listed.name == tool);
    (!is_listed).then_some(tools.len())
}

/// Makes one call, with as many rounds as the server wants its own state back. The span runs from the
/// first write to the last answer. Null if the session is not open.
async fn make_call(
    session: &mut Session,
    probe: &FilledProbe,
    expectation: &Expectation<'_>,
    params: &str,
) -> Option<(Call, Option<Duration>)> {
    let task_only = session.task_only.contains(&probe.tool);
    let (dialect, meta) = (session.dialect, &session.meta);
    let conversation = session.conversation.as_mut()?;
    conversation.set_phase(Phase::Call);
    let deadline = Instant::now() + probe.timeout;
    let mut wrote = None;
    let mut state: Option<Value> = None;
    for _ in 0..MOST_ROUNDS {
        let again = state
            .take()
            .map(|state| call_params(meta, &probe.tool, &probe.arguments, Some(&state)));
        let exchange = conversation
            .request("tools/call", again.as_deref().unwrap_or(params), deadline)
            .await;
        wrote = wrote.or(exchange.wrote);
        let context = Context {
            expectation,
            dialect,
            asked: conversation.asked(),
            task_only,
        };
        let is_timeout = matches!(exchange.ended, super::answer::Ended::TimedOut(_));
        let is_framing = matches!(exchange.ended, super::answer::Ended::Framing { .. });
        let call = judge(exchange.ended, &context);
        if is_timeout {
            conversation.cancel_last().await;
        }
        if is_framing {
            conversation.forget_noise(Phase::Call);
        }
        match call.outcome {
            Outcome::Again(next) => state = Some(next),
            Outcome::Expected { .. } | Outcome::Failed(_) | Outcome::Stopped => {
                let took = call
                    .at
                    .zip(wrote)
                    .map(|(at, wrote)| at.saturating_duration_since(wrote));
                return Some((call, took));
            }
        }
    }
    Some((too_many_rounds(), None))
}

/// The call of a server that wants its own state back again and again.
fn too_many_rounds() -> Call {
    let needs = format!("its own state back more than {MOST_ROUNDS} times");
    Call {
        at: None,
        outcome: Outcome::Failed(CallFailure::Unsupported(needs)),
        text: None,
        problems: Vec::new(),
        structured: None,
        is_result: false,
    }
}

impl Progress {
    fn new(index: usize) -> Self {
        let facts = ProbeFacts {
            index,
            first: None,
            samples: Vec::new(),
            calls: 0,
            failures: 0,
            refused: false,
            reply: None,
        };
        Self {
            facts,
            failures: Failures::default(),
            problem: None,
            soft_error: None,
            made: 0,
            unanswered_in_a_row: 0,
        }
    }

    /// Takes a call that was made; whether another one makes sense.
    fn take(&mut self, session: &Session, probe: &FilledProbe, call: Call, took: Option<Duration>) -> bool {
        let counts = self.made >= probe.warmup;
        let is_first = self.made == 0;
        self.made += 1;
        self.facts.calls += u32::from(counts);
        if self.facts.reply.is_none() {
            self.facts.reply = call.text.as_deref().map(excerpt);
        }
        if self.problem.is_none() {
            self.problem = problem_of(session, &probe.tool, &call);
        }
        match call.outcome {
            Outcome::Expected { refused, soft_error } => {
                self.unanswered_in_a_row = 0;
                self.facts.first = self.facts.first.or(took.filter(|_| is_first));
                if counts {
                    self.facts.samples.extend(took);
                    self.facts.refused |= refused;
                }
                if soft_error {
                    self.soft_error = self.soft_error.take().or_else(|| call.text.as_deref().map(excerpt));
                }
                true
            }
            Outcome::Failed(failure) => self.take_failure(session, failure),
            Outcome::Stopped | Outcome::Again(_) => false,
        }
    }

    fn take_failure(&mut self, session: &Session, failure: CallFailure) -> bool {
        self.facts.failures += 1;
        if self.facts.failures == 1
            && let Some(conversation) = &session.conversation
        {
            conversation.note(format!("call {} failed: {}", self.made, words(&failure)));
        }
        let (answered, goes_on) = match &failure {
            CallFailure::Died(_) | CallFailure::RateLimited(_) => (true, false),
            // A call that needs what we do not offer will not be answered the next time either.
            CallFailure::Unsupported(_)
            | CallFailure::TimedOut(_)
            | CallFailure::Framing { .. }
            | CallFailure::ForeignId { .. }
            | CallFailure::TooLong => (false, true),
            CallFailure::ToolError(_)
            | CallFailure::RpcError { .. }
            | CallFailure::Unexpected { .. }
            | CallFailure::Invalid(_) => (true, true),
        };
        self.unanswered_in_a_row = if answered { 0 } else { self.unanswered_in_a_row + 1 };
        self.failures.add(failure);
        goes_on && self.unanswered_in_a_row < MOST_UNANSWERED
    }

    fn conclude(self, session: &mut Session, probe: &FilledProbe) {
        let index = Some(probe.index);
        for seen in self.failures.into_seen(&probe.tool, probe.timeout, self.made) {
            session.observe(Phase::Call, index, seen);
        }
        if let Some(problem) = self.problem {
            session.observe(
                Phase::Call,
                index,
                Seen::CallInvalid {
                    tool: probe.tool.clone(),
                    problem,
                },
            );
        }
        if let Some(text) = self.soft_error {
            session.observe(
                Phase::Call,
                index,
                Seen::SoftError {
                    tool: probe.tool.clone(),
                    text,
                },
            );
        }
        session.facts.probes.push(self.facts);
    }
}

/// What is wrong with the result of a call, held against the tool's `outputSchema`, too.
fn problem_of(session: &Session, tool: &str, call: &Call) -> Option<String> {
    let mut problems = call.problems.clone();
    if call.is_result
        && let Some(output_schema) = session.output_schemas.get(tool)
    {
        match &call.structured {
            None => {
                problems
                    .push("`structuredContent` is missing, although the tool declares an `outputSchema`".to_owned());
            }
            Some(structured) => problems.extend(schema::mismatch(output_schema, structured)),
        }
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

fn words(failure: &CallFailure) -> String {
    match failure {
        CallFailure::ToolError(text) => format!("tool error: {}", first_line(text)),
        CallFailure::RpcError { code, message } => format!("error {code}: {}", first_line(message)),
        CallFailure::RateLimited(text) => format!("rate limited: {}", first_line(text)),
        CallFailure::TimedOut(received) => format!("no answer within the limit ({} bytes came)", received.bytes),
        CallFailure::Unsupported(needs) => format!("it needs {needs}"),
        CallFailure::Unexpected { expected, actual } => format!("expected {expected}, got: {}", first_line(actual)),
        CallFailure::Invalid(problem) => problem.clone(),
        CallFailure::Framing { looks_like, .. } => looks_like.clone(),
        CallFailure::ForeignId { expected, actual } => format!("answered under the id {actual} instead of {expected}"),
        CallFailure::TooLong => "the answer is longer than is read".to_owned(),
        CallFailure::Died(_) => "the server is gone".to_owned(),
    }
}
