//! A tool as the record keeps it: what a comparison needs, in canonical form. Not its description
//! itself, which can be long and is compared by its hash only.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::event::ToolFacts;

/// One tool of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRecord {
    /// Its name.
    pub name: String,
    /// SHA-256 of its description, hex; null if it has none.
    pub description_sha256: Option<String>,
    /// `inputSchema`, keys sorted at every level.
    pub input_schema: Option<Value>,
    /// `outputSchema`, likewise.
    pub output_schema: Option<Value>,
    /// `annotations`, likewise.
    pub annotations: Option<Value>,
}

impl From<&ToolFacts> for ToolRecord {
    fn from(facts: &ToolFacts) -> Self {
        Self {
            name: facts.name.clone(),
            description_sha256: facts.description.as_deref().map(sha256),
            input_schema: facts.input_schema.as_ref().map(canonical),
            output_schema: facts.output_schema.as_ref().map(canonical),
            annotations: facts.annotations.as_ref().map(canonical),
        }
    }
}

/// SHA-256 of a text, hex.
pub(crate) fn sha256(text: &str) -> String {
    use std::fmt::Write;

    Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string takes everything");
            hex
        })
}

/// The value with the keys of every object sorted, so that the order in which a server happens to
/// write them is no change. The order of arrays is kept: it can mean something.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            let sorted = sorted.into_iter().map(|(key, item)| (key.clone(), canonical(item)));
            Value::Object(sorted.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_is_no_difference_and_the_order_of_items_is_one() {
        let one = json!({"b": [{"y": 1, "x": 2}], "a": null});
        let other = json!({"a": null, "b": [{"x": 2, "y": 1}]});
        assert_eq!(canonical(&one).to_string(), canonical(&other).to_string());
        assert_eq!(canonical(&one).to_string(), r#"{"a":null,"b":[{"x":2,"y":1}]}"#);
        assert_eq!(canonical(&json!([2, 1])).to_string(), "[2,1]");
    }

    #[test]
    fn a_description_is_kept_as_its_hash() {
        assert_eq!(
            sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
