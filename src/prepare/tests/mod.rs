//! Whole preparations on a made-up machine: a fake Node and npm that do as a script says.

mod machine;
mod packages;
mod programs;
mod registries;
