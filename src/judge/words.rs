//! Pieces of sentences: outside text quoted in one bounded line, counts, durations, signals, endings.
//!
//! It must not decide anything, and it leaves the cleaning for a terminal or for Markdown to the reports.

use crate::event::{Ending, Received};

/// No quotation is longer: a finding is a sentence, the whole text stands in the log.
const LONGEST_QUOTE: usize = 240;
/// No list of names is longer, for the same reason.
const MOST_NAMES: usize = 8;

/// The text in one line without control characters and colour codes, cut where it is too long.
pub(super) fn line(text: &str) -> String {
    let mut kept = String::new();
    let mut count = 0_usize;
    let mut characters = text.chars().peekable();
    let mut gap = false;
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            skip_escape(&mut characters);
        } else if character.is_whitespace() {
            gap = true;
        } else if !character.is_control() {
            if count >= LONGEST_QUOTE {
                kept.push('…');
                break;
            }
            if gap && !kept.is_empty() {
                kept.push(' ');
                count += 1;
            }
            gap = false;
            kept.push(character);
            count += 1;
        }
    }
    kept
}

/// The text as [`line`], in quotation marks; `(empty)` when there is nothing to quote.
pub(super) fn quote(text: &str) -> String {
    let line = line(text);
    if line.is_empty() {
        "(empty)".to_owned()
    } else {
        format!("\"{line}\"")
    }
}

/// A value that may be empty, as tables show it.
pub(super) fn shown(value: &str) -> String {
    let line = line(value);
    if line.is_empty() { "(empty)".to_owned() } else { line }
}

/// A name as code.
pub(super) fn code(name: &str) -> String {
    format!("`{}`", line(name))
}

/// Names as code, the first few of them.
pub(super) fn names<'name>(names: impl IntoIterator<Item = &'name str>) -> String {
    let all: Vec<&str> = names.into_iter().collect();
    let text = all
        .iter()
        .take(MOST_NAMES)
        .map(|name| code(name))
        .collect::<Vec<_>>()
        .join(", ");
    if all.len() > MOST_NAMES {
        return format!("{text} and {} more", all.len() - MOST_NAMES);
    }
    text
}

/// `1 line`, `2 lines`.
pub(super) fn plural(count: impl Into<u64>, one: &str, many: &str) -> String {
    let count = count.into();
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// As [`plural`], for what is counted in memory.
pub(super) fn plural_of(count: usize, one: &str, many: &str) -> String {
    plural(count as u64, one, many)
}

/// `SIGKILL (9)`; the numbers that are the same on Linux and macOS.
pub(super) fn signal(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    format!("{name} ({number})")
}

/// How a process ended, without its last words: `exited with code 3`, `was ended by SIGKILL (9)`.
pub(super) fn ending(ending: &Ending) -> String {
    match (ending.code, ending.signal) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(number)) => format!("was ended by {}", signal(number)),
        (None, None) => "ended".to_owned(),
    }
}

/// What a process said on stderr at the end: the line that tells most, quoted.
pub(super) fn last_words(lines: &[String]) -> String {
    let Some(last) = lines.iter().rposition(|line| !line.trim().is_empty()) else {
        return "it wrote nothing to stderr".to_owned();
    };
    match telling_line(&lines[..=last]) {
        Some(telling) => format!("on stderr: {}", quote(&telling)),
        None => format!("last line on stderr: {}", quote(&lines[last])),
    }
}

/// What came instead of the answer that was waited for.
pub(super) fn received(received: &Received) -> String {
    let mut parts = Vec::new();
    if received.noise_lines > 0 {
        let verb = if received.noise_lines == 1 {
            "is no message"
        } else {
            "are no messages"
        };
        parts.push(format!("{} that {verb}", plural(received.noise_lines, "line", "lines")));
    }
    if received.other_messages > 0 {
        parts.push(plural(
            received.other_messages,
            "message that is no answer to it",
            "messages that are no answer to it",
        ));
    }
    if let Some(unfinished) = &received.unfinished {
        parts.push(format!("a line without its end {}", quote(unfinished)));
    }
    if parts.is_empty() && received.bytes > 0 {
        parts.push(plural(
            received.bytes,
            "byte that holds no message",
            "bytes that hold no message",
        ));
    }
    let stdout = parts.join(", ");
    match (stdout.is_empty(), &received.last_stderr) {
        (true, None) => "it wrote nothing to stdout or stderr".to_owned(),
        (true, Some(last)) => format!("it wrote nothing to stdout; last line on stderr: {}", quote(last)),
        (false, None) => format!("it wrote {stdout}, and nothing to stderr"),
        (false, Some(last)) => format!("it wrote {stdout}; last line on stderr: {}", quote(last)),
    }
}

/// Skips a terminal's escape sequence, whose first character was read.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if characters.next_if_eq(&'[').is_none() {
        return;
    }
    // Parameters and intermediates run up to a final byte, ECMA-48 section 5.4.
    for character in characters.by_ref() {
        if ('@'..='~').contains(&character) {
            break;
        }
    }
}

/// Interpreters and npm do not put the reason last; this is the line that does hold it, if it is not the last one.
fn telling_line(lines: &[String]) -> Option<String> {
    if let Some(told) = npm_error(lines) {
        return Some(told);
    }
    let index = lines.iter().rposition(|line| !is_aftermath(line))?;
    let is_last = index + 1 == lines.len();
    (!is_last && names_an_error(&lines[index])).then(|| lines[index].clone())
}

/// npm names the code first and the reason next, then says where its log lies.
fn npm_error(lines: &[String]) -> Option<String> {
    let start = lines
        .iter()
        .rposition(|line| line.trim_start().starts_with("npm error code"))?;
    let reason = lines
        .get(start + 1)
        .and_then(|line| line.trim_start().strip_prefix("npm error "));
    let code = lines[start].trim();
    Some(reason.map_or_else(|| code.to_owned(), |reason| format!("{code}: {reason}")))
}

/// What follows a reason: a stack, closing braces, the version of Node.
fn is_aftermath(line: &str) -> bool {
    let trimmed = line.trim();
    trimmed.is_empty()
        || trimmed.starts_with("npm error A complete log of this run")
        || line.starts_with(char::is_whitespace)
        || trimmed == "}"
        || trimmed.starts_with("Node.js v")
}

/// `ReferenceError: …`, `pkg.ConfigError: …`, `Error [ERR_MODULE_NOT_FOUND]: …`.
fn names_an_error(line: &str) -> bool {
    let first = line.split([' ', ':', '[']).next().unwrap_or_default();
    first.ends_with("Error") || first.ends_with("Exception")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn quotations_are_one_line_without_colours() {
        assert_eq!(quote("\u{1b}[31mred\u{1b}[0m\r\n  next\tline "), "\"red next line\"");
        assert_eq!(quote(" \n"), "(empty)");
        assert_eq!(names(["a", "b"]), "`a`, `b`");
    }

    proptest! {
        #[test]
        fn no_text_breaks_or_swells_a_sentence(text in "(?s).{0,600}") {
            let line = line(&text);
            prop_assert!(line.chars().count() <= LONGEST_QUOTE + 2);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.trim() == line);
        }
    }
}
