//! Who belongs to a server: its group, its descendants, and those that were seen once and have moved
//! out of sight since. It looks and remembers; ending them is `shutdown`'s.

use std::collections::{BTreeMap, BTreeSet};

use super::command_line::describe;
use super::environment::RUN_VARIABLE;
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
}

impl Family {
    /// The family of a process that was just started as the leader of its own group.
    pub(super) fn new(root: u32, mark: String) -> Self {
        let started = table::look_up(root).map_or(0, |process| process.started);
        Self {
            root: Identity { pid: root, started },
            mark,
            known: BTreeMap::new(),
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

    /// As [`look`](Self::look), and whoever carries the mark of the session as well. This reads the
    /// environment of every process that started after the server, so it is for the end.
    pub(super) fn look_for_marks(&mut self, table: &Table) -> Vec<Process> {
        for process in table.all().filter(|process| !process.zombie) {
            let is_new = process.started >= self.root.started && !self.known.contains_key(&Identity::of(process));
            if is_new && table::carries(process.pid, RUN_VARIABLE, &self.mark) {
                self.remember(process);
            }
        }
        self.look(table)
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
