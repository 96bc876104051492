//! Which npm package owns a script that node runs.
//!
//! By files only: the script's real path, then the nearest `package.json` upward that has both name and version
//! (many packages keep a bare `{"type": "module"}` deeper). npm itself is never asked.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::event::{Ecosystem, PackageFacts};

use super::place::Place;

/// Node's options whose value may be a word of its own (Node 20 to 24, `node --help`).
const WITH_VALUE: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-C",
    "--conditions",
    "--env-file",
    "--env-file-if-exists",
    "--title",
    "--input-type",
    "--experimental-default-type",
    "--disable-warning",
    "--allow-fs-read",
    "--allow-fs-write",
    "--build-snapshot-config",
    "--cpu-prof-dir",
    "--cpu-prof-interval",
    "--cpu-prof-name",
    "--diagnostic-dir",
    "--disable-proto",
    "--dns-result-order",
    "--experimental-config-file",
    "--experimental-policy",
    "--experimental-sea-config",
    "--heap-prof-dir",
    "--heap-prof-interval",
    "--heap-prof-name",
    "--heapsnapshot-near-heap-limit",
    "--heapsnapshot-signal",
    "--icu-data-dir",
    "--inspect-publish-uid",
    "--inspect-port",
    "--debug-port",
    "--localstorage-file",
    "--max-http-header-size",
    "--network-family-autoselection-attempt-timeout",
    "--openssl-config",
    "--policy-integrity",
    "--redirect-warnings",
    "--report-dir",
    "--report-directory",
    "--report-filename",
    "--report-signal",
    "--secure-heap",
    "--secure-heap-min",
    "--snapshot-blob",
    "--test-concurrency",
    "--test-name-pattern",
    "--test-reporter",
    "--test-reporter-destination",
    "--test-shard",
    "--test-timeout",
    "--tls-cipher-list",
    "--tls-keylog",
    "--trace-event-categories",
    "--trace-event-file-pattern",
    "--trace-require-module",
    "--unhandled-rejections",
    "--use-largepages",
    "--v8-pool-size",
    "--watch-path",
    "--watch-kill-signal",
];

/// The script that node's arguments name: the first word that is no option and is there as a file.
///
/// An option that we do not know may take the word after it as its value; that word is then no file.
pub(super) fn script(args: &[String], place: &Place) -> Option<PathBuf> {
    let words = positionals(args).into_iter();
    words
        .into_iter()
        .find_map(|word| script_file(&place.resolve(&args[word])))
}

/// The places of the words that can be the script: the first one, and where an option that we do not know
/// stands right before it also those after it. None for inline code.
pub(super) fn positionals(args: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut place = 0;
    let mut after_option = false;
    while let Some(word) = args.get(place) {
        if found.is_empty() && is_inline(word) {
            return found;
        }
        if word == "--" {
            found.extend((place + 1 < args.len()).then_some(place + 1));
            return found;
        }
        if !word.starts_with('-') {
            found.push(place);
            if !after_option {
                return found;
            }
        }
        let takes_value = WITH_VALUE.contains(&word.as_str());
        after_option = word.starts_with('-') && !takes_value && !word.contains('=');
        place += if takes_value { 2 } else { 1 };
    }
    found
}

fn is_inline(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    matches!(name, "-e" | "--eval" | "-p" | "--print" | "-pe" | "--run" | "-")
}

/// The package that owns a file, by its real path.
///
/// The climb ends at a `node_modules` folder: what lies above it is the project that installed the package.
pub(super) fn package_of(file: &Path) -> Option<PackageFacts> {
    let file = file.canonicalize().ok()?;
    let start = if file.is_dir() {
        Some(file.as_path())
    } else {
        file.parent()
    };
    let folders = start?.ancestors();
    let inside = folders.take_while(|folder| folder.file_name() != Some(OsStr::new("node_modules")));
    inside.into_iter().find_map(package_in)
}

/// The package whose folder this is.
pub(super) fn package_in(folder: &Path) -> Option<PackageFacts> {
    let manifest = manifest_in(folder)?;
    let text = |key: &str| {
        manifest
            .get(key)?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    Some(PackageFacts {
        ecosystem: Ecosystem::Npm,
        name: text("name")?,
        version: text("version")?,
        path: folder.canonicalize().ok()?,
    })
}

/// Whether a package brings another one along as an optional part, as those do that ship a binary for each platform.
pub(super) fn brings(package: &PackageFacts, part: &str) -> bool {
    let manifest = manifest_in(&package.path);
    manifest.is_some_and(|manifest| {
        manifest
            .get("optionalDependencies")
            .is_some_and(|parts| parts.get(part).is_some())
    })
}

fn manifest_in(folder: &Path) -> Option<Value> {
    let file = folder.join("package.json");
    if !file.is_file() {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

/// A script as node finds it: the file, with the endings it tries, or a folder.
fn script_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_os_string();
    let endings = ["", ".js", ".mjs", ".cjs", ".json"].iter().map(|ending| {
        let mut name = name.clone();
        name.push(ending);
        path.with_file_name(name)
    });
    let file = endings.into_iter().find(|file| file.is_file());
    file.or_else(|| path.is_dir().then(|| path.to_owned()))
}
