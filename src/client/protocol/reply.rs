//! The result of `tools/call`: its text, whether the tool calls it an error, and what is wrong with it.
//! Whether it is what a probe wants is none of this module's business.

use serde_json::Value;

use super::Dialect;

/// What a call returned.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// `isError`.
    pub is_error: bool,
    /// The text of all content blocks, one after the other.
    pub text: String,
    /// `structuredContent`.
    pub structured: Option<Value>,
    /// Whether this is the final result.
    pub kind: ResultKind,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

/// Whether a result is final.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultKind {
    /// It is.
    Complete,
    /// The server wants something first (2026-07-28): which requests, and what to hand back.
    InputRequired {
        /// The methods it asks for; empty if only `requestState` is to be handed back.
        needs: Vec<String>,
        /// `requestState`.
        request_state: Option<Value>,
    },
    /// A task was made of it, which we did not ask for.
    Task,
    /// A `resultType` that does not exist.
    Other(String),
}

/// Reads the result of `tools/call`.
pub fn call_result(mut result: Value, dialect: Dialect) -> CallResult {
    let mut problems = Vec::new();
    let kind = result_kind(&result, dialect);
    let is_error = match result.get("isError") {
        None => false,
        Some(Value::Bool(is_error)) => *is_error,
        Some(_) => {
            problems.push("`isError` is neither true nor false".to_owned());
            false
        }
    };
    let text = if kind == ResultKind::Complete {
        content_text(&result, &mut problems)
    } else {
        String::new()
    };
    let structured = result
        .get_mut("structuredContent")
        .map(Value::take)
        .filter(|value| !value.is_null());
    if dialect == Dialect::Legacy && structured.as_ref().is_some_and(|value| !value.is_object()) {
        problems.push("`structuredContent` is no object".to_owned());
    }
    CallResult {
        is_error,
        text,
        structured,
        kind,
        problems,
    }
}

fn result_kind(result: &Value, dialect: Dialect) -> ResultKind {
    // Older revisions ignore fields that they do not know.
    let kind = result.get("resultType").filter(|_| dialect == Dialect::Modern);
    match kind.map(|kind| kind.as_str().unwrap_or_default()) {
        Some("input_required") => {
            let requests = result.get("inputRequests").and_then(Value::as_object);
            let needs = requests.into_iter().flatten().map(|(key, request)| {
                let method = request.get("method").and_then(Value::as_str);
                method.unwrap_or(key).to_owned()
            });
            ResultKind::InputRequired {
                needs: needs.collect(),
                request_state: result.get("requestState").cloned(),
            }
        }
        Some("task") => ResultKind::Task,
        Some("complete") | None => {
            let is_task = result.get("content").is_none() && result.pointer("/task/taskId").is_some();
            if is_task {
                ResultKind::Task
            } else {
                ResultKind::Complete
            }
        }
        Some(other) => ResultKind::Other(other.to_owned()),
    }
}

fn content_text(result: &Value, problems: &mut Vec<String>) -> String {
    let blocks = match result.get("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(_) => {
            problems.push("`content` is no array".to_owned());
            return String::new();
        }
        None => {
            problems.push("`content` is missing".to_owned());
            return String::new();
        }
    };
    let mut text = String::new();
    for (place, block) in blocks.iter().enumerate() {
        match block_text(block) {
            Ok(None) => {}
            Ok(Some(part)) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part);
            }
            Err(problem) => problems.push(format!("block {} of `content` {problem}", place + 1)),
        }
    }
    text
}

fn block_text(block: &Value) -> Result<Option<&str>, String> {
    let string = |key: &str| block.get(key).and_then(Value::as_str);
    let needs = |keys: &[&str]| match keys.iter().find(|key| string(key).is_none()) {
        Some(key) => Err(format!("has no `{key}`")),
        None => Ok(None),
    };
    match string("type") {
        Some("text") => string("text").map(Some).ok_or_else(|| "has no `text`".to_owned()),
        Some("image" | "audio") => needs(&["data", "mimeType"]),
        Some("resource") => match block.get("resource") {
            Some(resource) => Ok(resource.get("text").and_then(Value::as_str)),
            None => Err("has no `resource`".to_owned()),
        },
        Some("resource_link") => needs(&["uri", "name"]),
        Some(other) => Err(format!("is of an unknown type {other:?}")),
        None => Err("has no `type`".to_owned()),
    }
}
