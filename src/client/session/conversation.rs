//! One process and its two pipes as requests and answers. While it waits for an answer it answers the
//! server's own requests and counts everything else.

mod in_flight;

use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::time::{Sleep, timeout};

use super::answer::{Ended, Exchange};
use super::stop::Stop;
use super::suspicion::{PATIENCE, Suspicion, unfinished_message};
use super::tally::Tally;
use crate::client::process::{Command, ServerProcess, SpawnProblem};
use crate::client::protocol::{Spread, cancelled, request};
use crate::client::transport::{Transport, WireLog, WriteProblem};
use crate::event::{Direction, Ending, Observation, Received, ResourceFacts, ShutdownFacts, Sink};
use crate::finding::Phase;

pub(super) use in_flight::{Flight, Landed};

/// How often a wait looks at its limit, at the process and at [`Stop`]. The wake-up of an answer does
/// not depend on it.
const TICK: Duration = Duration::from_millis(50);
/// How long a process may outlive its pipes before we say that it only closed them.
const DEATH_WAIT: Duration = Duration::from_secs(2);
/// How long output of a dead process may take to arrive; somebody else may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// One process and its pipes.
#[derive(Debug)]
pub(super) struct Conversation {
    process: ServerProcess,
    pub(super) transport: Transport,
    pub(super) wire: WireLog,
    pub(super) stop: Stop,
    pub(super) tally: Tally,
    pub(super) phase: Phase,
    alarm: Pin<Box<Sleep>>,
    pub(super) next_id: u64,
    /// Requests whose limit passed.
    pub(super) timed_out: Vec<u64>,
    pub(super) spread: Spread,
    pub(super) waiting: Waiting,
    /// How the server ended, once that was seen.
    gone: Option<Ending>,
    /// Half a message was written; nothing can follow it.
    cut_off: bool,
    pub(super) list_changed: bool,
}

/// What came while one request was waited for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    bytes_before: u64,
    pub(super) noise_lines: u32,
    pub(super) other_messages: u32,
    pub(super) suspicion: Option<Suspicion>,
    /// An answer under an id that was never used, described.
    pub(super) foreign: Option<String>,
    /// The server's requests that were refused.
    pub(super) asked: Vec<String>,
}

/// How a process was ended.
#[derive(Debug)]
pub(super) struct EndedProcess {
    pub(super) shutdown: ShutdownFacts,
    /// How it ended, if it had ended before.
    pub(super) ending: Ending,
    /// Whether it was killed because of us, not of the server.
    pub(super) forced: bool,
    /// Whether the request that had timed out last was answered after stdin was closed.
    pub(super) answered_late: bool,
}

