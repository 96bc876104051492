//! The lock read back, strictly: what is unknown, of another type, missing, edited or cut off is a mistake
//! that is shown with its line, all at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use jiff::civil::Date;
use serde_json::Value;

use crate::event::{Ecosystem, Era, RowId};
use crate::finding::Code;
use crate::manifest::tree::{Content, Entry, Node};
use crate::manifest::{Mistake, Mistakes};
use crate::record::ToolRecord;

use super::write::{FORMAT, checksum};
use super::{Accepted, Lock, LockedRow, PackageVersion, RowFacts, RuntimeVersion};

const TOP_KEYS: &[&str] = &["format", "rows", "end"];
const ROW_KEYS: &[&str] = &[
    "accepted_on",
    "run",
    "ecosystem",
    "package",
    "wanted",
    "installed",
    "reported_name",
    "reported_version",
    "runtime",
    "runtime_version",
    "handshake",
    "protocol",
    "accepted",
    "sha256",
    "tools",
];
const ACCEPTED_KEYS: &[&str] = &["code", "fact", "on"];
const TOOL_KEYS: &[&str] = &["description_sha256", "input_schema", "output_schema", "annotations"];
const MARK: &str = "<<<<<<< ";
const ANEW: &str =
    "take it from version control; or delete it and run `mcp-smoke lock`, which accepts everything anew, on this day";
const CONFLICT: &str = "take one side of it, then run `mcp-smoke lock`";

impl Lock {
    /// Reads a lock; `path` is only named in mistakes.
    ///
    /// # Errors
    /// All mistakes of the text at once.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Mistakes> {
        let source = text.replace("\r\n", "\n");
        if let Some(start) = conflict(&source) {
            let title = "the lock holds a merge conflict";
            let mistake = Mistake::new(start..start + MARK.len(), title)
                .label("it begins here")
                .help(CONFLICT);
            return Err(Mistakes::new(path, &source, vec![mistake]));
        }
        let (root, mistakes) = Node::parse(&source);
        let mut reader = Reader { mistakes };
        let lock = if reader.mistakes.is_empty() {
            reader.lock(&root, source.len())
        } else {
            Self::default()
        };
        if reader.mistakes.is_empty() {
            return Ok(lock);
        }
        for mistake in &mut reader.mistakes {
            mistake.help.push(ANEW.to_owned());
        }
        Err(Mistakes::new(path, &source, reader.mistakes))
    }
}

/// Where the first mark of a merge conflict stands, at the start of a line.
fn conflict(source: &str) -> Option<usize> {
    if source.starts_with(MARK) {
        return Some(0);
    }
    source.find(&format!("\n{MARK}")).map(|end| end + 1)
}

/// A table and where to point when something is missing from it.
struct Table<'tree> {
    name: String,
    place: Range<usize>,
    node: &'tree Node,
}

struct Reader {
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn lock(&mut self, root: &Node, length: usize) -> Lock {
        match root
            .get("format")
            .map(|entry| (&entry.value.content, &entry.value.span))
        {
            Some((Content::Integer(FORMAT), _)) => {}
            // Of a newer format nothing else can be said.
            Some((_, span)) => {
                let title = format!("this build reads format {FORMAT} of the lock");
                self.tell(Mistake::new(span.clone(), title).label("another format"));
                return Lock::default();
            }
            None => self.tell(Mistake::new(0..0, "the lock lacks `format`")),
        }
        let table = Table {
            name: "the lock".to_owned(),
            place: 0..0,
            node: root,
        };
        self.only_known(&table, TOP_KEYS);
        if root.get("end").is_none() {
            let title = "the lock has no `[end]`: something was cut off";
            self.tell(Mistake::new(length..length, title).label("the file ends here"));
        }
        let mut rows = BTreeMap::new();
        for entry in self.tables(&table, "rows") {
            rows.extend(self.row(entry).map(|row| (RowId(entry.key.clone()), row)));
        }
        Lock { rows }
    }

