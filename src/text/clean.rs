//! Hostile text made harmless for the place where it is shown. Tool names, stderr and error texts
//! come from strangers: they must not move a cursor, turn the reading direction, hide characters or
//! become markup. Nothing is dropped in silence: what is dangerous is shown as an escape.

use std::borrow::Cow;
use std::fmt::Write;

/// One line that a terminal shows as it is: control characters (line ends and ANSI escapes among
/// them), bidirectional controls and invisible characters stand as `\n`, `\t` or `\u{1b}`.
pub fn clean_for_terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        push_escaped(&mut clean, character);
    }
    Cow::Owned(clean)
}

/// Text inside a line or table cell of Markdown, cleaned as for a terminal and shown literally: no
/// cell ends, no HTML, links, images, code, emphasis or formulas. Bare URLs and `@` stay as they
/// are: they show where they lead, and npm scopes begin with one.
pub fn clean_for_markdown(text: &str) -> String {
    let text = clean_for_terminal(text);
    let mut clean = String::with_capacity(text.len() + 8);
    let mut previous = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '&' => clean.push_str("&amp;"),
            '<' => clean.push_str("&lt;"),
            '>' => clean.push_str("&gt;"),
            // Inside a word it is never emphasis, and tool names are full of them.
            '_' if is_word(previous) && is_word(characters.peek().copied()) => clean.push('_'),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '$' => {
                clean.push('\\');
                clean.push(character);
            }
            other => clean.push(other),
        }
        previous = Some(character);
    }
    clean
}

fn push_escaped(clean: &mut String, character: char) {
    match character {
        '\n' => clean.push_str("\\n"),
        '\r' => clean.push_str("\\r"),
        '\t' => clean.push_str("\\t"),
        _ if is_dangerous(character) => {
            write!(clean, "\\u{{{:x}}}", u32::from(character)).expect("writing to a string cannot fail");
        }
        _ => clean.push(character),
    }
}

fn is_word(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(char::is_alphanumeric)
}

/// Control characters, and the format characters of Unicode that turn, hide or fake text.
fn is_dangerous(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'                      // soft hyphen
            | '\u{34f}'                   // combining grapheme joiner
            | '\u{61c}'                   // Arabic letter mark
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers, blank
            | '\u{17b4}' | '\u{17b5}'     // Khmer inherent vowels, invisible
            | '\u{180b}'..='\u{180f}'     // Mongolian selectors and separator
            | '\u{200b}'..='\u{200f}'     // zero width, joiners, direction marks
            | '\u{2028}'..='\u{202e}'     // line and paragraph separator, embeddings, overrides
            | '\u{2060}'..='\u{206f}'     // invisible operators, isolates
            | '\u{feff}'                  // byte order mark
            | '\u{fff9}'..='\u{fffb}'     // interlinear annotations
            | '\u{1d173}'..='\u{1d17a}'   // musical format controls
            | '\u{e0000}'..='\u{e0fff}' // tags and further selectors
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn ordinary_text_of_any_language_is_left_alone() {
        for text in ["read_text_file", "Größe: 5 µm", "工具 🔧", "C:\\temp", ""] {
            assert!(matches!(clean_for_terminal(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn escapes_line_ends_and_reading_directions_are_shown() {
        let check = |text: &str, clean: &str| assert_eq!(clean_for_terminal(text), clean);
        check("\u{1b}[2Jgone\u{7}", "\\u{1b}[2Jgone\\u{7}");
        check("one\r\n\ttwo", "one\\r\\n\\ttwo");
        check("\u{9b}31m", "\\u{9b}31m");
        check("safe\u{202e}cod.exe", "safe\\u{202e}cod.exe");
        check("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}");
        check("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}");
    }

    #[test]
    fn markdown_shows_markup_literally() {
        let check = |text: &str, clean: &str| assert_eq!(clean_for_markdown(text), clean);
        check("a|b", "a\\|b");
        check("`code` and \\", "\\`code\\` and \\\\");
        check("<img src=x> & co", "&lt;img src=x&gt; &amp; co");
        check("[click](http://evil.example)", "\\[click\\](http://evil.example)");
        check("two\nlines", "two\\\\nlines");
        check("*bold* ~gone~ $x$", "\\*bold\\* \\~gone\\~ \\$x\\$");
    }

    #[test]
    fn an_underscore_inside_a_word_stays_readable_in_markdown() {
        assert_eq!(clean_for_markdown("read_text_file"), "read_text_file");
        assert_eq!(clean_for_markdown("_hidden_"), "\\_hidden\\_");
    }

    proptest! {
        #[test]
        fn clean_text_is_one_harmless_line_and_cleaning_it_again_changes_nothing(text in any::<String>()) {
            let clean = clean_for_terminal(&text);
            prop_assert!(!clean.chars().any(is_dangerous));
            prop_assert_eq!(clean_for_terminal(&clean), clean.as_ref());
        }

        #[test]
        fn a_markdown_cell_holds_no_bare_markup(text in any::<String>()) {
            let clean = clean_for_markdown(&text);
            let bare = clean.contains(['<', '>', '\n', '\r']);
            prop_assert!(!bare, "{}", clean);
            let mut escaped = false;
            for character in clean.chars() {
                prop_assert!(escaped || !matches!(character, '|' | '`' | '[' | ']' | '*'), "{}", clean);
                escaped = character == '\\' && !escaped;
            }
            prop_assert!(!escaped, "a backslash at the end would escape the cell's end");
        }
    }
}
