//! npm and PyPI: how packages are installed, what is installed, who owns a running script.
//!
//! Installing goes exactly as a user would do it, into folders of our own; nothing outside the state
//! folder is touched. Which rows need what is `prepare`'s business.

mod environment;
mod errand;
mod folder_lock;
pub mod identity;
mod installed;
mod interpreter;
pub mod newest;
mod npm;
mod place;
mod pypi;

pub use environment::Environment;
pub use errand::{Done, Errand, Trouble, telling_line};
pub use folder_lock::{FolderLock, LockProblem};
pub use installed::{installed_npm, installed_pypi};
pub use interpreter::Interpreter;
pub use npm::{Npm, Scripts};
pub use place::{Draft, Installation, Place};
pub use pypi::{Pypi, Venv};
