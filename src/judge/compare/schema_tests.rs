//! A table of schemas and what a caller loses between them.

use proptest::prelude::{Strategy, any, prop_assert, proptest};
use serde_json::{Value, json};

use super::schema::{Direction, differences, losses, sorted, without_prose};

fn check(direction: Direction, before: &Value, now: &Value, expected: &[&str]) {
    assert_eq!(
        losses(Some(before), Some(now), direction),
        expected,
        "{before} to {now}"
    );
}

fn of(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn a_narrowed_input_is_told() {
    let input = |before: &Value, now: &Value, expected: &[&str]| check(Direction::Input, before, now, expected);
    let text = of(&json!({ "a": { "type": "string" } }));
    input(&text, &of(&json!({})), &["argument `a` is gone"]);
    input(
        &text,
        &of(&json!({ "a": { "type": "number" } })),
        &["argument `a` is number, was string"],
    );
    input(&text, &of(&json!({ "a": {} })), &[]);
    input(
        &of(&json!({ "a": {} })),
        &text,
        &["argument `a` is string, was of any type"],
    );
    input(
        &json!({ "properties": { "a": {}, "b": {} }, "required": ["a"] }),
        &json!({ "properties": { "a": {}, "b": {} }, "required": ["b", "a"] }),
        &["argument `b` is required now"],
    );
    input(
        &of(&json!({ "a": { "type": "integer" } })),
        &of(&json!({ "a": { "type": "number" } })),
        &[],
    );
    input(
        &of(&json!({ "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] } })),
        &text,
        &["argument `a` is string, was null or string"],
    );
    input(
        &of(&json!({ "a": { "type": ["null", "string"] } })),
        &of(&json!({ "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] } })),
        &[],
    );
    input(
        &of(&json!({ "a": { "enum": ["x", "y"] } })),
        &of(&json!({ "a": { "enum": ["y", "z"] } })),
        &["argument `a` no longer takes \"x\""],
    );
    input(
        &of(&json!({ "a": {} })),
        &of(&json!({ "a": { "const": 1 } })),
        &["argument `a` takes only 1 now"],
    );
    input(
        &of(&json!({ "a": { "maximum": 100 } })),
        &of(&json!({ "a": { "maximum": 50 } })),
        &["argument `a`: `maximum` is 50, was 100"],
    );
    input(
        &of(&json!({ "a": {} })),
        &of(&json!({ "a": { "maximum": 9_007_199_254_740_991_i64, "minLength": 0 } })),
        &[],
    );
    input(
        &json!({}),
        &json!({ "type": "object", "additionalProperties": false }),
        &["the arguments are object, were of any type"],
    );
}

#[test]
fn nested_and_named_parts_are_followed() {
    let deep = |inner: Value| of(&json!({ "list": { "type": "array", "items": of(&json!({ "a": inner })) } }));
    check(
        Direction::Input,
        &deep(json!({ "type": "string" })),
        &deep(json!({ "type": "boolean" })),
        &["argument `list[].a` is boolean, was string"],
    );
    let named =
        |kind: &str| json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": kind } } });
    check(
        Direction::Input,
        &named("string"),
        &named("number"),
        &["argument `a` is number, was string"],
    );
    // A type that holds itself ends.
    let endless = |kind: &str| json!({ "properties": { "a": { "$ref": "#" }, "b": { "type": kind } } });
    assert!(!losses(Some(&endless("string")), Some(&endless("null")), Direction::Input).is_empty());
}

#[test]
fn a_lesser_output_is_told() {
    let output = |before: &Value, now: &Value, expected: &[&str]| check(Direction::Output, before, now, expected);
    let text = of(&json!({ "a": { "type": "string" } }));
    output(&text, &of(&json!({})), &["output `a` is gone"]);
    output(
        &text,
        &of(&json!({ "a": { "type": ["string", "null"] } })),
        &["output `a` is null or string, was string"],
    );
    output(&of(&json!({ "a": { "type": ["string", "null"] } })), &text, &[]);
    output(&of(&json!({})), &text, &[]);
    assert_eq!(
        losses(Some(&text), None, Direction::Output),
        ["there is no output schema any more"]
    );
    assert!(losses(None, Some(&text), Direction::Output).is_empty());
}

#[test]
fn prose_is_told_apart_from_a_property_of_that_name() {
    let schema = json!({
        "title": "T", "required": ["b", "a"],
        "properties": { "description": { "type": "string", "description": "words" } },
    });
    assert_eq!(
        without_prose(&schema),
        json!({ "required": ["a", "b"], "properties": { "description": { "type": "string" } } })
    );
    assert_eq!(sorted(&schema)["title"], "T");
    assert_eq!(
        differences(&json!({"a": {"b": 1}}), &json!({"a": {"b": 2}, "c": 0})),
        ["a.b is 2, was 1", "c is new"]
    );
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = any::<u8>().prop_map(|number| match number % 4 {
        0 => json!("string"),
        1 => json!(number),
        2 => json!({ "$ref": "#" }),
        _ => json!(null),
    });
    let keys = "(type|properties|required|items|anyOf|enum|description|a|\\$ref|maximum)";
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let lists = proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
        let tables = proptest::collection::btree_map(keys, inner, 0..4)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()));
        proptest::prop_oneof![lists, tables]
    })
}

proptest! {
    #[test]
    fn what_servers_call_a_schema_never_stops_us(before in values(), now in values()) {
        for direction in [Direction::Input, Direction::Output] {
            prop_assert!(losses(Some(&before), Some(&before), direction).is_empty());
            drop(losses(Some(&before), Some(&now), direction));
        }
        prop_assert!(differences(&without_prose(&before), &without_prose(&before)).is_empty());
        drop(differences(&sorted(&before), &sorted(&now)));
    }
}
