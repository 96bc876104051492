//! One page of `tools/list`: its tools, each with what is wrong with it, and where the next page is.
//! A bad tool must not spoil the others.

use serde_json::{Map, Value};

use super::Dialect;

/// One page.
#[derive(Clone, Debug, PartialEq)]
pub struct ListPage {
    /// The tools that have a name.
    pub tools: Vec<Listed>,
    /// Where the next page is.
    pub next: NextCursor,
    /// What is wrong with the page itself.
    pub problems: Vec<String>,
}

/// Where the next page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextCursor {
    /// This was the last one.
    None,
    /// Under this cursor, which may be empty.
    At(String),
}

/// One tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// `inputSchema` as sent.
    pub input_schema: Option<Value>,
    /// `outputSchema` as sent.
    pub output_schema: Option<Value>,
    /// `annotations` as sent.
    pub annotations: Option<Value>,
    /// Whether it can only be called as a task (`execution.taskSupport`, 2025-11-25).
    pub task_only: bool,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

/// The fields that may be left out, but not be null: TypeScript clients refuse the whole list then.
const OPTIONAL: &[&str] = &[
    "title",
    "description",
    "outputSchema",
    "annotations",
    "icons",
    "execution",
    "_meta",
];

/// The longest name that every host accepts (protocol, "Tool Names").
const LONGEST_NAME: usize = 128;

/// Reads one page; an error says what makes it no page at all.
pub fn list_page(result: &Value, dialect: Dialect) -> Result<ListPage, String> {
    let object = result.as_object().ok_or("the result is no object")?;
    let items = match object.get("tools") {
        Some(Value::Array(items)) => items,
        Some(_) => return Err("`tools` is no array".to_owned()),
        None => return Err("`tools` is missing".to_owned()),
    };
    let mut problems = Vec::new();
    let mut tools = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        match listed(item) {
            Ok(tool) => tools.push(tool),
            Err(problem) => problems.push(format!("entry {} {problem}", place + 1)),
        }
    }
    let next = next_cursor(object, &mut problems);
    if dialect == Dialect::Modern {
        check_modern(object, &mut problems);
    }
    Ok(ListPage { tools, next, problems })
}

fn next_cursor(object: &Map<String, Value>, problems: &mut Vec<String>) -> NextCursor {
    match object.get("nextCursor") {
        None => NextCursor::None,
        Some(Value::String(cursor)) => NextCursor::At(cursor.clone()),
        Some(Value::Null) => {
            problems.push("`nextCursor` is null instead of left out".to_owned());
            NextCursor::None
        }
        Some(other) => {
            problems.push(format!("`nextCursor` is no string: {other}"));
            NextCursor::None
        }
    }
}

/// 2026-07-28, "Caching": a list says how long it holds and for whom.
fn check_modern(object: &Map<String, Value>, problems: &mut Vec<String>) {
    match object.get("ttlMs").map(Value::as_f64) {
        Some(Some(ttl)) if ttl >= 0.0 => {}
        Some(_) => problems.push("`ttlMs` is no number from 0 on".to_owned()),
        None => problems.push("`ttlMs` is missing".to_owned()),
    }
    match object.get("cacheScope").map(Value::as_str) {
        Some(Some("public" | "private")) => {}
        Some(_) => problems.push("`cacheScope` is neither public nor private".to_owned()),
        None => problems.push("`cacheScope` is missing".to_owned()),
    }
}

fn listed(item: &Value) -> Result<Listed, String> {
    let object = item.as_object().ok_or("is no object")?;
    let name = match object.get("name") {
        Some(Value::String(name)) if !name.is_empty() => name.clone(),
        Some(Value::String(_)) => return Err("has an empty name".to_owned()),
        Some(_) => return Err("has a name that is no string".to_owned()),
        None => return Err("has no name".to_owned()),
    };
    let field = |key: &str| object.get(key).filter(|value| !value.is_null()).cloned();
    let mut problems = name_problems(&name);
    problems.extend(input_schema_problem(object.get("inputSchema")).map(str::to_owned));
    let nulls = OPTIONAL
        .iter()
        .filter(|key| object.get(**key).is_some_and(Value::is_null));
    problems.extend(nulls.map(|key| format!("`{key}` is null instead of left out")));
    let wrong = |key: &str, fits: fn(&Value) -> bool| field(key).is_some_and(|value| !fits(&value));
    if wrong("description", Value::is_string) {
        problems.push("`description` is no string".to_owned());
    }
    if wrong("outputSchema", |value| value.is_object() || value.is_boolean()) {
        problems.push("`outputSchema` is no schema".to_owned());
    }
    if wrong("annotations", Value::is_object) {
        problems.push("`annotations` is no object".to_owned());
    }
    Ok(Listed {
        name,
        description: object.get("description").and_then(Value::as_str).map(str::to_owned),
        input_schema: field("inputSchema"),
        output_schema: field("outputSchema"),
        annotations: field("annotations"),
        task_only: item
            .pointer("/execution/taskSupport")
            .is_some_and(|support| support == "required"),
        problems,
    })
}

fn name_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.chars().count() > LONGEST_NAME {
        problems.push(format!("its name is longer than {LONGEST_NAME} characters"));
    }
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-');
    if let Some(character) = name.chars().find(|character| !fits(*character)) {
        problems.push(format!("its name holds {character:?}; hosts accept A-Z a-z 0-9 _ . -"));
    }
    problems
}

fn input_schema_problem(schema: Option<&Value>) -> Option<&'static str> {
    match schema {
        None => Some("`inputSchema` is missing"),
        Some(Value::Null) => Some("`inputSchema` is null"),
        Some(Value::Object(schema)) => match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => None,
            Some(_) => Some("the type of `inputSchema` is not \"object\""),
            None => Some("`inputSchema` has no `\"type\": \"object\"`"),
        },
        Some(_) => Some("`inputSchema` is no object"),
    }
}
