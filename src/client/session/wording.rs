//! How a server's texts are quoted, and what they read like. Only texts of failed or unjudged calls
//! are read that way; a probe's own expectation always comes first.

use std::sync::LazyLock;

use regex::Regex;

/// What is kept of a text. Whoever shows it cuts again, after secrets were masked.
const LONGEST_EXCERPT: usize = 2_000;
/// How far back a cut is moved so that it does not leave half a secret, which nothing could recognise.
const LONGEST_WORD: usize = 512;

/// The start of a text, cut between words.
pub(super) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let Some((cut, _)) = text.char_indices().nth(LONGEST_EXCERPT) else {
        return text.to_owned();
    };
    let kept = &text[..cut];
    let is_between = |character: char| character.is_whitespace() || matches!(character, '"' | '\'' | ',' | ';');
    let between = kept.rfind(is_between).filter(|at| cut - at <= LONGEST_WORD);
    format!("{}…", kept[..between.unwrap_or(cut)].trim_end())
}

/// The first line of a text that says something, for a log line.
pub(super) fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

/// Whether a text says that a backend wants fewer calls.
pub(super) fn reads_like_rate_limit(text: &str) -> bool {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?i)\b429\b|too many requests|\brate[- _]?limit(ed|s|ing)?\b|quota (was |has been )?exceeded|exceeded .{0,40}\bquota";
        Regex::new(words).expect("a constant that a test compiles")
    });
    // A long document about rate limits is no refusal.
    const LONGEST_REFUSAL: usize = 2_000;
    text.len() <= LONGEST_REFUSAL && WORDS.is_match(text)
}

/// Whether a reply that was not called an error reads like one: judged by how it begins.
pub(super) fn reads_like_error(text: &str) -> bool {
    static START: LazyLock<Regex> = LazyLock::new(|| {
        let start = concat!(
            r"^[^\p{L}\p{N}{\[]{0,4}(",
            r"(?:[Ee]rror|ERROR|Fatal|FATAL|Exception|[A-Z][A-Za-z]*(?:Error|Exception))(?:\s*[:!(\[]| \d{3}\b| [a-z]+ing\b| while\b| in\b|$)",
            r"|(?i:(?:request |search |tool )?failed (?:to|with|:)|failed:|failure:)",
            r"|(?i:(?:unable|not able) to |could not |couldn't |can(?:not|'t) (?:connect|reach|find|open|read|access|fetch))",
            r"|(?i:(?:http(?:/\d(?:\.\d)?)? )?(?:error )?(?:40[0134]|429|50[0234])\b[ :-]*(?:$|unauthorized|forbidden|not found|bad|too many|internal|service|gateway|payment|error))",
            r"|(?i:unauthorized\b|forbidden\b|access denied\b|permission denied\b|invalid (?:api[ _-]?key|token|credentials)|missing (?:api[ _-]?key|token|credentials))",
            r"|Traceback \(most recent call last\)",
            r")",
        );
        Regex::new(start).expect("a constant that a test compiles")
    });
    let text = text.trim_start();
    START.is_match(text) || is_error_object(text)
}

/// `{"error": …}` with something in it.
fn is_error_object(text: &str) -> bool {
    if !text.starts_with('{') {
        return false;
    }
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(text) else {
        return false;
    };
    match object.get("error") {
        None | Some(serde_json::Value::Null | serde_json::Value::Bool(false)) => false,
        Some(serde_json::Value::String(error)) => !error.is_empty(),
        Some(serde_json::Value::Bool(true) | serde_json::Value::Number(_)) => true,
        Some(serde_json::Value::Array(items)) => !items.is_empty(),
        Some(serde_json::Value::Object(fields)) => !fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_that_begin_like_errors_are_noticed() {
        let errors = [
            "Error: no such file",
            "Error executing tool fetch",
            "Error 401: who are you?",
            "❌ Error: nope",
            "TypeError: x is not a function",
            "Failed to fetch http://x",
            "Request failed with status code 403",
            "401 Unauthorized",
            "HTTP 500 internal server error",
            r#"{"error": "Search failed", "detail": "401 Unauthorized: invalid API key"}"#,
            "Unauthorized. Please check your key",
            "invalid api key",
            "Traceback (most recent call last):\n  File",
        ];
        for text in errors {
            assert!(reads_like_error(text), "{text}");
        }
    }

    #[test]
    fn replies_that_only_speak_of_errors_are_none() {
        let fine = [
            "Errors and how to avoid them",
            "Error Handling in Rust: a book",
            "Echo: Error: x",
            "404 sheep were counted",
            "Failedness is a word",
            r#"{"error": null, "items": []}"#,
            r#"{"errors": 0}"#,
            "# Forbiddenlands",
            "",
            "Cannot say enough good things about it",
        ];
        for text in fine {
            assert!(!reads_like_error(text), "{text}");
        }
    }

    #[test]
    fn rate_limits_are_recognised() {
        for text in [
            "429 Too Many Requests; retry after 30 s",
            "You are rate-limited",
            "Monthly quota exceeded.",
        ] {
            assert!(reads_like_rate_limit(text), "{text}");
        }
        for text in [
            "4290 items",
            "separate limits",
            &format!("{} rate limit", "x".repeat(3000)),
        ] {
            assert!(!reads_like_rate_limit(text), "{text}");
        }
    }

    #[test]
    fn an_excerpt_is_cut_between_words() {
        assert_eq!(excerpt("  short\n"), "short");
        let long = format!("{} secret-{}", "é".repeat(1_990), "s".repeat(50));
        assert_eq!(excerpt(&long), format!("{}…", "é".repeat(1_990)));
        assert_eq!(excerpt(&"x".repeat(9_000)).chars().count(), 2_001);
    }
}
