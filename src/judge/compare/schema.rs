//! Two JSON Schemas of one tool held against each other: what a caller may no longer send, what a caller no
//! longer gets, and what else differs. Pure, and without a notion of findings.
//!
//! The order of keys, and of names in `required`, `type` and `enum`, is no difference: some servers write
//! sets, whose order changes with every start.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::judge::words::line;

/// Schemas nest and refer to themselves; deeper than this nobody reads.
const DEEPEST: usize = 12;
/// Beyond it no number is exact in JSON, so some generators write it as a bound that bounds nothing.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// Which way the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the server: it must go on taking what it took.
    Input,
    /// From the server: it must go on giving what it gave.
    Output,
}

/// A schema within its document, which its `$ref` point into.
#[derive(Clone, Copy)]
struct Part<'json> {
    root: &'json Value,
    schema: &'json Value,
}

/// What was narrowed (input) or removed (output), in words; empty if nothing was.
pub(super) fn losses(before: Option<&Value>, now: Option<&Value>, direction: Direction) -> Vec<String> {
    let anything = Value::Object(Map::new());
    let mut losses = Vec::new();
    match (direction, before, now) {
        (Direction::Output, None, _) => {}
        (Direction::Output, Some(_), None) => losses.push("there is no output schema any more".to_owned()),
        (Direction::Input | Direction::Output, before, now) => {
            let (before, now) = (before.unwrap_or(&anything), now.unwrap_or(&anything));
            compare(Part::of(before), Part::of(now), "", direction, 0, &mut losses);
        }
    }
    losses
}

/// The schema without its prose (descriptions, titles, examples), its sets sorted.
pub(super) fn without_prose(schema: &Value) -> Value {
    normal(schema, true)
}

/// The schema with its sets sorted.
pub(super) fn sorted(schema: &Value) -> Value {
    normal(schema, false)
}

/// Where two values differ, as dotted paths with what became of each.
pub(super) fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    differ("", before, now, &mut found);
    found
}

fn compare(before: Part<'_>, now: Part<'_>, path: &str, direction: Direction, depth: usize, losses: &mut Vec<String>) {
    let (before, now) = (before.resolved(), now.resolved());
    if depth > DEEPEST || before.schema == now.schema {
        return;
    }
    let what = match (direction, path) {
        (Direction::Input, "") => "the arguments".to_owned(),
        (Direction::Output, "") => "the output".to_owned(),
        (Direction::Input, path) => format!("argument `{}`", line(path)),
        (Direction::Output, path) => format!("output `{}`", line(path)),
    };
    types(before, now, &what, direction, losses);
    if direction == Direction::Input {
        choices(before, now, &what, losses);
        bounds(before, now, &what, losses);
        required(before, now, path, losses);
    }
    for (name, old) in before.properties() {
        let path = joined(path, name);
        match now.property(name) {
            Some(new) => compare(old, new, &path, direction, depth + 1, losses),
            None if direction == Direction::Input => losses.push(format!("argument `{}` is gone", line(&path))),
            None => losses.push(format!("output `{}` is gone", line(&path))),
        }
    }
    if let (Some(old), Some(new)) = (before.below("items"), now.below("items")) {
        compare(old, new, &format!("{path}[]"), direction, depth + 1, losses);
    }
}

/// A type that is no longer taken; for outputs any type that was not given before.
fn types(before: Part<'_>, now: Part<'_>, what: &str, direction: Direction, losses: &mut Vec<String>) {
    let (old, new) = (before.types(0), now.types(0));
    let fits = match direction {
        Direction::Input => covers(new.as_ref(), old.as_ref()),
        Direction::Output => covers(old.as_ref(), new.as_ref()),
    };
    if !fits {
        let words = |types: Option<BTreeSet<String>>| {
            types.map_or_else(
                || "of any type".to_owned(),
                |types| types.into_iter().collect::<Vec<_>>().join(" or "),
            )
        };
        let verb = if what.ends_with('s') { "are" } else { "is" };
        let was = if what.ends_with('s') { "were" } else { "was" };
        losses.push(line(&format!("{what} {verb} {}, {was} {}", words(new), words(old))));
    }
}

/// Whether all of the types are among the wider ones; None is any type.
fn covers(wider: Option<&BTreeSet<String>>, types: Option<&BTreeSet<String>>) -> bool {
    match (wider, types) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wider), Some(types)) => types
            .iter()
            .all(|kind| wider.contains(kind) || (kind == "integer" && wider.contains("number"))),
    }
}

/// `enum` and `const`.
fn choices(before: Part<'_>, now: Part<'_>, what: &str, losses: &mut Vec<String>) {
    let (old, new) = (before.choices(), now.choices());
    let Some(new) = new else {
        return;
    };
    match old {
        None => losses.push(format!("{what} takes only {} now", listed(&new))),
        Some(old) => {
            let gone: Vec<&Value> = old.into_iter().filter(|value| !new.contains(value)).collect();
            if !gone.is_empty() {
                losses.push(format!("{what} no longer takes {}", listed(&gone)));
            }
        }
    }
}

