//! Why a line is no message, told as precisely as a person debugging the server would want it.
//! It must not turn a line into a message: other clients will not do so either.

use serde_json::Value;

use super::message::{Line, classify};

/// Why a line is no message.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// Nothing but white space; harmless.
    Blank,
    /// Text, or JSON that is no JSON-RPC.
    NoMessage,
    /// The start of a JSON object that does not end on this line.
    Unfinished,
    /// A `Content-Length` header, as language servers send.
    ContentLength,
    /// A message with something else before it on the same line: where it starts.
    Glued {
        /// Bytes before the message.
        at: usize,
    },
    /// Several messages on one line.
    Several,
    /// `NaN` or `Infinity`, which JSON does not have: the token, and the line with nulls in their place.
    NotANumber {
        /// `NaN`, `Infinity` or `-Infinity`.
        token: String,
        /// What the line would be.
        repaired: Line,
    },
    /// An answer without `"jsonrpc": "2.0"`.
    NoVersion {
        /// Its id.
        id: Value,
    },
    /// JSON that looks like a message and cannot be read.
    Unreadable {
        /// What is wrong.
        problem: String,
    },
}

/// Why `text`, which is no JSON, is none.
pub(super) fn diagnose(text: &str, error: &serde_json::Error) -> Violation {
    let start = text.trim_start();
    if is_content_length(start) {
        return Violation::ContentLength;
    }
    if start.starts_with('{') {
        if let Some((token, repaired)) = without_nan(start) {
            return Violation::NotANumber { token, repaired };
        }
        if let Some(violation) = several(start) {
            return violation;
        }
        if error.is_eof() {
            return Violation::Unfinished;
        }
        if start.contains("\"jsonrpc\"") {
            return Violation::Unreadable {
                problem: error.to_string(),
            };
        }
        return Violation::NoMessage;
    }
    glued(text).map_or(Violation::NoMessage, |at| Violation::Glued { at })
}

fn is_content_length(text: &str) -> bool {
    let name = "content-length:";
    text.get(..name.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// Two messages after one another. One message and other text behind it is glued, too.
fn several(text: &str) -> Option<Violation> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = values.next()?.ok()?;
    classify(first, Vec::new()).ok()?;
    let rest = text.get(values.byte_offset()..)?.trim();
    (!rest.is_empty()).then_some(Violation::Several)
}

/// Where a message starts in a line that begins with something else.
fn glued(text: &str) -> Option<usize> {
    // A message that long behind a banner is still found, but a hostile line must not cost a parse per brace.
    const BRACES_TRIED: usize = 16;
    let braces = text.match_indices('{').take(BRACES_TRIED);
    braces.map(|(at, _)| at).find(|at| {
        let rest = text[*at..].trim_end();
        serde_json::from_str(rest).is_ok_and(|value| classify(value, Vec::new()).is_ok())
    })
}

/// The line with `null` for every `NaN` and `Infinity` outside strings, if that makes it a message.
fn without_nan(text: &str) -> Option<(String, Line)> {
    let mut repaired = String::with_capacity(text.len());
    let mut first = None;
    let mut in_string = false;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if in_string && character == '\\' {
            let escaped = rest.chars().take(2).map(char::len_utf8).sum();
            repaired.push_str(&rest[..escaped]);
            rest = &rest[escaped..];
            continue;
        }
        if character == '"' {
            in_string = !in_string;
        }
        let token = ["NaN", "-Infinity", "Infinity"]
            .into_iter()
            .find(|token| !in_string && rest.starts_with(token));
        if let Some(token) = token {
            first.get_or_insert_with(|| token.to_owned());
            repaired.push_str("null");
            rest = &rest[token.len()..];
        } else {
            repaired.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    let line = classify(serde_json::from_str(&repaired).ok()?, Vec::new()).ok()?;
    Some((first?, line))
}
