//! The one schema, which is also the published one, held against the tree; its dry verdicts are put into words.

use std::ops::Range;
use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::Value;

use super::mistake::Mistake;
use super::tree::{Content, Entry, Node, Step};

/// The JSON Schema of a manifest, draft 2020-12.
pub const SCHEMA: &str = include_str!("../../docs/servers.schema.json");

/// The schema as JSON.
static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(SCHEMA).expect("the schema is part of this program and tested"));

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&DOCUMENT).expect("the schema is part of this program and tested"));

/// Where a mistake was seen: the value, the entry it belongs to, and its name for people.
struct Place<'tree> {
    node: &'tree Node,
    entry: Option<&'tree Entry>,
    field: String,
}

/// Every mistake that the schema finds.
pub(super) fn check(root: &Node) -> Vec<Mistake> {
    let json = root.to_json();
    VALIDATOR
        .iter_errors(&json)
        .flat_map(|error| mistakes(root, &error))
        .collect()
}

fn mistakes(root: &Node, error: &ValidationError<'_>) -> Vec<Mistake> {
    let path: Vec<Step> = error.instance_path().segments().map(step).collect();
    let Some((node, entry)) = root.at(&path) else {
        return vec![Mistake::new(root.span.clone(), error.to_string())];
    };
    let place = Place {
        node,
        entry,
        field: field_name(&path),
    };
    let schema = schema_at(error);
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            unexpected.iter().map(|key| unknown_key(&place, key, schema)).collect()
        }
        ValidationErrorKind::PropertyNames { error } => vec![bad_name(&place, error)],
        ValidationErrorKind::Required { property } => vec![missing(&place, property, schema)],
        ValidationErrorKind::OneOfNotValid { .. } => vec![none_given(&place)],
        ValidationErrorKind::OneOfMultipleValid { .. } => vec![both_given(&place)],
        ValidationErrorKind::Type { kind } => vec![wrong_type(&place, kind)],
        ValidationErrorKind::Enum { options } => vec![not_among(&place, options)],
        other => vec![out_of_bounds(&place, other, schema)],
    }
}

fn step(segment: jsonschema::paths::LocationSegment<'_>) -> Step {
    match segment {
        jsonschema::paths::LocationSegment::Property(key) => Step::Key(key.into_owned()),
        jsonschema::paths::LocationSegment::Index(index) => Step::Index(index),
    }
}

/// `args[3]`, `env.PORT`, `probes[0].tool`: the path without the table it starts in.
fn field_name(path: &[Step]) -> String {
    let skipped = match path {
        [Step::Key(top), Step::Key(_), _, ..] if top == "servers" || top == "runtimes" => 2,
        _ => 0,
    };
    let mut name = String::new();
    for step in &path[skipped..] {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => {
                name.push('.');
                name.push_str(key);
            }
            Step::Index(index) => name.push_str(&format!("[{index}]")),
        }
    }
    name
}

/// The schema object whose keyword was broken.
fn schema_at(error: &ValidationError<'_>) -> &'static Value {
    let keyword = error.schema_path().as_str();
    let parent = keyword.rsplit_once('/').map_or("", |(parent, _)| parent);
    DOCUMENT.pointer(parent).unwrap_or(&Value::Null)
}

impl Place<'_> {
    /// Where to point: at the key for a value that is a table or a list, else at the value.
    fn span(&self) -> Range<usize> {
        match (&self.node.content, self.entry) {
            (Content::Table(_), Some(entry)) => entry.place(),
            _ => self.node.span.clone(),
        }
    }

    fn last_key(&self) -> &str {
        self.entry.map_or("", |entry| entry.key.as_str())
    }
}