/// Bounds that are new or tighter.
fn bounds(before: Part<'_>, now: Part<'_>, what: &str, losses: &mut Vec<String>) {
    const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
    const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems"];
    for (keyword, sign) in UPPER
        .iter()
        .map(|keyword| (keyword, 1.0))
        .chain(LOWER.iter().map(|keyword| (keyword, -1.0)))
    {
        let bound = |part: Part<'_>| part.schema[*keyword].as_f64().filter(|bound| bound.abs() < EXACT);
        let tighter = match (bound(before), bound(now)) {
            (_, None) => false,
            // Nothing is shorter than nothing.
            (None, Some(new)) => !(new == 0.0 && keyword.starts_with("min") && *keyword != "minimum"),
            (Some(old), Some(new)) => new * sign < old * sign,
        };
        if tighter {
            let new = &now.schema[*keyword];
            let old = match &before.schema[*keyword] {
                Value::Null => "none".to_owned(),
                old => old.to_string(),
            };
            losses.push(format!("{what}: `{keyword}` is {new}, was {old}"));
        }
    }
}

fn required(before: Part<'_>, now: Part<'_>, path: &str, losses: &mut Vec<String>) {
    let old = before.required();
    for name in now.required().difference(&old) {
        let path = joined(path, name);
        losses.push(format!("argument `{}` is required now", line(&path)));
    }
}

impl<'json> Part<'json> {
    fn of(root: &'json Value) -> Self {
        Self { root, schema: root }
    }

    /// The schema that a local `$ref` names; what points elsewhere stays as it is.
    fn resolved(self) -> Self {
        let mut schema = self.schema;
        for _ in 0..DEEPEST {
            let Some(target) = schema["$ref"]
                .as_str()
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| self.root.pointer(pointer))
            else {
                break;
            };
            schema = target;
        }
        Self { schema, ..self }
    }

    fn below(self, keyword: &str) -> Option<Self> {
        let schema = self.schema.get(keyword)?;
        schema.is_object().then_some(Self { schema, ..self })
    }

    fn property(self, name: &str) -> Option<Self> {
        let schema = self.schema.get("properties")?.get(name)?;
        Some(Self { schema, ..self })
    }

    fn properties(self) -> impl Iterator<Item = (&'json String, Self)> {
        let properties = self.schema["properties"].as_object();
        properties
            .into_iter()
            .flatten()
            .map(move |(name, schema)| (name, Self { schema, ..self }))
    }

    fn required(self) -> BTreeSet<&'json str> {
        let names = self.schema["required"].as_array();
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn choices(self) -> Option<Vec<&'json Value>> {
        let one = self.schema.get("const").map(|value| vec![value]);
        one.or_else(|| Some(self.schema["enum"].as_array()?.iter().collect()))
    }

    /// The types it allows; None where it says none, which is any. `anyOf` of a type and null is how
    /// Python's generators write what may be absent.
    fn types(self, depth: usize) -> Option<BTreeSet<String>> {
        let part = self.resolved();
        match &part.schema["type"] {
            Value::String(kind) => return Some([kind.clone()].into()),
            Value::Array(kinds) => {
                return Some(kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            }
            _ if depth > DEEPEST => return None,
            _ => {}
        }
        let either = ["anyOf", "oneOf"]
            .iter()
            .find_map(|keyword| part.schema[*keyword].as_array())?;
        let mut all = BTreeSet::new();
        for schema in either {
            all.extend(Part { schema, ..part }.types(depth + 1)?);
        }
        Some(all)
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn listed(values: &[&Value]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    line(&texts.join(", "))
}

/// A schema in the form in which two are held against each other. It knows which keys hold names of the
/// server's own (a property may well be called `description`).
fn normal(schema: &Value, drop_prose: bool) -> Value {
    let Value::Object(entries) = schema else {
        return schema.clone();
    };
    let mut kept: BTreeMap<&String, Value> = BTreeMap::new();
    for (key, value) in entries {
        let value = match (key.as_str(), value) {
            ("description" | "title" | "examples" | "$comment", _) if drop_prose => continue,
            ("required" | "type" | "enum", Value::Array(items)) => {
                let mut items = items.clone();
                items.sort_by_key(ToString::to_string);
                Value::Array(items)
            }
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named
                .iter()
                .map(|(name, schema)| (name.clone(), normal(schema, drop_prose)))
                .collect(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                schemas.iter().map(|schema| normal(schema, drop_prose)).collect()
            }
            (
                "items" | "additionalProperties" | "propertyNames" | "contains" | "not" | "if" | "then" | "else",
                schema,
            ) => normal(schema, drop_prose),
            (_, value) => value.clone(),
        };
        kept.insert(key, value);
    }
    Value::Object(kept.into_iter().map(|(key, value)| (key.clone(), value)).collect())
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
            (Some(_), None) => found.push(line(&format!("{path} is gone"))),
            (None, _) => found.push(line(&format!("{path} is new"))),
        }
    }
}
