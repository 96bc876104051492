//! Which process of a live tree is the server: wrappers (`npm`, `sh`, `uv`) are walked through, helpers are not.
//!
//! The walk itself is pure; what it cannot know from a process table (who holds which pipe) is asked of [`Pipes`].

use std::path::PathBuf;

use crate::client::process::LiveProcess;

use super::place::{Place, program_name};

/// Tells what a process has open as its standard input (0) or output (1).
pub(super) trait Pipes {
    /// A name that is the same for the same pipe; none where the system does not tell.
    fn held(&self, pid: u32, descriptor: u8) -> Option<PathBuf>;
}

/// The pipes as `/proc` shows them; elsewhere nothing is known of them.
pub(super) struct ProcPipes;

impl Pipes for ProcPipes {
    fn held(&self, pid: u32, descriptor: u8) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()
    }
}

/// The processes from the one that was started down to the server; empty if there is none.
///
/// A child is followed if it is the only one that can be the server: it writes to the pipe that we read from,
/// and is no helper of Python's own. Of several, the one that also reads from the pipe that we write to.
pub(super) fn chain<'a>(tree: &'a [LiveProcess], pipes: &dyn Pipes) -> Vec<&'a LiveProcess> {
    let Some(root) = tree.first() else {
        return Vec::new();
    };
    let shares = |process: &LiveProcess, descriptor: u8| {
        let ours = pipes.held(root.pid, descriptor);
        ours.is_none()
            || pipes
                .held(process.pid, descriptor)
                .is_none_or(|theirs| Some(theirs) == ours)
    };
    let mut chain = vec![root];
    while let Some(last) = chain.last().copied() {
        let children = tree
            .iter()
            .filter(|process| process.parent == Some(last.pid) && process.pid != last.pid);
        let mut able: Vec<&LiveProcess> = children.filter(|child| !is_helper(child) && shares(child, 1)).collect();
        if able.len() > 1 {
            able.retain(|child| shares(child, 0));
        }
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
