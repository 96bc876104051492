//! Text fitted into columns: its width as a terminal shows it, cut with an ellipsis, or wrapped
//! where a reader would break it. It expects cleaned text; a line end in it is not looked for.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// After these a long word may go on in the next line: paths, names and versions break there.
const BREAKS: [char; 8] = ['-', '_', '/', '.', ',', ':', '@', '='];

/// How many columns a terminal gives to the text.
pub fn display_width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text if it fits into `width` columns, else its start and `…`. Width 0 leaves nothing.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let end = prefix_within(text, room);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// The text in lines of at most `width` columns, broken at spaces, else after a mark inside a word,
/// else anywhere. At least one line; a character wider than `width` stands alone.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut rest = word;
        let mut gap = if line.is_empty() { "" } else { " " };
        while !rest.is_empty() {
            let room = width.saturating_sub(display_width(&line) + gap.len());
            if display_width(rest) <= room {
                line.push_str(gap);
                line.push_str(rest);
                break;
            }
            // A word that fits into a line of its own is not torn apart.
            let keep_whole = display_width(rest) <= width;
            let piece = if keep_whole {
                0
            } else {
                breakable_prefix(rest, room, line.is_empty())
            };
            if piece > 0 {
                line.push_str(gap);
                line.push_str(&rest[..piece]);
                rest = &rest[piece..];
            }
            lines.push(std::mem::take(&mut line));
            gap = "";
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Where to break a word that does not fit: after the last mark within the room; without one,
/// nowhere unless it `must` (the line is empty, so that waiting for the next one is of no use).
fn breakable_prefix(word: &str, room: usize, must: bool) -> usize {
    let end = prefix_within(word, room);
    if let Some(place) = word[..end].rfind(BREAKS) {
        // All marks are one byte long.
        return place + 1;
    }
    match (must, end) {
        (false, _) => 0,
        (true, 0) => word.chars().next().map_or(0, char::len_utf8),
        (true, end) => end,
    }
}

/// The length in bytes of the longest start that surely fits into `width` columns.
fn prefix_within(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (place, character) in text.char_indices() {
        used += match character {
            // Asks for the wide form of the character before it.
            '\u{fe0f}' => 1,
            _ => character.width().unwrap_or(1),
        };
        if used > width {
            return place;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn what_fits_is_not_cut() {
        assert!(matches!(cut("memory", 6), Cow::Borrowed("memory")));
        assert_eq!(cut("memory", 5), "memo…");
        assert_eq!(cut("memory", 0), "");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(display_width("工具"), 4);
        assert_eq!(cut("工具工具", 6), "工具…");
    }

    #[test]
    fn lines_break_at_spaces_and_then_at_marks_inside_words() {
        let check = |text: &str, width: usize, lines: &[&str]| assert_eq!(wrap(text, width), lines);
        check("refused, as it should", 12, &["refused, as", "it should"]);
        check("sequential-thinking-server", 20, &["sequential-thinking-", "server"]);
        check("Fetch (--allow-private-ips)", 20, &["Fetch (--allow-", "private-ips)"]);
        check("ends here: @scope/name", 14, &["ends here:", "@scope/name"]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("", 5, &[""]);
    }

    proptest! {
        #[test]
        fn a_cut_text_fits(text in any::<String>(), width in 0_usize..40) {
            prop_assert!(display_width(&cut(&text, width)) <= width);
        }

        #[test]
        fn wrapped_lines_fit_and_lose_nothing(text in "[ a-z0-9/._@-]{0,80}", width in 1_usize..30) {
            let lines = wrap(&text, width);
            for line in &lines {
                prop_assert!(display_width(line) <= width, "{:?}", lines);
            }
            let solid = |text: &str| text.replace(' ', "");
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
        }

        #[test]
        fn wrapping_any_text_ends(text in any::<String>(), width in 0_usize..10) {
            prop_assert!(!wrap(&text, width).is_empty());
        }
    }
}