    fn row(&mut self, entry: &Entry) -> Option<LockedRow> {
        let before = self.mistakes.len();
        let table = Table::of(entry);
        self.only_known(&table, ROW_KEYS);
        let facts = self.facts(&table);
        let accepted = self.accepted(&table);
        let accepted_on = self.required(&table, "accepted_on", Self::date);
        let run = self.required(&table, "run", Self::text);
        let stated = self.required(&table, "sha256", Self::text);
        // What is wrong in itself needs no checksum to be told.
        if self.mistakes.len() == before && stated? != checksum(&entry.key, table.node) {
            let span = table.node.get("sha256").map_or(0..0, |entry| entry.value.span.clone());
            let title = format!("`{}` is not what was accepted: it was changed by hand", entry.key);
            self.tell(Mistake::new(span, title).label("the checksum of something else"));
        }
        Some(LockedRow {
            accepted_on: accepted_on?,
            run: run?,
            facts: facts?,
            accepted,
        })
    }

    fn facts(&mut self, table: &Table<'_>) -> Option<RowFacts> {
        let era = self.required(table, "handshake", |reader, entry| {
            reader.word(entry, &[("initialize", Era::Initialize), ("discover", Era::Discover)])
        });
        let protocol = self.required(table, "protocol", Self::text);
        Some(RowFacts {
            package: self.package(table),
            reported_name: self.optional(table, "reported_name"),
            reported_version: self.optional(table, "reported_version"),
            runtime: self.runtime(table),
            tools: Some(self.tools(table)),
            era: era?,
            protocol: protocol?,
        })
    }

    fn package(&mut self, table: &Table<'_>) -> Option<PackageVersion> {
        let known = ["ecosystem", "package", "wanted", "installed"];
        if known.iter().all(|key| table.node.get(key).is_none()) {
            return None;
        }
        let ecosystem = self.required(table, "ecosystem", |reader, entry| {
            reader.word(entry, &[("npm", Ecosystem::Npm), ("pypi", Ecosystem::Pypi)])
        });
        let name = self.required(table, "package", Self::text);
        Some(PackageVersion {
            wanted: self.optional(table, "wanted"),
            installed: self.optional(table, "installed"),
            ecosystem: ecosystem?,
            name: name?,
        })
    }

    fn runtime(&mut self, table: &Table<'_>) -> Option<RuntimeVersion> {
        let version = self.optional(table, "runtime_version");
        if version.is_none() && table.node.get("runtime").is_none() {
            return None;
        }
        let kind = self.required(table, "runtime", Self::text)?;
        Some(RuntimeVersion { kind, version })
    }

    fn accepted(&mut self, table: &Table<'_>) -> Vec<Accepted> {
        let Some(entry) = table.node.get("accepted") else {
            return Vec::new();
        };
        if !matches!(entry.value.content, Content::Array(_)) {
            self.wrong_type(&entry.value, "a list of accepted findings");
        }
        let items = entry.value.items().iter();
        items.filter_map(|item| self.accepted_finding(item)).collect()
    }

    fn accepted_finding(&mut self, item: &Node) -> Option<Accepted> {
        if !matches!(item.content, Content::Table(_)) {
            self.wrong_type(item, "a table with `code`, `fact` and `on`");
            return None;
        }
        let table = Table {
            name: "accepted".to_owned(),
            place: item.span.clone(),
            node: item,
        };
        self.only_known(&table, ACCEPTED_KEYS);
        let code = self.required(&table, "code", Self::code);
        let fact = self.required(&table, "fact", Self::text);
        let on = self.required(&table, "on", Self::date);
        Some(Accepted {
            code: code?,
            fact: fact?,
            on: on?,
        })
    }

    fn tools(&mut self, row: &Table<'_>) -> BTreeMap<String, ToolRecord> {
        let mut tools = BTreeMap::new();
        for entry in self.tables(row, "tools") {
            let table = Table::of(entry);
            self.only_known(&table, TOOL_KEYS);
            let tool = ToolRecord {
                name: entry.key.clone(),
                description_sha256: self.optional(&table, "description_sha256"),
                input_schema: self.json(&table, "input_schema"),
                output_schema: self.json(&table, "output_schema"),
                annotations: self.json(&table, "annotations"),
            };
            tools.insert(entry.key.clone(), tool);
        }
        tools
    }

