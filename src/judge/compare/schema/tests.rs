//! A table of schemas and what a caller loses between them.

use serde_json::{Value, json};

use super::{Direction, differences, losses, sorted, without_prose};

fn check(direction: Direction, before: &Value, now: &Value, expected: &[&str]) {
    assert_eq!(
        losses(Some(before), Some(now), direction),
        expected,
        "{before} to {now}"
    );
}

pub(super) fn of(properties: &Value) -> Value {
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
        &[
            "the arguments are object, were of any type",
            "the arguments: `additionalProperties` is false, was not set",
        ],
    );
}

/// What each keyword of the vocabulary says when it is new or tighter, and that the way back says nothing.
#[test]
fn every_keyword_that_forbids_more_is_told_with_its_value_and_the_way_back_is_not() {
    let a = "argument `a`";
    let table = [
        (
            json!({}),
            json!({ "additionalProperties": false }),
            format!("{a}: `additionalProperties` is false, was not set"),
        ),
        (
            json!({ "additionalProperties": true }),
            json!({ "additionalProperties": { "type": "string" } }),
            format!("{a}: `additionalProperties` is {{\"type\":\"string\"}}, was true"),
        ),
        (
            json!({ "additionalProperties": { "type": "string" } }),
            json!({ "additionalProperties": false }),
            format!("{a}: `additionalProperties` is false, was {{\"type\":\"string\"}}"),
        ),
        (
            json!({}),
            json!({ "unevaluatedProperties": false }),
            format!("{a}: `unevaluatedProperties` is false, was not set"),
        ),
        (
            json!({}),
            json!({ "properties": { "b": false } }),
            "argument `a.b` is not taken any more".to_owned(),
        ),
        (
            json!({ "properties": { "b": {} } }),
            json!({ "properties": { "b": false } }),
            "argument `a.b` is not taken any more".to_owned(),
        ),
        (
            json!({}),
            json!({ "propertyNames": { "maxLength": 3 } }),
            format!("{a}: `propertyNames` is {{\"maxLength\":3}}, was not set"),
        ),
        (
            json!({}),
            json!({ "patternProperties": { "^x": { "type": "null" } } }),
            format!("{a}: `patternProperties` of `^x` is {{\"type\":\"null\"}}, was not set"),
        ),
        (
            json!({}),
            json!({ "dependentRequired": { "b": ["c"] } }),
            "argument `a.c` is required beside `a.b` now".to_owned(),
        ),
        (
            json!({}),
            json!({ "dependencies": { "b": ["c"] } }),
            "argument `a.c` is required beside `a.b` now".to_owned(),
        ),
        (
            json!({}),
            json!({ "dependentSchemas": { "b": { "required": ["c"] } } }),
            format!("{a}: `dependentSchemas` of `b` is {{\"required\":[\"c\"]}}, was not set"),
        ),
        (
            json!({}),
            json!({ "minProperties": 1 }),
            format!("{a}: `minProperties` is 1, was not set"),
        ),
        (
            json!({}),
            json!({ "pattern": "^a" }),
            format!("{a}: `pattern` is \"^a\", was not set"),
        ),
        (
            json!({}),
            json!({ "format": "uri" }),
            format!("{a}: `format` is \"uri\", was not set"),
        ),
        (json!({}), json!({ "const": 1 }), format!("{a} takes only 1 now")),
        (
            json!({ "type": "boolean" }),
            json!({ "const": true }),
            format!("{a} no longer takes false"),
        ),
        (
            json!({ "oneOf": [{ "const": "x" }, { "const": "y" }] }),
            json!({ "enum": ["y"] }),
            format!("{a} no longer takes \"x\""),
        ),
        (
            json!({}),
            json!({ "multipleOf": 5 }),
            format!("{a}: `multipleOf` is 5, was not set"),
        ),
        (
            json!({ "multipleOf": 2 }),
            json!({ "multipleOf": 4 }),
            format!("{a}: `multipleOf` is 4, was 2"),
        ),
        (
            json!({ "multipleOf": 0.1 }),
            json!({ "multipleOf": 0.3 }),
            format!("{a}: `multipleOf` is 0.3, was 0.1"),
        ),
        (
            json!({ "minimum": 0 }),
            json!({ "exclusiveMinimum": 0 }),
            format!("{a}: `exclusiveMinimum` is 0, `minimum` was 0"),
        ),
        (
            json!({ "minimum": 0 }),
            json!({ "minimum": 0, "exclusiveMinimum": true }),
            format!("{a}: `exclusiveMinimum` is true, `minimum` was 0"),
        ),
        (
            json!({}),
            json!({ "minItems": 1 }),
            format!("{a}: `minItems` is 1, was not set"),
        ),
        (
            json!({}),
            json!({ "uniqueItems": true }),
            format!("{a}: `uniqueItems` is true, was not set"),
        ),
        (
            json!({}),
            json!({ "contains": {} }),
            format!("{a}: `contains` is {{}}, was not set"),
        ),
        (
            json!({ "contains": { "maximum": 9 } }),
            json!({ "contains": { "maximum": 5 } }),
            format!("{a}: `contains` is {{\"maximum\":5}}, was {{\"maximum\":9}}"),
        ),
        (
            json!({}),
            json!({ "items": { "type": "string" } }),
            "argument `a[]` is string, was of any type".to_owned(),
        ),
        (
            json!({ "prefixItems": [{}] }),
            json!({ "prefixItems": [{ "type": "null" }] }),
            "argument `a[0]` is null, was of any type".to_owned(),
        ),
        (
            json!({}),
            json!({ "not": { "type": "null" } }),
            format!("{a}: `not` is {{\"type\":\"null\"}}, was not set"),
        ),
        (
            json!({ "not": { "minimum": 9 } }),
            json!({ "not": { "minimum": 5 } }),
            format!("{a}: `not` is {{\"minimum\":5}}, was {{\"minimum\":9}}"),
        ),
        (json!({}), json!({ "not": {} }), format!("{a} is not taken any more")),
        (json!({}), json!(false), format!("{a} is not taken any more")),
        (
            json!({ "anyOf": [{ "pattern": "x" }, { "pattern": "y" }] }),
            json!({ "anyOf": [{ "pattern": "y" }] }),
            format!("{a} no longer takes {{\"pattern\":\"x\"}}"),
        ),
        (
            json!({ "oneOf": [{ "type": "string", "maxLength": 9 }, { "type": "null" }] }),
            json!({ "oneOf": [{ "type": "null" }, { "type": "string", "maxLength": 5 }] }),
            format!("{a}: `maxLength` is 5, was 9"),
        ),
        (
            json!({ "type": "string" }),
            json!({ "anyOf": [{ "type": "string", "maxLength": 5 }] }),
            format!("{a}: `maxLength` is 5, was not set"),
        ),
        (
            json!({ "type": "object" }),
            json!({ "type": "object", "anyOf": [{ "required": ["b"] }, { "required": ["c"] }] }),
            format!("{a}: `anyOf` is [{{\"required\":[\"b\"]}},{{\"required\":[\"c\"]}}], was not set"),
        ),
        (
            json!({ "maximum": 3 }),
            json!({ "maximum": 3, "allOf": [{ "minimum": 1 }] }),
            format!("{a}: `allOf` asks for {{\"minimum\":1}} too, which it did not"),
        ),
    ];
    for (wide, narrow, said) in table {
        let (before, now) = (of(&json!({ "a": wide })), of(&json!({ "a": narrow })));
        check(Direction::Input, &before, &now, &[&said]);
        check(Direction::Input, &now, &before, &[]);
    }
}

