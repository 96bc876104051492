//! The system's process table, read once and then asked: who is whose child, who is in which group,
//! who is dead already. On Linux from `/proc`, elsewhere through sysinfo. It signals nobody.
//!
//! The parent of a process is the same whichever of the parent's threads started it, so children of
//! every thread are found.

#[cfg(target_os = "linux")]
mod proc_files;
#[cfg(any(test, not(target_os = "linux")))]
mod system_info;

#[cfg(target_os = "linux")]
use proc_files as source;
#[cfg(not(target_os = "linux"))]
use system_info as source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// A live process, as identity needs it; what may not be read is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveProcess {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: Option<u32>,
    /// Its arguments, the program first; rewritten by some programs.
    pub command_line: Vec<String>,
    /// The file that runs, links resolved.
    pub executable: Option<PathBuf>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// The environment it was started with.
    pub environment: Vec<(String, String)>,
}

/// A process and its descendants: the root first, then by generation, children of one parent by start
/// time. Zombies are left out; empty if the root is gone.
pub fn live_tree(root: u32) -> Vec<LiveProcess> {
    let table = Table::read();
    table
        .tree(root)
        .into_iter()
        .filter_map(|pid| source::details(table.live(pid)?))
        .collect()
}

/// One line of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: Option<u32>,
    /// The process group, where there is such a thing.
    pub(super) group: Option<u32>,
    /// The session (of processes), where there is such a thing.
    pub(super) session: Option<u32>,
    /// Dead, and waiting for its parent to notice.
    pub(super) zombie: bool,
    /// When it started, in the system's own unit: only for comparing. With the pid it names a process.
    pub(super) started: u64,
    /// CPU time of its own.
    pub(super) own_cpu: Duration,
    /// CPU time of those of its children that have ended and were waited for.
    pub(super) reaped_cpu: Duration,
}

/// The process table at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    processes: BTreeMap<u32, Process>,
}

impl Table {
    /// Reads it; empty where the system does not tell.
    pub(super) fn read() -> Self {
        Self::of(source::processes())
    }

    pub(super) fn of(processes: impl IntoIterator<Item = Process>) -> Self {
        Self {
            processes: processes.into_iter().map(|process| (process.pid, process)).collect(),
        }
    }

    /// Everyone, zombies too.
    pub(super) fn all(&self) -> impl Iterator<Item = &Process> {
        self.processes.values()
    }

    /// Whoever has this pid, dead or alive.
    pub(super) fn entry(&self, pid: u32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    /// The process, unless it is gone or a zombie.
    pub(super) fn live(&self, pid: u32) -> Option<&Process> {
        self.entry(pid).filter(|process| !process.zombie)
    }

    /// The root and its descendants by generation, those that live.
    pub(super) fn tree(&self, root: u32) -> Vec<u32> {
        if self.live(root).is_none() {
            return Vec::new();
        }
        let mut children: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
        for process in self.all().filter(|process| !process.zombie) {
            children.entry(process.parent.unwrap_or(0)).or_default().push(process);
        }
        let mut seen = BTreeSet::from([root]);
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(parent) = tree.get(next) {
            next += 1;
            let mut brood = children.remove(parent).unwrap_or_default();
            brood.sort_by_key(|process| (process.started, process.pid));
            tree.extend(
                brood
                    .into_iter()
                    .map(|process| process.pid)
                    .filter(|pid| seen.insert(*pid)),
            );
        }
        tree
    }
}

/// The most memory that the process ever had resident, or has now where the peak is not known.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    source::peak_memory(pid)
}

/// Its arguments; empty if they may not be read or there are none.
pub(super) fn command_line(pid: u32) -> Vec<String> {
    source::command_line(pid)
}

/// The program's short name in parentheses, for those that have no command line.
pub(super) fn short_name(pid: u32) -> String {
    source::short_name(pid).map_or_else(|| "(unknown)".to_owned(), |name| format!("({name})"))
}

/// Whether it was started with this variable in its environment.
pub(super) fn carries(pid: u32, name: &str, value: &str) -> bool {
    source::carries(pid, name, value)
}

/// The value of this variable in the environment that it was started with.
pub(super) fn variable(pid: u32, name: &str) -> Option<String> {
    source::variable(pid, name)
}

/// Whether it is of the same user as we are, and its pid means the same to it as to us. False where
/// that cannot be told.
pub(super) fn is_neighbour(pid: u32) -> bool {
    source::is_neighbour(pid)
}

/// The one process, without reading the whole table.
pub(super) fn look_up(pid: u32) -> Option<Process> {
    source::process(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_the_root_of_our_own_tree() {
        let tree = live_tree(std::process::id());
        let executable = std::env::current_exe().expect("a running test has a file");
        assert_eq!(tree[0].pid, std::process::id());
        assert_eq!(tree[0].executable, Some(executable));
        assert!(tree[0].environment.iter().any(|(name, _)| name == "PATH"));
        assert!(live_tree(u32::MAX).is_empty());
    }

    #[test]
    fn both_sources_tell_the_same_of_this_process() {
        let pid = std::process::id();
        let (ours, theirs) = (
            source::process(pid).expect("we live"),
            system_info::process(pid).expect("we live"),
        );
        assert_eq!(
            (ours.parent, ours.group, ours.zombie),
            (theirs.parent, theirs.group, theirs.zombie)
        );
        assert!(system_info::processes().iter().any(|process| process.pid == pid));
        assert_eq!(source::command_line(pid), system_info::command_line(pid));
        assert!(system_info::peak_memory(pid).is_some_and(|size| size > 0));
        assert!(system_info::short_name(pid).is_some());
        let theirs = system_info::details(&theirs).expect("we live");
        assert_eq!(
            source::details(&ours).map(|ours| (ours.cwd, ours.executable)),
            Some((theirs.cwd, theirs.executable))
        );
        let path = std::env::var("PATH").expect("tests have a PATH");
        assert!(source::carries(pid, "PATH", &path) && system_info::carries(pid, "PATH", &path));
        assert_eq!(source::variable(pid, "PATH"), Some(path));
        assert_eq!(source::variable(pid, "PATH"), system_info::variable(pid, "PATH"));
        assert_eq!(
            (source::variable(pid, "PAT"), system_info::variable(pid, "PAT")),
            (None, None)
        );
        assert!(source::is_neighbour(pid) && !system_info::is_neighbour(pid));
        assert!(!source::carries(pid, "PATH", "elsewhere") && !system_info::carries(pid, "PATH", "elsewhere"));
    }
}
