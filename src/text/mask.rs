//! Secrets, masked by value.

use std::borrow::Cow;

use serde_json::Value;

/// What stands where a secret stood.
const MASKED: &str = "***";
/// Shorter values are no secrets: they would eat ordinary text.
const SHORTEST: usize = 6;

/// The values that must not be written anywhere.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// Longest first, so that a secret inside a longer one cannot leave a rest.
    secrets: Vec<String>,
}

impl Mask {
    /// A mask over these values; those shorter than six characters are left alone.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut mask = Self::default();
        for secret in secrets {
            if Self::hides(&secret) && !mask.secrets.contains(&secret) {
                mask.secrets.push(secret);
            }
        }
        mask.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        mask
    }

    /// Whether a value is long enough to be taken for a secret.
    pub fn hides(value: &str) -> bool {
        value.chars().count() >= SHORTEST
    }

    /// The text with every secret replaced.
    pub fn apply<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let mut masked = Cow::Borrowed(text);
        for secret in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = Cow::Owned(masked.replace(secret.as_str(), MASKED));
            }
        }
        masked
    }

    /// Replaces every secret in every string of a JSON value, keys included; numbers stay.
    pub fn apply_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.apply(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply_json(item)),
            Value::Object(entries) => {
                let old = std::mem::take(entries);
                for (key, mut item) in old {
                    self.apply_json(&mut item);
                    entries.insert(self.apply(&key).into_owned(), item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
