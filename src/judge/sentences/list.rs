//! Sentences for `tools/list`.

use std::time::Duration;

use crate::event::Received;
use crate::finding::Code;
use crate::judge::hints;
use crate::judge::sentences::{Case, Told, rpc_words};
use crate::judge::words::{code, line, names, plural, plural_of, quote, received};
use crate::text::duration_words;

pub(super) fn list_error(number: i64, message: &str) -> Told {
    let words = rpc_words(number, message);
    Told::new(Code::ListError, format!("tools/list was answered with {words}")).actual(words)
}

pub(super) fn list_timeout(limit: Duration, came: &Received) -> Told {
    Told::new(
        Code::ListTimeout,
        format!(
            "no complete answer to tools/list within {}: {}",
            duration_words(limit),
            received(came)
        ),
    )
}

pub(super) fn list_too_long(pages: u32, tools: usize) -> Told {
    let message = format!(
        "tools/list does not end: reading stopped after {} and {}",
        plural(pages, "page", "pages"),
        plural_of(tools, "tool", "tools")
    );
    Told::new(Code::ListTooLong, message)
}

pub(super) fn pagination_loop(cursor: &str, tools: usize) -> Told {
    let message = format!(
        "tools/list gives the cursor {} again: reading stopped with {}",
        quote(cursor),
        plural_of(tools, "distinct tool", "distinct tools")
    );
    Told::new(Code::PaginationLoop, message)
}

pub(super) fn list_invalid(problem: &str) -> Told {
    Told::new(Code::ListInvalid, format!("tools/list: {}", line(problem)))
}

pub(super) fn tool_invalid(tools: &[String], problem: &str) -> Told {
    let noun = if tools.len() == 1 { "tool" } else { "tools" };
    let listed = names(tools.iter().map(String::as_str));
    Told::new(Code::ToolInvalid, format!("{noun} {listed}: {}", line(problem)))
}

pub(super) fn tool_duplicate(tool: &str, times: usize) -> Told {
    let message = format!("tool {} is listed {}", code(tool), plural_of(times, "time", "times"));
    Told::new(Code::ToolDuplicate, message)
        .expected("1")
        .actual(times.to_string())
}

pub(super) fn no_tools(declared: bool) -> Told {
    let message = if declared {
        "declares tools and lists none"
    } else {
        "has no tools, and declares none"
    };
    Told::new(Code::NoTools, message)
}

pub(super) fn tool_missing(probe: &str, tool: &str, listed: usize, case: Case<'_>) -> Told {
    let message = match listed {
        0 => format!("{probe}tool {} is not there: it lists none", code(tool)),
        1 => format!("{probe}tool {} is not the one it lists", code(tool)),
        _ => format!("{probe}tool {} is not among the {listed} it lists", code(tool)),
    };
    Told::new(Code::ToolMissing, message)
        .expected(line(tool))
        .hint(hints::near_name(tool, case.tools()))
}
