//! What we send, as lines with their `\n`. The parameters of a call are serialised once per probe;
//! only the id differs from call to call.

use serde_json::{Map, Value, json};

use super::{Dialect, message::RpcError};

/// Who we say we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Our name.
    pub name: String,
    /// Our version.
    pub version: String,
}

impl Client {
    fn as_json(&self) -> Value {
        json!({ "name": self.name, "version": self.version })
    }
}

/// A request with these parameters (a serialised object).
pub fn request(id: u64, method: &str, params: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(params.len() + method.len() + 64);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    line.extend_from_slice(id.to_string().as_bytes());
    line.extend_from_slice(b",\"method\":\"");
    line.extend_from_slice(method.as_bytes());
    line.extend_from_slice(b"\",\"params\":");
    line.extend_from_slice(params.as_bytes());
    line.extend_from_slice(b"}\n");
    line
}

/// The parameters of `initialize`. No capability is declared: servers that are told of one use it and wait.
pub fn initialize_params(revision: &str, client: &Client) -> String {
    json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client.as_json() }).to_string()
}

/// The parameters that every modern request has at least; legacy ones have none of them.
pub fn meta_params(dialect: Dialect, revision: &str, client: &Client) -> Map<String, Value> {
    let mut params = Map::new();
    if dialect == Dialect::Modern {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": client.as_json(),
        });
        params.insert("_meta".to_owned(), meta);
    }
    params
}

/// The parameters of `tools/list`.
pub fn list_params(meta: &Map<String, Value>, cursor: Option<&str>) -> String {
    let mut params = meta.clone();
    if let Some(cursor) = cursor {
        params.insert("cursor".to_owned(), Value::from(cursor));
    }
    Value::Object(params).to_string()
}

/// The parameters of `tools/call`; `request_state` is what an earlier round gave back (2026-07-28).
pub fn call_params(meta: &Map<String, Value>, tool: &str, arguments: &Value, request_state: Option<&Value>) -> String {
    let mut params = Map::new();
    params.insert("name".to_owned(), Value::from(tool));
    params.insert("arguments".to_owned(), arguments.clone());
    if let Some(state) = request_state {
        params.insert("requestState".to_owned(), state.clone());
    }
    params.extend(meta.clone());
    Value::Object(params).to_string()
}

/// `notifications/initialized`; some servers answer nothing before it (part 4 of the protocol).
pub fn initialized() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_vec()
}

/// `notifications/cancelled` for a request that was given up.
pub fn cancelled(id: u64) -> Vec<u8> {
    let message = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": id, "reason": "timeout" },
    });
    format!("{message}\n").into_bytes()
}

/// The empty result for a request of the server's.
pub fn ok_reply(id: &Value) -> Vec<u8> {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "result": {} })).into_bytes()
}

/// An error for a request of the server's.
pub fn error_reply(id: &Value, error: &RpcError) -> Vec<u8> {
    let error = json!({ "code": error.code, "message": error.message });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_bytes()
}
