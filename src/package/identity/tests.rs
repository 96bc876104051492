//! The rule over folders as npm, pip and uv lay them out, and over process trees as they were seen.

mod commands;
mod fleet;
mod live_trees;
mod nodes;
mod pythons;
