//! The results of `initialize` and `server/discover`. What identifies the server may be missing; what
//! a client cannot go on without may not.

use serde_json::Value;

use super::{LEGACY_REVISIONS, NEWEST_MODERN};

/// What a handshake told.
#[derive(Clone, Debug, PartialEq)]
pub struct Handshake {
    /// The revision that is spoken from now on.
    pub negotiated: String,
    /// The server's name, verbatim.
    pub name: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its version, verbatim.
    pub version: Option<String>,
    /// Whether it gave a `serverInfo` at all.
    pub has_server_info: bool,
    /// `instructions`.
    pub instructions: Option<String>,
    /// `capabilities`, an object.
    pub capabilities: Value,
}

/// Why a handshake result cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandshakeProblem {
    /// It is not shaped like one.
    Invalid(String),
    /// It speaks revisions that we do not: which.
    Revision(String),
}

/// Reads the result of `initialize`.
pub fn initialize_result(result: &Value) -> Result<Handshake, HandshakeProblem> {
    let object = result.as_object().ok_or_else(|| invalid("the result is no object"))?;
    let revision = match object.get("protocolVersion") {
        None => return Err(invalid("`protocolVersion` is missing")),
        Some(Value::String(revision)) => revision.clone(),
        Some(_) => return Err(invalid("`protocolVersion` is no string")),
    };
    let capabilities = capabilities(result)?;
    if !LEGACY_REVISIONS.contains(&revision.as_str()) {
        return Err(HandshakeProblem::Revision(revision));
    }
    Ok(handshake(result, result.get("serverInfo"), revision, capabilities))
}

/// Reads the result of `server/discover` to a request of revision `offered`.
pub fn discover_result(result: &Value, offered: &str) -> Result<Handshake, HandshakeProblem> {
    let object = result.as_object().ok_or_else(|| invalid("the result is no object"))?;
    if let Some(kind) = object.get("resultType")
        && kind != "complete"
    {
        return Err(invalid(&format!("`resultType` is {kind}")));
    }
    let supported = match object.get("supportedVersions") {
        None => return Err(invalid("`supportedVersions` is missing")),
        Some(Value::Array(versions)) => versions.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
        Some(_) => return Err(invalid("`supportedVersions` is no array")),
    };
    let capabilities = capabilities(result)?;
    if !supported.contains(&offered) {
        let named = if supported.is_empty() {
            "none".to_owned()
        } else {
            supported.join(", ")
        };
        return Err(HandshakeProblem::Revision(named));
    }
    let info = result
        .pointer("/_meta/io.modelcontextprotocol~1serverInfo")
        .or_else(|| result.get("serverInfo"));
    Ok(handshake(result, info, offered.to_owned(), capabilities))
}

impl HandshakeProblem {
    /// Whether the answer asks for the other handshake.
    pub fn is_modern(&self) -> bool {
        matches!(self, Self::Revision(revision) if revision == NEWEST_MODERN)
    }
}

fn capabilities(result: &Value) -> Result<Value, HandshakeProblem> {
    match result.get("capabilities") {
        Some(capabilities @ Value::Object(_)) => Ok(capabilities.clone()),
        Some(_) => Err(invalid("`capabilities` is no object")),
        None => Err(invalid("`capabilities` is missing")),
    }
}

fn handshake(result: &Value, info: Option<&Value>, negotiated: String, capabilities: Value) -> Handshake {
    let text = |key: &str| {
        info.and_then(|info| info.get(key))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    Handshake {
        negotiated,
        name: text("name"),
        title: text("title"),
        version: text("version"),
        has_server_info: info.is_some_and(Value::is_object),
        instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
        capabilities,
    }
}

fn invalid(problem: &str) -> HandshakeProblem {
    HandshakeProblem::Invalid(problem.to_owned())
}
