//! Bytes to and from a server over its stdin and stdout, as whole lines stamped when they were read.
//!
//! A task of its own reads, so that a server is never blocked by what we are doing, and the stamp of an
//! answer is taken where its last byte is read. Nothing here parses: what a line means is `protocol`'s.
//! Nothing here waits with a limit either: the caller, which knows the limits, drops the futures.

mod incoming;
mod splitter;
mod wire;

use std::time::Instant;

use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

pub use incoming::{Arrival, Traffic};
pub use wire::WireLog;

use incoming::Incoming;

/// The longest line that is read: what the most generous official client takes (rmcp; the TypeScript
/// SDK closes at 10 MiB, the Python SDK has no limit).
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Both pipes of one server.
#[derive(Debug)]
pub struct Transport {
    stdin: Option<ChildStdin>,
    /// Set while a write is under way: if its future was dropped, half a message is out.
    writing: bool,
    incoming: std::sync::Arc<Incoming>,
    reader: JoinHandle<()>,
}

/// Why a message could not be written.
#[derive(Debug)]
pub enum WriteProblem {
    /// The server has closed its stdin.
    Closed,
    /// An earlier message was cut off in the middle; nothing can follow it.
    CutOff,
}

impl Transport {
    /// Starts to read. Must be called within a tokio runtime.
    pub fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let incoming = std::sync::Arc::new(Incoming::default());
        let reader = tokio::spawn(incoming::read(stdout, incoming.clone()));
        Self {
            stdin: Some(stdin),
            writing: false,
            incoming,
            reader,
        }
    }

    /// Writes one message, with its `\n`, and returns the moment just before. Reading goes on meanwhile.
    /// If the future is dropped before it is done, nothing can be written any more.
    pub async fn write(&mut self, message: &[u8]) -> Result<Instant, WriteProblem> {
        let Some(stdin) = &mut self.stdin else {
            return Err(WriteProblem::Closed);
        };
        if self.writing {
            return Err(WriteProblem::CutOff);
        }
        self.writing = true;
        let at = Instant::now();
        let written = stdin.write_all(message).await;
        self.writing = false;
        written.map(|()| at).map_err(|_| WriteProblem::Closed)
    }

    /// The next line; null when stdout was closed and everything was handed over. May be dropped at any time.
    pub async fn next(&self) -> Option<Arrival> {
        self.incoming.next().await
    }

    /// The next line if it is there already.
    pub fn next_now(&self) -> Option<Arrival> {
        self.incoming.next_now()
    }

    /// What has come so far.
    pub fn traffic(&self) -> Traffic {
        self.incoming.traffic()
    }

    /// Bytes that have come so far.
    pub fn bytes(&self) -> u64 {
        self.incoming.bytes()
    }

    /// Gives stdin away, to be closed. Nothing can be written afterwards; reading goes on.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }
}

impl Drop for Transport {
    /// A grandchild may hold stdout open for ever.
    fn drop(&mut self) {
        self.reader.abort();
    }
}

#[cfg(test)]
mod tests;
