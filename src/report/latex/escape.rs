//! Any text as LaTeX that prints it literally, with places where a line may break.

use std::fmt::Write;

use crate::text::clean_for_terminal;

/// A word without a natural break gets one after so many characters, or it would run out of its cell.
pub(super) const LONGEST_WORD: usize = 20;

/// The letters beyond ASCII that T1 fonts have.
const LETTERS: &str = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿĂăĄąĆćČčĎďĐđĘęĚěĞğİıĹĺĽľŁłŃńŇňŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž";

/// The text, cleaned as for a terminal and shown literally.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 4);
    let mut unbroken = 0;
    let clean = clean_for_terminal(text);
    let mut characters = clean.chars().peekable();
    while let Some(character) = characters.next() {
        push(&mut escaped, character);
        unbroken += 1;
        let next = characters.peek().copied();
        if character == ' ' {
            unbroken = 0;
        } else if next.is_some_and(|next| next != ' ') && (may_break_after(character, next) || unbroken >= LONGEST_WORD)
        {
            escaped.push_str("\\allowbreak{}");
            unbroken = 0;
        }
    }
    escaped
}

/// Behind the signs that part names, paths and versions; not inside of numbers, nor of the dashes of a flag.
pub(super) fn may_break_after(character: char, next: Option<char>) -> bool {
    match character {
        '-' => next != Some('-'),
        '/' | '_' | '@' | ':' | ',' | '=' | '\\' => true,
        '.' => next.is_some_and(|next| !next.is_ascii_digit()),
        _ => false,
    }
}

/// What could be markup, the beginning of an optional argument (`[`, `*` behind `\\`), or part of a
/// ligature (`--`, `''`, `,,`, `<<`) is set apart.
fn push(escaped: &mut String, character: char) {
    let command = match character {
        '\\' => "\\textbackslash{}",
        '{' => "\\{",
        '}' => "\\}",
        '$' => "\\$",
        '&' => "\\&",
        '#' => "\\#",
        '%' => "\\%",
        '_' => "\\_",
        '^' => "\\textasciicircum{}",
        '~' => "\\textasciitilde{}",
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        '"' => "\\textquotedbl{}",
        '\'' => "\\textquotesingle{}",
        '`' => "\\textasciigrave{}",
        '[' => "{[}",
        ']' => "{]}",
        '*' => "{*}",
        '-' => "-{}",
        ',' => ",{}",
        '–' => "\\textendash{}",
        '—' => "\\textemdash{}",
        '…' => "\\textellipsis{}",
        '‘' => "\\textquoteleft{}",
        '’' => "\\textquoteright{}",
        '“' => "\\textquotedblleft{}",
        '”' => "\\textquotedblright{}",
        '†' => "\\textdagger{}",
        '‡' => "\\textdaggerdbl{}",
        '·' => "\\textperiodcentered{}",
        '°' => "\\textdegree{}",
        'µ' => "\\textmu{}",
        '×' => "\\texttimes{}",
        '±' => "\\textpm{}",
        ' '..='~' => return escaped.push(character),
        letter if LETTERS.contains(letter) => return escaped.push(letter),
        other => {
            write!(escaped, "\\otherchar{{{:04X}}}", u32::from(other)).expect("writing to a string cannot fail");
            return;
        }
    };
    escaped.push_str(command);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn every_special_character_is_shown_literally() {
        let check = |text: &str, latex: &str| assert_eq!(escaped(text), latex);
        check("50 % & more #1", "50 \\% \\& more \\#1");
        check("\\input{x}", "\\textbackslash{}\\allowbreak{}input\\{x\\}");
        check("a_b", "a\\_\\allowbreak{}b");
        check("[x]", "{[}x{]}");
        check("a\nb", "a\\textbackslash{}\\allowbreak{}nb");
        check("你 ü", "\\otherchar{4F60} ü");
        check("1.64.0", "1.64.0");
        check("--x", "-{}-{}\\allowbreak{}x");
    }

    #[test]
    fn a_word_without_an_end_can_be_broken() {
        assert_eq!(escaped(&"a".repeat(45)).matches("\\allowbreak").count(), 2);
        assert_eq!(escaped("sequentialthinking"), "sequentialthinking");
    }

    proptest! {
        /// What is left after our own commands are taken out has no sign that TeX acts on.
        #[test]
        fn nothing_that_tex_acts_on_is_left(text in any::<String>()) {
            let escaped = escaped(&text);
            let own = regex::Regex::new(
                r"\\(otherchar\{[0-9A-F]+\}|allowbreak\{\}|text[a-z]+\{\}|[{}$&#%_])|\{[\[\]*]\}|[-,]\{\}"
            ).expect("a good pattern");
            let rest = own.replace_all(&escaped, "");
            prop_assert!(!rest.contains(['\\', '{', '}', '$', '&', '#', '%', '_', '^', '~', '[', ']', '*', '"', '\n']), "{}", escaped);
            prop_assert!(rest.chars().all(|character| character.is_ascii() || LETTERS.contains(character)), "{}", escaped);
        }
    }
}
