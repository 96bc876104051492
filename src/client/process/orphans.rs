//! Daemons that cut every tie: forked twice, in a session of their own, their environment emptied.
//!
//! On Linux a process may ask to become the parent of everything below it that loses its own. Then such
//! a daemon is our child, and it can be told from the children that we start: those stay in our session
//! (each leads a group of its own, and a leader cannot leave its session). Whose server left it, its
//! start tells: one that lived at that moment. If there were several, nobody is blamed, and it is ended
//! when the last of them ends. Nothing is touched when an orphan is there that started in no session's
//! life: it may be what an installation left, and could be the parent of others.
//!
//! Who has been adopted must be buried, too. Only by pid, and never one that we started: the one who
//! waits for that would be robbed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::system;
use super::table::{self, Process, Table};

static ADOPTING: AtomicBool = AtomicBool::new(false);
/// Every session since we adopt.
static SESSIONS: Mutex<Vec<Lifetime>> = Mutex::new(Vec::new());

/// From when to when a server lived, in the ticks of the process table.
#[derive(Clone, Copy, Debug)]
struct Lifetime {
    root: u32,
    from: u64,
    /// Null while it lives.
    until: Option<u64>,
}

impl Lifetime {
    fn covers(&self, start: u64) -> bool {
        self.from <= start && self.until.is_none_or(|until| start <= until)
    }
}

/// One session among all.
#[derive(Debug)]
pub(super) struct Presence {
    /// Its place among the sessions; null if nobody is adopted.
    place: Option<usize>,
}

/// Orphans whose session is about to end.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// No other server can have left them.
    pub(super) own: Vec<Process>,
    /// Another one that has ended since may have left them.
    pub(super) shared: Vec<Process>,
}

/// Makes this process the parent of all orphans below it, for good; to be called before anything is
/// started. Does nothing where that cannot be, and where orphans might come that are none of ours: to the
/// first process of a container, and from children that a shell had before it became us (`exec`).
pub fn adopt_orphans() {
    let own = std::process::id();
    let has_children = || Table::read().all().any(|process| process.parent == Some(own));
    if own != 1 && !has_children() && system::become_subreaper() {
        ADOPTING.store(true, Ordering::Relaxed);
    }
}

impl Presence {
    /// The session of a server that was just started.
    pub(super) fn begin(root: u32, started: u64) -> Self {
        if !ADOPTING.load(Ordering::Relaxed) {
            return Self { place: None };
        }
        let mut sessions = sessions();
        sessions.push(Lifetime {
            root,
            from: started,
            until: None,
        });
        Self {
            place: Some(sessions.len() - 1),
        }
    }

    /// Nobody, who left nothing.
    pub(super) fn none() -> Self {
        Self { place: None }
    }

    /// The server is gone, with all that could be found.
    pub(super) fn end(&mut self) {
        if let Some(place) = self.place.take()
            && let Some(session) = sessions().get_mut(place)
        {
            session.until = Some(system::ticks_now());
        }
    }

