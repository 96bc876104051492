//! The lock as text: TOML, sorted, one line for each thing that can change, so that a pull request shows
//! what did. Every row carries a checksum of itself and the file an end, so that neither an edit by hand nor
//! a cut goes unseen.

use std::fmt::Write;

use serde_json::Value;

use crate::event::RowId;
use crate::manifest::tree::Node;
use crate::record::{ToolRecord, canonical, sha256};

use super::{Lock, LockedRow, RowFacts};

/// The format that is written and the only one that is read.
pub(super) const FORMAT: i64 = 1;

const HEAD: &str = "\
# What was last accepted of each row. Written by `mcp-smoke lock`: made to be reviewed, not to be edited.
# A `sha256` covers its row and the name of it. Schemas and annotations are canonical JSON, so that it can be told from here
# alone what was narrowed.
";

impl Lock {
    /// The text of the lock.
    pub fn to_toml(&self) -> String {
        let mut text = format!("{HEAD}\nformat = {FORMAT}\n");
        for (id, row) in &self.rows {
            let row = Written::new(id, row);
            let head = format!("rows.{}", key(&id.0));
            text.push_str(&format!("\n[{head}]\n{}", row.own));
            text.push_str(&format!("sha256 = {}\n", basic(&row.checksum())));
            for (name, tool) in &row.tools {
                text.push_str(&format!("\n[{head}.tools.{}]\n{tool}", key(name)));
            }
        }
        text.push_str("\n# The end: without it something was cut off.\n[end]\n");
        text
    }
}

/// The lines of a row, without its headers.
struct Written {
    id: String,
    own: String,
    tools: Vec<(String, String)>,
}

impl Written {
    fn new(id: &RowId, row: &LockedRow) -> Self {
        Self {
            id: id.0.clone(),
            own: own(row),
            tools: row
                .facts
                .tools
                .iter()
                .flatten()
                .map(|(name, tool)| (name.clone(), tool_lines(tool)))
                .collect(),
        }
    }

    fn checksum(&self) -> String {
        let tools = self
            .tools
            .iter()
            .map(|(name, lines)| format!("[tools.{}]\n{lines}", key(name)));
        let (node, mistakes) = Node::parse(&format!("{}{}", self.own, tools.collect::<String>()));
        debug_assert!(mistakes.is_empty(), "what is written can be read: {mistakes:?}");
        checksum(&self.id, &node)
    }
}

/// The checksum of a row's id and table, `sha256` itself left out; layout and order are none of it.
pub(super) fn checksum(id: &str, row: &Node) -> String {
    let mut value = row.to_json();
    if let Value::Object(entries) = &mut value {
        entries.shift_remove("sha256");
    }
    sha256(&format!("{id}\n{}", canonical(&value)))
}

fn own(row: &LockedRow) -> String {
    let RowFacts {
        package,
        reported_name,
        reported_version,
        runtime,
        era,
        protocol,
        tools: _,
    } = &row.facts;
    let mut lines = Lines::default();
    lines.raw("accepted_on", &row.accepted_on.to_string());
    lines.text("run", Some(&row.run));
    let package = package.as_ref();
    lines.text("ecosystem", package.map(|package| package.ecosystem.name()));
    lines.text("package", package.map(|package| package.name.as_str()));
    lines.text("wanted", package.and_then(|package| package.wanted.as_deref()));
    lines.text("installed", package.and_then(|package| package.installed.as_deref()));
    lines.text("reported_name", reported_name.as_deref());
    lines.text("reported_version", reported_version.as_deref());
    lines.text("runtime", runtime.as_ref().map(|runtime| runtime.kind.as_str()));
    let runtime_version = runtime.as_ref().and_then(|runtime| runtime.version.as_deref());
    lines.text("runtime_version", runtime_version);
    lines.text("handshake", Some(era.name()));
    lines.text("protocol", Some(protocol));
    if !row.accepted.is_empty() {
        let items = row.accepted.iter().map(|accepted| {
            let (code, fact) = (basic(accepted.code.name()), basic(&accepted.fact));
            format!("  {{ code = {code}, fact = {fact}, on = {} }},\n", accepted.on)
        });
        lines.raw("accepted", &format!("[\n{}]", items.collect::<String>()));
    }
    lines.0
}

fn tool_lines(tool: &ToolRecord) -> String {
    let ToolRecord {
        name: _,
        description_sha256,
        input_schema,
        output_schema,
        annotations,
    } = tool;
    let mut lines = Lines::default();
    lines.text("description_sha256", description_sha256.as_deref());
    lines.json("input_schema", input_schema.as_ref());
    lines.json("output_schema", output_schema.as_ref());
    lines.json("annotations", annotations.as_ref());
    lines.0
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn raw(&mut self, key: &str, value: &str) {
        writeln!(self.0, "{key} = {value}").expect("writing to a string cannot fail");
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.raw(key, &basic(value));
        }
    }

    fn json(&mut self, key: &str, value: Option<&Value>) {
        if let Some(value) = value {
            let json = canonical(value).to_string();
            let plain = !json.contains('\'') && !json.chars().any(must_be_escaped);
            self.raw(key, &if plain { format!("'{json}'") } else { basic(&json) });
        }
    }
}

fn key(name: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        basic(name)
    }
}

/// A basic string, TOML 1.0 "String".
fn basic(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            hidden if must_be_escaped(hidden) => {
                write!(quoted, "\\U{:08X}", u32::from(hidden)).expect("writing to a string cannot fail");
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Control characters, which TOML forbids, and what would make a reviewer see another text than there is.
fn must_be_escaped(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
