//! The process table of Linux, from `/proc`. What may not be read is left out: other users' processes
//! come and go at any time.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use super::{LiveProcess, Process};

/// The unit of CPU times in `stat`: `USER_HZ`, which is 100 on every architecture that Rust has a tier
/// for (alpha and ia64 aside).
const TICK: Duration = Duration::from_millis(10);

/// Everyone.
pub(super) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

/// One process.
pub(super) fn process(pid: u32) -> Option<Process> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// A line of `/proc/PID/stat` (`proc_pid_stat(5)`). The name stands in parentheses and may hold anything,
/// parentheses and line ends included, so the fields are counted from the last one.
fn parse(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let fields: Vec<&str> = std::str::from_utf8(&stat[close + 1..])
        .ok()?
        .split_ascii_whitespace()
        .collect();
    // The first of these is field 3, the state.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let id = |field: usize| number(field).and_then(|id| u32::try_from(id).ok()).filter(|id| *id > 0);
    let ticks = |field: usize| number(field).map(|ticks| TICK * u32::try_from(ticks).unwrap_or(u32::MAX));
    Some(Process {
        pid,
        parent: id(4),
        group: id(5),
        session: id(6),
        zombie: matches!(*fields.first()?, "Z" | "X" | "x"),
        started: number(22)?,
        own_cpu: ticks(14)? + ticks(15)?,
        reaped_cpu: ticks(16)? + ticks(17)?,
    })
}

/// `VmHWM`, or `VmRSS` where that is missing.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    kibibytes(&status, "VmHWM:")
        .or_else(|| kibibytes(&status, "VmRSS:"))
        .map(|size| size * 1024)
}

fn kibibytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// `/proc/PID/cmdline`.
pub(super) fn command_line(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    arguments(&bytes)
}

/// Every argument ends in a zero byte. A program that writes itself a title may pad it with more of
/// them, which are no arguments.
fn arguments(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let mut arguments: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect();
    // A genuine empty argument at the end is rarer than padding after a title.
    while arguments.last().is_some_and(String::is_empty) {
        arguments.pop();
    }
    arguments
}

/// `/proc/PID/comm`.
pub(super) fn short_name(pid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// Whether the variable stands in `/proc/PID/environ`.
pub(super) fn carries(pid: u32, name: &str, value: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let wanted = format!("{name}={value}");
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

/// Its value in `/proc/PID/environ`; null if that is no UTF-8.
pub(super) fn variable(pid: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// From a host one sees the processes of its containers, under other pids than they have themselves.
pub(super) fn is_neighbour(pid: u32) -> bool {
    let own = std::process::id();
    // Else this is the /proc of another namespace, and `own` is somebody else in it.
    let is_our_table = fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() == own.to_string().as_str());
    let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let user = |pid: u32| fs::metadata(format!("/proc/{pid}")).ok().map(|folder| folder.uid());
    let is_same = |ours: Option<PathBuf>, theirs: Option<PathBuf>| ours.is_some() && ours == theirs;
    is_our_table && is_same(namespace(own), namespace(pid)) && user(own).is_some() && user(own) == user(pid)
}

/// All that identity needs.
pub(super) fn details(process: &Process) -> Option<LiveProcess> {
    let pid = process.pid;
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let details = LiveProcess {
        pid,
        parent: process.parent,
        command_line: command_line(pid),
        executable: link(pid, "exe"),
        cwd: link(pid, "cwd"),
        environment: variables(&environment),
    };
    // Who has been replaced since the table was read is nobody's child any more.
    self::process(pid)
        .filter(|now| now.started == process.started && !now.zombie)
        .map(|_| details)
}

fn variables(environment: &[u8]) -> Vec<(String, String)> {
    environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| {
            let variable = String::from_utf8_lossy(variable);
            let (name, value) = variable.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// Where the link points to; the kernel's remark about a file that was deleted is taken off.
fn link(pid: u32, name: &str) -> Option<PathBuf> {
    let target = fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
    let bytes = target.as_os_str().as_bytes();
    Some(match bytes.strip_suffix(b" (deleted)") {
        Some(path) => PathBuf::from(OsStr::from_bytes(path)),
        None => target,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat =
            b"42 (a) b (c) Z 7 40 39 0 -1 4194304 1 2 3 4 150 50 20 5 20 0 1 0 987654 1000 10 18446744073709551615\n";
        let expected = Process {
            pid: 42,
            parent: Some(7),
            group: Some(40),
            session: Some(39),
            zombie: true,
            started: 987_654,
            own_cpu: Duration::from_secs(2),
            reaped_cpu: Duration::from_millis(250),
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse(b"42 (a) S 7"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn padding_after_a_rewritten_title_is_no_argument() {
        assert_eq!(arguments(b"npm exec x\0\0\0\0"), ["npm exec x"]);
        assert_eq!(arguments(b"node\0\0--flag\0"), ["node", "", "--flag"]);
        assert!(arguments(b"").is_empty());
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(kibibytes("Name:\tx\nVmHWM:\t   12 kB\n", "VmHWM:"), Some(12));
        assert!(peak_memory(std::process::id()).is_some_and(|size| size > 100_000));
    }
}
