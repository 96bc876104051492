//! Who answered: what a row's first session that could tell has told, and which package that was. Where
//! no package owns the running script, the manifest's first `package` fills in and is marked so.

use crate::event::{Ecosystem, HandshakeFacts, Newest, PackageFacts, ProcessIdentity, SessionFacts};
use crate::plan::{Fixtures, Launch, PackageSpec, Protocol, Row};

use super::{Identity, PackageIdentity, PackageSource};

/// What is typed for a package by its bare name.
const ANY: &str = "*";
/// The programs that fetch what they run, and so name it on their command line.
const FETCHING: [&str; 4] = ["npx", "npm", "uvx", "uv"];

/// The identity of a row from its sessions, first ones first.
pub(super) fn of(row: &Row, sessions: &[&SessionFacts], in_place: &[PackageFacts]) -> Identity {
    let handshake = sessions.iter().find_map(|session| session.handshake.as_ref());
    let process = sessions.iter().find_map(|session| session.identity.as_ref());
    let mut identity = handshake.map(reported).unwrap_or_default();
    identity.pinned = row.launch().and_then(pinned);
    if let Some(ProcessIdentity {
        package: _,
        runtime,
        launcher,
    }) = process
    {
        identity.runtime.clone_from(runtime);
        identity.launcher = Some(*launcher);
    }
    let walked = process.and_then(|process| process.package.as_ref());
    identity.package = match (walked, row.launch()) {
        (Some(package), launch) => from_walk(package, launch),
        (None, Some(launch)) => launch
            .packages
            .first()
            .map(|spec| from_manifest(spec, in_place))
            .unwrap_or_default(),
        (None, None) => PackageIdentity::default(),
    };
    identity
}

/// What the manifest asked for, in its own words.
fn pinned(launch: &Launch) -> Option<String> {
    match &launch.protocol {
        Protocol::Auto => None,
        Protocol::Initialize => Some("initialize".to_owned()),
        Protocol::Discover => Some("discover".to_owned()),
        Protocol::Revision(revision) => Some(revision.clone()),
    }
}

fn reported(handshake: &HandshakeFacts) -> Identity {
    Identity {
        reported_name: handshake.name.clone(),
        reported_title: handshake.title.clone(),
        reported_version: handshake.version.clone(),
        era: Some(handshake.era),
        requested: Some(handshake.requested.clone()),
        negotiated: Some(handshake.negotiated.clone()),
        ..Identity::default()
    }
}

fn from_walk(package: &PackageFacts, launch: Option<&Launch>) -> PackageIdentity {
    PackageIdentity {
        ecosystem: Some(package.ecosystem),
        name: Some(package.name.clone()),
        wanted: launch.and_then(|launch| wanted(package, launch)),
        installed: Some(package.version.clone()),
        newest: Newest::default(),
        source: Some(PackageSource::Walk),
        path: Some(package.path.clone()),
    }
}

fn from_manifest(spec: &PackageSpec, in_place: &[PackageFacts]) -> PackageIdentity {
    let found = in_place.iter().find(|package| is_of(spec, package));
    PackageIdentity {
        ecosystem: Some(spec.ecosystem),
        name: Some(spec.name.clone()),
        wanted: Some(spec.wanted.clone()),
        installed: found.map(|package| package.version.clone()),
        newest: Newest::default(),
        source: Some(PackageSource::Manifest),
        path: found.map(|package| package.path.clone()),
    }
}

/// What was asked for of the package that answered: by the manifest's `package`, or on the command line
/// of npx or uvx. Unknown where neither names it.
fn wanted(package: &PackageFacts, launch: &Launch) -> Option<String> {
    let of_manifest = launch.packages.iter().find(|spec| is_of(spec, package));
    of_manifest
        .map(|spec| spec.wanted.clone())
        .or_else(|| wanted_on_command_line(package, &words(launch)))
}

fn is_of(spec: &PackageSpec, package: &PackageFacts) -> bool {
    spec.ecosystem == package.ecosystem && same_name(package.ecosystem, &spec.name, &package.name)
}

/// PyPI holds `Foo_Bar` and `foo-bar` for one name (PEP 503); npm's names are what they are.
fn same_name(ecosystem: Ecosystem, one: &str, other: &str) -> bool {
    match ecosystem {
        Ecosystem::Npm => one == other,
        Ecosystem::Pypi => normalised(one) == normalised(other),
    }
}

fn normalised(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

/// The words of a row's command; an argument that is a command of its own (`sh -c "npx x"`) in words too.
fn words(launch: &Launch) -> Vec<String> {
    let fixtures = Fixtures::default();
    let typed = std::iter::once(&launch.command).chain(&launch.args);
    typed
        .flat_map(|template| {
            let text = template.fill(&fixtures);
            match shlex::split(&text) {
                Some(words) if text.contains(' ') => words,
                Some(_) | None => vec![text],
            }
        })
        .collect()
}

fn wanted_on_command_line(package: &PackageFacts, words: &[String]) -> Option<String> {
    let fetching = words.iter().position(|word| FETCHING.contains(&program_name(word)))?;
    words[fetching + 1..].iter().find_map(|word| {
        // `--from=SPEC`, `--package=SPEC`; a specifier has its own `=`, but no dash in front.
        let spec = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            Some(_) | None => word,
        };
        rest_of_spec(package, spec)
    })
}

fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".cmd")
        .or_else(|| name.strip_suffix(".exe"))
        .unwrap_or(name)
}

/// What follows the package's name in a spec; none if the spec is of something else.
fn rest_of_spec(package: &PackageFacts, spec: &str) -> Option<String> {
    let rest = match package.ecosystem {
        Ecosystem::Npm => spec.strip_prefix(package.name.as_str())?,
        Ecosystem::Pypi => {
            let in_name = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
            let (name, rest) = spec.split_at(spec.find(|character| !in_name(character)).unwrap_or(spec.len()));
            if !same_name(Ecosystem::Pypi, name, &package.name) {
                return None;
            }
            rest.trim()
        }
    };
    match (package.ecosystem, rest.strip_prefix('@')) {
        (_, None) if rest.is_empty() => Some(ANY.to_owned()),
        (_, Some(version)) => Some(version.to_owned()),
        (Ecosystem::Pypi, None) => Some(rest.to_owned()),
        (Ecosystem::Npm, None) => None,
    }
}
