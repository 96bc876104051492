//! Text for people and files: secrets masked, hostile text cleaned for its target, plurals and durations.
//!
//! A secret is masked *by value*, before escaping or cutting can hide it.

mod mask;

pub use mask::Mask;
