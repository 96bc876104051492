//! Who belongs to a server: its group, its descendants, and those that were seen once and have moved
//! out of sight since. It looks and remembers; ending them is `shutdown`'s.

use std::collections::{BTreeMap, BTreeSet};

use super::command_line::describe;
use super::mark::RUN_VARIABLE;
use super::orphans::Presence;
use super::table::{self, Process, Table};

/// A process for good: pids are used again, a pid with its start time is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    pid: u32,
    started: u64,
}

impl Identity {
    fn of(process: &Process) -> Self {
        Self {
            pid: process.pid,
            started: process.started,
        }
    }
}

/// All processes of one server, as far as they were seen.
#[derive(Debug)]
pub(super) struct Family {
    root: Identity,
    mark: String,
    /// With a description each, made while they lived.
    known: BTreeMap<Identity, String>,
    presence: Presence,
}

impl Family {
    /// The family of a process that was just started as the leader of its own group.
    pub(super) fn new(root: u32, mark: String) -> Self {
        let started = table::look_up(root).map_or(0, |process| process.started);
        Self::of(Identity { pid: root, started }, mark, Presence::begin(root, started))
    }

    /// The family of somebody who was found by its mark: the oldest that carries it.
    pub(super) fn found(oldest: &Process, mark: String) -> Self {
        Self::of(Identity::of(oldest), mark, Presence::none())
    }

    fn of(root: Identity, mark: String, presence: Presence) -> Self {
        Self {
            root,
            mark,
            known: BTreeMap::new(),
            presence,
        }
    }

    /// Those that live now, the root included; whoever is new is remembered.
    pub(super) fn look(&mut self, table: &Table) -> Vec<Process> {
        let members = self.members(table);
        for process in &members {
            self.remember(process);
        }
        members
    }

    /// As [`look`](Self::look), and whoever carries the mark of the session as well, and orphans that
    /// nobody else can have left. This reads the environment of every process that started after the
    /// server, so it is for the end.
    pub(super) fn look_for_marks(&mut self, table: &Table) -> Vec<Process> {
        for process in table.all().filter(|process| !process.zombie) {
            let is_new = process.started >= self.root.started && !self.known.contains_key(&Identity::of(process));
            if is_new && table::carries(process.pid, RUN_VARIABLE, &self.mark) {
                self.remember(process);
            }
        }
        for stray in self.presence.strays(table).own {
            self.remember(&stray);
        }
        self.look(table)
    }

    /// Orphans that this server left or another that has ended since, with all below them.
    pub(super) fn shared_strays(&self, table: &Table) -> Vec<Process> {
        let strays = self.presence.strays(table).shared;
        let pids = strays.iter().flat_map(|stray| table.tree(stray.pid));
        pids.filter_map(|pid| table.live(pid).copied()).collect()
    }

    /// From now on nothing that starts can be of this server.
    pub(super) fn is_over(&mut self) {
        self.presence.end();
    }

    /// How a member was called when it was seen first.
    pub(super) fn description(&self, process: &Process) -> String {
        let known = self.known.get(&Identity::of(process)).cloned();
        known.unwrap_or_else(|| describe_now(process.pid))
    }

    /// Whether this is the server's own process.
    pub(super) fn is_root(&self, process: &Process) -> bool {
        Identity::of(process) == self.root
    }

    /// Whether signalling the group reaches it.
    pub(super) fn is_in_group(&self, process: &Process) -> bool {
        process.group == Some(self.root.pid)
    }

    fn remember(&mut self, process: &Process) {
        self.known
            .entry(Identity::of(process))
            .or_insert_with(|| describe_now(process.pid));
    }

