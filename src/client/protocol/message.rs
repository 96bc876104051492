//! One line of a server's output as messages. Tolerates what a careful client tolerates, and says
//! so ([`Quirk`]); everything else is a [`Violation`]. It must not guess at what was meant.

use serde_json::{Map, Value};

use super::violation::{Violation, diagnose};

/// A JSON-RPC message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A request; its sender waits for an answer under this id.
    Request {
        /// Any string or number; echoed as it came.
        id: Value,
        /// The method.
        method: String,
        /// The parameters, null if there are none.
        params: Value,
    },
    /// A notification.
    Notification {
        /// The method.
        method: String,
        /// The parameters, null if there are none.
        params: Value,
    },
    /// An answer.
    Response(Response),
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The id it carries, null if it carries none.
    pub id: Value,
    /// The result, or the error.
    pub outcome: Result<Value, RpcError>,
}

/// The error of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// `code`, 0 if it is no number.
    pub code: i64,
    /// `message`, empty if it is missing.
    pub message: String,
    /// `data`, null if it is missing.
    pub data: Value,
}

/// Something that was tolerated although other clients may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quirk {
    /// A byte order mark before the message.
    ByteOrderMark,
    /// Bytes that are no UTF-8; they were replaced.
    NotUtf8,
    /// So many messages in one array.
    Batch(usize),
    /// `"error": null` beside a result.
    ErrorNull,
}

/// The messages of one line: one, or several if it was a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// In their order.
    pub messages: Vec<Message>,
    /// What was tolerated.
    pub quirks: Vec<Quirk>,
}

impl RpcError {
    /// The revisions of `data.supported`, or those that the message names; empty if there are none.
    pub fn supported_revisions(&self) -> Vec<String> {
        let listed = self.data.get("supported").and_then(Value::as_array);
        let from_data: Vec<String> = listed
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        if from_data.is_empty() {
            dates(&self.message)
        } else {
            from_data
        }
    }
}

/// Reads one line, without its `\n`.
pub fn parse(line: &[u8]) -> Result<Line, Violation> {
    let mut quirks = Vec::new();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = if let Some(rest) = line.strip_prefix(b"\xEF\xBB\xBF") {
        quirks.push(Quirk::ByteOrderMark);
        rest
    } else {
        line
    };
    if line.trim_ascii().is_empty() {
        return Err(Violation::Blank);
    }
    let text = String::from_utf8_lossy(line);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        quirks.push(Quirk::NotUtf8);
    }
    match serde_json::from_str(&text) {
        Ok(value) => classify(value, quirks),
        Err(error) => Err(diagnose(&text, &error)),
    }
}

/// Whether an answer's id is the one of our request `id`, and whether only in another form.
pub fn matches_id(answer: &Value, id: u64) -> Option<IdForm> {
    match answer {
        Value::Number(number) if number.as_u64() == Some(id) => Some(IdForm::Same),
        Value::Number(number) if number.is_f64() && number.to_string() == format!("{id}.0") => Some(IdForm::Other),
        Value::String(text) if *text == id.to_string() => Some(IdForm::Other),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// How an id came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// As it was sent.
    Same,
    /// As a string, or with a fraction.
    Other,
}

/// The messages of a JSON value.
pub(super) fn classify(value: Value, mut quirks: Vec<Quirk>) -> Result<Line, Violation> {
    match value {
        Value::Object(object) => {
            let message = message_of(object, &mut quirks)?;
            Ok(Line {
                messages: vec![message],
                quirks,
            })
        }
        Value::Array(items) => {
            quirks.push(Quirk::Batch(items.len()));
            let objects = items.into_iter().filter_map(|item| match item {
                Value::Object(object) => Some(object),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
            });
            let messages: Vec<Message> = objects
                .filter_map(|object| message_of(object, &mut quirks).ok())
                .collect();
            if messages.is_empty() {
                Err(Violation::NoMessage)
            } else {
                Ok(Line { messages, quirks })
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Violation::NoMessage),
    }
}

fn message_of(mut object: Map<String, Value>, quirks: &mut Vec<Quirk>) -> Result<Message, Violation> {
    let has_version = object.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let id = object.remove("id");
    if let Some(Value::String(method)) = object.remove("method") {
        if !has_version {
            return Err(Violation::NoMessage);
        }
        let params = object.remove("params").unwrap_or_default();
        return Ok(match id {
            Some(id @ (Value::String(_) | Value::Number(_))) => Message::Request { id, method, params },
            Some(_) | None => Message::Notification { method, params },
        });
    }
    let result = object.remove("result");
    let error = object.remove("error");
    let outcome = match (result, error) {
        (Some(result), None) => Ok(result),
        (Some(result), Some(Value::Null)) => {
            quirks.push(Quirk::ErrorNull);
            Ok(result)
        }
        (_, Some(error)) if !error.is_null() => Err(rpc_error(error)),
        (None | Some(_), _) => return Err(Violation::NoMessage),
    };
    match (has_version, id) {
        (true, id) => Ok(Message::Response(Response {
            id: id.unwrap_or_default(),
            outcome,
        })),
        (false, Some(id)) if !id.is_null() => Err(Violation::NoVersion { id }),
        (false, _) => Err(Violation::NoMessage),
    }
}

fn rpc_error(error: Value) -> RpcError {
    match error {
        Value::Object(mut fields) => RpcError {
            code: fields.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: match fields.remove("message") {
                Some(Value::String(message)) => message,
                Some(other) => other.to_string(),
                None => String::new(),
            },
            data: fields.remove("data").unwrap_or_default(),
        },
        Value::String(message) => RpcError {
            code: 0,
            message,
            data: Value::Null,
        },
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => RpcError {
            code: 0,
            message: other.to_string(),
            data: Value::Null,
        },
    }
}

/// What looks like a revision in a text: `2024-11-05`.
fn dates(text: &str) -> Vec<String> {
    let is_date = |word: &&str| {
        word.len() == 10
            && word.bytes().enumerate().all(|(place, byte)| match place {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    };
    let words = text.split(|character: char| !character.is_ascii_digit() && character != '-');
    words.filter(is_date).map(str::to_owned).collect()
}
