//! Masking of one text, of one line of JSON and of one JSON value.
//!
//! A secret is looked for as it is and in every escaped form (`\"`, `\\`, `\n`, `\u00e9`, JSON inside
//! JSON): a text is unescaped layer by layer, and only if a layer shows a secret is that layer, masked,
//! what is kept. So a text without secrets is never changed, not even in its spacing.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value};

use crate::text::Mask;

/// JSON in JSON in JSON: servers that quote an answer of a backend reach three.
const MOST_LAYERS: usize = 4;

/// The text with every secret replaced, escaped forms included.
pub fn mask_text<'text>(text: &'text str, mask: &Mask) -> Cow<'text, str> {
    let mut shown = mask.apply(text);
    let mut next = unescape(&shown);
    for _ in 0..MOST_LAYERS {
        let Some(layer) = next else { break };
        match mask.apply(&layer) {
            Cow::Borrowed(_) => next = unescape(&layer),
            Cow::Owned(masked) => {
                next = unescape(&masked);
                shown = Cow::Owned(masked);
            }
        }
    }
    shown
}

/// A line that should be a JSON object or array: masked inside its strings and keys, numbers never,
/// and written anew only if something was masked. Any other line is masked as text.
pub fn mask_json_line<'text>(line: &'text str, mask: &Mask) -> Cow<'text, str> {
    let as_text = mask_text(line, mask);
    if matches!(as_text, Cow::Borrowed(_)) {
        // Every string of the line, unescaped, is a part of the unescaped line: nothing can be hidden.
        return as_text;
    }
    match serde_json::from_str::<Value>(line) {
        Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
            if mask_value(&mut value, mask) {
                Cow::Owned(value.to_string())
            } else {
                Cow::Borrowed(line)
            }
        }
        // A lone number or word is no message but noise, and noise is text.
        Ok(_) | Err(_) => as_text,
    }
}

/// Masks every string of a JSON value, keys included; numbers stay. Tells whether it changed anything.
pub fn mask_value(value: &mut Value, mask: &Mask) -> bool {
    match value {
        Value::String(text) => mask_string(text, mask),
        Value::Array(items) => {
            let mut changed = false;
            for item in items {
                changed |= mask_value(item, mask);
            }
            changed
        }
        Value::Object(entries) => mask_entries(entries, mask),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Masks a string in place and tells whether it changed.
pub(super) fn mask_string(text: &mut String, mask: &Mask) -> bool {
    let Cow::Owned(masked) = mask_text(text, mask) else {
        return false;
    };
    *text = masked;
    true
}

fn mask_entries(entries: &mut Map<String, Value>, mask: &Mask) -> bool {
    let mut changed = false;
    for item in entries.values_mut() {
        changed |= mask_value(item, mask);
    }
    if entries.keys().any(|key| matches!(mask_text(key, mask), Cow::Owned(_))) {
        changed = true;
        *entries = std::mem::take(entries)
            .into_iter()
            .map(|(key, item)| (mask_text(&key, mask).into_owned(), item))
            .collect();
    }
    changed
}

/// The text with one layer of escapes undone; none if there was nothing to undo.
fn unescape(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut undone = false;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        let mut ahead = rest.clone();
        if let Some(escaped) = escaped_character(&mut ahead) {
            plain.push(escaped);
            rest = ahead;
            undone = true;
        } else {
            plain.push('\\');
        }
    }
    undone.then_some(plain)
}

/// The character that an escape stands for, in the spelling of JSON, Rust, JavaScript, Python and Markdown.
fn escaped_character(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    match rest.next()? {
        // JSON quotes four, Markdown any.
        quoted if quoted.is_ascii_punctuation() => Some(quoted),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        '0' => Some('\0'),
        'x' => char::from_u32(hex(rest, 2)?),
        'U' => char::from_u32(hex(rest, 8)?),
        'u' if rest.peek() == Some(&'{') => braced(rest),
        'u' => utf_16(rest),
        _ => None,
    }
}

/// `{1f600}` after `\u`.
fn braced(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    rest.next_if_eq(&'{')?;
    let mut code = 0_u32;
    while let Some(digit) = rest.next_if(char::is_ascii_hexdigit) {
        code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?;
    }
    rest.next_if_eq(&'}')?;
    char::from_u32(code)
}

/// Four digits after `\u`, and the other half of a pair where they are the first.
fn utf_16(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let first = hex(rest, 4)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let mut ahead = rest.clone();
    if ahead.next_if_eq(&'\\').is_some()
        && ahead.next_if_eq(&'u').is_some()
        && let Some(second @ 0xDC00..0xE000) = hex(&mut ahead, 4)
    {
        *rest = ahead;
        return char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
    }
    Some(char::REPLACEMENT_CHARACTER)
}

fn hex(rest: &mut Peekable<Chars<'_>>, digits: usize) -> Option<u32> {
    (0..digits).try_fold(0_u32, |code, _| {
        code.checked_mul(16)?.checked_add(rest.next()?.to_digit(16)?)
    })
}
