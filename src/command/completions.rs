//! `completions SHELL`: a completion script.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::console;

/// Prints the script.
pub(super) fn print(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcp-smoke", &mut script);
    console::print_result(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
