//! The TOML text as a tree that remembers where each key and value stands.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistake;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) content: Content,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Table(Vec<Entry>),
    Array(Vec<Node>),
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// TOML has dates, JSON has not; as it was typed.
    Date(String),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// One step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Node {
    /// Reads the text; mistakes of its grammar as far as the parser can tell them apart.
    pub(crate) fn parse(source: &str) -> (Self, Vec<Mistake>) {
        let (table, errors) = DeTable::parse_recoverable(source);
        let mut mistakes: Vec<Mistake> = Vec::new();
        for error in errors {
            let span = error.span().unwrap_or(source.len()..source.len());
            let line = line_of(source, span.start);
            // What follows on the same line follows from the first mistake there.
            if mistakes
                .iter()
                .all(|mistake| line_of(source, mistake.span.start) != line)
            {
                mistakes.push(Mistake::new(span, error.message()).label(grammar_label(error.message())));
            }
        }
        let span = table.span();
        let root = Self {
            span,
            content: Content::Table(entries(table.into_inner(), &mut mistakes)),
        };
        (root, mistakes)
    }

    /// The entries of a table; none for anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The items of an array; none for anything else.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.content {
            Content::Array(items) => items,
            _ => &[],
        }
    }

    /// The text of a string; None for anything else.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An entry of a table.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value at a path, and the entry it is the value of, if it is one.
    pub(crate) fn at(&self, path: &[Step]) -> Option<(&Self, Option<&Entry>)> {
        let (mut node, mut owner) = (self, None);
        for step in path {
            match step {
                Step::Key(key) => {
                    let entry = node.get(key)?;
                    (node, owner) = (&entry.value, Some(entry));
                }
                Step::Index(index) => (node, owner) = (node.items().get(*index)?, None),
            }
        }
        Some((node, owner))
    }

    /// The same as JSON, for the schema and for serde.
    pub(crate) fn to_json(&self) -> Value {
        match &self.content {
            Content::Table(entries) => {
                let entries = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
            Content::Array(items) => items.iter().map(Self::to_json).collect(),
            Content::Text(text) | Content::Date(text) => Value::String(text.clone()),
            Content::Integer(number) => Value::from(*number),
            Content::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Content::Boolean(boolean) => Value::Bool(*boolean),
        }
    }
}

impl Entry {
    /// Where to point when the entry as a whole is meant: a table's header where it has one, else the key.
    pub(crate) fn place(&self) -> Range<usize> {
        match &self.value.content {
            Content::Table(_) if self.value.span.start < self.key_span.start => self.value.span.clone(),
            _ => self.key_span.clone(),
        }
    }
}

fn grammar_label(message: &str) -> &'static str {
    if message.starts_with("duplicate key") {
        "defined before"
    } else {
        "this is not TOML"
    }
}

/// The line of an offset, from 0.
fn line_of(source: &str, offset: usize) -> usize {
    let before = &source[..source.floor_char_boundary(offset)];
    before.matches('\n').count()
}

fn entries(table: DeTable<'_>, mistakes: &mut Vec<Mistake>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            value: node(value, mistakes),
        })
        .collect();
    // The table is sorted by name; rows are to come in the order of the text.
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn node(value: Spanned<DeValue<'_>>, mistakes: &mut Vec<Mistake>) -> Node {
    let span = value.span();
    let content = match value.into_inner() {
        DeValue::String(text) => Content::Text(text.into_owned()),
        DeValue::Integer(number) => {
            if let Ok(number) = i64::from_str_radix(number.as_str(), number.radix()) {
                Content::Integer(number)
            } else {
                mistakes.push(Mistake::new(span.clone(), "this number is too large").label("does not fit 64 bits"));
                Content::Integer(0)
            }
        }
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Content::Float(number),
            Ok(_) | Err(_) => {
                mistakes.push(
                    Mistake::new(span.clone(), "this number is not finite")
                        .label("JSON, which servers speak, has no such number"),
                );
                Content::Float(0.0)
            }
        },
        DeValue::Boolean(boolean) => Content::Boolean(boolean),
        DeValue::Datetime(date) => Content::Date(date.to_string()),
        DeValue::Array(items) => Content::Array(items.into_iter().map(|item| node(item, mistakes)).collect()),
        DeValue::Table(table) => Content::Table(entries(table, mistakes)),
    };
    Node { span, content }
}