    /// The living of: the root, the group, everyone known, everyone in a session that a known one leads,
    /// and all their descendants.
    fn members(&self, table: &Table) -> Vec<Process> {
        let group_is_ours = self.group_is_ours(table);
        let belongs = |process: &Process| {
            let known = |pid: u32| {
                table
                    .entry(pid)
                    .is_some_and(|leader| self.known.contains_key(&Identity::of(leader)))
            };
            self.is_root(process)
                || self.known.contains_key(&Identity::of(process))
                || (group_is_ours && self.is_in_group(process))
                || process.session.is_some_and(known)
        };
        let mut pids = BTreeSet::new();
        for process in table.all().filter(|process| belongs(process)) {
            pids.extend(table.tree(process.pid));
        }
        pids.into_iter().filter_map(|pid| table.live(pid).copied()).collect()
    }

    /// Once the root is reaped and its group empty, another process may get its pid and lead a group of
    /// the same number.
    fn group_is_ours(&self, table: &Table) -> bool {
        table
            .entry(self.root.pid)
            .is_none_or(|leader| leader.started == self.root.started)
    }
}

fn describe_now(pid: u32) -> String {
    describe(pid, &table::command_line(pid), &table::short_name(pid))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Larger than any pid that a system gives, so that nothing real is looked at.
    const ROOT: u32 = 2_000_000_000;
    const INIT: u32 = 1_999_999_999;

    fn process(pid: u32, parent: u32, group: u32, started: u64) -> Process {
        Process {
            pid,
            parent: Some(parent),
            group: Some(group),
            session: Some(INIT),
            zombie: false,
            started,
            own_cpu: Duration::ZERO,
            reaped_cpu: Duration::ZERO,
        }
    }

    fn family() -> Family {
        Family {
            root: Identity {
                pid: ROOT,
                started: 100,
            },
            mark: "mark".to_owned(),
            known: BTreeMap::new(),
            presence: Presence::none(),
        }
    }

    fn pids(family: &mut Family, processes: &[Process]) -> Vec<u32> {
        let members = family.look(&Table::of(processes.iter().copied()));
        members.into_iter().map(|process| process.pid).collect()
    }

    #[test]
    fn the_group_and_all_descendants_belong_and_strangers_do_not() {
        let table = [
            process(ROOT, INIT, ROOT, 100),
            process(ROOT + 1, ROOT, ROOT + 1, 101),
            process(ROOT + 2, ROOT + 1, ROOT + 1, 102),
            process(ROOT + 3, INIT, ROOT, 103),
            process(ROOT + 4, INIT, INIT, 104),
        ];
        assert_eq!(pids(&mut family(), &table), [ROOT, ROOT + 1, ROOT + 2, ROOT + 3]);
    }

    #[test]
    fn whoever_was_seen_once_belongs_for_good_and_so_do_its_later_children() {
        let mut family = family();
        pids(
            &mut family,
            &[process(ROOT, INIT, ROOT, 100), process(ROOT + 1, ROOT, ROOT + 1, 101)],
        );
        let orphan = process(ROOT + 1, INIT, ROOT + 1, 101);
        let child = process(ROOT + 2, ROOT + 1, ROOT + 2, 300);
        assert_eq!(pids(&mut family, &[orphan, child]), [ROOT + 1, ROOT + 2]);
    }

    #[test]
    fn a_pid_that_is_used_again_is_a_stranger() {
        let mut family = family();
        pids(
            &mut family,
            &[process(ROOT, INIT, ROOT, 100), process(ROOT + 1, ROOT, ROOT + 1, 101)],
        );
        let reused = [process(ROOT, INIT, ROOT, 500), process(ROOT + 1, INIT, ROOT, 501)];
        assert!(pids(&mut family, &reused).is_empty());
    }

    #[test]
    fn zombies_are_left_out_and_a_session_led_by_a_member_belongs() {
        let mut family = family();
        let leader = process(ROOT + 1, ROOT, ROOT + 1, 101);
        pids(&mut family, &[process(ROOT, INIT, ROOT, 100), leader]);
        let dead = Process {
            zombie: true,
            parent: Some(INIT),
            ..leader
        };
        let member = Process {
            session: Some(ROOT + 1),
            ..process(ROOT + 2, INIT, ROOT + 2, 150)
        };
        assert_eq!(pids(&mut family, &[dead, member]), [ROOT + 2]);
    }
}
