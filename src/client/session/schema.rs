//! JSON Schema of strangers: whether one is valid, and whether a value fits it. Bounded in size, and
//! nothing is ever fetched (the crate is built without any resolver).

use serde_json::Value;

use super::wording::excerpt;

/// Beyond this neither schema nor value is checked: compiling and matching may cost far more than reading.
const LARGEST: usize = 1024 * 1024;

/// What is wrong with a schema; its dialect is its `$schema`, else 2020-12.
pub(super) fn problem(schema: &Value) -> Option<String> {
    if is_too_large(schema) {
        return None;
    }
    let known = jsonschema::meta::options();
    let error = known.validate(schema).err()?;
    // A dialect of somebody's own cannot be checked.
    if !matches!(error.kind(), jsonschema::error::ValidationErrorKind::Referencing(_)) {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" at {place}")
        };
        return Some(format!("{}{place}", excerpt(&error.to_string())));
    }
    None
}

/// Why a value does not fit a schema, or why the schema cannot be used.
pub(super) fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    if is_too_large(schema) || is_too_large(value) {
        return None;
    }
    match jsonschema::validator_for(schema) {
        Ok(validator) => {
            let error = validator.validate(value).err()?;
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "its root".to_owned() } else { place };
            Some(format!(
                "`structuredContent` does not fit `outputSchema`: {} at {place}",
                excerpt(&error.to_string())
            ))
        }
        Err(error) => Some(format!(
            "`outputSchema` cannot be used: {}",
            excerpt(&error.to_string())
        )),
    }
}

fn is_too_large(value: &Value) -> bool {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            if self.0 > LARGEST {
                Err(std::io::ErrorKind::FileTooLarge.into())
            } else {
                Ok(bytes.len())
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Counter(0), value).is_err()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_of_real_servers_are_fine() {
        let fine = [
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                    "properties": { "a": { "items": [{ "type": "string" }] } } }),
            json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "$defs": {} }),
            json!({ "$schema": "https://example.com/own-dialect", "type": "object" }),
        ];
        for schema in fine {
            assert_eq!(problem(&schema), None, "{schema}");
        }
    }

    #[test]
    fn broken_schemas_are_named_with_their_place() {
        let broken = json!({ "type": "object", "properties": { "a": { "type": "string", "required": true } } });
        assert!(problem(&broken).expect("a problem").contains("/properties/a/required"));
        assert!(problem(&json!({ "type": "object", "properties": { "a": null } })).is_some());
    }

    #[test]
    fn values_are_held_against_their_schema() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        assert_eq!(mismatch(&schema, &json!({ "n": 1 })), None);
        assert!(
            mismatch(&schema, &json!({ "n": "1" }))
                .expect("a problem")
                .contains("/n")
        );
        let remote = json!({ "$ref": "http://127.0.0.1:9/schema.json" });
        assert!(
            mismatch(&remote, &json!({}))
                .expect("a problem")
                .contains("cannot be used")
        );
        assert_eq!(
            mismatch(&schema, &json!({ "n": "x".repeat(LARGEST) })),
            None,
            "too large to check"
        );
    }
}
