//! Sessions of one row against each other.

use crate::judge::fixtures::{judged, messages, planned, ran_on, row, session};
use crate::record::Status;

#[test]
fn a_later_session_that_disagrees_is_told_once() {
    let mut later = session(2, &["echo", "new"]);
    let handshake = later.handshake.as_mut().expect("a good session has one");
    handshake.version = Some(String::new());
    handshake.name = Some("other".to_owned());
    handshake.negotiated = "2025-06-18".to_owned();
    let mut third = later.clone();
    third.number = 3;
    let row = judged(
        row("row", vec![session(1, &["gone", "echo"]), later, third]),
        planned("row"),
    );
    assert_eq!(
        messages(&row),
        [
            "calls itself \"example\" in the first session and \"other\" in a later one (in 2 of 3 sessions)",
            "reports version 1.2.3 in the first session and (empty) in a later one (in 2 of 3 sessions)",
            "speaks initialize 2025-11-25 in the first session and initialize 2025-06-18 in a later one \
             (in 2 of 3 sessions)",
            "lists 2 tools in the first session and 2 tools in a later one; only in the first: `gone`; only in the \
             later: `new` (in 2 of 3 sessions)",
        ]
    );
}

#[test]
fn the_order_of_tools_is_no_disagreement() {
    let row = judged(
        row("row", vec![session(1, &["a", "b"]), session(2, &["b", "a"])]),
        planned("row"),
    );
    assert_eq!(row.status, Status::Pass);
}

#[test]
fn a_runtime_and_a_package_that_change_under_way_are_told() {
    let (mut first, mut later) = (session(1, &[]), session(2, &[]));
    first.identity = Some(ran_on("node", Some("20.20.2")));
    later.identity = Some(ran_on("node", Some("24.1.0")));
    let row = judged(row("row", vec![first, later]), planned("row"));
    assert_eq!(
        messages(&row),
        ["ran on node 20.20.2 in the first session and on node 24.1.0 in a later one (in 1 of 2 sessions)"]
    );
}
