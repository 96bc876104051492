//! How servers end and are ended, and that nothing of them is left.

use super::*;
use crate::event::ShutdownStep;

#[tokio::test]
async fn closing_stdin_is_enough_for_a_server_that_reads_it() {
    let mut server = Server::shell("cat >/dev/null; exit 0");
    let facts = server.shutdown(LONG).await;
    assert_eq!(
        (facts.step, facts.exit_code, facts.signal),
        (ShutdownStep::StdinClosed, Some(0), None)
    );
    assert!(facts.took.is_some() && facts.survivors.is_empty() && facts.left_over.is_empty());
    assert_eq!(
        server.shutdown(LONG).await,
        facts,
        "a second shutdown does nothing and says the same"
    );
}

#[tokio::test]
async fn a_slow_exit_within_the_grace_is_waited_for() {
    let mut server = Server::shell("cat >/dev/null; sleep 0.3; exit 7");
    let facts = server.shutdown(LONG).await;
    assert_eq!((facts.step, facts.exit_code), (ShutdownStep::StdinClosed, Some(7)));
    assert!(facts.took >= Some(Duration::from_millis(300)), "{facts:?}");
}

#[tokio::test]
async fn a_server_that_ignores_closed_stdin_is_terminated_after_the_grace() {
    let mut server = Server::shell("echo ready; while :; do sleep 0.05; done");
    server.line().await;
    let facts = server.shutdown(SHORT).await;
    assert_eq!(
        (facts.step, facts.exit_code, facts.signal),
        (ShutdownStep::Terminated, None, Some(15))
    );
    assert!(facts.took >= Some(SHORT), "{facts:?}");
    assert!(facts.survivors.is_empty(), "{facts:?}");
}

