//! The process table where there is no `/proc`: through sysinfo. It knows neither the peak of a
//! process's memory nor the CPU time of children that have ended; memory is what is resident now.

use std::ffi::OsString;

use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::{LiveProcess, Process};

/// Everyone.
pub(super) fn processes() -> Vec<Process> {
    let Some(system) = refreshed(ProcessesToUpdate::All, ProcessRefreshKind::nothing().with_cpu()) else {
        return Vec::new();
    };
    system
        .processes()
        .values()
        .filter(|process| process.thread_kind().is_none())
        .map(entry)
        .collect()
}

/// One process.
pub(super) fn process(pid: u32) -> Option<Process> {
    one(pid, ProcessRefreshKind::nothing().with_cpu(), entry)
}

/// What is resident now.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    one(
        pid,
        ProcessRefreshKind::nothing().with_memory(),
        sysinfo::Process::memory,
    )
}

/// Its arguments.
pub(super) fn command_line(pid: u32) -> Vec<String> {
    let wanted = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    one(pid, wanted, |process| process.cmd().iter().map(text).collect()).unwrap_or_default()
}

/// The program's name.
pub(super) fn short_name(pid: u32) -> Option<String> {
    one(pid, ProcessRefreshKind::nothing(), |process| {
        process.name().to_string_lossy().into_owned()
    })
}

/// Whether the variable stands in its environment.
pub(super) fn carries(pid: u32, name: &str, value: &str) -> bool {
    let wanted = OsString::from(format!("{name}={value}"));
    let kind = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    one(pid, kind, |process| process.environ().contains(&wanted)).unwrap_or_default()
}

/// Its value in its environment; null if that is no UTF-8.
pub(super) fn variable(pid: u32, name: &str) -> Option<String> {
    let kind = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    let found = one(pid, kind, |process| {
        let mut variables = process.environ().iter().filter_map(|variable| variable.to_str());
        let value = variables.find_map(|variable| variable.strip_prefix(name)?.strip_prefix('='));
        value.map(str::to_owned)
    });
    found.flatten()
}

/// Namespaces are not told of here.
pub(super) fn is_neighbour(_pid: u32) -> bool {
    false
}

/// All that identity needs.
pub(super) fn details(process: &Process) -> Option<LiveProcess> {
    let kind = ProcessRefreshKind::nothing()
        .with_cmd(UpdateKind::Always)
        .with_exe(UpdateKind::Always)
        .with_cwd(UpdateKind::Always)
        .with_environ(UpdateKind::Always);
    one(process.pid, kind, |found| LiveProcess {
        pid: process.pid,
        parent: process.parent,
        command_line: found.cmd().iter().map(text).collect(),
        executable: found.exe().map(Into::into),
        cwd: found.cwd().map(Into::into),
        environment: found.environ().iter().filter_map(name_and_value).collect(),
    })
}

fn one<T>(pid: u32, kind: ProcessRefreshKind, read: impl FnOnce(&sysinfo::Process) -> T) -> Option<T> {
    let pid = Pid::from_u32(pid);
    refreshed(ProcessesToUpdate::Some(&[pid]), kind)?.process(pid).map(read)
}

fn refreshed(which: ProcessesToUpdate<'_>, kind: ProcessRefreshKind) -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(which, true, kind);
    Some(system)
}

fn entry(process: &sysinfo::Process) -> Process {
    let pid = process.pid().as_u32();
    Process {
        pid,
        parent: process.parent().map(Pid::as_u32),
        group: crate::client::process::system::group_of(pid),
        session: process.session_id().map(Pid::as_u32),
        zombie: matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead),
        started: process.start_time(),
        own_cpu: std::time::Duration::from_millis(process.accumulated_cpu_time()),
        reaped_cpu: std::time::Duration::ZERO,
    }
}

fn text(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

fn name_and_value(variable: &OsString) -> Option<(String, String)> {
    let variable = variable.to_string_lossy();
    let (name, value) = variable.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}
