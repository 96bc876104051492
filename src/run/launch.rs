//! A row's launch and what was prepared for it, filled in for one session: the exact program,
//! arguments, environment and folder that are started.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::client::process::{self, find_program};
use crate::client::session::{FilledExpectation, FilledProbe};
use crate::plan::{Fixtures, Inherit, Launch, Probe, ProbeExpectation, Row, Template};
use crate::prepare::ReadyRow;

/// The command of one session, without its owner.
pub(super) fn command(launch: &Launch, ready: &ReadyRow, fixtures: &Fixtures) -> process::Command {
    let env = environment(launch, ready, fixtures);
    let path = env
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.as_str())
        .unwrap_or_default();
    let name = launch.command.fill(fixtures);
    let cwd = PathBuf::from(launch.cwd.fill(fixtures));
    process::Command {
        program: program(&name, &ready.lookup, path, &cwd),
        args: launch.args.iter().map(|arg| arg.fill(fixtures)).collect(),
        env,
        cwd,
        owner: None,
    }
}

/// The program that a row would start, as far as it can be told before its fixtures are laid out:
/// an absolute path, or the name as typed if it is not found. Null if the entry cannot be run.
pub fn program_of(row: &Row, ready: &ReadyRow) -> Option<PathBuf> {
    Some(command(row.launch()?, ready, &Fixtures::default()).program)
}

/// Looked up in the row's package first, then on its PATH; what is not found stays as typed, and
/// spawning says so. A name with a slash is taken from the row's working directory.
fn program(name: &str, lookup: &[PathBuf], path: &str, cwd: &Path) -> PathBuf {
    if name.contains('/') {
        return cwd.join(name);
    }
    let dirs: Vec<PathBuf> = lookup.iter().cloned().chain(env::split_paths(path)).collect();
    find_program(name, &dirs).unwrap_or_else(|| PathBuf::from(name))
}

/// The row's environment: what it inherits, the names it passes on, what was prepared, its own
/// `env`, each adding to the one before; the runtime's folder comes first on PATH.
fn environment(launch: &Launch, ready: &ReadyRow, fixtures: &Fixtures) -> Vec<(String, String)> {
    let mut env = match launch.inherit {
        Inherit::Minimal => process::minimal_environment(),
        Inherit::All => env::vars_os()
            .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
            .collect(),
    };
    for name in &launch.env_pass {
        if let Ok(value) = env::var(name) {
            set(&mut env, name, value);
        }
    }
    for (name, value) in &ready.env {
        set(&mut env, name, value.clone());
    }
    for (name, value) in &launch.env {
        set(&mut env, name, Template::fill(value, fixtures));
    }
    let path = env
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.clone())
        .unwrap_or_default();
    let dirs = ready
        .path_first
        .iter()
        .cloned()
        .chain(env::split_paths(&path).filter(|dir| !dir.as_os_str().is_empty()));
    if let Some(joined) = env::join_paths(dirs).ok().and_then(text) {
        set(&mut env, "PATH", joined);
    }
    env
}

fn text(value: OsString) -> Option<String> {
    value.into_string().ok()
}

fn set(env: &mut Vec<(String, String)>, name: &str, value: String) {
    match env.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = value,
        None => env.push((name.to_owned(), value)),
    }
}

/// A probe, filled in for one session.
pub(super) fn probe(index: usize, probe: &Probe, concurrency: u32, fixtures: &Fixtures) -> FilledProbe {
    FilledProbe {
        index,
        tool: probe.tool.clone(),
        arguments: probe.arguments.fill(fixtures),
        calls: probe.calls,
        warmup: probe.warmup,
        timeout: probe.timeout,
        expect: expectation(&probe.expect, fixtures),
        concurrency,
    }
}

fn expectation(expect: &ProbeExpectation, fixtures: &Fixtures) -> FilledExpectation {
    let fill = |template: &Option<Template>| template.as_ref().map(|template| template.fill(fixtures));
    FilledExpectation {
        text: fill(&expect.text),
        not_text: fill(&expect.not_text),
        matches: expect.matches.clone(),
        error: fill(&expect.error),
        structured: expect.structured.as_ref().map(|template| template.fill(fixtures)),
    }
}
