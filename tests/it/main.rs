//! Whole commands and real processes, in one binary so that it links once.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside #[test] functions")]

mod cases;
mod commands;
mod faults;
mod fleet;
mod identity;
mod interruption;
mod newest;
