//! Ends a server with everything it started, step by step, and says which step it took. Every wait has
//! a limit, so no server can keep a run from going on.

use std::time::{Duration, Instant};

use tokio::process::ChildStdin;
use tokio::time::{sleep, timeout};

use super::family::Family;
use super::orphans;
use super::server_process::{Gone, ServerProcess};
use super::system::{self, Signal};
use super::table::{Process, Table};
use crate::event::{ShutdownFacts, ShutdownStep};

/// How long those that a server leaves may take to end by themselves. Browsers, whose debugging pipe
/// closes, are gone within 0.4 s (measured); a detached update check within 0.3 s.
const SETTLE: Duration = Duration::from_millis(500);
/// How long survivors have after SIGTERM.
const SURVIVOR_GRACE: Duration = Duration::from_millis(500);
/// How long SIGKILL may take: a process in the middle of I/O dies when that ends.
const KILL_LIMIT: Duration = Duration::from_secs(3);
/// Before the first look at the process table while the server may still fork; each later pause is twice
/// as long, since a look takes a millisecond or so, and the end of the process is stamped in between.
const FIRST_LOOK_PAUSE: Duration = Duration::from_millis(100);
/// Between two looks when only waiting for the table to be clean.
const POLL_PAUSE: Duration = Duration::from_millis(10);

/// See [`ServerProcess::shutdown`].
pub(super) async fn shutdown(process: &mut ServerProcess, stdin: Option<ChildStdin>, grace: Duration) -> ShutdownFacts {
    if let Some(facts) = &process.finished {
        return facts.clone();
    }
    process.look();
    let gone_before = process.gone_already();
    let closed_at = *process.stdin_closed_at.get_or_insert_with(Instant::now);
    drop(stdin);
    let (step, gone) = match gone_before {
        Some(gone) => (ShutdownStep::AlreadyGone, Some(gone)),
        None => ladder(process, grace).await,
    };
    let leavings = end_leavings(process).await;
    finish(
        process,
        Outcome {
            step,
            gone,
            closed_at,
            leavings,
        },
    )
    .await
}

/// See [`ServerProcess::kill`].
pub(super) async fn kill(process: &mut ServerProcess) -> ShutdownFacts {
    if let Some(facts) = &process.finished {
        return facts.clone();
    }
    process.look();
    let closed_at = *process.stdin_closed_at.get_or_insert_with(Instant::now);
    let (step, gone) = match process.gone_already() {
        Some(gone) => (ShutdownStep::AlreadyGone, Some(gone)),
        None => (ShutdownStep::Killed, killed(process).await),
    };
    let left_over = kill_until_clean(&mut process.family).await;
    let leavings = Leavings {
        survivors: Vec::new(),
        left_over,
    };
    finish(
        process,
        Outcome {
            step,
            gone,
            closed_at,
            leavings,
        },
    )
    .await
}

/// What an ending came to.
struct Outcome {
    step: ShutdownStep,
    gone: Option<Gone>,
    closed_at: Instant,
    leavings: Leavings,
}

/// What a server left behind.
#[derive(Default)]
struct Leavings {
    survivors: Vec<String>,
    left_over: Vec<String>,
}

/// From closed stdin to SIGKILL, until the process itself is gone.
async fn ladder(process: &mut ServerProcess, grace: Duration) -> (ShutdownStep, Option<Gone>) {
    if let Some(gone) = gone_within(process, grace).await {
        return (ShutdownStep::StdinClosed, Some(gone));
    }
    note(
        process,
        "still running after stdin was closed: SIGTERM to its process group",
    );
    system::signal_group(process.pid, Signal::Terminate);
    if let Some(gone) = gone_within(process, grace).await {
        return (ShutdownStep::Terminated, Some(gone));
    }
    note(process, "still running after SIGTERM: SIGKILL to its process group");
    process.look();
    system::signal_group(process.pid, Signal::Kill);
    (ShutdownStep::Killed, gone_within(process, KILL_LIMIT).await)
}

/// SIGKILL to everyone at once, until the process itself is gone.
async fn killed(process: &mut ServerProcess) -> Option<Gone> {
    note(process, "SIGKILL to the whole process tree");
    // The group first: that needs no process table.
    system::signal_group(process.pid, Signal::Kill);
    signal_all(&mut process.family, Signal::Kill);
    gone_within(process, KILL_LIMIT).await
}

