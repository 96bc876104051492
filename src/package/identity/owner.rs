//! Who owns what a command line runs: steps 3 to 6 of the rule, for a live process and for a configured command alike.
//!
//! Only looks at files; no interpreter is started and no registry is asked.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::event::PackageFacts;

use super::distribution;
use super::launch::{Launch, Target};
use super::node;
use super::npx;
use super::place::Place;
use super::python::{self, PythonTarget};
use super::script::{self, Interpretation, Kind};

/// What is known of a command line's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A package.
    Package(PackageFacts),
    /// It was understood, and no package owns it.
    Nobody,
    /// It could not be understood.
    Unknown,
}

impl Owner {
    fn of(package: Option<PackageFacts>) -> Self {
        package.map_or(Self::Nobody, Self::Package)
    }
}

/// The owner of what a command line runs. `executable` is the real one where a live process tells it.
pub(super) fn owner_of(command_line: &[String], place: &Place, executable: Option<&Path>) -> Owner {
    let Some((program, args)) = command_line.split_first() else {
        return Owner::Unknown;
    };
    match kind(program, executable) {
        Kind::Node => owner_in_node(args, place),
        Kind::Python => owner_in_python(program, args, place, executable),
        Kind::Shell => Owner::Unknown,
        Kind::Other => {
            let file = executable
                .map(Path::to_owned)
                .or_else(|| place.programs(program).into_iter().next());
            file.map_or(Owner::Unknown, |file| owner_of_file(&file, place))
        }
    }
}

/// The owner of what a launch command starts, as far as files can tell.
pub(super) fn owner_of_launch(launch: &Launch, place: &Place) -> Owner {
    let place = place.with(&launch.environment);
    match &launch.target {
        Target::Program(command_line) => owner_of(command_line, &place, None),
        Target::Npx(call) => npx::package_of(call, &place).map_or(Owner::Unknown, Owner::Package),
        Target::Uvx(call) => call
            .script()
            .map_or(Owner::Unknown, |name| owner_in_environment(name, &place)),
        Target::LastOfSeveral(_) | Target::Unclear => Owner::Unknown,
    }
}

/// The interpreter that a command line names, by the real executable where it is known.
pub(super) fn kind(program: &str, executable: Option<&Path>) -> Kind {
    match executable.map(script::kind) {
        Some(Kind::Other) | None => script::kind(program),
        Some(known) => known,
    }
}

/// The interpreter's path as invoked: the one of all that the name can mean that is the executable that runs.
pub(super) fn invoked(program: &str, place: &Place, executable: Option<&Path>) -> Option<PathBuf> {
    let candidates = place.programs(program);
    let Some(executable) = executable else {
        return candidates.into_iter().next();
    };
    let real = executable.canonicalize().ok();
    let same = |file: &PathBuf| real.is_some() && file.canonicalize().ok() == real;
    Some(
        candidates
            .into_iter()
            .find(same)
            .unwrap_or_else(|| executable.to_owned()),
    )
}

fn owner_in_node(args: &[String], place: &Place) -> Owner {
    match node::script(args, place) {
        Some(file) => Owner::of(node::package_of(&file)),
        None if node::positionals(args).is_empty() => Owner::Nobody,
        None => Owner::Unknown,
    }
}

fn owner_in_python(program: &str, args: &[String], place: &Place, executable: Option<&Path>) -> Owner {
    let Some(path) = invoked(program, place, executable) else {
        return Owner::Unknown;
    };
    let interpreter = python::interpreter(&path, place);
    match python::target(args, place) {
        PythonTarget::Module(name) => Owner::of(distribution::owner_of_module(&interpreter, &name)),
        PythonTarget::Script(file) => Owner::of(distribution::owner_of_script(&interpreter, &file)),
        PythonTarget::Inline => Owner::Nobody,
    }
}

/// The owner of an executable file: a script by its first line, a binary by the folders around it.
fn owner_of_file(file: &Path, place: &Place) -> Owner {
    match script::interpretation(file, place) {
        Interpretation::Node => Owner::of(node::package_of(file)),
        Interpretation::Python(path) => {
            let interpreter = python::interpreter(&path, place);
            Owner::of(distribution::owner_of_script(&interpreter, file))
        }
        Interpretation::Other => owner_of_binary(file, place),
    }
}

/// A binary belongs to a package where it lies in a `node_modules` folder, or where a `RECORD` lists it.
fn owner_of_binary(file: &Path, place: &Place) -> Owner {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let in_modules = real
        .components()
        .any(|part| part.as_os_str() == OsStr::new("node_modules"));
    let package = if in_modules {
        node::package_of(&real)
    } else {
        distribution::owner_of_script(&python::interpreter(file, place), file)
    };
    package.map_or(Owner::Unknown, Owner::Package)
}

/// The owner of a script that lies in a Python environment on this place's `PATH`: how uv starts what it runs.
fn owner_in_environment(name: &str, place: &Place) -> Owner {
    let in_environment = |file: &PathBuf| {
        let real = file.canonicalize().ok();
        let prefix = real.as_deref().and_then(Path::parent).and_then(Path::parent);
        prefix.is_some_and(|prefix| prefix.join("pyvenv.cfg").is_file())
    };
    let file = place.programs(name).into_iter().find(in_environment);
    file.map_or(Owner::Unknown, |file| owner_of_file(&file, place))
}
