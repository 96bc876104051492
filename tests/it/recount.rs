//! The article, counted again: every number of its tables and prose is made anew from `report.json`,
//! by code that shares nothing with the tool's own.

use std::collections::BTreeSet;

use serde_json::Value;

/// A table of the article, its cells as a reader sees them.
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// The tables below a heading, up to the next of its kind.
pub(crate) fn tables(article: &str, heading: &str) -> Vec<Table> {
    let marker = format!("\n## {heading}\n");
    let Some((_, section)) = article.split_once(&marker) else {
        return Vec::new();
    };
    let section = section.split("\n## ").next().unwrap();
    let mut tables = Vec::new();
    let mut lines = section.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with('|') {
            continue;
        }
        let header = cells(line);
        lines.next();
        let mut rows = Vec::new();
        while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
            rows.push(cells(row));
        }
        tables.push(Table { header, rows });
    }
    tables
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.strip_prefix("| ").unwrap().strip_suffix(" |").unwrap();
    inner.split(" | ").map(shown).collect()
}

/// Without escapes and emphasis.
pub(crate) fn shown(text: &str) -> String {
    let text = text.replace("**", "");
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next()),
            '`' => {}
            other => plain.push(other),
        }
    }
    plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The number of a cell and the marks behind it.
pub(crate) fn figure_and_marks(cell: &str) -> (String, String) {
    let is_mark = |character: char| "†‡ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐᵖʳˢᵗᵘᵛʷˣʸᶻ".contains(character);
    let (figure, marks): (String, String) = cell.chars().partition(|character| !is_mark(*character));
    (figure, marks)
}

/// Nanoseconds of a number of milliseconds in the record.
fn nanos(value: &Value) -> Option<u64> {
    let milliseconds = value.as_f64()?;
    Some(format!("{:.0}", milliseconds * 1e6).parse().unwrap())
}

pub(crate) fn all_nanos(values: &Value) -> Vec<u64> {
    values.as_array().unwrap().iter().filter_map(nanos).collect()
}

/// A cell of a column of milliseconds.
pub(crate) fn cell(nanos: Option<u64>) -> String {
    let Some(nanos) = nanos else { return "–".to_owned() };
    let value = nanos as f64 / 1e6;
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

pub(crate) fn time(value: &Value) -> String {
    cell(nanos(value))
}

pub(crate) fn median(values: &[u64]) -> Option<u64> {
    let sorted = sorted(values);
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[odd / 2]),
        even => Some(u64::midpoint(sorted[even / 2 - 1], sorted[even / 2])),
    }
}

pub(crate) fn p95(values: &[u64]) -> Option<u64> {
    let sorted = sorted(values);
    let rank = (sorted.len() * 95).div_ceil(100);
    rank.checked_sub(1).map(|place| sorted[place])
}

/// By Pascal's triangle, row by row, in shares of one.
pub(crate) fn interval(values: &[u64]) -> Option<(u64, u64)> {
    let mut shares = vec![1.0_f64];
    for _ in values {
        let mut next = vec![0.0; shares.len() + 1];
        for (place, share) in shares.iter().enumerate() {
            next[place] += share / 2.0;
            next[place + 1] += share / 2.0;
        }
        shares = next;
    }
    let mut below = 0.0;
    let mut rank = 0;
    for share in &shares[..values.len() / 2] {
        below += share;
        if below > 0.025 {
            break;
        }
        rank += 1;
    }
    let sorted = sorted(values);
    (rank > 0).then(|| (sorted[rank - 1], sorted[sorted.len() - rank]))
}

pub(crate) fn outliers(values: &[u64]) -> usize {
    let Some(center) = median(values) else { return 0 };
    let deviations: Vec<u64> = values.iter().map(|value| value.abs_diff(center)).collect();
    match median(&deviations) {
        None | Some(0) => 0,
        Some(scale) => deviations
            .iter()
            .filter(|deviation| 0.6745 * **deviation as f64 / scale as f64 > 3.5)
            .count(),
    }
}

fn sorted(values: &[u64]) -> Vec<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Every number in a text, with its decimals.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let number = regex::Regex::new(r"[0-9]+(\.[0-9]+)?").unwrap();
    number.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

/// The text without the strings that the record holds, the longest first: what is left is ours.
pub(crate) fn without_strings_of(record: &Value, text: &str) -> String {
    let mut strings = BTreeSet::new();
    collect(record, &mut strings);
    let mut strings: Vec<String> = strings.into_iter().filter(|text| text.len() > 1).collect();
    strings.sort_by_key(|text| std::cmp::Reverse(text.len()));
    strings
        .iter()
        .fold(text.to_owned(), |text, string| text.replace(string.as_str(), "·"))
}

fn collect(value: &Value, strings: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            strings.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, strings)),
        Value::Object(items) => items.values().for_each(|item| collect(item, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
