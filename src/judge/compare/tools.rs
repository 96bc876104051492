//! The tools of two runs of one row held against each other, tool by tool: which came, which went, and what
//! became of the others. What that is called is said in `changes.rs`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::schema::{Direction, differences, losses, sorted, without_prose};
use crate::record::ToolRecord;

/// The tools of a row by name.
pub type Tools = BTreeMap<String, ToolRecord>;

/// What became of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Added,
    /// It is not there.
    Removed,
    /// It takes less, or gives less; how.
    Narrowed(Vec<String>),
    /// Its schema or annotations changed otherwise; how.
    Drifted(Vec<String>),
    /// Only its prose changed: its description, or descriptions within its schemas.
    Reworded,
}

/// Every tool that changed. The order of tools, of keys and of names in a set is no change.
pub fn changes(before: &Tools, now: &Tools) -> BTreeMap<String, Change> {
    let mut changes = BTreeMap::new();
    for (name, old) in before {
        let change = match now.get(name) {
            Some(new) => of_tool(old, new),
            None => Some(Change::Removed),
        };
        changes.extend(change.map(|change| (name.clone(), change)));
    }
    let added = now.keys().filter(|name| !before.contains_key(*name));
    changes.extend(added.map(|name| (name.clone(), Change::Added)));
    changes
}

/// A tool that went while one came that is the same but for its name.
pub(super) fn renamed<'now>(gone: &ToolRecord, before: &Tools, now: &'now Tools) -> Option<&'now str> {
    let came = now.values().filter(|tool| !before.contains_key(&tool.name));
    let mut same = came.filter(|tool| gone.description_sha256.is_some() && of_tool(gone, tool).is_none());
    same.next().map(|tool| tool.name.as_str())
}

fn of_tool(before: &ToolRecord, now: &ToolRecord) -> Option<Change> {
    let mut lost = losses(
        before.input_schema.as_ref(),
        now.input_schema.as_ref(),
        Direction::Input,
    );
    lost.extend(losses(
        before.output_schema.as_ref(),
        now.output_schema.as_ref(),
        Direction::Output,
    ));
    if !lost.is_empty() {
        return Some(Change::Narrowed(lost));
    }
    let mut drifted = Vec::new();
    for (what, old, new) in [
        ("input", before.input_schema.as_ref(), now.input_schema.as_ref()),
        ("output", before.output_schema.as_ref(), now.output_schema.as_ref()),
    ] {
        drifted.extend(in_words(what, old.map(without_prose), new.map(without_prose)));
    }
    drifted.extend(in_words(
        "annotations",
        before.annotations.clone(),
        now.annotations.clone(),
    ));
    if !drifted.is_empty() {
        return Some(Change::Drifted(drifted));
    }
    let prose = |tool: &ToolRecord| {
        (
            tool.description_sha256.clone(),
            tool.input_schema.as_ref().map(sorted),
            tool.output_schema.as_ref().map(sorted),
        )
    };
    (prose(before) != prose(now)).then_some(Change::Reworded)
}

fn in_words(what: &str, before: Option<Value>, now: Option<Value>) -> Vec<String> {
    let nothing = Value::Object(serde_json::Map::new());
    let found = match (before, now) {
        (None, None) => Vec::new(),
        (None, Some(now)) if now != nothing => return vec![format!("{what} is new")],
        (Some(before), None) if before != nothing => return vec![format!("{what} is gone")],
        (before, now) => differences(
            &before.unwrap_or_else(|| nothing.clone()),
            &now.unwrap_or_else(|| nothing.clone()),
        ),
    };
    found
        .into_iter()
        .map(|difference| format!("{what}: {difference}"))
        .collect()
}
