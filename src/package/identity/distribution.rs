//! Which installed Python distribution owns a module or a script: read from the `.dist-info` folders.
//!
//! Module and distribution names differ (`mcp_server_time`, `mcp-server-time`), and several distributions may share
//! a module's folder (`fastmcp`, `fastmcp-slim`), so `RECORD` and `entry_points.txt` decide, not names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::event::{Ecosystem, PackageFacts};

use super::python::Interpreter;
use super::spec;

/// The distribution that owns `python -m MODULE`.
pub(super) fn owner_of_module(interpreter: &Interpreter, module: &str) -> Option<PackageFacts> {
    let path = module.replace('.', "/");
    let top = module.split('.').next().unwrap_or(module);
    let rank = |folder: &Path| {
        let record = Record::read(folder);
        let own = [
            format!("{path}/__main__.py"),
            format!("{path}.py"),
            format!("{path}/__init__.py"),
        ];
        let own = own.iter().position(|file| record.has(file));
        let by_record = own.map(|place| 9 - place);
        let by_folder = || record.has_in(&format!("{path}/")).then_some(4);
        let by_top = || record.has_in(&format!("{top}/")).then_some(3);
        let by_name = || (is_editable(folder) && is_named(folder, top)).then_some(2);
        by_record.or_else(by_folder).or_else(by_top).or_else(by_name)
    };
    best(interpreter, rank)
}

/// The distribution that owns a script: a console script by its entry point, any other file by `RECORD`.
pub(super) fn owner_of_script(interpreter: &Interpreter, script: &Path) -> Option<PackageFacts> {
    let real = script.canonicalize().ok()?;
    let name = real.file_name().and_then(OsStr::to_str)?;
    let in_bin = real.parent().is_some_and(|folder| is_bin(interpreter, folder));
    let rank = |folder: &Path| {
        let listed = Record::read(folder).lists(folder, &real);
        let entry = (in_bin || listed) && has_entry_point(folder, name);
        match (entry, listed) {
            (true, true) => Some(3),
            (true, false) => Some(2),
            (false, true) => Some(1),
            (false, false) => None,
        }
    };
    best(interpreter, rank)
}

/// The distribution of the highest rank; of equals the one that is found first.
fn best(interpreter: &Interpreter, rank: impl Fn(&Path) -> Option<usize>) -> Option<PackageFacts> {
    let mut found: Option<(usize, PathBuf)> = None;
    for folder in interpreter.sites.iter().flat_map(|site| dist_infos(site)) {
        if let Some(rank) = rank(&folder)
            && found.as_ref().is_none_or(|(best, _)| rank > *best)
        {
            found = Some((rank, folder));
        }
    }
    facts(&found?.1)
}

fn dist_infos(site: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(site)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries
        .filter(|path| path.extension() == Some(OsStr::new("dist-info")))
        .collect();
    folders.sort();
    folders
}

/// Name and version, from the headers of `METADATA`.
fn facts(folder: &Path) -> Option<PackageFacts> {
    let metadata = read(folder, "METADATA")?;
    Some(PackageFacts {
        ecosystem: Ecosystem::Pypi,
        name: header(&metadata, "Name")?,
        version: header(&metadata, "Version")?,
        path: folder.to_owned(),
    })
}

fn header(metadata: &str, name: &str) -> Option<String> {
    let headers = metadata.lines().take_while(|line| !line.trim().is_empty());
    let mut pairs = headers.filter_map(|line| line.split_once(':'));
    let value = pairs
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().to_owned());
    value.filter(|value| !value.is_empty())
}

fn is_named(folder: &Path, module: &str) -> bool {
    facts(folder).is_some_and(|facts| spec::pypi_name(&facts.name) == spec::pypi_name(module))
}

/// `pip install -e`: `RECORD` then lists no modules.
fn is_editable(folder: &Path) -> bool {
    let text = read(folder, "direct_url.json").unwrap_or_default();
    let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    value.is_some_and(|value| value.pointer("/dir_info/editable") == Some(&serde_json::Value::Bool(true)))
}

/// Whether `entry_points.txt` has this name under `[console_scripts]` (or `[gui_scripts]`).
fn has_entry_point(folder: &Path, name: &str) -> bool {
    let text = read(folder, "entry_points.txt").unwrap_or_default();
    let mut of_scripts = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            of_scripts = matches!(line, "[console_scripts]" | "[gui_scripts]");
        } else if of_scripts && line.split_once('=').is_some_and(|(key, _)| key.trim() == name) {
            return true;
        }
    }
    false
}

fn is_bin(interpreter: &Interpreter, folder: &Path) -> bool {
    interpreter
        .bins
        .iter()
        .any(|bin| bin.canonicalize().is_ok_and(|bin| bin == folder))
}

fn read(folder: &Path, file: &str) -> Option<String> {
    let bytes = std::fs::read(folder.join(file)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The files of a distribution, as listed: paths relative to the site folder.
struct Record(String);

impl Record {
    fn read(folder: &Path) -> Self {
        Self(read(folder, "RECORD").unwrap_or_default())
    }

    /// The paths; a path with a comma stands in quotes.
    fn files(&self) -> impl Iterator<Item = &str> {
        self.0.lines().filter_map(|line| match line.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => line.split(',').next(),
        })
    }

    fn has(&self, file: &str) -> bool {
        self.files().any(|listed| listed == file)
    }

    fn has_in(&self, folder: &str) -> bool {
        self.files().any(|listed| listed.starts_with(folder))
    }

    /// Whether a line leads to this very file.
    fn lists(&self, folder: &Path, real: &Path) -> bool {
        let (Some(site), Some(name)) = (folder.parent(), real.file_name().and_then(OsStr::to_str)) else {
            return false;
        };
        let mut alike = self.files().filter(|listed| listed.rsplit('/').next() == Some(name));
        alike.any(|listed| site.join(listed).canonicalize().is_ok_and(|file| file == real))
    }
}
