//! The same words where there are no process groups and signals: processes are ended one by one.
//! Job objects would do better; until they are here, this keeps the rest of the module portable.

use std::io;
use std::process::ExitStatus;

use sysinfo::{Pid, ProcessesToUpdate, System};

/// The variables that a server gets by default.
pub(super) const MINIMAL_VARIABLES: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// Where a bare name is looked up when there is no `PATH`.
pub(super) const DEFAULT_PATH: &str = "";

/// ERROR_BAD_EXE_FORMAT.
const BAD_FORMAT: i32 = 193;

/// How hard a process is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// There is no gentle way here: nothing happens, and the grace that follows is all there is.
    Terminate,
    /// The process is ended.
    Kill,
}

/// There are no groups.
pub(super) fn own_group(_command: &mut tokio::process::Command) {}

/// Ends the leader; its descendants are remembered and ended one by one.
pub(super) fn signal_group(group: u32, signal: Signal) {
    signal_process(group, signal);
}

/// Ends one process.
pub(super) fn signal_process(process: u32, signal: Signal) {
    if signal == Signal::Terminate {
        return;
    }
    let pid = Pid::from_u32(process);
    let Ok(mut system) = System::new() else {
        return;
    };
    system.refresh_processes(ProcessesToUpdate::Some(&[pid]), true);
    if let Some(process) = system.process(pid) {
        process.kill();
    }
}

/// Nobody can be asked: then everyone does.
pub(super) fn exists(_process: u32) -> bool {
    true
}

/// Orphans have no parent.
pub(super) fn become_subreaper() -> bool {
    false
}

/// Only asked for where orphans are adopted.
pub(super) fn ticks_now() -> u64 {
    u64::MAX
}

/// The dead need no burial.
pub(super) fn bury(_process: u32) {}

/// There are no groups.
pub(super) fn group_of(_process: u32) -> Option<u32> {
    None
}

/// No process ends by a signal here.
pub(super) fn ending_signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Whether the system knows no way to run such a file.
pub(super) fn is_unknown_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(BAD_FORMAT)
}
