//! Several requests of one conversation in flight at once: each has its own write, its own limit and
//! its own answer, in whatever order the answers come. The path of one request at a time is not touched.

use std::time::Instant;

use tokio::time::timeout;

use super::super::answer::{Answer, Ended};
use super::super::suspicion::Suspicion;
use super::{Conversation, LAST_WORDS, TICK, Waiting};
use crate::client::protocol::{IdForm, Line, Message, Violation, cancelled, matches_id, parse, request};
use crate::client::transport::Arrival;
use crate::event::Direction;

/// A request that waits for its answer.
#[derive(Debug)]
pub(in crate::client::session) struct Flight {
    /// Its id on the wire.
    pub(in crate::client::session) id: u64,
    /// Just before its write.
    pub(in crate::client::session) wrote: Instant,
    deadline: Instant,
    /// What had come, and what the server had asked for, before it was written.
    bytes_before: u64,
    asked_before: usize,
}

/// A request and how it ended.
#[derive(Debug)]
pub(in crate::client::session) struct Landed {
    pub(in crate::client::session) flight: Flight,
    pub(in crate::client::session) ended: Ended,
}

impl Conversation {
    /// What came before belongs to none of the requests to be made.
    pub(in crate::client::session) async fn clear_for_flights(&mut self) {
        self.take_backlog(None).await;
        self.waiting = Waiting {
            bytes_before: self.transport.bytes(),
            ..Waiting::default()
        };
        self.spread.clear();
    }

    /// Writes a request and does not wait for its answer.
    pub(in crate::client::session) async fn take_off(
        &mut self,
        method: &str,
        params: &str,
        deadline: Instant,
    ) -> Result<Flight, Ended> {
        if let Some(ending) = &self.gone {
            return Err(Ended::Gone(ending.clone()));
        }
        let id = self.next_id;
        self.next_id += 1;
        let (bytes_before, asked_before) = (self.transport.bytes(), self.waiting.asked.len());
        let wrote = self.write(request(id, method, params), deadline).await?;
        Ok(Flight {
            id,
            wrote,
            deadline,
            bytes_before,
            asked_before,
        })
    }

    /// Waits until at least one of the requests has ended, and takes those out. Gives none only for none.
    pub(in crate::client::session) async fn land(&mut self, flights: &mut Vec<Flight>) -> Vec<Landed> {
        let mut landed = Vec::new();
        while landed.is_empty()
            && let Some(next_limit) = flights.iter().map(|flight| flight.deadline).min()
        {
            self.set_alarm(next_limit);
            let Self { transport, alarm, .. } = self;
            tokio::select! {
                biased;
                arrival = transport.next() => match arrival {
                    Some(arrival) => {
                        landed = self.take_any(arrival, flights).await;
                        self.hurry(flights);
                    }
                    None => landed = self.all_died(flights).await,
                },
                () = alarm.as_mut() => landed = self.check_all(flights).await,
            }
        }
        self.count_foreign(&landed);
        landed
    }

    /// Gives a request up, as the protocol wants it.
    pub(in crate::client::session) async fn cancel(&mut self, flight: &Flight) {
        self.notify(cancelled(flight.id), Instant::now() + TICK).await;
    }

    /// The server's requests that were refused while this one was in flight.
    pub(in crate::client::session) fn asked_during(&self, flight: &Flight) -> &[String] {
        self.waiting.asked.get(flight.asked_before..).unwrap_or_default()
    }

    /// Takes one line, and out of the flights those that it ends.
    async fn take_any(&mut self, arrival: Arrival, flights: &mut Vec<Flight>) -> Vec<Landed> {
        let oldest = flights.first().map(|flight| flight.id);
        let Arrival::Line { bytes, at, ended } = arrival else {
            // Whose answer it was cannot be told; the oldest has waited for it the longest.
            let ended = self.take(arrival, oldest).await;
            return ended.map(|ended| land_first(flights, ended)).unwrap_or_default();
        };
        let (line, problem) = match parse(&bytes) {
            Ok(line) => (line, None),
            Err(Violation::NotANumber { token, repaired }) => {
                let problem = format!("the answer holds {token}, which JSON does not have");
                (repaired, Some(problem))
            }
            Err(violation) => {
                let answered = if let Violation::NoVersion { id } = &violation {
                    flights.iter().find(|flight| matches_id(id, flight.id).is_some())
                } else {
                    None
                };
                let pending = answered.map_or(oldest, |flight| Some(flight.id));
                let ended = self.take(Arrival::Line { bytes, at, ended }, pending).await;
                return land_one(flights, pending, ended);
            }
        };
        self.spread.clear();
        for quirk in &line.quirks {
            self.tally.quirk(self.phase, *quirk, &bytes);
        }
        if !ended {
            self.tally.noise(self.phase, "a last message without a line end");
        }
        let landed = self.take_line(line, at, flights, problem).await;
        self.wire.keep(Direction::In, at, bytes);
        landed
    }

