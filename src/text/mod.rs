//! Text for people and files: secrets masked, hostile text cleaned for its target, plurals and durations.
//!
//! A secret is masked *by value*, before escaping or cutting can hide it. Nothing here prints.

mod clean;
mod layout;
mod mask;
mod secret_names;
mod words;

pub use clean::{clean_for_markdown, clean_for_terminal};
pub use layout::{cut, display_width, wrap};
pub use mask::Mask;
pub(crate) use secret_names::{is_public_variable, reads_like_secret};
pub use words::{counted, duration_words, milliseconds, plural};
