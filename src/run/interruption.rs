//! Ctrl-C, in its two steps: the first winds down, the second kills.

use tokio_util::sync::CancellationToken;

/// The two steps of an interruption. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Interruption {
    /// No new row is begun, running ones end by the shutdown ladder.
    pub wind_down: CancellationToken,
    /// Everything is killed at once.
    pub kill: CancellationToken,
}

impl Interruption {
    /// The next step.
    pub fn step(&self) {
        if self.wind_down.is_cancelled() {
            self.kill.cancel();
        } else {
            self.wind_down.cancel();
        }
    }

    /// Whether a first interruption came.
    pub fn came(&self) -> bool {
        self.wind_down.is_cancelled()
    }

    /// Waits for the first signal and takes its step.
    pub async fn listen_once(&self) {
        next_signal().await;
        self.step();
    }

    /// Waits for signals and takes a step for each; never returns. Only the first interrupt,
    /// termination or hang-up winds down; the next kills.
    pub async fn listen(&self) {
        loop {
            next_signal().await;
            self.step();
        }
    }
}

#[cfg(unix)]
async fn next_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let waiting = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::quit(),
    ]
    .map(signal);
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hang_up), Ok(mut quit)] = waiting else {
        // Without handlers the default action ends us, and dropping the processes ends theirs.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
        _ = quit.recv() => {}
    }
}

#[cfg(not(unix))]
async fn next_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_winds_down_and_the_second_kills() {
        let interruption = Interruption::default();
        interruption.step();
        assert!(interruption.came() && !interruption.kill.is_cancelled());
        interruption.step();
        assert!(interruption.kill.is_cancelled());
    }
}
