//! One file per subcommand; the only place that wires the stages together.

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::console;

mod check;
mod completions;
mod diff;
mod echo_server;
mod explain;
mod history;
mod list;
mod lock;
mod plan;
mod report;
mod run;
mod schema;
mod stage;

/// Usage, manifest, or a folder that cannot be used: the user's to mend.
const USAGE: u8 = 2;
/// A bug in mcp-smoke.
const BUG: u8 = 70;

/// Runs the command line and gives the code to exit with. Errors are printed once, here.
pub fn from_args(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { 0 };
            // Nobody is left to tell if not even this can be printed.
            drop(error.print());
            return ExitCode::from(code);
        }
    };
    let code = match panic::catch_unwind(|| dispatch(&cli.command)) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            console::say_error(&error);
            USAGE
        }
        Err(_) => {
            console::say("this is a bug in mcp-smoke; please report it with what stands above");
            BUG
        }
    };
    ExitCode::from(code)
}

fn dispatch(command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::check(args),
        Command::List(args) => list::list(args),
        Command::Stage(args) => stage::stage(args),
        Command::Report(args) => report::report(args),
        Command::Diff(args) => diff::print(args),
        Command::History(args) => history::print(args),
        Command::Explain(args) => explain::print(args),
        Command::Lock(args) => lock::lock(args),
        Command::EchoServer => echo_server::serve(),
        Command::Schema(args) => schema::print(args),
        Command::Completions(args) => completions::print(args),
    }
}
