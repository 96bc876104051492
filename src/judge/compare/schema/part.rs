//! A schema within its document, and what it says of itself. It must not hold one against another.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::DEEPEST;

/// What is not there forbids nothing.
pub(super) static ANYTHING: Value = Value::Bool(true);

static NULL: Value = Value::Null;
static FALSE: Value = Value::Bool(false);

/// A schema within its document, which its `$ref` point into.
#[derive(Clone, Copy)]
pub(super) struct Part<'json> {
    pub(super) root: &'json Value,
    pub(super) schema: &'json Value,
}

impl<'json> Part<'json> {
    pub(super) fn of(root: &'json Value) -> Self {
        Self { root, schema: root }
    }

    /// The same words, and the same meaning: what is named elsewhere in the document may have changed there.
    pub(super) fn is_same(self, other: Self) -> bool {
        self.schema == other.schema && (self.root == other.root || !holds_reference(self.schema))
    }

    /// The schema that a local `$ref` names, or the only one that `allOf` holds; what points elsewhere stays as it
    /// is.
    pub(super) fn resolved(self) -> Self {
        let mut schema = self.schema;
        for _ in 0..DEEPEST {
            let named = schema["$ref"]
                .as_str()
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| self.root.pointer(pointer));
            let only = || match schema.as_object()?.get("allOf")?.as_array()?.as_slice() {
                [only] if says_nothing_else(schema) => Some(only),
                _ => None,
            };
            let Some(target) = named.or_else(only) else {
                break;
            };
            schema = target;
        }
        Self { schema, ..self }
    }

    /// Whether it takes nothing at all.
    pub(super) fn is_never(self) -> bool {
        let denied = self.schema.get("not");
        *self.schema == Value::Bool(false) || denied.is_some_and(takes_everything)
    }

    /// Whether it takes no property but those that it names.
    pub(super) fn is_closed(self) -> bool {
        let others = self.schema.get("additionalProperties");
        others.is_some_and(|others| Self { schema: others, ..self }.is_never())
    }

    /// The schema of a keyword, where there is one.
    pub(super) fn below(self, keyword: &str) -> Option<Self> {
        let schema = self.schema.get(keyword)?;
        (schema.is_object() || schema.is_boolean()).then_some(Self { schema, ..self })
    }

    /// The schemas of a keyword that holds a list of them.
    pub(super) fn list(self, keyword: &str) -> Vec<&'json Value> {
        let list = self.schema[keyword].as_array();
        list.into_iter().flatten().collect()
    }

    /// What a keyword holds for each name.
    pub(super) fn named(self, keyword: &str) -> impl Iterator<Item = (&'json String, Self)> {
        let named = self.schema[keyword].as_object();
        let of = move |(name, schema)| (name, Self { schema, ..self });
        named.into_iter().flatten().map(of)
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        let schema = self.schema.get("properties")?.get(name)?;
        Some(Self { schema, ..self })
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'json String, Self)> {
        self.named("properties")
    }

    pub(super) fn required(self) -> BTreeSet<&'json str> {
        names(&self.schema["required"])
    }

    /// Everything that it says but this.
    pub(super) fn without(self, keyword: &str) -> Map<String, Value> {
        let mut rest = self.schema.as_object().cloned().unwrap_or_default();
        rest.shift_remove(keyword);
        rest
    }

    /// The only values that it takes, by `const`, `enum`, a type that has no others, or alternatives of those.
    pub(super) fn choices(self, depth: usize) -> Option<Vec<&'json Value>> {
        let part = self.resolved();
        if let Some(one) = part.schema.get("const") {
            return Some(vec![one]);
        }
        if let Some(several) = part.schema["enum"].as_array() {
            return Some(several.iter().collect());
        }
        if part.schema["type"] == "null" {
            return Some(vec![&NULL]);
        }
        if part.schema["type"] == "boolean" {
            return Some(vec![&FALSE, &ANYTHING]);
        }
        if depth > DEEPEST {
            return None;
        }
        let mut all = Vec::new();
        for schema in part.alternatives()? {
            all.extend(Part { schema, ..part }.choices(depth + 1)?);
        }
        Some(all)
    }

    /// The types of the only values that it takes.
    pub(super) fn types_of_choices(self) -> Option<BTreeSet<String>> {
        let kind = |value: &Value| match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        Some(
            self.choices(0)?
                .into_iter()
                .map(|value| kind(value).to_owned())
                .collect(),
        )
    }

    /// The types it allows; None where it says none, which is any. `anyOf` of a type and null is how
    /// Python's generators write what may be absent.
    pub(super) fn types(self, depth: usize) -> Option<BTreeSet<String>> {
        let part = self.resolved();
        match &part.schema["type"] {
            Value::String(kind) => return Some([kind.clone()].into()),
            Value::Array(kinds) => {
                return Some(kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            }
            _ if depth > DEEPEST => return None,
            _ => {}
        }
        let mut all = BTreeSet::new();
        for schema in part.alternatives()? {
            all.extend(Part { schema, ..part }.types(depth + 1)?);
        }
        Some(all)
    }

    /// Whether it forbids nothing but what all of its alternatives forbid.
    pub(super) fn says_only_alternatives(self) -> bool {
        let besides = [
            "anyOf",
            "oneOf",
            "default",
            "deprecated",
            "$defs",
            "definitions",
            "$schema",
        ];
        let mut keywords = self.schema.as_object().into_iter().flat_map(Map::keys);
        keywords.all(|keyword| besides.contains(&keyword.as_str()))
    }

    /// The members of `anyOf`, or of `oneOf`.
    pub(super) fn alternatives(self) -> Option<Vec<&'json Value>> {
        let either = ["anyOf", "oneOf"];
        let list = either.iter().find_map(|keyword| self.schema[*keyword].as_array())?;
        Some(list.iter().collect())
    }
}

/// The names in a list of them.
pub(super) fn names(list: &Value) -> BTreeSet<&str> {
    let names = list.as_array();
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `true`, `{}`.
pub(super) fn takes_everything(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

/// Whether all that it says besides `allOf` forbids nothing.
fn says_nothing_else(schema: &Value) -> bool {
    let mut keywords = schema.as_object().into_iter().flat_map(Map::keys);
    keywords.all(|keyword| matches!(keyword.as_str(), "allOf" | "default" | "deprecated"))
}

fn holds_reference(value: &Value) -> bool {
    match value {
        Value::Object(entries) => entries.contains_key("$ref") || entries.values().any(holds_reference),
        Value::Array(items) => items.iter().any(holds_reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
