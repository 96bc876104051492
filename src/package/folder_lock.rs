//! Two runs in one folder must not install into each other: whoever installs holds `<state>/lock`.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often we look whether the other run is done.
const LOOK: Duration = Duration::from_millis(200);

/// Held until it is dropped; also given back by the system when the process ends.
#[derive(Debug)]
pub struct FolderLock {
    /// Held for its lock.
    _file: File,
}

/// Why the lock could not be had.
#[derive(Debug, Error)]
pub enum LockProblem {
    /// The run was interrupted meanwhile.
    #[error("interrupted")]
    Cancelled,
    /// Another run held it all the time.
    #[error("another mcp-smoke has been installing into this folder for {} s", .0.as_secs())]
    Held(Duration),
    /// The folder or the file cannot be written.
    #[error("cannot lock the folder for installed packages: {0}")]
    Io(#[from] io::Error),
}

impl FolderLock {
    /// Takes the lock of a state folder, which is made if it is not there. `on_wait` is called once if
    /// another run holds it.
    pub async fn take(
        state: &Path,
        limit: Duration,
        cancel: &CancellationToken,
        on_wait: impl FnOnce(),
    ) -> Result<Self, LockProblem> {
        make_state_folder(state)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(state.join("lock"))?;
        let deadline = Instant::now() + limit;
        let mut on_wait = Some(on_wait);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // Some network file systems cannot lock; installing without is better than not at all.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => break,
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) => {}
            }
            if let Some(on_wait) = on_wait.take() {
                on_wait();
            }
            if Instant::now() >= deadline {
                return Err(LockProblem::Held(limit));
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = cancel.cancelled() => return Err(LockProblem::Cancelled),
            }
        }
        Ok(Self { _file: file })
    }
}

/// The folder keeps itself out of version control, wherever it is made.
fn make_state_folder(state: &Path) -> io::Result<()> {
    fs::create_dir_all(state)?;
    let ignore = state.join(".gitignore");
    if !ignore.exists() {
        fs::write(ignore, "*\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_one_waits_says_so_once_and_gives_up_in_time() {
        let state = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        let held = FolderLock::take(state.path(), Duration::ZERO, &cancel, || {})
            .await
            .unwrap();
        let mut told = 0;
        let second = FolderLock::take(state.path(), Duration::from_millis(1), &cancel, || told += 1).await;
        assert!(matches!(second, Err(LockProblem::Held(_))));
        assert_eq!(told, 1);
        drop(held);
        FolderLock::take(state.path(), Duration::ZERO, &cancel, || panic!("it is free"))
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn waiting_ends_when_the_run_is_interrupted() {
        let state = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        let _held = FolderLock::take(state.path(), Duration::ZERO, &cancel, || {})
            .await
            .unwrap();
        let limit = Duration::from_mins(10);
        let second = FolderLock::take(state.path(), limit, &cancel, || cancel.cancel()).await;
        assert!(matches!(second, Err(LockProblem::Cancelled)));
    }
}
