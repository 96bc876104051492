//! Lists of tools that are wrong in one way each.

use super::fixture::{case, script};

#[test]
fn all_pages_are_read_and_belong_to_the_figure() {
    let ran = case(&["paged", "4"]).run();
    ran.assert_seen(&[]);
    assert_eq!(ran.tools().len(), 8);
    assert_eq!(ran.figures(), (true, true, 3));
    let slow = case(&["slow-list", "150"]).run();
    let list = slow.facts.list.expect("a list");
    assert!(list.as_millis() >= 150, "{list:?}");
    let samples = &slow.facts.probes[0].samples;
    assert!(samples.iter().any(|sample| sample.as_millis() < 100));
}

#[test]
fn a_cursor_that_comes_again_ends_the_list() {
    let ran = case(&["page-loop"]).run();
    ran.assert_seen(&["PaginationLoop"]);
    assert_eq!(ran.tools(), ["echo", "fail"]);
    assert_eq!(ran.figures(), (true, false, 3));
    let null = case(&["cursor-null"]).run();
    null.assert_seen(&["ListInvalid"]);
    assert_eq!(null.figures(), (true, true, 3));
}

#[test]
fn a_bad_tool_is_named_and_the_others_are_called() {
    let missing = case(&["schema-missing"]).run();
    missing.assert_seen(&["ToolInvalid"]);
    missing.assert_told(&["no_schema"]);
    assert_eq!(missing.figures(), (true, true, 3));
    let wrong = case(&["schema-not-object"]).run();
    wrong.assert_told(&["text_schema", "empty_schema"]);
    let twice = case(&["dup-tools"]).run();
    twice.assert_seen(&["ToolDuplicate"]);
    twice.assert_told(&["tool: \"echo\", times: 2"]);
    case(&["no-description"]).run().assert_seen(&[]);
}

#[test]
fn many_tools_are_all_counted() {
    let ran = case(&["tools-many", "300", "50"]).run();
    ran.assert_seen(&[]);
    assert_eq!(ran.tools().len(), 300);
}

#[test]
fn no_tools_is_no_error_but_a_probe_misses_its_tool() {
    let empty = case(&["tools-empty"]).run();
    empty.assert_seen(&["NoTools", "ToolMissing"]);
    empty.assert_told(&["declared: true", "listed: 0"]);
    assert_eq!(empty.facts.probes[0].calls, 0);
    let undeclared = case(&["no-tools-cap"]).run();
    undeclared.assert_seen(&["NoTools", "ToolMissing"]);
    undeclared.assert_told(&["declared: false"]);
    let missing = case(&["drift", "removed"]);
    let mut case = missing;
    case.probe.tool = "fail".to_owned();
    case.run().assert_told(&["ToolMissing { tool: \"fail\", listed: 1 }"]);
}

#[test]
fn a_list_that_fails_does_not_keep_the_calls_from_being_made() {
    let refused = case(&["list-error"]).run();
    refused.assert_seen(&["ListError"]);
    refused.assert_told(&["-32603"]);
    assert_eq!(
        (refused.facts.tools.is_none(), refused.figures()),
        (true, (true, false, 3))
    );
    let silent = case(&["list-hang"]).list_limit(300).run();
    silent.assert_seen(&["ListTimeout"]);
    assert_eq!(silent.figures(), (true, false, 3));
    assert!(
        silent
            .sent()
            .iter()
            .any(|sent| sent["method"] == "notifications/cancelled")
    );
}

#[test]
fn a_list_that_was_read_too_early_is_read_once_more() {
    let filling = "if method == 'initialize': welcome()
elif method == 'tools/list':
    asked = globals().get('asked', 0) + 1
    tools(*(['echo'] if asked > 1 else []))
    if asked == 1: send({'jsonrpc': '2.0', 'method': 'notifications/tools/list_changed'})
elif calls: text('grüße')";
    let ran = script(filling).run();
    ran.assert_seen(&[]);
    assert_eq!((ran.tools(), ran.figures()), (vec!["echo"], (true, true, 3)));
    let chatty = case(&["chatty"]).run();
    chatty.assert_seen(&[]);
    let lists = chatty
        .sent()
        .iter()
        .filter(|sent| sent["method"] == "tools/list")
        .count();
    assert_eq!(lists, 2, "once because of list_changed");
    case(&["early-notify"]).run().assert_seen(&[]);
}
