//! What holds of any two schemas: other words are no change, narrowing and widening are opposite, and nothing
//! that a server calls a schema stops us.

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::tests::of;
use super::{Direction, differences, losses, sorted, without_prose};

/// The keywords of the vocabulary, each with two values, the second of which forbids more.
const VOCABULARY: [(&str, &str, &str); 22] = [
    ("type", r#"["string","null"]"#, r#"["null"]"#),
    ("minimum", "0", "1.5"),
    ("maximum", "9.0", "8"),
    ("exclusiveMaximum", "9.0", "8"),
    ("minLength", "1", "2"),
    ("maxLength", "9", "8"),
    ("minItems", "1", "2"),
    ("maxItems", "9", "8"),
    ("maxProperties", "9", "8"),
    ("multipleOf", "0.5", "1.0"),
    ("uniqueItems", "false", "true"),
    ("enum", r#"["x",1,{"k":1.0,"l":2}]"#, r#"[1,"x"]"#),
    ("required", r#"["a","b"]"#, r#"["c","a","b"]"#),
    (
        "properties",
        r#"{"a":{"minimum":0},"b":{}}"#,
        r#"{"a":{"minimum":1},"b":{}}"#,
    ),
    ("properties", r#"{"a":{},"b":{}}"#, r#"{"a":{},"b":false}"#),
    ("additionalProperties", "true", "false"),
    ("propertyNames", r#"{"maxLength":9}"#, r#"{"maxLength":5}"#),
    ("dependentRequired", r#"{"d":["e","f"]}"#, r#"{"d":["g","e","f"]}"#),
    ("items", r#"{"type":"number"}"#, r#"{"type":"integer"}"#),
    ("contains", r#"{"maximum":9}"#, r#"{"maximum":5}"#),
    ("not", r#"{"minimum":9}"#, r#"{"minimum":5}"#),
    (
        "anyOf",
        r#"[{"type":"string"},{"type":"array"}]"#,
        r#"[{"type":"string"}]"#,
    ),
];

/// The same schema in other words: keys and sets in another order, whole numbers with or without a point.
fn respelt(value: &Value, rng: &mut fastrand::Rng) -> Value {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<(String, Value)> = entries
                .iter()
                .map(|(key, value)| match (key.as_str(), value) {
                    ("required" | "type" | "enum", Value::Array(items)) => {
                        let mut items: Vec<Value> = items.iter().map(|item| respelt(item, rng)).collect();
                        rng.shuffle(&mut items);
                        (key.clone(), Value::Array(items))
                    }
                    (_, value) => (key.clone(), respelt(value, rng)),
                })
                .collect();
            rng.shuffle(&mut entries);
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(|item| respelt(item, rng)).collect(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), Some(point)) if rng.bool() => {
                assert_eq!(whole.to_string(), format!("{point:.0}"));
                json!(point)
            }
            (None, Some(point)) if point.fract() == 0.0 && rng.bool() => {
                json!(format!("{point:.0}").parse::<i64>().expect("a whole number"))
            }
            _ => value.clone(),
        },
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// A schema of some keywords, of which some forbid more in the second.
fn narrowed(rng: &mut fastrand::Rng) -> (Value, Value) {
    let mut schemas = (json!({}), json!({}));
    let mut fewer = 0;
    for (keyword, wide, narrow) in VOCABULARY {
        if rng.bool() || schemas.0.get(keyword).is_some() {
            continue;
        }
        let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("a schema");
        let forbids_more = rng.bool();
        fewer += usize::from(forbids_more);
        schemas.0[keyword] = parsed(wide);
        schemas.1[keyword] = parsed(if forbids_more { narrow } else { wide });
    }
    if fewer == 0 {
        schemas.0["minProperties"] = json!(1);
        schemas.1["minProperties"] = json!(2);
    }
    let nested = rng.bool();
    let at = |schema: Value| {
        if nested {
            of(&json!({ "n": { "type": "array", "items": schema } }))
        } else {
            schema
        }
    };
    (at(schemas.0), at(schemas.1))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = any::<u8>().prop_map(|number| match number % 4 {
        0 => json!("string"),
        1 => json!(number),
        2 => json!({ "$ref": "#" }),
        _ => json!(null),
    });
    let keys = "(type|properties|required|items|anyOf|allOf|not|enum|contains|additionalProperties|dependencies|patternProperties|a|\\$ref|maximum)";
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let lists = proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
        let tables = proptest::collection::btree_map(keys, inner, 0..4)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()));
        proptest::prop_oneof![lists, tables]
    })
}

proptest! {
    #[test]
    fn other_words_for_the_same_schema_are_no_change(seed in any::<u64>()) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (schema, _) = narrowed(&mut rng);
        let again = respelt(&schema, &mut rng);
        for direction in [Direction::Input, Direction::Output] {
            prop_assert_eq!(losses(Some(&schema), Some(&again), direction), Vec::<String>::new());
        }
        prop_assert_eq!(without_prose(&schema), without_prose(&again));
        prop_assert_eq!(sorted(&schema), sorted(&again));
        prop_assert!(differences(&schema, &schema).is_empty());
    }

    #[test]
    fn narrowing_and_widening_are_opposite(seed in any::<u64>()) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (wide, narrow) = narrowed(&mut rng);
        let (wide, narrow) = (respelt(&wide, &mut rng), respelt(&narrow, &mut rng));
        prop_assert!(!losses(Some(&wide), Some(&narrow), Direction::Input).is_empty(), "{} to {}", wide, narrow);
        prop_assert_eq!(losses(Some(&narrow), Some(&wide), Direction::Input), Vec::<String>::new(), "{} to {}", narrow, wide);
    }

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
