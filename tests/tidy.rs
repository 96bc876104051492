//! Guards the layout: which module may use which, who may print and write, and that every file says
//! why it exists. The table is that of `docs/architecture.md`; where building shows a better cut,
//! both change together.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside #[test] functions")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A module and what it may `use crate::`. `command` may use all.
const ARROWS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("stats", &[]),
    ("finding", &[]),
    ("explain", &["finding"]),
    ("event", &["finding", "text"]),
    ("version", &[]),
    ("cli", &[]),
    ("manifest", &["finding", "text", "version"]),
    ("plan", &["manifest", "finding", "text", "version", "event"]),
    ("client::process", &["text", "event"]),
    ("client::transport", &["client::process", "event"]),
    ("client::protocol", &[]),
    (
        "client::session",
        &[
            "client::protocol",
            "client::transport",
            "client::process",
            "plan",
            "finding",
            "event",
        ],
    ),
    ("package", &["client::process", "plan", "event", "finding", "version"]),
    (
        "prepare",
        &["package", "client::process", "plan", "event", "finding", "version"],
    ),
    (
        "run",
        &[
            "prepare",
            "package",
            "client::session",
            "client::transport",
            "client::process",
            "plan",
            "finding",
            "event",
            "text",
        ],
    ),
    ("record", &["plan", "finding", "event", "stats", "text"]),
    ("lock", &["record", "manifest", "event", "finding"]),
    (
        "judge",
        &["record", "lock", "plan", "stats", "finding", "event", "version", "text"],
    ),
    ("report", &["record", "text", "stats", "finding", "event", "version"]),
    ("store", &["record", "lock", "finding", "event", "text"]),
    ("console", &["event", "text"]),
    ("echo_server", &["client::protocol"]),
];

#[test]
fn modules_use_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        let Some((module, allowed)) = row_of(&file) else {
            continue;
        };
        for used in used_modules(&code_of(&file)) {
            if used != module && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{} uses {used}; {module} may use {allowed:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_stands_in_the_table() {
    let library = fs::read_to_string("src/lib.rs").unwrap();
    let named: BTreeSet<&str> = ARROWS
        .iter()
        .map(|(name, _)| name.split("::").next().unwrap())
        .collect();
    let declared = library
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'));
    let missing: Vec<&str> = declared
        .filter(|module| *module != "command" && !named.contains(module))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

#[test]
fn only_the_console_prints() {
    assert_nowhere(
        "src/console",
        &[
            "println!(",
            "eprintln!(",
            "print!(",
            "eprint!(",
            "io::stdout()",
            "io::stderr()",
        ],
        &[
            // The embedded server speaks MCP on its own stdout.
            "src/echo_server",
            // Whether stdout is a terminal decides on colour and width only through the console.
        ],
    );
}

#[test]
fn only_the_store_names_the_files_of_a_run() {
    assert_nowhere(
        "src/store",
        &["\"report.json\"", "\"report.md\"", "\"latest\"", ".wire.jsonl"],
        // npm has a tag of that name, and uvx a word.
        &["src/package/newest"],
    );
}

#[test]
fn every_file_says_why_it_exists_and_fits_its_purpose() {
    let mut wrong = Vec::new();
    for file in ["src", "tests", "benches"].into_iter().flat_map(rust_files) {
        let text = fs::read_to_string(&file).unwrap();
        if !text.starts_with("//!") {
            wrong.push(format!("{} does not open with //!", file.display()));
        }
        let lines = text.lines().count();
        if lines > 700 {
            wrong.push(format!(
                "{} has {lines} lines: does it still hold one thing?",
                file.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_architecture_page_has_a_line_for_every_source_file() {
    let page = fs::read_to_string("docs/architecture.md").unwrap();
    let missing: Vec<String> = rust_files("src")
        .into_iter()
        .map(|file| file.to_string_lossy().replace('\\', "/"))
        .filter(|file| !page.contains(&format!("`{file}`")))
        .filter(|file| !file.ends_with("/tests.rs") && !file.ends_with("_tests.rs") && !file.contains("/tests/"))
        .collect();
    assert!(missing.is_empty(), "docs/architecture.md lacks {missing:#?}");
}

fn assert_nowhere(but: &str, needles: &[&str], also_but: &[&str]) {
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        let path = file.to_string_lossy().replace('\\', "/");
        if path.starts_with(but) || also_but.iter().any(|other| path.starts_with(other)) {
            continue;
        }
        let code = code_of(&file);
        wrong.extend(
            needles
                .iter()
                .filter(|needle| code.contains(**needle))
                .map(|needle| format!("{path}: {needle}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table's row of a file, the longest name first.
fn row_of(file: &Path) -> Option<(&'static str, &'static [&'static str])> {
    let path = file
        .strip_prefix("src")
        .ok()?
        .with_extension("")
        .to_string_lossy()
        .replace('\\', "/")
        .replace('/', "::");
    let mut rows: Vec<_> = ARROWS.iter().collect();
    rows.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    rows.into_iter()
        .find(|(name, _)| path == *name || path.starts_with(&format!("{name}::")))
        .map(|(name, allowed)| (*name, *allowed))
}

/// The modules of the table that a text names by `crate::`.
fn used_modules(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let mut names = vec![String::new()];
        if let Some(group) = rest.strip_prefix('{') {
            names = group
                .split('}')
                .next()
                .unwrap_or_default()
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect();
        } else {
            rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':')
                .next()
                .unwrap_or_default()
                .clone_into(&mut names[0]);
        }
        for name in names {
            let best = ARROWS
                .iter()
                .map(|(known, _)| *known)
                .chain(["command"])
                .filter(|known| name == *known || name.starts_with(&format!("{known}::")));
            used.extend(best.max_by_key(|known| known.len()).map(str::to_owned));
        }
    }
    used
}

/// A file's code without its inline tests and comments.
fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    if name == "tests" || name.ends_with("_tests") || file.components().any(|part| part.as_os_str() == "tests") {
        return String::new();
    }
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
