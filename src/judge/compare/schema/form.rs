//! The form in which two schemas are held against each other, and where two values differ, in words.
//!
//! The order of keys, and of names in `required`, `type` and `enum`, is no difference: some servers write
//! sets, whose order changes with every start. Nor is the spelling of a number (`0`, `0.0`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value};

use super::joined;
use crate::judge::words::line;

/// The schema without its prose (descriptions, titles, examples), its sets sorted.
pub(in crate::judge::compare) fn without_prose(schema: &Value) -> Value {
    normal(schema, true)
}

/// The schema with its sets sorted.
pub(in crate::judge::compare) fn sorted(schema: &Value) -> Value {
    normal(schema, false)
}

/// Where two values differ, as dotted paths with what became of each.
pub(in crate::judge::compare) fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    differ("", &plain(before), &plain(now), &mut found);
    found
}

/// It knows which keys hold names of the server's own (a property may well be called `description`).
fn normal(schema: &Value, drop_prose: bool) -> Value {
    let Value::Object(entries) = schema else {
        return plain(schema);
    };
    let of = |schema: &Value| normal(schema, drop_prose);
    let mut kept: BTreeMap<&String, Value> = BTreeMap::new();
    for (key, value) in entries {
        let value = match (key.as_str(), value) {
            ("description" | "title" | "examples" | "$comment", _) if drop_prose => continue,
            ("required" | "type" | "enum", Value::Array(items)) => as_set(items),
            ("dependentRequired" | "dependencies", Value::Object(named)) => named
                .iter()
                .map(|(name, value)| match value {
                    Value::Array(items) => (name, as_set(items)),
                    schema => (name, of(schema)),
                })
                .map(|(name, value)| (name.clone(), value))
                .collect(),
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named.iter().map(|(name, schema)| (name.clone(), of(schema))).collect(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                schemas.iter().map(of).collect()
            }
            (
                "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else",
                schema,
            ) => of(schema),
            (_, value) => plain(value),
        };
        kept.insert(key, value);
    }
    Value::Object(kept.into_iter().map(|(key, value)| (key.clone(), value)).collect())
}

fn as_set(items: &[Value]) -> Value {
    let mut items: Vec<Value> = items.iter().map(plain).collect();
    items.sort_by_key(ToString::to_string);
    Value::Array(items)
}

/// A value that is no schema: its keys sorted, its numbers spelt one way.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let sorted: BTreeMap<&String, Value> = entries.iter().map(|(key, value)| (key, plain(value))).collect();
            sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Number(number) => Value::Number(spelt(number)),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// `0.0` and `-0` as `0`; what is no whole number stays.
fn spelt(number: &Number) -> Number {
    let whole = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0);
    let respelt = whole.and_then(|value| format!("{value:.0}").parse::<i64>().ok());
    respelt.map_or_else(|| number.clone(), Number::from)
}

fn differ(path: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    if before == now {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (before, now) else {
        let place = if path.is_empty() { "it" } else { path };
        found.push(line(&format!("{place} is {now}, was {before}")));
        return;
    };
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let path = joined(path, key);
        match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => differ(&path, old, new, found),
            (Some(old), None) => found.push(line(&format!("{path} is gone, was {old}"))),
            (None, Some(new)) => found.push(line(&format!("{path} is {new}, was not set"))),
            (None, None) => {}
        }
    }
}
