//! The embedded MCP server: one tool, `echo {text}`, over stdio, both eras. It is what the
//! calibration of every run measures, so it does as little as a server can and holds no state.

use std::io::{self, BufRead, BufReader, Write};

use serde_json::{Value, json};

const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const MODERN: &str = "2026-07-28";
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const PARSE_ERROR: i64 = -32700;

/// Answers requests until stdin closes. A client that goes away is the normal end.
pub fn serve_stdio() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let Some(answer) = answer_line(&line) else { continue };
        let mut bytes = answer.to_string().into_bytes();
        bytes.push(b'\n');
        match output.write_all(&bytes).and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            outcome => outcome?,
        }
    }
}

/// The answer to one line, if it is one that wants an answer.
fn answer_line(line: &[u8]) -> Option<Value> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(error(&Value::Null, PARSE_ERROR, "this is no JSON"));
    };
    let id = message.get("id")?;
    let method = message.get("method")?.as_str()?;
    Some(match answer(method, message.get("params").unwrap_or(&Value::Null)) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, problem)) => error(id, code, &problem),
    })
}

fn answer(method: &str, params: &Value) -> Result<Value, (i64, String)> {
    match method {
        "initialize" => Ok(initialize(params)),
        "server/discover" => Ok(discover()),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": [echo_tool()] })),
        "tools/call" => call(params),
        other => Err((METHOD_NOT_FOUND, format!("method not found: {other}"))),
    }
}

fn server_info() -> Value {
    json!({ "name": "mcp-smoke-echo", "title": "Echo", "version": env!("CARGO_PKG_VERSION") })
}

fn initialize(params: &Value) -> Value {
    let asked = params
        .get("protocolVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let spoken = REVISIONS
        .iter()
        .find(|revision| **revision == asked)
        .unwrap_or(&REVISIONS[0]);
    json!({ "protocolVersion": spoken, "capabilities": { "tools": {} }, "serverInfo": server_info() })
}

fn discover() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": { "tools": {} },
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

fn echo_tool() -> Value {
    json!({
        "name": "echo",
        "description": "Gives the text back.",
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
        },
        "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
    })
}

fn call(params: &Value) -> Result<Value, (i64, String)> {
    let tool = params.get("name").and_then(Value::as_str).unwrap_or_default();
    if tool != "echo" {
        return Err((INVALID_PARAMS, format!("unknown tool: {tool}")));
    }
    let Some(text) = params.pointer("/arguments/text").and_then(Value::as_str) else {
        return Ok(json!({ "content": [{ "type": "text", "text": "`text` must be a string" }], "isError": true }));
    };
    Ok(json!({ "content": [{ "type": "text", "text": text }] }))
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(message: &Value) -> Option<Value> {
        answer_line(message.to_string().as_bytes())
    }

    #[test]
    fn a_known_revision_is_spoken_and_an_unknown_one_is_countered() {
        let asked = |revision: &str| {
            let request =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": revision } });
            ask(&request).unwrap()["result"]["protocolVersion"].clone()
        };
        assert_eq!(asked("2025-03-26"), "2025-03-26");
        assert_eq!(asked("2099-01-01"), "2025-11-25");
    }

    #[test]
    fn echo_gives_the_text_back_under_the_same_id() {
        let request = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": "echo", "arguments": { "text": "grüße" } } });
        let answer = ask(&request).unwrap();
        assert_eq!(answer["id"], "a");
        assert_eq!(answer["result"]["content"][0]["text"], "grüße");
    }

    #[test]
    fn mistakes_are_told_apart() {
        let call = |name: &str, arguments: Value| {
            ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } }))
                .unwrap()
        };
        assert_eq!(call("nope", json!({}))["error"]["code"], INVALID_PARAMS);
        assert_eq!(call("echo", json!({ "text": 1 }))["result"]["isError"], true);
        assert_eq!(answer_line(b"{").unwrap()["error"]["code"], PARSE_ERROR);
        assert_eq!(
            ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "x" })).unwrap()["error"]["code"],
            METHOD_NOT_FOUND
        );
    }

    #[test]
    fn notifications_answers_and_blank_lines_get_no_answer() {
        assert_eq!(
            ask(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })),
            None
        );
        assert_eq!(ask(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), None);
        assert_eq!(answer_line(b"\r\n"), None);
    }
}
