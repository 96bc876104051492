//! What an earlier run of ours left of a row when it was killed: found by its mark, and ended.
//!
//! A run that still goes on is never touched. Whoever bears the mark of a runner that lives is left
//! alone, and so is everyone whose runner we cannot be sure of: those of other users, and those of
//! another pid namespace, where the runner's pid is somebody else's. Where the process table does not
//! tell (only Linux does), nothing happens.

use std::collections::{BTreeMap, BTreeSet};

use super::family::Family;
use super::mark::{Mark, Owner, RUN_VARIABLE};
use super::shutdown::{describe, end_members};
use super::system;
use super::table::{self, Process, Table};

/// What was found of earlier runs, each with pid and command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remains {
    /// Those that are gone now.
    pub ended: Vec<String>,
    /// Those that could not be ended.
    pub left_over: Vec<String>,
}

impl Remains {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty() && self.left_over.is_empty()
    }
}

/// Ends all that killed runs left of this row: SIGTERM, a short grace, SIGKILL. Bounded; reads the
/// environment of every process of ours, so it belongs before anything is timed.
pub async fn end_what_killed_runs_left(owner: &Owner) -> Remains {
    let mut remains = Remains::default();
    for mut family in abandoned(owner, &Table::read()) {
        let members = family.look_for_marks(&Table::read());
        let found = describe(&family, &members);
        let left_over = end_members(&mut family, &members).await;
        let ended = found.into_iter().filter(|process| !left_over.contains(process));
        remains.ended.extend(ended);
        remains.left_over.extend(left_over);
    }
    remains
}

/// One family for each session of the row whose runner is gone.
fn abandoned(owner: &Owner, table: &Table) -> Vec<Family> {
    let spared = marks_above_us(table);
    let mut oldest: BTreeMap<String, Process> = BTreeMap::new();
    for process in table.all().filter(|process| !process.zombie) {
        let mark = mark_of_the_abandoned(process, owner).filter(|mark| !spared.contains(mark));
        let Some(mark) = mark else { continue };
        let first = oldest.entry(mark).or_insert(*process);
        if process.started < first.started {
            *first = *process;
        }
    }
    let families = oldest.into_iter().map(|(mark, process)| Family::found(&process, mark));
    families.collect()
}

/// The mark of a process that a killed run started for this row.
fn mark_of_the_abandoned(process: &Process, owner: &Owner) -> Option<String> {
    let text = table::variable(process.pid, RUN_VARIABLE)?;
    let mark = Mark::parse(&text).filter(|mark| mark.owner.as_ref() == Some(owner))?;
    if !table::is_neighbour(process.pid) {
        return None;
    }
    // Looked up only now: whoever started the process was there before it, but may have come after the
    // table was read.
    let runner = table::look_up(mark.runner);
    let is_gone = runner_is_gone(runner.as_ref(), system::exists(mark.runner), process);
    is_gone.then_some(text)
}

/// Whether the runner that marked a process has ended: nobody has its pid, or only its corpse, or
/// somebody who started later than the process did. `exists` is the system's own word, for tables that
/// hide processes.
fn runner_is_gone(runner: Option<&Process>, exists: bool, marked: &Process) -> bool {
    match runner {
        Some(runner) => runner.zombie || runner.started > marked.started,
        None => !exists,
    }
}

/// The marks that we ourselves bear, or one that we descend from: an mcp-smoke may itself run below a
/// server.
fn marks_above_us(table: &Table) -> BTreeSet<String> {
    let mut line = BTreeSet::new();
    let mut next = Some(std::process::id());
    while let Some(pid) = next.filter(|pid| line.insert(*pid)) {
        next = table.entry(pid).and_then(|process| process.parent);
    }
    let marks = line.into_iter().filter_map(|pid| table::variable(pid, RUN_VARIABLE));
    marks.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn started(started: u64) -> Process {
        Process {
            pid: 7,
            parent: Some(1),
            group: Some(7),
            session: Some(7),
            zombie: false,
            started,
            own_cpu: Duration::ZERO,
            reaped_cpu: Duration::ZERO,
        }
    }

    #[test]
    fn a_runner_is_gone_when_nobody_has_its_pid_or_only_its_corpse() {
        let corpse = Process {
            zombie: true,
            ..started(50)
        };
        assert!(runner_is_gone(None, false, &started(100)));
        assert!(runner_is_gone(Some(&corpse), true, &started(100)));
        assert!(!runner_is_gone(Some(&started(50)), true, &started(100)));
    }

    #[test]
    fn a_runner_that_the_table_hides_is_not_gone() {
        assert!(!runner_is_gone(None, true, &started(100)));
    }

    #[test]
    fn whoever_has_the_runners_pid_but_started_later_is_somebody_else() {
        assert!(runner_is_gone(Some(&started(101)), true, &started(100)));
        assert!(
            !runner_is_gone(Some(&started(100)), true, &started(100)),
            "a runner may start a server within one tick of the clock"
        );
    }
}