fn unknown_key(place: &Place<'_>, key: &str, schema: &Value) -> Mistake {
    let known: Vec<&str> = schema["properties"]
        .as_object()
        .map(|known| known.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let span = place.node.get(key).map_or(place.span(), |entry| entry.key_span.clone());
    let key = key.escape_debug();
    if place.field == "severity" || place.field.ends_with(".severity") {
        return Mistake::new(span, format!("unknown finding `{key}`"))
            .label("no finding has this code")
            .did_you_mean(&key.to_string(), &known);
    }
    let title = if place.field.is_empty() {
        format!("unknown key `{key}`")
    } else {
        format!("unknown key `{key}` in `{}`", place.field)
    };
    let mistake = Mistake::new(span, title)
        .label("not a key of this table")
        .did_you_mean(&key.to_string(), &known);
    match key.to_string().as_str() {
        "disabled" => mistake.help("write `enabled = false`"),
        "type" => mistake.help("`transport` is for remote servers; one with a `command` is spoken to over stdio"),
        _ => mistake,
    }
}

fn bad_name(place: &Place<'_>, error: &ValidationError<'_>) -> Mistake {
    let name = error.instance().as_str().unwrap_or_default();
    let span = place
        .node
        .get(name)
        .map_or(place.span(), |entry| entry.key_span.clone());
    if place.last_key() == "env" {
        return Mistake::new(
            span,
            format!(
                "`{}` cannot be the name of an environment variable",
                name.escape_debug()
            ),
        )
        .label("letters, digits and `_`, no digit first");
    }
    Mistake::new(
        span,
        format!("`{}` cannot be a name in `{}`", name.escape_debug(), place.field),
    )
    .label("letters, digits, `.`, `_` and `-` only")
}

fn missing(place: &Place<'_>, property: &Value, schema: &Value) -> Mistake {
    let key = property.as_str().unwrap_or_default();
    if key == "servers" {
        return Mistake::new(0..0, "the manifest has no servers")
            .help("add at least one `[servers.NAME]` with its `command`");
    }
    let whole = if place.field.is_empty() {
        "the manifest"
    } else {
        &place.field
    };
    let mistake = Mistake::new(place.span(), format!("`{whole}` lacks `{key}`"));
    match schema["properties"][key]["description"].as_str() {
        Some(description) => mistake
            .label(format!("`{key}` is missing"))
            .help(format!("`{key}`: {description}")),
        None => mistake.label(format!("`{key}` is missing")),
    }
}

fn is_runtime(place: &Place<'_>) -> bool {
    place.field.starts_with("runtimes.")
}

fn none_given(place: &Place<'_>) -> Mistake {
    if is_runtime(place) {
        return Mistake::new(
            place.span(),
            format!("`{}` says neither `node` nor `python`", place.field),
        )
        .label("a runtime needs one of them")
        .help("write `node = \"24\"` or `python = \">=3.10\"`");
    }
    Mistake::new(place.span(), format!("`{}` has no `command`", place.field))
        .label("a server needs `command`, or `url` if it is remote")
        .help("write the program that starts it, such as `command = \"npx\"`, and what follows it in `args`")
}

fn both_given(place: &Place<'_>) -> Mistake {
    let (first, second) = if is_runtime(place) {
        ("node", "python")
    } else {
        ("command", "url")
    };
    let span = place
        .node
        .get(second)
        .map_or(place.span(), |entry| entry.key_span.clone());
    Mistake::new(span, format!("`{}` has both `{first}` and `{second}`", place.field))
        .label("only one of them can be meant")
}

fn wrong_type(place: &Place<'_>, kind: &TypeKind) -> Mistake {
    let wanted: Vec<JsonType> = match kind {
        TypeKind::Single(single) => vec![*single],
        TypeKind::Multiple(several) => several.into_iter().collect(),
    };
    let words: Vec<&str> = wanted.iter().map(|wanted| wanted_word(*wanted)).collect();
    let found = found_word(&place.node.content);
    let mistake = Mistake::new(
        place.span(),
        format!("`{}` must be {}, not {found}", place.field, words.join(" or ")),
    )
    .label(format!("expected {}", words.join(" or ")));
    match right_value(place, &wanted) {
        Some(help) => mistake.help(help),
        None => mistake,
    }
}

/// What would be right instead, where it can be told from what is there.
fn right_value(place: &Place<'_>, wanted: &[JsonType]) -> Option<String> {
    let key = place.last_key();
    let text_wanted = wanted.contains(&JsonType::String);
    match &place.node.content {
        Content::Array(items) if key == "command" => {
            let words: Vec<String> = items.iter().map(|item| item.to_json().to_string()).collect();
            let (program, rest) = words.split_first()?;
            Some(format!(
                "put the program into `command` and the rest into `args`: command = {program}, args = [{}]",
                rest.join(", ")
            ))
        }
        Content::Text(text) if wanted.contains(&JsonType::Array) => {
            let words: Vec<String> = text
                .split_whitespace()
                .map(|word| Value::from(word).to_string())
                .collect();
            Some(format!("write a list: {key} = [{}]", words.join(", ")))
        }
        Content::Text(text) if wanted == [JsonType::Boolean] && (text == "true" || text == "false") => {
            Some(format!("leave the quotes out: {key} = {text}"))
        }
        Content::Text(text) if wanted == [JsonType::Integer] && text.parse::<u32>().is_ok() => {
            Some(format!("leave the quotes out: {key} = {text}"))
        }
        Content::Integer(number) if text_wanted => Some(quoted(place, &number.to_string())),
        Content::Float(number) if text_wanted => Some(quoted(place, &number.to_string())),
        Content::Boolean(boolean) if text_wanted => Some(quoted(place, &boolean.to_string())),
        _ => None,
    }
}

fn quoted(place: &Place<'_>, value: &str) -> String {
    if place.field.ends_with("timeout") || place.field.ends_with("shutdown_grace") {
        return format!("durations have a unit: \"{value}s\" or \"{value}ms\"");
    }
    format!("put it in quotes: \"{value}\"")
}

fn wanted_word(wanted: JsonType) -> &'static str {
    match wanted {
        JsonType::Array => "a list",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Null => "nothing",
        JsonType::Number => "a number",
        JsonType::Object => "a table",
        JsonType::String => "a string",
    }
}