impl Conversation {
    pub(super) fn start(command: &Command, sink: Sink, session: u32, stop: Stop) -> Result<Self, SpawnProblem> {
        let (process, pipes) = ServerProcess::spawn(command, sink.clone(), session)?;
        let wire = WireLog::new(sink, session, process.spawned_at());
        wire.note(format!("started as process {}", process.pid()));
        Ok(Self {
            process,
            transport: Transport::new(pipes.stdin, pipes.stdout),
            wire,
            stop,
            tally: Tally::default(),
            phase: Phase::Initialize,
            alarm: Box::pin(tokio::time::sleep(TICK)),
            next_id: 1,
            timed_out: Vec::new(),
            spread: Spread::default(),
            waiting: Waiting::default(),
            gone: None,
            cut_off: false,
            list_changed: false,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(super) fn spawned_at(&self) -> Instant {
        self.process.spawned_at()
    }

    pub(super) fn first_byte(&self) -> Option<Duration> {
        let first = self.transport.traffic().first_byte?;
        Some(first.saturating_duration_since(self.spawned_at()))
    }

    pub(super) fn resources(&self) -> Option<ResourceFacts> {
        self.process.resources()
    }

    pub(super) fn last_stderr_lines(&self) -> Vec<String> {
        self.process.last_stderr_lines()
    }

    /// Whether requests make sense: nothing speaks against the server being there.
    pub(super) fn is_usable(&self) -> bool {
        self.gone.is_none() && !self.cut_off
    }

    pub(super) fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// A line of ours for the row's log.
    pub(super) fn note(&self, text: impl Into<String>) {
        self.wire.note(text);
    }

    /// Hands the wire log over; not while something is timed.
    pub(super) fn hand_over_wire(&mut self) {
        self.wire.hand_over();
    }

    /// Looks at the process tree; not while something is timed.
    pub(super) fn look(&mut self) {
        self.process.look();
    }

    /// Whether the list has changed since this was asked last.
    pub(super) fn take_list_changed(&mut self) -> bool {
        std::mem::take(&mut self.list_changed)
    }

    /// The server's requests that were refused while the last request was waited for.
    pub(super) fn asked(&self) -> &[String] {
        &self.waiting.asked
    }

    /// What was counted.
    pub(super) fn into_observations(self) -> Vec<Observation> {
        self.tally.into_observations()
    }

    /// The noise of a phase is told in another way.
    pub(super) fn forget_noise(&mut self, phase: Phase) {
        self.tally.forget_noise(phase);
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn request(&mut self, method: &str, params: &str, deadline: Instant) -> Exchange {
        self.take_backlog(None).await;
        if let Some(ending) = &self.gone {
            return Exchange {
                wrote: None,
                ended: Ended::Gone(ending.clone()),
            };
        }
        let id = self.next_id;
        self.next_id += 1;
        self.waiting = Waiting {
            bytes_before: self.transport.bytes(),
            ..Waiting::default()
        };
        self.spread.clear();
        let line = request(id, method, params);
        let wrote = match self.write(line, deadline).await {
            Ok(wrote) => wrote,
            Err(ended) => return Exchange { wrote: None, ended },
        };
        let ended = self.wait(id, deadline).await;
        if let Some(foreign) = self.waiting.foreign.take()
            && !matches!(ended, Ended::ForeignId { .. })
        {
            self.tally.stray(self.phase, || foreign);
        }
        Exchange {
            wrote: Some(wrote),
            ended,
        }
    }

    /// Sends a notification; whether it arrives shows in the next request.
    pub(super) async fn notify(&mut self, message: Vec<u8>, deadline: Instant) {
        drop(self.write(message, deadline).await);
    }

    /// Gives the last request up, as the protocol wants it (not for a handshake).
    pub(super) async fn cancel_last(&mut self) {
        let id = self.next_id - 1;
        self.notify(cancelled(id), Instant::now() + TICK).await;
    }

    /// Listens until the list changes or the moment has come.
    pub(super) async fn listen_for_list_change(&mut self, until: Instant) {
        while !self.list_changed && self.gone.is_none() && !self.stop.is_due() && Instant::now() < until {
            match timeout(TICK, self.transport.next()).await {
                Ok(Some(arrival)) => drop(self.take(arrival, None).await),
                Ok(None) => self.gone = Some(self.ending().await),
                Err(_) => {}
            }
        }
    }

    /// Ends the process and takes what it still had to say.
    pub(super) async fn end(&mut self, grace: Duration) -> EndedProcess {
        let was_greeted = self.phase != Phase::Initialize;
        let in_vain = Some(self.next_id - 1).filter(|id| !was_greeted && self.timed_out.contains(id));
        self.take_backlog(in_vain).await;
        self.hand_over_wire();
        self.phase = Phase::Shutdown;
        let stdin = self.transport.take_stdin();
        let forced = self.stop.must_kill();
        let shutdown = if forced {
            None
        } else {
            self.shut_down(stdin, grace).await
        };
        let forced = shutdown.is_none();
        let shutdown = match shutdown {
            Some(shutdown) => shutdown,
            None => self.process.kill().await,
        };
        let ending = self.process.ended().unwrap_or_else(|| self.unknown_ending());
        let mut answered_late = false;
        while let Ok(Some(arrival)) = timeout(LAST_WORDS, self.transport.next()).await {
            answered_late |= matches!(self.take(arrival, in_vain).await, Some(Ended::Answered(_)));
        }
        self.hand_over_wire();
        EndedProcess {
            shutdown,
            ending,
            forced,
            answered_late,
        }
    }

    /// Null if there was no time for it.
    async fn shut_down(&mut self, stdin: Option<tokio::process::ChildStdin>, grace: Duration) -> Option<ShutdownFacts> {
        let Self { process, stop, .. } = self;
        tokio::select! {
            shutdown = process.shutdown(stdin, grace) => Some(shutdown),
            () = stop.killed() => None,
        }
    }

    async fn wait(&mut self, id: u64, mut deadline: Instant) -> Ended {
        loop {
            self.set_alarm(deadline);
            let Self { transport, alarm, .. } = self;
            tokio::select! {
                biased;
                arrival = transport.next() => match arrival {
                    Some(arrival) => {
                        if let Some(ended) = self.take(arrival, Some(id)).await {
                            return ended;
                        }
                        if let Some(patience) = self.patience() {
                            deadline = deadline.min(Instant::now() + patience);
                        }
                    }
                    None => return self.died().await,
                },
                () = alarm.as_mut() => {
                    if let Some(ended) = self.check(id, deadline).await {
                        return ended;
                    }
                }
            }
        }
    }

    /// How long the current suspicion lets us wait: an answer under a foreign id only cuts a handshake short.
    fn patience(&mut self) -> Option<Duration> {
        let suspicion = self.waiting.suspicion.as_ref()?;
        if self.phase == Phase::Initialize && matches!(suspicion, Suspicion::ForeignId { .. }) {
            return Some(PATIENCE);
        }
        suspicion.patience()
    }

    /// Arms the alarm for the next look, if it is not armed yet. Costs nothing most of the time.
    fn set_alarm(&mut self, deadline: Instant) {
        if !self.alarm.is_elapsed() && self.alarm.deadline().into_std() <= deadline {
            return;
        }
        let next = deadline.min(Instant::now() + TICK);
        self.alarm.as_mut().reset(next.into());
    }

    /// The look of every tick.
    async fn check(&mut self, id: u64, deadline: Instant) -> Option<Ended> {
        if self.stop.is_due() {
            return Some(Ended::Stopped);
        }
        if self.process.ended().is_some() {
            return Some(self.last_words(id).await);
        }
        (Instant::now() >= deadline).then(|| self.timed_out(id))
    }

    fn timed_out(&mut self, id: u64) -> Ended {
        self.timed_out.push(id);
        let received = self.received();
        let suspicion = self.waiting.suspicion.take().or_else(|| unfinished_message(&received));
        suspicion.map_or(Ended::TimedOut(received), |suspicion| suspicion.confirmed(id))
    }

    /// The process is gone, but somebody holds its stdout: the answer may still be in the pipe.
    async fn last_words(&mut self, id: u64) -> Ended {
        while let Ok(Some(arrival)) = timeout(LAST_WORDS, self.transport.next()).await {
            if let Some(ended) = self.take(arrival, Some(id)).await {
                return ended;
            }
        }
        self.died().await
    }

    async fn died(&mut self) -> Ended {
        let ending = self.ending().await;
        self.gone = Some(ending.clone());
        Ended::Gone(ending)
    }

    /// How the process ended; it has at least closed a pipe.
    async fn ending(&mut self) -> Ending {
        if let Ok(ending) = timeout(DEATH_WAIT, self.process.wait()).await {
            return ending;
        }
        self.unknown_ending()
    }

    fn unknown_ending(&self) -> Ending {
        let mut last_lines = self.process.last_stderr_lines();
        last_lines.push("(it closed its pipes and kept running)".to_owned());
        Ending {
            code: None,
            signal: None,
            last_lines,
        }
    }

    fn received(&self) -> Received {
        let traffic = self.transport.traffic();
        let unfinished = String::from_utf8_lossy(&traffic.unfinished).into_owned();
        Received {
            bytes: traffic.bytes - self.waiting.bytes_before,
            noise_lines: self.waiting.noise_lines,
            other_messages: self.waiting.other_messages,
            unfinished: Some(unfinished).filter(|text| !text.trim().is_empty()),
            last_stderr: self.process.last_stderr_lines().pop(),
        }
    }

    pub(super) async fn write(&mut self, message: Vec<u8>, deadline: Instant) -> Result<Instant, Ended> {
        self.set_alarm(deadline);
        let Self {
            transport, alarm, stop, ..
        } = self;
        let written = {
            let mut write = std::pin::pin!(transport.write(&message));
            loop {
                tokio::select! {
                    biased;
                    written = &mut write => break Some(written),
                    () = alarm.as_mut() => {
                        if stop.is_due() || Instant::now() >= deadline {
                            break None;
                        }
                        alarm.as_mut().reset((Instant::now() + TICK).min(deadline).into());
                    }
                }
            }
        };
        match written {
            Some(Ok(at)) => {
                self.wire.keep(Direction::Out, at, message);
                Ok(at)
            }
            Some(Err(WriteProblem::Closed)) => Err(self.died().await),
            Some(Err(WriteProblem::CutOff)) | None => {
                self.cut_off = true;
                let due = self.stop.is_due();
                Err(if due {
                    Ended::Stopped
                } else {
                    Ended::TimedOut(self.received())
                })
            }
        }
    }
}
