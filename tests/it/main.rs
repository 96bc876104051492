//! Whole commands and real processes, in one binary so that it links once.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside #[test] functions")]

mod article;
mod cases;
mod commands;
mod complaints;
mod daemons;
mod faults;
mod fleet;
mod identity;
mod interruption;
mod killed_runs;
mod lock;
mod measuring;
mod newest;
mod nights;
mod order;
mod recount;
mod registry;
mod staging;
mod stories;
mod truth;