/// Waits for the process itself, looking again and again for what it starts meanwhile.
async fn gone_within(process: &mut ServerProcess, limit: Duration) -> Option<Gone> {
    let until = Instant::now() + limit;
    let mut pause = FIRST_LOOK_PAUSE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if let Ok(gone) = timeout(left.min(pause), process.wait_gone()).await {
            return Some(gone);
        }
        if left <= pause {
            return None;
        }
        process.look();
        pause *= 2;
    }
}

/// Gives what the server left a moment to end by itself, then ends it.
async fn end_leavings(process: &mut ServerProcess) -> Leavings {
    let remaining = clean_within(&mut process.family, SETTLE).await;
    if remaining.is_empty() {
        return Leavings::default();
    }
    let survivors = describe(&process.family, &remaining);
    for survivor in &survivors {
        note(process, &format!("outlived the server, SIGTERM: {survivor}"));
    }
    let left_over = end_members(&mut process.family, &remaining).await;
    Leavings { survivors, left_over }
}

/// SIGTERM to these members, and after a short grace SIGKILL to whoever lives then. Says who could not
/// be ended.
pub(super) async fn end_members(family: &mut Family, members: &[Process]) -> Vec<String> {
    signal_each(members, Signal::Terminate);
    if clean_within(family, SURVIVOR_GRACE).await.is_empty() {
        Vec::new()
    } else {
        kill_until_clean(family).await
    }
}

/// SIGKILL to everyone who is left, again and again, since they may fork meanwhile.
async fn kill_until_clean(family: &mut Family) -> Vec<String> {
    let until = Instant::now() + KILL_LIMIT;
    loop {
        let remaining = signal_all(family, Signal::Kill);
        if remaining.is_empty() || Instant::now() >= until {
            return describe(family, &remaining);
        }
        sleep(POLL_PAUSE).await;
    }
}

/// Waits until nobody of the family lives; gives those that still do at the limit.
async fn clean_within(family: &mut Family, limit: Duration) -> Vec<Process> {
    let until = Instant::now() + limit;
    loop {
        let remaining = family.look_for_marks(&Table::read());
        if remaining.is_empty() || Instant::now() >= until {
            return remaining;
        }
        sleep(POLL_PAUSE).await;
    }
}

/// Signals everyone who lives, and says who that was.
fn signal_all(family: &mut Family, signal: Signal) -> Vec<Process> {
    let members = family.look_for_marks(&Table::read());
    signal_each(&members, signal);
    members
}

fn signal_each(members: &[Process], signal: Signal) {
    for member in members {
        system::signal_process(member.pid, signal);
    }
}

pub(super) fn describe(family: &Family, members: &[Process]) -> Vec<String> {
    members.iter().map(|member| family.description(member)).collect()
}

async fn finish(process: &mut ServerProcess, outcome: Outcome) -> ShutdownFacts {
    process.finish_stderr().await;
    end_shared_strays(process);
    let Outcome {
        step,
        gone,
        closed_at,
        leavings,
    } = outcome;
    let took = match step {
        ShutdownStep::AlreadyGone => None,
        ShutdownStep::StdinClosed | ShutdownStep::Terminated | ShutdownStep::Killed => {
            gone.map(|gone| gone.at.saturating_duration_since(closed_at))
        }
    };
    let facts = ShutdownFacts {
        took,
        step,
        exit_code: gone.and_then(|gone| gone.code),
        signal: gone.and_then(|gone| gone.signal),
        survivors: leavings.survivors,
        left_over: leavings.left_over,
    };
    process.finished = Some(facts.clone());
    facts
}

/// What this server or one beside it has left is ended by the last of them.
fn end_shared_strays(process: &mut ServerProcess) {
    let table = Table::read();
    let strays = process.family.shared_strays(&table);
    for stray in describe(&process.family, &strays) {
        note(
            process,
            &format!("left by this server or one that ran beside it, SIGKILL: {stray}"),
        );
    }
    signal_each(&strays, Signal::Kill);
    process.family.is_over();
    orphans::bury(&table);
}

fn note(process: &ServerProcess, text: &str) {
    process.sink.note(process.session, process.spawned_at.elapsed(), text);
}
