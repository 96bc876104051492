//! How sessions end.

use super::fixture::case;
use crate::event::ShutdownStep;

#[test]
fn a_server_that_ignores_a_closed_stdin_is_ended_and_told() {
    let ran = case(&["ignore-eof"]).grace(200).run();
    ran.assert_seen(&["UncleanShutdown"]);
    assert_eq!(
        ran.facts.shutdown.as_ref().expect("it was started").step,
        ShutdownStep::Terminated
    );
    assert_eq!(ran.figures(), (true, true, 3));
}

#[test]
fn a_server_that_takes_its_time_to_end_is_given_it() {
    let ran = case(&["slow-exit", "300"]).run();
    ran.assert_seen(&[]);
    let shutdown = ran.facts.shutdown.expect("it was started");
    assert!(shutdown.took.expect("it ended").as_millis() >= 300);
}

#[test]
fn grandchildren_do_not_hold_a_session_open_and_are_ended() {
    let ran = case(&["grandchild"]).run();
    ran.assert_seen(&["UncleanShutdown"]);
    let shutdown = ran.facts.shutdown.expect("it was started");
    assert_eq!(
        (shutdown.step, shutdown.survivors.len()),
        (ShutdownStep::StdinClosed, 1)
    );
    let wrapper = case(&["wrapper"]).grace(200).run();
    wrapper.assert_told(&["UncleanShutdown"]);
    assert_eq!(wrapper.figures(), (true, true, 3));
}
