//! What really ran: the package that owns a server's script, the executable that runs it, and what started it.
//!
//! The rule, in this order. The live process tree first: from the process that was started down to the server,
//! through every wrapper; its command line, folder and environment say which file runs, and the folders around
//! that file say which package owns it. Where a server hides its command line, the wrapper above it is read
//! instead, and at last the configured command. A script that no package owns has no package: the framework
//! that it uses is not what answered.
//!
//! Looked at after the handshake and before the first call: before it, npx may still replace the package; after
//! a call there are browsers among the children. No registry is asked and no interpreter runs any code here but
//! for `--version`. Nothing here fails: what cannot be told is missing.

mod distribution;
mod launch;
mod live;
mod node;
mod npx;
mod owner;
mod place;
mod python;
mod runtime;
mod script;
mod shell;
mod spec;
#[cfg(test)]
mod tests;
mod uvx;

use std::path::{Path, PathBuf};

use crate::client::process::{self, LiveProcess};
use crate::event::{Ecosystem, Launcher, PackageFacts, ProcessIdentity};

use self::launch::{Launch, Target};
use self::live::{Pipes, ProcPipes};
use self::owner::Owner;
use self::place::Place;
use self::script::{Interpretation, Kind};

/// What answers behind the process `root`, which `command` started.
pub async fn identify(root: u32, command: &process::Command) -> ProcessIdentity {
    let found = look(&process::live_tree(root), command, &ProcPipes);
    let runtime = match found.executable {
        Some(executable) => Some(runtime::facts(executable).await),
        None => None,
    };
    ProcessIdentity {
        package: found.package,
        runtime,
        launcher: launcher_of(command),
    }
}

/// The word for what a command starts its server with.
pub fn launcher_of(command: &process::Command) -> Launcher {
    launch::read(&argv_of(command)).launcher
}

/// The package that an `npx` or `uvx` command names, and what is wanted of it, as typed.
///
/// `npx -y @scope/x@1.2` gives `("@scope/x", "1.2")`, a bare name wants `*`; `uvx x==1` gives `("x", "==1")` and
/// `uvx x@latest` gives `("x", "latest")`. None for every other command, and for specs of no registry (folders,
/// archives, repositories).
pub fn wanted_of(command: &process::Command) -> Option<(Ecosystem, String, String)> {
    wanted_in(&launch::read(&argv_of(command)))
}

/// A package's name in the one form in which names of its ecosystem are compared: PyPI takes `mcp_server_time`,
/// `MCP.server.time` and `mcp-server-time` for the same.
pub fn comparable_name(ecosystem: Ecosystem, name: &str) -> String {
    match ecosystem {
        Ecosystem::Npm => name.to_owned(),
        Ecosystem::Pypi => spec::pypi_name(name),
    }
}

/// What files and the process table tell.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    package: Option<PackageFacts>,
    executable: Option<PathBuf>,
}

fn look(tree: &[LiveProcess], command: &process::Command, pipes: &dyn Pipes) -> Found {
    let chain = live::chain(tree, pipes);
    let launch = launch::read(&argv_of(command));
    let configured = Place {
        cwd: command.cwd.clone(),
        environment: command.env.clone(),
    };
    let executable = match chain.last() {
        Some(server) => executable_of(server),
        None => executable_of_launch(&launch, &configured),
    };
    Found {
        package: package_of(&chain, &launch, &configured),
        executable,
    }
}

/// The package, from the server upward to the configured command; the first that can be understood decides.
fn package_of(chain: &[&LiveProcess], launch: &Launch, configured: &Place) -> Option<PackageFacts> {
    for process in chain.iter().rev().filter(|process| !live::is_title(process)) {
        match owner_of_process(process, chain) {
            Owner::Package(package) => return Some(whole(package, chain)),
            Owner::Nobody => return None,
            Owner::Unknown => {}
        }
    }
    match owner::owner_of_launch(launch, configured) {
        Owner::Package(package) => Some(package),
        Owner::Nobody | Owner::Unknown => None,
    }
}

/// The owner of what a live process runs; of a wrapper, of what it says that it started.
fn owner_of_process(process: &LiveProcess, chain: &[&LiveProcess]) -> Owner {
    let launch = launch::read(&process.command_line);
    match launch.target {
        Target::Program(ref command_line) if *command_line == process.command_line => {
            owner::owner_of(command_line, &live::place_of(process), process.executable.as_deref())
        }
        // uv's own command line names a script, which lies on the `PATH` that uv gave to the server.
        Target::Uvx(_) => {
            let server = chain.last().map(|server| live::place_of(server)).unwrap_or_default();
            owner::owner_of_launch(&launch, &server)
        }
        Target::Program(_) | Target::Npx(_) | Target::LastOfSeveral(_) | Target::Unclear => {
            owner::owner_of_launch(&launch, &live::place_of(process))
        }
    }
}

/// A binary may lie in a package of its own for each platform; then the package is the one that brings it along
/// and whose script started it.
fn whole(part: PackageFacts, chain: &[&LiveProcess]) -> PackageFacts {
    let above = chain.iter().rev().skip(1).filter(|process| !live::is_title(process));
    let owners = above.map(|process| owner_of_process(process, chain));
    let packages = owners.filter_map(|found| match found {
        Owner::Package(package) => Some(package),
        Owner::Nobody | Owner::Unknown => None,
    });
    let mut whole = packages.filter(|package| package.ecosystem == Ecosystem::Npm && node::brings(package, &part.name));
    whole.next().unwrap_or(part)
}

/// The file that runs a server; of a Python the path as invoked, which is the venv's own. Of a wrapper at which
/// the walk ended, nothing: it is not what answers.
fn executable_of(server: &LiveProcess) -> Option<PathBuf> {
    let executable = server.executable.as_deref()?;
    let launch = launch::read(&server.command_line);
    if matches!(launch.launcher, Launcher::Npx | Launcher::Uvx | Launcher::Shell) {
        return None;
    }
    let python = script::kind(executable) == Kind::Python && !live::is_title(server);
    let program = server.command_line.first().filter(|_| python);
    let invoked = program.and_then(|program| owner::invoked(program, &live::place_of(server), Some(executable)));
    Some(invoked.unwrap_or_else(|| executable.to_owned()))
}

/// The file that would run a command, where no live process can be read.
fn executable_of_launch(launch: &Launch, configured: &Place) -> Option<PathBuf> {
    let Target::Program(command_line) = &launch.target else {
        return None;
    };
    let place = configured.with(&launch.environment);
    let file = place.programs(command_line.first()?).into_iter().next()?;
    match script::interpretation(&file, &place) {
        Interpretation::Node => place.programs("node").into_iter().next(),
        Interpretation::Python(path) => Some(path),
        Interpretation::Other => Some(file),
    }
}

fn wanted_in(launch: &Launch) -> Option<(Ecosystem, String, String)> {
    match &launch.target {
        Target::Npx(call) => {
            let (name, wanted) = spec::npm(&npx::main_spec(call)?)?;
            Some((Ecosystem::Npm, name, wanted))
        }
        Target::Uvx(call) => {
            let (name, wanted) = spec::pypi(call.spec()?)?;
            Some((Ecosystem::Pypi, name, wanted))
        }
        Target::LastOfSeveral(last) => wanted_in(last),
        Target::Program(_) | Target::Unclear => None,
    }
}

fn argv_of(command: &process::Command) -> Vec<String> {
    let program = Path::new(&command.program).to_string_lossy().into_owned();
    std::iter::once(program).chain(command.args.iter().cloned()).collect()
}