#[test]
fn what_is_no_narrowing_or_cannot_be_decided_is_not_called_one() {
    let table = [
        (json!(false), json!({ "type": "string" })),
        (json!({ "not": {} }), json!({ "type": "string" })),
        (json!({ "minimum": 0 }), json!({ "minimum": 0.0 })),
        (json!({ "enum": [1, 2.0] }), json!({ "enum": [2, 1.0] })),
        (
            json!({ "type": "integer", "exclusiveMinimum": 0 }),
            json!({ "type": "integer", "minimum": 1 }),
        ),
        (json!({ "minimum": 0 }), json!({ "exclusiveMinimum": -1 })),
        (json!({ "multipleOf": 0.3 }), json!({ "multipleOf": 0.1 })),
        (
            json!({ "type": "integer" }),
            json!({ "type": "integer", "multipleOf": 1 }),
        ),
        (
            json!({}),
            json!({ "additionalProperties": {}, "items": true, "uniqueItems": false, "minContains": 1 }),
        ),
        (json!({ "pattern": "^a" }), json!({ "pattern": "^b" })),
        (json!({ "format": "date" }), json!({ "format": "date-time" })),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "anyOf": [{ "type": "null" }, { "type": "string" }] }),
        ),
        (json!({ "type": "null" }), json!({ "const": null })),
        (json!({ "maxLength": 5 }), json!({ "allOf": [{ "maxLength": 5 }] })),
        (
            json!({ "allOf": [{ "maxLength": 5 }, { "type": "string" }] }),
            json!({ "type": "string", "maxLength": 5 }),
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "string", "maxLength": 3 }] }),
            json!({ "anyOf": [{ "type": "string" }] }),
        ),
        (
            json!({ "if": { "minimum": 1 }, "then": { "maximum": 2 } }),
            json!({ "if": { "minimum": 2 }, "then": { "maximum": 1 } }),
        ),
        (
            json!({ "required": ["c"] }),
            json!({ "required": ["c"], "dependentRequired": { "b": ["c"] } }),
        ),
        (json!({ "properties": { "b": false } }), json!({ "properties": {} })),
        (
            json!({ "additionalProperties": false }),
            json!({ "additionalProperties": false, "properties": { "b": false } }),
        ),
    ];
    for (before, now) in table {
        check(
            Direction::Input,
            &of(&json!({ "a": before })),
            &of(&json!({ "a": now })),
            &[],
        );
    }
}

#[test]
fn what_forbids_more_is_no_loss_of_an_output() {
    let table = [
        (
            json!({}),
            json!({ "additionalProperties": false, "pattern": "x", "minimum": 3, "type": "string" }),
        ),
        (json!(false), json!({ "type": "string" })),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "const": "x", "type": "string" }),
        ),
    ];
    for (before, now) in table {
        check(
            Direction::Output,
            &of(&json!({ "a": before })),
            &of(&json!({ "a": now })),
            &[],
        );
    }
    check(
        Direction::Output,
        &of(&json!({ "a": {} })),
        &of(&json!({ "a": false })),
        &["output `a` is not given any more"],
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
        ["a.b is 2, was 1", "c is 0, was not set"]
    );
}
