//! Whole commands and real processes, in one binary so that it links once.

mod cases;
mod commands;
mod faults;
mod fleet;
mod interruption;
