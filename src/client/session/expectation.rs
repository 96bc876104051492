//! What a probe wants of a reply, and whether it got it.

use regex::Regex;
use serde_json::Value;

/// What a reply must be, with its placeholders filled in; all given parts must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilledExpectation {
    /// The reply's text contains this.
    pub text: Option<String>,
    /// The reply's text does not contain this.
    pub not_text: Option<String>,
    /// The reply's text matches this regular expression.
    pub matches: Option<String>,
    /// It is an error (`isError` or JSON-RPC) whose text contains this.
    pub error: Option<String>,
    /// `structuredContent` contains this (objects by key, the rest equal).
    pub structured: Option<Value>,
}

/// An expectation ready to be held against many replies.
#[derive(Debug)]
pub(super) struct Expectation<'a> {
    filled: &'a FilledExpectation,
    /// Null if it does not compile; the manifest sees to it that it does.
    pattern: Option<Regex>,
}

impl<'a> Expectation<'a> {
    pub(super) fn new(filled: &'a FilledExpectation) -> Self {
        let pattern = filled.matches.as_deref().and_then(|pattern| Regex::new(pattern).ok());
        Self { filled, pattern }
    }

    /// Whether nothing is expected.
    pub(super) fn is_empty(&self) -> bool {
        *self.filled == FilledExpectation::default()
    }

    /// Whether an error is the right answer.
    pub(super) fn wants_error(&self) -> Option<&str> {
        self.filled.error.as_deref()
    }

    /// What an error's text misses, in words.
    pub(super) fn missed_by_error(&self, text: &str) -> Option<String> {
        let wanted = self.wants_error()?;
        (!text.contains(wanted)).then(|| format!("an error with the text {wanted:?}"))
    }

    /// What a result misses, in words.
    pub(super) fn missed_by_result(&self, text: &str, structured: Option<&Value>) -> Option<String> {
        let filled = self.filled;
        if let Some(wanted) = &filled.error {
            return Some(format!("an error with the text {wanted:?}"));
        }
        if let Some(wanted) = filled.text.as_deref().filter(|wanted| !text.contains(*wanted)) {
            return Some(format!("the text {wanted:?}"));
        }
        if let Some(unwanted) = filled.not_text.as_deref().filter(|unwanted| text.contains(*unwanted)) {
            return Some(format!("no text {unwanted:?}"));
        }
        let fits = |pattern: &Regex| pattern.is_match(text);
        if let Some(wanted) = filled
            .matches
            .as_deref()
            .filter(|_| !self.pattern.as_ref().is_some_and(fits))
        {
            return Some(format!("a text that matches {wanted:?}"));
        }
        let wanted = filled.structured.as_ref()?;
        let holds = structured.is_some_and(|structured| contains(structured, wanted));
        (!holds).then(|| format!("structured content with {wanted}"))
    }
}

/// Whether `value` holds `wanted`: objects by key, everything else equal.
fn contains(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| value.get(key).is_some_and(|value| contains(value, wanted))),
        (Value::Number(value), Value::Number(wanted)) => value == wanted || value.as_f64() == wanted.as_f64(),
        (value, wanted) => value == wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn missed(filled: &FilledExpectation, text: &str, structured: Option<&Value>) -> Option<String> {
        Expectation::new(filled).missed_by_result(text, structured)
    }

    #[test]
    fn every_part_must_hold() {
        let filled = FilledExpectation {
            text: Some("grüße".into()),
            not_text: Some("error".into()),
            matches: Some("^a.*z$".into()),
            ..FilledExpectation::default()
        };
        assert_eq!(missed(&filled, "a grüße z", None), None);
        assert_eq!(missed(&filled, "a z", None).as_deref(), Some("the text \"grüße\""));
        assert_eq!(
            missed(&filled, "a grüße error z", None).as_deref(),
            Some("no text \"error\"")
        );
        assert!(missed(&filled, "b grüße z", None).expect("missed").contains("matches"));
    }

    #[test]
    fn structured_content_is_compared_by_key() {
        let wants = |value| FilledExpectation {
            structured: Some(value),
            ..FilledExpectation::default()
        };
        let value = json!({ "a": { "b": 1.0, "c": 2 }, "d": [1, 2] });
        assert_eq!(missed(&wants(json!({ "a": { "b": 1 } })), "", Some(&value)), None);
        assert_eq!(missed(&wants(json!({ "d": [1, 2] })), "", Some(&value)), None);
        assert!(missed(&wants(json!({ "d": [1] })), "", Some(&value)).is_some());
        assert!(missed(&wants(json!({})), "", None).is_some());
    }

    #[test]
    fn where_an_error_is_right_a_result_is_wrong() {
        let filled = FilledExpectation {
            error: Some("denied".into()),
            ..FilledExpectation::default()
        };
        let expectation = Expectation::new(&filled);
        assert!(expectation.missed_by_result("denied", None).is_some());
        assert_eq!(expectation.missed_by_error("access denied"), None);
        assert!(expectation.missed_by_error("broken").is_some());
        assert!(Expectation::new(&FilledExpectation::default()).is_empty());
    }
}
