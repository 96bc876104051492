//! mcp-smoke: what really runs in a fleet of MCP servers, with times.
//!
//! Facts flow one way: manifest, plan, prepare, run, record, judge, report. `docs/architecture.md`
//! has the modules in reading order and a line for every file.

pub mod cli;
pub mod client;
pub mod command;
pub mod console;
pub mod echo_server;
pub mod event;
pub mod explain;
pub mod finding;
pub mod judge;
pub mod lock;
pub mod manifest;
pub mod package;
pub mod plan;
pub mod prepare;
pub mod record;
pub mod report;
pub mod run;
pub mod stats;
pub mod store;
pub mod text;
pub mod version;