    /// The tables below a key; what is no table is told.
    fn tables<'tree>(&mut self, table: &Table<'tree>, key: &str) -> Vec<&'tree Entry> {
        let Some(entry) = table.node.get(key) else {
            return Vec::new();
        };
        if !matches!(entry.value.content, Content::Table(_)) {
            self.wrong_type(&entry.value, "a table");
        }
        let mut tables: Vec<&Entry> = entry.value.entries().iter().collect();
        tables.retain(|entry| {
            let is_table = matches!(entry.value.content, Content::Table(_));
            if !is_table {
                self.wrong_type(&entry.value, "a table");
            }
            is_table
        });
        tables
    }

    fn required<T>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        read: impl FnOnce(&mut Self, &Entry) -> Option<T>,
    ) -> Option<T> {
        if let Some(entry) = table.node.get(key) {
            return read(self, entry);
        }
        let title = format!("`{}` lacks `{key}`", table.name);
        self.tell(Mistake::new(table.place.clone(), title));
        None
    }

    fn optional(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        table.node.get(key).and_then(|entry| self.text(entry))
    }

    fn text(&mut self, entry: &Entry) -> Option<String> {
        let text = entry.value.text();
        if text.is_none() {
            self.wrong_type(&entry.value, "a text");
        }
        text.map(str::to_owned)
    }

    fn word<T: Copy>(&mut self, entry: &Entry, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(entry)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let title = format!("`{}` is none of the words for `{}`", text.escape_debug(), entry.key);
            let mistake = Mistake::new(entry.value.span.clone(), title).label("unknown");
            self.tell(mistake.did_you_mean(&text, &known));
        }
        found
    }

    fn code(&mut self, entry: &Entry) -> Option<Code> {
        let text = self.text(entry)?;
        let code = Code::parse(&text);
        if code.is_none() {
            let known: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
            let title = format!("unknown finding `{}`", text.escape_debug());
            let mistake = Mistake::new(entry.value.span.clone(), title).label("no finding has this code");
            self.tell(mistake.did_you_mean(&text, &known));
        }
        code
    }

    fn date(&mut self, entry: &Entry) -> Option<Date> {
        let date = match &entry.value.content {
            Content::Date(typed) => typed.parse().ok(),
            _ => None,
        };
        if date.is_none() {
            self.wrong_type(&entry.value, "a day such as 2026-11-30");
        }
        date
    }

    fn json(&mut self, table: &Table<'_>, key: &str) -> Option<Value> {
        let entry = table.node.get(key)?;
        let text = self.text(entry)?;
        match serde_json::from_str(&text) {
            Ok(value) => Some(value),
            Err(problem) => {
                let title = format!("`{key}` holds no JSON: {problem}");
                self.tell(Mistake::new(entry.value.span.clone(), title).label("this is not JSON"));
                None
            }
        }
    }

    fn only_known(&mut self, table: &Table<'_>, known: &[&str]) {
        for entry in table.node.entries() {
            if !known.contains(&entry.key.as_str()) {
                let key = entry.key.escape_debug();
                let mistake = Mistake::new(entry.place(), format!("unknown key `{key}` in `{}`", table.name))
                    .label("not a key of this table");
                self.tell(mistake.did_you_mean(&entry.key, known));
            }
        }
    }

    fn wrong_type(&mut self, node: &Node, wanted: &str) {
        let title = format!("this must be {wanted}");
        self.tell(Mistake::new(node.span.clone(), title).label("something else"));
    }

    fn tell(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }
}

impl<'tree> Table<'tree> {
    fn of(entry: &'tree Entry) -> Self {
        Self {
            name: entry.key.clone(),
            place: entry.place(),
            node: &entry.value,
        }
    }
}