fn found_word(found: &Content) -> &'static str {
    match found {
        Content::Table(_) => "a table",
        Content::Array(_) => "a list",
        Content::Text(_) => "a string",
        Content::Integer(_) => "a number",
        Content::Float(_) => "a number with a fraction",
        Content::Boolean(_) => "a boolean",
        Content::Date(_) => "a date",
    }
}

fn not_among(place: &Place<'_>, options: &Value) -> Mistake {
    let known: Vec<&str> = options
        .as_array()
        .map(|all| all.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let found = place.node.text().unwrap_or_default();
    let wanted: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
    Mistake::new(
        place.span(),
        format!("`{}` cannot be \"{}\"", place.field, found.escape_debug()),
    )
    .label(format!("expected {}", wanted.join(", ")))
}

/// Numbers too small or too large, lists and strings too short, shapes of strings.
fn out_of_bounds(place: &Place<'_>, kind: &ValidationErrorKind, schema: &Value) -> Mistake {
    let field = &place.field;
    let (title, label) = match kind {
        ValidationErrorKind::Minimum { limit } => {
            (format!("`{field}` must be at least {limit}"), "too small".to_owned())
        }
        ValidationErrorKind::Maximum { limit } => {
            (format!("`{field}` must be at most {limit}"), "too large".to_owned())
        }
        ValidationErrorKind::MinLength { .. } => (
            format!("`{field}` is empty"),
            "leave the key out, or fill it".to_owned(),
        ),
        ValidationErrorKind::MinItems { .. } => (
            format!("`{field}` is empty"),
            "leave the key out, or name at least one".to_owned(),
        ),
        ValidationErrorKind::UniqueItems => (
            format!("`{field}` names something twice"),
            "each can stand there once".to_owned(),
        ),
        ValidationErrorKind::MinProperties { .. } if field == "servers" => {
            return Mistake::new(place.span(), "the manifest has no servers")
                .help("add at least one `[servers.NAME]` with its `command`");
        }
        ValidationErrorKind::MinProperties { .. } => {
            (format!("`{field}` is empty"), "leave it out, or fill it".to_owned())
        }
        ValidationErrorKind::Pattern { pattern } => {
            let wanted = schema["x-wanted"].as_str().unwrap_or(pattern).to_owned();
            let found = place.node.text().unwrap_or_default();
            (
                format!("`{field}` cannot be \"{}\"", found.escape_debug()),
                format!("expected {wanted}"),
            )
        }
        other => (
            format!("`{field}` breaks the rule `{}`", other.keyword()),
            "see `schema manifest`".to_owned(),
        ),
    };
    Mistake::new(place.span(), title).label(label)
}
