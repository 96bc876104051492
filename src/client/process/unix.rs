//! What only Unix systems have: process groups and signals. Nothing outside this file may use them.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::errno::Errno;
use nix::sys::signal;
use nix::unistd::Pid;

/// The variables that a server gets by default.
pub(super) const MINIMAL_VARIABLES: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Where a bare name is looked up when there is no `PATH` (as execvp does).
pub(super) const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// How hard a process is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

impl From<Signal> for signal::Signal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Terminate => Self::SIGTERM,
            Signal::Kill => Self::SIGKILL,
        }
    }
}

/// Makes the child the leader of a process group of its own.
pub(super) fn own_group(command: &mut tokio::process::Command) {
    command.process_group(0);
}

/// Signals every process of a group. That nobody is left to hear it is no error.
pub(super) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = pid(group) {
        let _ = signal::killpg(group, signal::Signal::from(signal));
    }
}

/// Signals one process. That it is gone or not ours is no error: the process table tells afterwards.
pub(super) fn signal_process(process: u32, signal: Signal) {
    if let Some(process) = pid(process) {
        let _ = signal::kill(process, signal::Signal::from(signal));
    }
}

/// Whether somebody has this pid, dead or alive, also where the process table hides it.
pub(super) fn exists(process: u32) -> bool {
    pid(process).is_some_and(|process| signal::kill(process, None) != Err(Errno::ESRCH))
}

/// Makes this process the parent of all orphans below it. False if that did not work.
#[cfg(target_os = "linux")]
pub(super) fn become_subreaper() -> bool {
    nix::sys::prctl::set_child_subreaper(true).is_ok()
}

/// Orphans go to the first process of the system, here.
#[cfg(not(target_os = "linux"))]
pub(super) fn become_subreaper() -> bool {
    false
}

/// Now, in the unit in which Linux tells when a process started: hundredths of a second since boot.
#[cfg(target_os = "linux")]
pub(super) fn ticks_now() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_BOOTTIME).map(std::time::Duration::from);
    now.map_or(u64::MAX, |now| {
        now.as_secs() * 100 + u64::from(now.subsec_millis()) / 10
    })
}

/// Only asked for where orphans are adopted.
#[cfg(not(target_os = "linux"))]
pub(super) fn ticks_now() -> u64 {
    u64::MAX
}

/// Takes a dead child off the process table. That it is not dead or not our child is no error.
pub(super) fn bury(process: u32) {
    if let Some(process) = pid(process) {
        let _ = nix::sys::wait::waitpid(process, Some(nix::sys::wait::WaitPidFlag::WNOHANG));
    }
}

/// The pid for the system; never 0, 1 or a negative number, which would mean other groups or everyone.
fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number)
        .ok()
        .filter(|number| *number > 1)
        .map(Pid::from_raw)
}

/// The process group of a process.
#[cfg(any(test, not(target_os = "linux")))]
pub(super) fn group_of(process: u32) -> Option<u32> {
    let group = nix::unistd::getpgid(Some(pid(process)?)).ok()?;
    u32::try_from(group.as_raw()).ok()
}

/// The signal that ended a process.
pub(super) fn ending_signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Whether the system knows no way to run such a file (no binary, no `#!` line).
pub(super) fn is_unknown_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ENOEXEC as i32)
}
