//! When a session must give up, whatever it is doing.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

/// When to give up. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stop {
    wind_down: CancellationToken,
    kill: CancellationToken,
    deadline: Option<Instant>,
}

impl Stop {
    /// `wind_down` ends what is going on and closes the server as usual; `kill` ends it at once, and so
    /// does the deadline of the row.
    pub fn new(wind_down: CancellationToken, kill: CancellationToken, deadline: Option<Instant>) -> Self {
        Self {
            wind_down,
            kill,
            deadline,
        }
    }

    /// Never.
    pub fn never() -> Self {
        Self::new(CancellationToken::new(), CancellationToken::new(), None)
    }

    /// Whether to give up now.
    pub fn is_due(&self) -> bool {
        self.wind_down.is_cancelled() || self.must_kill()
    }

    /// Whether there is no time left for a polite end.
    pub fn must_kill(&self) -> bool {
        self.kill.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits until there is no time left for a polite end.
    pub async fn killed(&self) {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.kill.cancelled() => {}
            () = deadline => {}
        }
    }
}
