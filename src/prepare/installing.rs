//! What all installations of a run share: the lock of the state folder, taken by the first of them and
//! held to the last, and how many go on at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::package::{Environment, FolderLock, Interpreter, LockProblem, Npm};

use super::voice::Voice;

/// Package managers wait for the network most of the time; more at once fight over the disk.
const AT_ONCE: usize = 3;
/// As long as the other run's own installation may take.
const LOCK_LIMIT: Duration = Duration::from_mins(10);

/// Cheap to clone; the lock goes with the last clone.
#[derive(Clone, Debug)]
pub(super) struct Installing {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: PathBuf,
    cancel: CancellationToken,
    permits: Semaphore,
    lock: OnceCell<Result<FolderLock, NoLock>>,
    npms: Mutex<BTreeMap<PathBuf, Arc<OnceCell<Option<Npm>>>>>,
}

/// Why nothing can be installed.
#[derive(Clone, Debug)]
pub(super) enum NoLock {
    Cancelled,
    Failed(String),
}

impl Installing {
    pub(super) fn new(state: &Path, cancel: &CancellationToken) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: state.to_owned(),
                cancel: cancel.clone(),
                permits: Semaphore::new(AT_ONCE),
                lock: OnceCell::new(),
                npms: Mutex::new(BTreeMap::new()),
            }),
        }
    }

    pub(super) fn state(&self) -> &Path {
        &self.shared.state
    }

    pub(super) fn cancel(&self) -> &CancellationToken {
        &self.shared.cancel
    }

    /// Waits for a turn and for the lock. The turn is over when what is returned is dropped.
    pub(super) async fn turn(&self, voice: &Voice) -> Result<impl Sized + '_, NoLock> {
        let permit = tokio::select! {
            permit = self.shared.permits.acquire() => permit.expect("the semaphore is never closed"),
            () = self.shared.cancel.cancelled() => return Err(NoLock::Cancelled),
        };
        let locked = self.shared.lock.get_or_init(|| self.lock(voice)).await;
        match locked {
            Ok(_held) => Ok(permit),
            Err(problem) => Err(problem.clone()),
        }
    }

    /// The npm of that Node with the settings it is to have, which are asked for once.
    pub(super) async fn npm(&self, node: &Interpreter, environment: &Environment, folder: &Path) -> Option<Npm> {
        let cell = {
            let mut npms = self.shared.npms.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(npms.entry(node.executable.clone()).or_default())
        };
        let made = cell.get_or_init(async || {
            let npm = Npm::of(node, environment)?;
            Some(npm.with_settings_of_default(folder, &self.shared.cancel).await)
        });
        made.await.clone()
    }

    async fn lock(&self, voice: &Voice) -> Result<FolderLock, NoLock> {
        let on_wait = || voice.doing("waiting for another mcp-smoke that installs into this folder");
        let taken = FolderLock::take(&self.shared.state, LOCK_LIMIT, &self.shared.cancel, on_wait).await;
        taken.map_err(|problem| match problem {
            LockProblem::Cancelled => NoLock::Cancelled,
            LockProblem::Held(_) | LockProblem::Io(_) => NoLock::Failed(problem.to_string()),
        })
    }
}