    /// The orphans that this session must end.
    pub(super) fn strays(&self, table: &Table) -> Strays {
        let (Some(place), Some(us)) = (self.place, table.entry(std::process::id())) else {
            return Strays::default();
        };
        let adopted: Vec<Process> = table.all().filter(|process| is_adopted(process, us)).copied().collect();
        sorted(place, &sessions(), &adopted)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits for those of our children that are dead and that nobody else waits for.
pub(super) fn bury(table: &Table) {
    let Some(us) = table.entry(std::process::id()) else {
        return;
    };
    if !ADOPTING.load(Ordering::Relaxed) {
        return;
    }
    // Held throughout: a pid that another thread gives free might be one of our own when we come to it.
    let sessions = sessions();
    let roots = sessions.iter().filter(|session| session.until.is_none());
    let roots: BTreeSet<u32> = roots.map(|session| session.root).collect();
    for process in table.all().filter(|process| is_our_dead_orphan(process, us, &roots)) {
        let now = table::look_up(process.pid);
        if now.is_some_and(|now| now.started == process.started && is_our_dead_orphan(&now, us, &roots)) {
            system::bury(process.pid);
        }
    }
}

fn sessions() -> MutexGuard<'static, Vec<Lifetime>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A living child of ours that we did not start.
fn is_adopted(process: &Process, us: &Process) -> bool {
    !process.zombie && process.parent == Some(us.pid) && process.session != us.session
}

/// A dead child of ours that we did not start. Those that we start lead a group in our session; one that
/// could not be started is still in our own group.
fn is_our_dead_orphan(process: &Process, us: &Process, roots: &BTreeSet<u32>) -> bool {
    let may_be_started_by_us =
        process.session == us.session && (process.group == Some(process.pid) || process.group == us.group);
    process.zombie && process.parent == Some(us.pid) && !may_be_started_by_us && !roots.contains(&process.pid)
}

/// Which of the adopted the session at this place must end.
fn sorted(place: usize, sessions: &[Lifetime], adopted: &[Process]) -> Strays {
    let mut strays = Strays::default();
    for process in adopted {
        let mut others_live = false;
        let (mut ours, mut others) = (false, false);
        for (at, session) in sessions.iter().enumerate() {
            if session.covers(process.started) {
                ours |= at == place;
                others |= at != place;
                others_live |= at != place && session.until.is_none();
            }
        }
        match (ours, others) {
            (false, false) => return Strays::default(),
            (true, false) => strays.own.push(*process),
            (true, true) if !others_live => strays.shared.push(*process),
            (_, true) => {}
        }
    }
    strays
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const US: u32 = 2_000_000_000;

    fn process(pid: u32, group: u32, session: u32, started: u64) -> Process {
        Process {
            pid,
            parent: Some(US),
            group: Some(group),
            session: Some(session),
            zombie: false,
            started,
            own_cpu: Duration::ZERO,
            reaped_cpu: Duration::ZERO,
        }
    }

    fn us() -> Process {
        Process {
            parent: Some(1),
            ..process(US, US, US, 1)
        }
    }

    fn lifetime(from: u64, until: Option<u64>) -> Lifetime {
        Lifetime { root: 9, from, until }
    }

    fn pids(processes: &[Process]) -> Vec<u32> {
        processes.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn what_we_start_ourselves_is_never_adopted_nor_buried() {
        let own_child = process(US + 1, US + 1, US, 100);
        let not_started = process(US + 2, US, US, 100);
        for child in [own_child, not_started] {
            assert!(!is_adopted(&child, &us()));
            let dead = Process { zombie: true, ..child };
            assert!(!is_our_dead_orphan(&dead, &us(), &BTreeSet::new()));
        }
        let moved = Process {
            zombie: true,
            ..process(US + 3, US + 1, US, 100)
        };
        assert!(
            !is_our_dead_orphan(&moved, &us(), &BTreeSet::from([US + 3])),
            "a server that joined another group"
        );
    }

    #[test]
    fn a_daemon_in_its_own_session_is_adopted_and_an_orphan_of_a_group_is_buried() {
        let daemon = process(US + 5, US + 4, US + 4, 100);
        assert!(is_adopted(&daemon, &us()));
        let elsewhere = Process {
            parent: Some(1),
            ..daemon
        };
        assert!(!is_adopted(&elsewhere, &us()));
        for orphan in [daemon, process(US + 6, US + 1, US, 100)] {
            assert!(!is_our_dead_orphan(&orphan, &us(), &BTreeSet::new()), "it lives");
            let dead = Process { zombie: true, ..orphan };
            assert!(is_our_dead_orphan(&dead, &us(), &BTreeSet::new()));
        }
    }

    #[test]
    fn a_stray_belongs_to_the_only_session_that_lived_when_it_started() {
        let sessions = [lifetime(100, Some(200)), lifetime(300, None), lifetime(400, None)];
        let strays = sorted(1, &sessions, &[process(7, 6, 6, 350)]);
        assert_eq!((pids(&strays.own), pids(&strays.shared)), (vec![7], vec![]));
        let strays = sorted(2, &sessions, &[process(7, 6, 6, 350)]);
        assert_eq!((pids(&strays.own), pids(&strays.shared)), (vec![], vec![]));
    }

    #[test]
    fn one_that_several_may_have_left_is_ended_by_the_last_of_them_without_blame() {
        let stray = [process(7, 6, 6, 350)];
        let both_live = [lifetime(100, None), lifetime(300, None)];
        let strays = sorted(0, &both_live, &stray);
        assert_eq!((pids(&strays.own), pids(&strays.shared)), (vec![], vec![]));
        let last = [lifetime(100, None), lifetime(300, Some(500))];
        let strays = sorted(0, &last, &stray);
        assert_eq!((pids(&strays.own), pids(&strays.shared)), (vec![], vec![7]));
    }

    #[test]
    fn nothing_is_touched_beside_an_orphan_that_no_session_can_have_left() {
        let sessions = [lifetime(100, None)];
        let strays = sorted(0, &sessions, &[process(7, 6, 6, 150), process(8, 8, 8, 50)]);
        assert_eq!((pids(&strays.own), pids(&strays.shared)), (vec![], vec![]));
    }
}
