//! The runtime of a row: the one on PATH if it fits the range, else the highest that fits in a version
//! manager's folders, else one of our own under the state folder.
//!
//! What is found is always the executable itself: a shim chooses anew at every start.

mod finder;
mod installer;
mod managers;
mod range;
mod shim;

pub(super) use finder::Finder;
pub(super) use installer::{Missing, install, installed, place_of};