#[tokio::test]
async fn a_server_that_ignores_sigterm_too_is_killed() {
    let mut server = Server::shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    server.line().await;
    let facts = server.shutdown(SHORT).await;
    assert_eq!((facts.step, facts.signal), (ShutdownStep::Killed, Some(9)));
    assert!(facts.took >= Some(2 * SHORT), "{facts:?}");
    assert!(
        facts.left_over.is_empty() && !is_alive(server.process.pid()),
        "{facts:?}"
    );
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_is_ended_and_named() {
    let mut server = Server::shell("sleep 97 & echo $!; cat >/dev/null");
    let grandchild = server.pid().await;
    let facts = server.shutdown(LONG).await;
    assert_eq!((facts.step, facts.exit_code), (ShutdownStep::StdinClosed, Some(0)));
    assert_eq!(facts.survivors, [format!("pid {grandchild}: sleep 97")]);
    assert!(facts.left_over.is_empty() && !is_alive(grandchild));
}

#[tokio::test]
async fn the_real_server_under_a_launcher_is_terminated_with_it() {
    let mut server = Server::shell("(echo ready; while :; do sleep 0.05; done) & exec <&- >&-; wait");
    server.line().await;
    let facts = server.shutdown(SHORT).await;
    assert_eq!(facts.step, ShutdownStep::Terminated);
    assert!(
        facts.survivors.is_empty(),
        "the group was signalled as a whole: {facts:?}"
    );
    assert!(super::super::live_tree(server.process.pid()).is_empty());
}

#[tokio::test]
async fn a_server_that_outlives_its_launcher_and_ignores_sigterm_is_killed() {
    let mut server = Server::shell("(trap '' TERM; exec sh -c 'echo $$; while :; do sleep 0.05; done') & wait");
    let inner = server.pid().await;
    let facts = server.shutdown(SHORT).await;
    assert_eq!((facts.step, facts.signal), (ShutdownStep::Terminated, Some(15)));
    assert!(
        facts
            .survivors
            .iter()
            .any(|survivor| survivor.starts_with(&format!("pid {inner}: sh -c"))),
        "{facts:?}"
    );
    assert!(facts.left_over.is_empty() && !is_alive(inner));
}

#[tokio::test]
async fn a_child_in_a_session_of_its_own_is_ended_too() {
    let mut server = Server::shell("setsid sleep 97 & echo $!; cat >/dev/null");
    let child = server.pid().await;
    eventually("the child left the group", || {
        let table = Table::read();
        table.live(child).is_some_and(|process| process.session == Some(child))
    })
    .await;
    let facts = server.shutdown(LONG).await;
    assert_eq!(facts.step, ShutdownStep::StdinClosed);
    assert_eq!(facts.survivors, [format!("pid {child}: sleep 97")]);
    assert!(!is_alive(child));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_that_was_forked_twice_before_any_look_is_found_by_its_mark() {
    let mut server = Server::shell("setsid sh -c 'setsid sleep 97 & echo $!'; cat >/dev/null");
    let daemon = server.pid().await;
    eventually("the daemon is nobody's child", || {
        let table = Table::read();
        table
            .live(daemon)
            .is_some_and(|process| process.session == Some(daemon))
            && !table.tree(server.process.pid()).contains(&daemon)
    })
    .await;
    let facts = server.shutdown(LONG).await;
    assert_eq!(facts.survivors, [format!("pid {daemon}: sleep 97")]);
    assert!(!is_alive(daemon));
}

#[tokio::test]
async fn a_child_that_ends_by_itself_with_the_server_is_no_survivor() {
    let mut server = Server::shell("exec 3<&0; setsid cat <&3 >/dev/null & echo $!; cat >/dev/null");
    let child = server.pid().await;
    let facts = server.shutdown(LONG).await;
    assert_eq!((facts.step, facts.survivors), (ShutdownStep::StdinClosed, Vec::new()));
    assert!(!is_alive(child));
}

#[tokio::test]
async fn what_a_dead_server_left_is_still_ended() {
    let mut server = Server::shell("sleep 97 & echo $!; exit 5");
    let child = server.pid().await;
    let ending = timeout(LIMIT, server.process.wait())
        .await
        .expect("nobody waits for the pipes to close");
    assert_eq!((ending.code, ending.signal), (Some(5), None));
    let facts = server.shutdown(LONG).await;
    assert_eq!(
        (facts.step, facts.took, facts.exit_code),
        (ShutdownStep::AlreadyGone, None, Some(5))
    );
    assert_eq!(facts.survivors, [format!("pid {child}: sleep 97")]);
    assert!(!is_alive(child));
}

#[tokio::test]
async fn a_kill_needs_no_grace_and_may_follow_a_shutdown_that_was_cut_short() {
    let mut server =
        Server::shell("trap '' TERM; setsid sh -c 'echo $$; exec sleep 97' & while :; do sleep 0.05; done");
    let child = server.pid().await;
    let stdin = server.stdin.take();
    let cut_short = timeout(SHORT, server.process.shutdown(stdin, LONG)).await;
    assert!(cut_short.is_err(), "it must still be waiting");
    let started = Instant::now();
    let facts = timeout(LIMIT, server.process.kill()).await.expect("a kill is bounded");
    assert_eq!((facts.step, facts.signal), (ShutdownStep::Killed, Some(9)));
    assert!(facts.took >= Some(SHORT), "counted from closing stdin: {facts:?}");
    assert!(facts.left_over.is_empty() && started.elapsed() < LONG);
    assert!(!is_alive(child) && !is_alive(server.process.pid()));
}

#[tokio::test]
async fn a_dropped_process_leaves_nothing_behind() {
    let mut server = Server::shell("trap '' TERM; sleep 97 & echo $!; setsid sleep 97 & echo $!; cat >/dev/null; wait");
    let (inside, outside) = (server.pid().await, server.pid().await);
    let root = server.process.pid();
    drop(server);
    eventually("all are gone", || {
        [root, inside, outside].into_iter().all(|pid| !is_alive(pid))
    })
    .await;
}

#[tokio::test]
async fn a_death_is_told_with_its_code_and_the_last_lines_even_an_unfinished_one() {
    let mut server = Server::shell("echo starting >&2; echo >&2; printf 'cannot open settings' >&2; exit 3");
    let ending = timeout(LIMIT, server.process.wait()).await.expect("it ends");
    assert_eq!((ending.code, ending.signal), (Some(3), None));
    assert_eq!(ending.last_lines, ["starting", "cannot open settings"]);
    assert_eq!(server.process.ended(), Some(ending));
}

#[tokio::test]
async fn a_death_by_signal_is_told_with_the_signal() {
    let mut server = Server::shell("kill -SEGV $$");
    let ending = timeout(LIMIT, server.process.wait()).await.expect("it ends");
    assert_eq!((ending.code, ending.signal), (None, Some(11)));
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_nothing() {
    let mut server = Server::shell("read line; exit 4");
    assert_eq!(server.process.ended(), None);
    assert!(timeout(Duration::from_millis(20), server.process.wait()).await.is_err());
    drop(server.stdin.take());
    let ending = timeout(LIMIT, server.process.wait()).await.expect("it ends");
    assert_eq!(ending.code, Some(4));
}