    /// Takes the answers out of a line; all else in it is treated as ever.
    async fn take_line(
        &mut self,
        line: Line,
        at: Instant,
        flights: &mut Vec<Flight>,
        problem: Option<String>,
    ) -> Vec<Landed> {
        let mut landed = Vec::new();
        let mut others = Vec::new();
        for message in line.messages {
            let place = match &message {
                Message::Response(response) => flights
                    .iter()
                    .position(|flight| matches_id(&response.id, flight.id).is_some()),
                Message::Request { .. } | Message::Notification { .. } => None,
            };
            match (message, place) {
                (Message::Response(response), Some(place)) => {
                    let flight = flights.remove(place);
                    if matches_id(&response.id, flight.id) == Some(IdForm::Other) {
                        self.tally.other_id(self.phase, flight.id, &response.id);
                    }
                    landed.push(flight.ended(Ended::Answered(Answer {
                        at,
                        outcome: response.outcome,
                        problem: problem.clone(),
                    })));
                }
                (message, _) => others.push(message),
            }
        }
        if !others.is_empty() {
            let others = Line {
                messages: others,
                quirks: Vec::new(),
            };
            let pending = flights.first().map(|flight| flight.id);
            let ended = self.take_messages(others, at, pending, problem).await;
            landed.extend(land_one(flights, pending, ended));
        }
        landed
    }

    /// A server that frames its messages otherwise is not waited for until the limit.
    fn hurry(&mut self, flights: &mut [Flight]) {
        let Some(patience) = self.patience() else {
            return;
        };
        let latest = Instant::now() + patience;
        for flight in flights {
            flight.deadline = flight.deadline.min(latest);
        }
    }

    /// The look of every tick.
    async fn check_all(&mut self, flights: &mut Vec<Flight>) -> Vec<Landed> {
        if self.stop.is_due() {
            return flights.drain(..).map(|flight| flight.ended(Ended::Stopped)).collect();
        }
        if self.process.ended().is_some() {
            return self.last_words_to_any(flights).await;
        }
        let now = Instant::now();
        let (due, left) = std::mem::take(flights)
            .into_iter()
            .partition(|flight| now >= flight.deadline);
        *flights = left;
        self.all_timed_out(due)
    }

    /// What makes us doubt holds for all whose limit has passed.
    fn all_timed_out(&mut self, due: Vec<Flight>) -> Vec<Landed> {
        if due.is_empty() {
            return Vec::new();
        }
        let suspicion: Option<Suspicion> = self.waiting.suspicion.take();
        let mut landed = Vec::new();
        for flight in due {
            self.waiting.suspicion.clone_from(&suspicion);
            self.waiting.bytes_before = flight.bytes_before;
            let ended = self.timed_out(flight.id);
            landed.push(flight.ended(ended));
        }
        landed
    }

    /// The process is gone, but somebody holds its stdout: answers may still be in the pipe.
    async fn last_words_to_any(&mut self, flights: &mut Vec<Flight>) -> Vec<Landed> {
        while let Ok(Some(arrival)) = timeout(LAST_WORDS, self.transport.next()).await {
            let landed = self.take_any(arrival, flights).await;
            if !landed.is_empty() {
                return landed;
            }
        }
        self.all_died(flights).await
    }

    async fn all_died(&mut self, flights: &mut Vec<Flight>) -> Vec<Landed> {
        let ended = self.died().await;
        let Ended::Gone(ending) = ended else {
            return land_first(flights, ended);
        };
        flights
            .drain(..)
            .map(|flight| flight.ended(Ended::Gone(ending.clone())))
            .collect()
    }

    /// An answer under an id that was never used is told once, unless it is why a wait ended.
    fn count_foreign(&mut self, landed: &[Landed]) {
        let told = |landed: &Landed| matches!(landed.ended, Ended::ForeignId { .. });
        if let Some(foreign) = self.waiting.foreign.take()
            && !landed.iter().any(told)
        {
            self.tally.stray(self.phase, || foreign);
        }
    }
}

impl Flight {
    fn ended(self, ended: Ended) -> Landed {
        Landed { flight: self, ended }
    }
}

/// What ended the oldest.
fn land_first(flights: &mut Vec<Flight>, ended: Ended) -> Vec<Landed> {
    let first = flights.first().map(|flight| flight.id);
    land_one(flights, first, Some(ended))
}

/// What ended the request of this id, if anything did.
fn land_one(flights: &mut Vec<Flight>, id: Option<u64>, ended: Option<Ended>) -> Vec<Landed> {
    let place = flights.iter().position(|flight| Some(flight.id) == id);
    match (place, ended) {
        (Some(place), Some(ended)) => vec![flights.remove(place).ended(ended)],
        (None, _) | (_, None) => Vec::new(),
    }
}
