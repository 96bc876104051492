//! Lines that were read and not looked at yet, and the task that reads them. The queue is bounded by
//! bytes: a server that floods us is made to wait, and our memory stays ours.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

use super::LONGEST_LINE;
use super::splitter::Splitter;

/// Reading pauses above this; one longest line always fits beside others.
const MOST_QUEUED: usize = 2 * LONGEST_LINE;
/// What a pipe holds on Linux.
const READ_SIZE: usize = 64 * 1024;
/// How much of an unfinished line is kept to be shown.
const UNFINISHED_SHOWN: usize = 4 * 1024;
/// A line costs more than its bytes.
const LINE_OVERHEAD: usize = 64;

/// What came from a server.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A line without its `\n`.
    Line {
        /// Its bytes.
        bytes: Vec<u8>,
        /// When the read that completed it returned.
        at: Instant,
        /// False for the rest before stdout was closed.
        ended: bool,
    },
    /// A line longer than [`LONGEST_LINE`]; it is dropped.
    TooLong {
        /// When it became too long.
        at: Instant,
    },
}

/// What has come so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// When the first byte came.
    pub first_byte: Option<Instant>,
    /// Bytes in all.
    pub bytes: u64,
    /// The start of the line that has begun and not ended.
    pub unfinished: Vec<u8>,
}

/// The queue between the reader and the session.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    state: Mutex<State>,
    arrived: Notify,
    has_room: Notify,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Arrival>,
    queued_bytes: usize,
    traffic: Traffic,
    closed: bool,
}

impl Incoming {
    pub(super) async fn next(&self) -> Option<Arrival> {
        loop {
            {
                let mut state = self.state();
                if let Some(arrival) = self.pop(&mut state) {
                    return Some(arrival);
                }
                if state.closed {
                    return None;
                }
            }
            self.arrived.notified().await;
        }
    }

    pub(super) fn next_now(&self) -> Option<Arrival> {
        self.pop(&mut self.state())
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.state().traffic.clone()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.state().traffic.bytes
    }

    fn pop(&self, state: &mut State) -> Option<Arrival> {
        let arrival = state.queue.pop_front()?;
        let was_full = state.queued_bytes > MOST_QUEUED;
        state.queued_bytes -= cost(&arrival);
        if was_full && state.queued_bytes <= MOST_QUEUED {
            self.has_room.notify_one();
        }
        Some(arrival)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was read; true if the queue is full now.
    fn take(&self, read: &[u8], at: Instant, splitter: &mut Splitter) -> bool {
        let mut state = self.state();
        state.traffic.first_byte.get_or_insert(at);
        state.traffic.bytes += read.len() as u64;
        splitter.feed(read, at, |arrival| state.push(arrival));
        let shown = splitter.unfinished();
        let shown = &shown[..shown.len().min(UNFINISHED_SHOWN)];
        if state.traffic.unfinished != shown {
            state.traffic.unfinished = shown.to_vec();
        }
        let arrived = !state.queue.is_empty();
        let is_full = state.queued_bytes > MOST_QUEUED;
        drop(state);
        if arrived {
            self.arrived.notify_one();
        }
        is_full
    }

    fn close(&self, splitter: &mut Splitter) {
        let mut state = self.state();
        splitter.finish(Instant::now(), |arrival| state.push(arrival));
        state.closed = true;
        drop(state);
        self.arrived.notify_one();
    }

    fn is_full(&self) -> bool {
        self.state().queued_bytes > MOST_QUEUED
    }
}

impl State {
    fn push(&mut self, arrival: Arrival) {
        self.queued_bytes += cost(&arrival);
        self.queue.push_back(arrival);
    }
}

fn cost(arrival: &Arrival) -> usize {
    match arrival {
        Arrival::Line { bytes, .. } => bytes.len() + LINE_OVERHEAD,
        Arrival::TooLong { .. } => LINE_OVERHEAD,
    }
}

/// Reads until the end. The stamp is taken right after the read, before anything is looked at.
pub(super) async fn read(mut stdout: impl AsyncRead + Unpin, incoming: Arc<Incoming>) {
    let mut splitter = Splitter::new(LONGEST_LINE);
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let length = match stdout.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(length) => length,
        };
        let at = Instant::now();
        let mut is_full = incoming.take(&buffer[..length], at, &mut splitter);
        while is_full {
            incoming.has_room.notified().await;
            is_full = incoming.is_full();
        }
    }
    incoming.close(&mut splitter);
}
