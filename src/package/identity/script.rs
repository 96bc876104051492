//! What the first lines of an executable say about who runs it.
//!
//! Only looks at files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::place::{Place, program_name};

/// How an executable is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Interpretation {
    /// Node runs it.
    Node,
    /// This Python runs it, by its path as invoked.
    Python(PathBuf),
    /// Something else does, or it is a binary.
    Other,
}

/// Reads how a file is run; `Other` where it cannot be read.
pub(super) fn interpretation(file: &Path, place: &Place) -> Interpretation {
    let start = start_of(file).unwrap_or_default();
    let mut lines = start.lines();
    let Some(shebang) = lines.next().and_then(|line| line.strip_prefix("#!")) else {
        return Interpretation::Other;
    };
    let words = without_env(shlex::split(shebang).unwrap_or_default());
    let Some(program) = words.first() else {
        return Interpretation::Other;
    };
    match kind(program) {
        Kind::Node => Interpretation::Node,
        Kind::Python => named_python(program, place),
        Kind::Shell => lines
            .find_map(|line| python_of_exec(line, file))
            .unwrap_or(Interpretation::Other),
        Kind::Other => Interpretation::Other,
    }
}

/// The interpreters whose command lines we can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Node; also bun, which is called alike.
    Node,
    /// Python, also `PyPy`.
    Python,
    /// A shell.
    Shell,
    /// Anything else.
    Other,
}

/// Which interpreter a program is, by its name.
pub(super) fn kind(program: impl AsRef<Path>) -> Kind {
    let name = program_name(program);
    let versioned = |stem: &str| {
        let rest = name.strip_prefix(stem);
        rest.is_some_and(|rest| {
            rest.chars()
                .all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | 't' | 'd'))
        })
    };
    match name.as_str() {
        "node" | "nodejs" | "bun" => Kind::Node,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "busybox" => Kind::Shell,
        _ if versioned("python") || versioned("pypy") => Kind::Python,
        _ => Kind::Other,
    }
}

/// Drops `env`, its options and its assignments.
fn without_env(words: Vec<String>) -> Vec<String> {
    if words.first().is_none_or(|program| program_name(program) != "env") {
        return words;
    }
    let rest = words.into_iter().skip(1);
    rest.skip_while(|word| word.starts_with('-') || word.contains('='))
        .collect()
}

fn named_python(program: &str, place: &Place) -> Interpretation {
    let found = place.programs(program).into_iter().next();
    Interpretation::Python(found.unwrap_or_else(|| place.resolve(program)))
}

/// The second line of a script that a shell passes on to Python: `'''exec' "/long path/python3" "$0" "$@"` (pip),
/// or uv's relocatable form, in which the path is made of `dirname` and `realpath` of the script.
fn python_of_exec(line: &str, file: &Path) -> Option<Interpretation> {
    let call = line
        .trim()
        .strip_prefix("'''exec' ")
        .or_else(|| line.trim().strip_prefix("\"exec\" "))?;
    let plain = shlex::split(call).and_then(|words| words.into_iter().next());
    if let Some(path) = plain.filter(|path| path.starts_with('/') && kind(path) == Kind::Python) {
        return Some(Interpretation::Python(PathBuf::from(path)));
    }
    let beside = call.contains("realpath") || call.contains("dirname");
    let real = file.canonicalize().ok()?;
    beside.then(|| Interpretation::Python(real.with_file_name("python")))
}

fn start_of(file: &Path) -> Option<String> {
    const ENOUGH: u64 = 4096;
    if !file.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(ENOUGH).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
