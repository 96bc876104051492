//! Which process of a live tree is the server: wrappers (`npm`, `sh`, `uv`) are walked through, helpers are not.
//!
//! The walk itself is pure; what it cannot know from a process table (who holds which pipe) is asked of [`Pipes`].

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::client::process::LiveProcess;

use super::place::{Place, program_name};

/// Tells who holds which pipe.
pub(super) trait Pipes {
    /// The pipes that a process has open, wherever; none where the system does not tell.
    fn held(&self, pid: u32) -> Option<BTreeSet<PathBuf>>;
    /// The pipes over which we speak with the process that was started; empty where the system does not tell.
    fn ours(&self, root: u32) -> BTreeSet<PathBuf>;
}

/// The pipes as `/proc` shows them, in which both ends of a pipe have the same name; elsewhere nothing is known.
pub(super) struct ProcPipes;

impl Pipes for ProcPipes {
    fn held(&self, pid: u32) -> Option<BTreeSet<PathBuf>> {
        open_pipes(&pid.to_string())
    }

    /// What we hold the other end of, without its stderr. Its 0 and 1 are not asked: servers move them (the Python
    /// SDK points 1 to stderr while it serves, so that a stray print does not break the wire). A pipe of which both
    /// of us hold the same end comes from whoever started us, and a wrapper may have closed it for its child.
    fn ours(&self, root: u32) -> BTreeSet<PathBuf> {
        let stderr = fs::read_link(format!("/proc/{root}/fd/2")).ok();
        let theirs = open_ends(&root.to_string());
        let own = open_ends("self").into_iter();
        let facing = own.filter(|(pipe, writes)| theirs.contains(&(pipe.clone(), !writes)));
        facing
            .map(|(pipe, _)| pipe)
            .filter(|pipe| Some(pipe) != stderr.as_ref())
            .collect()
    }
}

/// The ends of pipes that a process has open: which pipe, and whether it is the end that is written to.
fn open_ends(process: &str) -> BTreeSet<(PathBuf, bool)> {
    let entries = fs::read_dir(format!("/proc/{process}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let ends = entries.filter_map(|entry| {
        let pipe = fs::read_link(entry.path())
            .ok()
            .filter(|target| target.to_string_lossy().starts_with("pipe:"))?;
        let number = entry.file_name();
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{}", number.to_string_lossy())).ok()?;
        Some((pipe, opened_for_writing(&info)?))
    });
    ends.collect()
}

/// The access mode of an open file is in the last octal digit of its `flags:` (`O_WRONLY` is 1).
fn opened_for_writing(info: &str) -> Option<bool> {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    Some(u32::from_str_radix(flags.trim(), 8).ok()? & 0o3 == 1)
}

fn open_pipes(process: &str) -> Option<BTreeSet<PathBuf>> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    Some(
        targets
            .filter(|target| target.to_string_lossy().starts_with("pipe:"))
            .collect(),
    )
}

/// The processes from the one that was started down to the server; empty if there is none.
///
/// A child is followed if it is the only one that can be the server: it holds the pipes that we speak over, and
/// is no helper of Python's own.
pub(super) fn chain<'a>(tree: &'a [LiveProcess], pipes: &dyn Pipes) -> Vec<&'a LiveProcess> {
    let Some(root) = tree.first() else {
        return Vec::new();
    };
    let ours = pipes.ours(root.pid);
    let on_our_pipes = |pid: u32| ours.is_empty() || pipes.held(pid).is_none_or(|held| ours.is_subset(&held));
    let mut chain = vec![root];
    while let Some(last) = chain.last().copied() {
        let children = tree
            .iter()
            .filter(|process| process.parent == Some(last.pid) && process.pid != last.pid);
        let able: Vec<&LiveProcess> = children
            .filter(|child| !is_helper(child) && on_our_pipes(child.pid))
            .collect();
        let [only] = able.as_slice() else {
            break;
        };
        chain.push(only);
    }
    chain
}

/// Whether a command line is a title that the program gave itself: `npm exec x`, `chrome-devtools-mcp`.
///
/// A single word without a slash is one unless the executable is called so.
pub(super) fn is_title(process: &LiveProcess) -> bool {
    let words: Vec<&String> = process.command_line.iter().filter(|word| !word.is_empty()).collect();
    let [only] = words.as_slice() else {
        return words.is_empty();
    };
    if only.contains(' ') {
        return !place_of(process).resolve(only).is_file();
    }
    let is_executable = process
        .executable
        .as_deref()
        .is_some_and(|file| program_name(file) == program_name(only));
    !only.contains('/') && !is_executable
}

/// Where a live process understands its command line.
pub(super) fn place_of(process: &LiveProcess) -> Place {
    Place {
        cwd: process.cwd.clone().unwrap_or_default(),
        environment: process.environment.clone(),
    }
}

/// The processes that Python's `multiprocessing` starts for itself (its resource tracker, fork server and
/// spawned workers) inherit our pipes, and are no servers.
fn is_helper(process: &LiveProcess) -> bool {
    let code = process.command_line.iter().skip_while(|word| *word != "-c").nth(1);
    code.is_some_and(|code| code.starts_with("from multiprocessing") || code.starts_with("from joblib"))
}
