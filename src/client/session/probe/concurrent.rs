//! The calls of a probe with several in flight: a closed loop still, in which each answer makes room
//! for the next call. A sample runs from its own write to its own answer, so that what a call waits
//! behind others inside the server is part of it: that is what a client of such a server sees.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::Session;
use super::super::answer::Ended;
use super::super::call::{Call, Context, Outcome, judge};
use super::super::conversation::{Flight, Landed};
use super::{CallSpec, MOST_ROUNDS, Progress, too_many_rounds};
use crate::client::protocol::call_params;
use crate::event::EventKind;
use crate::finding::Phase;

/// A call between its first write and its last answer.
struct UnderWay {
    /// Its place in the order of writing, warm-up calls included.
    number: u32,
    /// Just before its first write.
    wrote: Option<Instant>,
    deadline: Instant,
    rounds: u32,
}

/// The calls in flight, by the ids of their requests.
#[derive(Default)]
struct InFlight {
    flights: Vec<Flight>,
    calls: BTreeMap<u64, UnderWay>,
    /// Which call each sample is of; answers come in any order.
    samples_of: Vec<u32>,
    done: u32,
}

/// Makes all calls of a probe. No warm-up call is in flight any more when the first one that counts is made.
pub(super) async fn make_calls(session: &mut Session, spec: &CallSpec<'_>, progress: &mut Progress) {
    let Some(conversation) = &mut session.conversation else {
        return;
    };
    conversation.set_phase(Phase::Call);
    conversation.clear_for_flights().await;
    let all = spec.probe.warmup.saturating_add(spec.probe.calls);
    let mut in_flight = InFlight::default();
    for numbers in [0..spec.probe.warmup, spec.probe.warmup..all] {
        let goes_on = in_flight.make(session, spec, progress, numbers).await;
        if let Some(conversation) = &mut session.conversation {
            conversation.hand_over_wire();
        }
        if !goes_on {
            break;
        }
    }
    progress.facts.samples = in_order(&in_flight.samples_of, &progress.facts.samples);
    progress.made = in_flight.done;
}

/// The samples in the order in which their calls were made.
fn in_order(samples_of: &[u32], samples: &[Duration]) -> Vec<Duration> {
    let by_number: BTreeMap<u32, Duration> = samples_of.iter().copied().zip(samples.iter().copied()).collect();
    by_number.into_values().collect()
}

impl InFlight {
    /// Makes these calls and waits for all of them; whether others make sense. Once they do not, those
    /// that are in flight are still waited for.
    async fn make(
        &mut self,
        session: &mut Session,
        spec: &CallSpec<'_>,
        progress: &mut Progress,
        mut numbers: Range<u32>,
    ) -> bool {
        let mut goes_on = true;
        loop {
            while goes_on
                && self.flights.len() < spec.probe.concurrency as usize
                && let Some(number) = numbers.next()
            {
                let call = UnderWay {
                    number,
                    wrote: None,
                    deadline: Instant::now() + spec.probe.timeout,
                    rounds: 0,
                };
                if let Some((number, call)) = self.write(session, spec, call, None).await {
                    goes_on = self.take(session, spec, progress, (number, call, None)) && session.is_open();
                }
            }
            let Some(conversation) = &mut session.conversation else {
                return false;
            };
            let landed = conversation.land(&mut self.flights).await;
            if landed.is_empty() {
                return goes_on;
            }
            for landed in landed {
                if let Some((number, call, took)) = self.judge(session, spec, landed).await {
                    goes_on &= self.take(session, spec, progress, (number, call, took)) && session.is_open();
                }
            }
        }
    }

    /// Writes a call, or its next round. Gives what became of it if that cannot be done.
    async fn write(
        &mut self,
        session: &mut Session,
        spec: &CallSpec<'_>,
        mut call: UnderWay,
        state: Option<&Value>,
    ) -> Option<(u32, Call)> {
        let again = state.map(|state| call_params(&session.meta, &spec.probe.tool, &spec.probe.arguments, Some(state)));
        let params = again.as_deref().unwrap_or(spec.params);
        let conversation = session.conversation.as_mut()?;
        match conversation.take_off("tools/call", params, call.deadline).await {
            Ok(flight) => {
                call.wrote.get_or_insert(flight.wrote);
                self.calls.insert(flight.id, call);
                self.flights.push(flight);
                None
            }
            Err(ended) => {
                let context = Context {
                    expectation: spec.expectation,
                    dialect: session.dialect,
                    asked: &[],
                    task_only: session.task_only.contains(&spec.probe.tool),
                };
                Some((call.number, judge(ended, &context)))
            }
        }
    }

    /// What a request that ended came to. Null if its call goes on with another round.
    async fn judge(
        &mut self,
        session: &mut Session,
        spec: &CallSpec<'_>,
        Landed { flight, ended }: Landed,
    ) -> Option<(u32, Call, Option<Duration>)> {
        let mut under_way = self.calls.remove(&flight.id)?;
        let conversation = session.conversation.as_mut()?;
        let is_timeout = matches!(ended, Ended::TimedOut(_));
        let is_framing = matches!(ended, Ended::Framing { .. });
        let context = Context {
            expectation: spec.expectation,
            dialect: session.dialect,
            asked: conversation.asked_during(&flight),
            task_only: session.task_only.contains(&spec.probe.tool),
        };
        let call = judge(ended, &context);
        if is_timeout {
            conversation.cancel(&flight).await;
        }
        if is_framing {
            conversation.forget_noise(Phase::Call);
        }
        let number = under_way.number;
        let Outcome::Again(state) = &call.outcome else {
            let wrote = call.at.zip(under_way.wrote);
            let took = wrote.map(|(at, wrote)| at.saturating_duration_since(wrote));
            return Some((number, call, took));
        };
        under_way.rounds += 1;
        if under_way.rounds >= MOST_ROUNDS {
            return Some((number, too_many_rounds(), None));
        }
        let unwritten = self.write(session, spec, under_way, Some(state)).await;
        unwritten.map(|(number, call)| (number, call, None))
    }

    /// Takes a call that is over; whether others make sense.
    fn take(
        &mut self,
        session: &Session,
        spec: &CallSpec<'_>,
        progress: &mut Progress,
        (number, call, took): (u32, Call, Option<Duration>),
    ) -> bool {
        if matches!(call.outcome, Outcome::Stopped) {
            return false;
        }
        // Which call is the first, and which ones count, goes by the order in which they were made.
        progress.made = number;
        let before = progress.facts.samples.len();
        let goes_on = progress.take(session, spec.probe, call, took);
        if progress.facts.samples.len() > before {
            self.samples_of.push(number);
        }
        self.done += 1;
        session.sink.send(EventKind::CallDone {
            tool: spec.probe.tool.clone(),
            done: self.done,
            of: spec.probe.warmup.saturating_add(spec.probe.calls),
        });
        goes_on
    }
}
