//! The binary: the exit code of the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_smoke::command::from_args(std::env::args_os())
}
