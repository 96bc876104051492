//! `npx` and `npm exec`: what their arguments ask for, and where the package lies without asking npm.
//!
//! Only looks at files. Which folder npx took is certain only from the live process; this is for
//! servers that hide their command line.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha512};

use crate::event::PackageFacts;

use super::node;
use super::place::Place;
use super::spec;

/// What `npx` is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NpxCall {
    /// The specs named with `-p` or `--package`.
    pub(super) packages: Vec<String>,
    /// The first word that is no option: a spec or, beside `-p`, a bin's name.
    pub(super) word: Option<String>,
    /// `--cache`.
    pub(super) cache: Option<String>,
}

impl NpxCall {
    /// The specs that npx looks for.
    pub(super) fn specs(&self) -> Vec<String> {
        if self.packages.is_empty() {
            self.word.iter().cloned().collect()
        } else {
            self.packages.clone()
        }
    }
}

/// npm's options that take no value (npm 11.19, `@npmcli/config`, and npx's own short ones).
const SWITCHES: &[&str] = &[
    "a",
    "all",
    "audit",
    "d",
    "dd",
    "ddd",
    "dev",
    "dry-run",
    "engine-strict",
    "f",
    "force",
    "foreground-scripts",
    "fund",
    "g",
    "global",
    "h",
    "help",
    "ignore-scripts",
    "include-workspace-root",
    "install-links",
    "iwr",
    "json",
    "l",
    "legacy-peer-deps",
    "long",
    "n",
    "no",
    "no-install",
    "offline",
    "optional",
    "package-lock",
    "parseable",
    "prefer-dedupe",
    "prefer-offline",
    "prefer-online",
    "production",
    "progress",
    "q",
    "quiet",
    "s",
    "save",
    "silent",
    "strict-allow-scripts",
    "strict-peer-deps",
    "strict-ssl",
    "timing",
    "unicode",
    "update-notifier",
    "usage",
    "v",
    "verbose",
    "version",
    "workspaces",
    "ws",
    "y",
    "yes",
];

/// Reads the arguments of `npx`.
pub(super) fn read_npx(args: &[String]) -> NpxCall {
    read(args, ShortP::Package).0
}

/// Reads the arguments of `npm` where they are `exec` or `x`.
pub(super) fn read_npm(args: &[String]) -> Option<NpxCall> {
    let (before, rest) = read(args, ShortP::Switch);
    if !matches!(before.word.as_deref(), Some("exec" | "x")) {
        return None;
    }
    let (mut call, _) = read(rest, ShortP::Package);
    call.packages.splice(0..0, before.packages);
    call.cache = call.cache.or(before.cache);
    Some(call)
}

/// The package that a call runs, by npx's own order: a local bin, the local tree, its cache.
pub(super) fn package_of(call: &NpxCall, place: &Place) -> Option<PackageFacts> {
    let specs = call.specs();
    if call.packages.is_empty() {
        let bin = specs.first()?;
        if let Some(found) = upward(&place.cwd, |folder| bin_owner(folder, bin)) {
            return Some(found);
        }
    }
    let wanted = spec::npm(&main_spec(call)?)?;
    let local = upward(&place.cwd, |folder| {
        node::package_in(&folder.join("node_modules").join(&wanted.0))
    });
    if let Some(found) = local.filter(|package| fits(&package.version, &wanted.1)) {
        return Some(found);
    }
    let folder = cache_folder(call, place)?.join("_npx").join(folder_name(&specs));
    let bin = call.word.as_deref().filter(|_| !call.packages.is_empty());
    let by_bin = bin.and_then(|bin| bin_owner(&folder, bin));
    by_bin.or_else(|| node::package_in(&folder.join("node_modules").join(&wanted.0)))
}

/// The name of npx's folder for these specs: as `libnpmexec` makes it, from the specs as typed.
pub(super) fn folder_name(specs: &[String]) -> String {
    let mut sorted = specs.to_vec();
    sorted.sort_by_cached_key(|spec| spec.chars().map(collation).collect::<Vec<_>>());
    let digest = Sha512::digest(sorted.join("\n").as_bytes());
    digest
        .iter()
        .take(8)
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Of several specs the one that is named like the bin; of one, that one.
pub(super) fn main_spec(call: &NpxCall) -> Option<String> {
    let specs = call.specs();
    if specs.len() == 1 {
        return specs.into_iter().next();
    }
    let bin = call.word.as_deref()?;
    let named = |text: &String| spec::npm(text).is_some_and(|(name, _)| name.rsplit('/').next() == Some(bin));
    specs.into_iter().find(named)
}

/// What `-p` means: to npx `--package`, to npm itself a switch.
#[derive(Clone, Copy)]
enum ShortP {
    Package,
    Switch,
}

/// Reads options up to and with the first other word; also gives what follows it.
fn read(args: &[String], short_p: ShortP) -> (NpxCall, &[String]) {
    let mut call = NpxCall::default();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            call.word = after.first().cloned();
            return (call, after.get(1..).unwrap_or_default());
        }
        let Some(option) = word.strip_prefix('-') else {
            call.word = Some(word.clone());
            return (call, after);
        };
        let (name, attached) = match option.trim_start_matches('-').split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option.trim_start_matches('-'), None),
        };
        let names_package = name == "package" || (name == "p" && matches!(short_p, ShortP::Package));
        let negated = name.starts_with("no-");
        let takes_value = names_package || !(SWITCHES.contains(&name) || negated || name == "p");
        let next = after
            .first()
            .filter(|next| !next.starts_with('-') && takes_value && attached.is_none());
        rest = if next.is_some() { &after[1..] } else { after };
        let value = attached.or_else(|| next.cloned());
        match name {
            _ if names_package => call.packages.extend(value),
            "cache" => call.cache = value,
            _ => {}
        }
    }
    (call, rest)
}

/// The owner of `node_modules/.bin/BIN` in a folder.
fn bin_owner(folder: &Path, bin: &str) -> Option<PackageFacts> {
    let file = folder.join("node_modules/.bin").join(bin);
    if file.is_file() { node::package_of(&file) } else { None }
}

fn upward<Found>(from: &Path, look: impl Fn(&Path) -> Option<Found>) -> Option<Found> {
    from.ancestors().find_map(look)
}

/// A local package is taken for a bare name and for a version or range that it satisfies, never for a tag.
fn fits(version: &str, wanted: &str) -> bool {
    if wanted == "*" || wanted == version {
        return true;
    }
    let parsed = node_semver::Version::parse(version).ok();
    let range = node_semver::Range::parse(wanted).ok();
    parsed
        .zip(range)
        .is_some_and(|(version, range)| range.satisfies(&version))
}

fn cache_folder(call: &NpxCall, place: &Place) -> Option<PathBuf> {
    let named = call
        .cache
        .as_deref()
        .or_else(|| place.variable_in_any_case("npm_config_cache"));
    if let Some(folder) = named {
        return Some(place.resolve(folder));
    }
    place.variable("HOME").map(|home| Path::new(home).join(".npm"))
}

/// The order of `localeCompare(…, "en")` for what package specs are written with: punctuation, digits, letters.
fn collation(letter: char) -> (u8, u32) {
    const PUNCTUATION: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    match PUNCTUATION.find(letter) {
        Some(place) => (0, u32::try_from(place).unwrap_or(u32::MAX)),
        None if letter.is_ascii_digit() => (1, u32::from(letter)),
        None => (2, u32::from(letter.to_ascii_lowercase())),
    }
}
