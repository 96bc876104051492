//! What a launch command says it starts: `env`, shells, `npx` and `uvx` unwrapped, as text.
//!
//! Pure: no file is looked at. Where a shell line is more than one command, what it starts is unclear,
//! and only the live process can tell.

use crate::event::Launcher;

use super::node;
use super::npx::{self, NpxCall};
use super::place::program_name;
use super::shell;
use super::uvx::{self, UvxCall};

/// A launch command, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// The word for what starts it.
    pub(super) launcher: Launcher,
    /// What it starts.
    pub(super) target: Target,
    /// Variables that it sets on the way.
    pub(super) environment: Vec<(String, String)>,
}

/// What a launch command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A program with its arguments.
    Program(Vec<String>),
    /// A package through `npx` or `npm exec`.
    Npx(NpxCall),
    /// A package through `uvx` or `uv tool run`.
    Uvx(UvxCall),
    /// Several commands of a shell, of which this is the last.
    LastOfSeveral(Box<Launch>),
    /// Nothing that can be told from the text.
    Unclear,
}

/// Reads a launch command.
pub(super) fn read(command_line: &[String]) -> Launch {
    let Some((program, args)) = command_line.split_first() else {
        return plain(Launcher::Direct, Target::Unclear);
    };
    match program_name(program).as_str() {
        "env" => read_env(args),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" => read_shell(command_line),
        "npx" => plain(Launcher::Npx, Target::Npx(npx::read_npx(args))),
        "npm" => read_npm(command_line),
        "uvx" => plain(Launcher::Uvx, Target::Uvx(uvx::read_uvx(args))),
        "uv" => read_uv(command_line),
        "docker" | "podman" => plain(Launcher::Docker, Target::Unclear),
        "node" | "nodejs" => read_node(command_line),
        _ => plain(Launcher::Direct, Target::Program(command_line.to_vec())),
    }
}

fn plain(launcher: Launcher, target: Target) -> Launch {
    Launch {
        launcher,
        target,
        environment: Vec::new(),
    }
}

/// `env [OPTION]… [NAME=VALUE]… COMMAND…`
fn read_env(args: &[String]) -> Launch {
    let mut environment = Vec::new();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        if let Some(text) = split_string(word, after) {
            let mut words = shlex::split(&text.0).unwrap_or_default();
            words.extend_from_slice(text.1);
            return read_env_words(&words, environment);
        }
        let skipped = match word.as_str() {
            "-u" | "--unset" | "-C" | "--chdir" => 1,
            option if option.starts_with('-') => 0,
            assignment if shell::assignment(assignment).is_some() => 0,
            _ => break,
        };
        environment.extend(shell::assignment(word));
        rest = after.get(skipped..).unwrap_or_default();
    }
    finish_env(rest, environment)
}

/// The words of `env -S` may begin with assignments of their own.
fn read_env_words(words: &[String], mut environment: Vec<(String, String)>) -> Launch {
    let assignments = words.iter().map_while(|word| shell::assignment(word));
    let count = words
        .iter()
        .take_while(|word| shell::assignment(word).is_some())
        .count();
    environment.extend(assignments);
    finish_env(&words[count..], environment)
}

fn finish_env(rest: &[String], environment: Vec<(String, String)>) -> Launch {
    let mut launch = read(rest);
    launch.environment.splice(0..0, environment);
    launch
}

/// The text and the words after it of `-S TEXT`, `-STEXT` and `--split-string=TEXT`.
fn split_string<'a>(word: &str, after: &'a [String]) -> Option<(String, &'a [String])> {
    if word == "-S" || word == "--split-string" {
        let (text, rest) = after.split_first()?;
        return Some((text.clone(), rest));
    }
    let attached = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S"));
    attached.map(|text| (text.to_owned(), after))
}

/// `sh -c TEXT`; a shell that runs a script file is a program like any other.
fn read_shell(command_line: &[String]) -> Launch {
    let Some(text) = shell::command_text(&command_line[1..]) else {
        return plain(Launcher::Direct, Target::Program(command_line.to_vec()));
    };
    let mut commands = shell::commands(text);
    let Some(last) = commands.pop() else {
        return plain(Launcher::Shell, Target::Unclear);
    };
    let inner = finish_env(&last.words, last.assignments);
    let target = if commands.is_empty() {
        inner.target
    } else {
        Target::LastOfSeveral(Box::new(inner.clone()))
    };
    Launch {
        launcher: Launcher::Shell,
        target,
        environment: inner.environment,
    }
}

/// `npm exec` and its short form `npm x`; every other `npm` command is a program.
fn read_npm(command_line: &[String]) -> Launch {
    match npx::read_npm(&command_line[1..]) {
        Some(call) => plain(Launcher::Npx, Target::Npx(call)),
        None => plain(Launcher::Direct, Target::Program(command_line.to_vec())),
    }
}

/// `uv tool run`, which shows itself as `uv tool uvx` when it was started as `uvx`.
fn read_uv(command_line: &[String]) -> Launch {
    match uvx::read_uv(&command_line[1..]) {
        Some(call) => plain(Launcher::Uvx, Target::Uvx(call)),
        None => plain(Launcher::Direct, Target::Program(command_line.to_vec())),
    }
}

/// `node …/npx-cli.js` is `npx`, however it was started.
fn read_node(command_line: &[String]) -> Launch {
    let args = &command_line[1..];
    let script = node::positionals(args).into_iter().next();
    if let Some(position) = script {
        let rest = &args[position + 1..];
        match program_name(&args[position]).as_str() {
            "npx-cli.js" | "npx" => return plain(Launcher::Npx, Target::Npx(npx::read_npx(rest))),
            "npm-cli.js" | "npm" => {
                if let Some(call) = npx::read_npm(rest) {
                    return plain(Launcher::Npx, Target::Npx(call));
                }
            }
            _ => {}
        }
    }
    plain(Launcher::Direct, Target::Program(command_line.to_vec()))
}
