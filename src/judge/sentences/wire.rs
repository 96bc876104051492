//! Sentences for what came on stdout and was not as it should be.

use crate::finding::{Code, Severity};
use crate::judge::sentences::{Case, Told};
use crate::judge::words::{code, line, plural, quote};

pub(super) fn stdout_noise(first: &str, lines: u32) -> Told {
    let message = if lines == 1 {
        format!("1 line on stdout is no message: {}", quote(first))
    } else {
        format!("{lines} lines on stdout are no messages, the first: {}", quote(first))
    };
    Told::new(Code::StdoutNoise, message).hint(Some("stdout belongs to the protocol: such lines belong on stderr"))
}

pub(super) fn stray_message(first: &str, messages: u32) -> Told {
    let message = if messages == 1 {
        format!("1 message that nothing asked for: {}", line(first))
    } else {
        format!("{messages} messages that nothing asked for, the first: {}", line(first))
    };
    Told::new(Code::StrayMessage, message)
}

pub(super) fn bad_encoding(excerpt: &str, messages: u32, case: Case<'_>) -> Told {
    let verb = if messages == 1 { "is" } else { "are" };
    let message = format!(
        "{} {verb} not UTF-8: {}",
        plural(messages, "message", "messages"),
        quote(excerpt)
    );
    let runtime = case.record.identity.runtime.as_ref();
    let python = runtime.is_some_and(|runtime| runtime.kind == "python");
    Told::new(Code::BadEncoding, message)
        .hint(python.then_some("it writes in a code page: set PYTHONUTF8 = \"1\" in the row's `env`"))
}

pub(super) fn bad_framing(looks_like: &str, excerpt: &str) -> Told {
    let message = format!(
        "output came, and no line of it is a whole message; it looks like {}: {}",
        line(looks_like),
        quote(excerpt)
    );
    Told::new(Code::BadFraming, message)
        .expected("one JSON message per line")
        .actual(line(looks_like))
}

pub(super) fn output_limit(limit: u64) -> Told {
    let size = if limit >= 1 << 20 {
        format!("{} MiB", limit >> 20)
    } else {
        plural(limit, "byte", "bytes")
    };
    Told::new(
        Code::OutputLimit,
        format!("a line on stdout is longer than {size}; the rest of it was not kept"),
    )
}

/// An id that came back as a string and matches is what many clients put up with: a warning.
pub(super) fn id_mismatch(expected: &str, actual: &str, tolerated: bool) -> Told {
    let (expected, actual) = (line(expected), line(actual));
    let told = if tolerated {
        let message = format!("an answer's id came back as {actual} instead of {expected}; it was taken as the answer");
        Told::new(Code::IdMismatch, message).severity(Severity::Warn)
    } else {
        Told::new(
            Code::IdMismatch,
            format!("an answer came under the id {actual}; the request's id was {expected}"),
        )
    };
    told.expected(expected).actual(actual)
}

pub(super) fn server_request_refused(method: &str, times: u32) -> Told {
    let message = format!(
        "the server asked for {} {} and was answered -32601: this client offers no capabilities",
        code(method),
        plural(times, "time", "times")
    );
    Told::new(Code::ServerRequestRefused, message)
}
