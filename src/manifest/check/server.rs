//! The checks of one `[servers.NAME]`.

use super::text::{self, Allowed};
use super::{Known, durations, probe};

use crate::manifest::mistake::Mistake;
use crate::manifest::package::{PackageReference, Registry};
use crate::manifest::spelling::closest;
use crate::manifest::tree::{Content, Entry, Node};
use crate::version::Requirement;

/// Every mistake of a server that only these checks find.
pub(super) fn check(server: &Entry, known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    let table = &server.value;
    durations(table.entries(), "", mistakes);
    strings(table, known, mistakes);
    runtimes(table, known, mistakes);
    requires(table, known, mistakes);
    let ecosystem = packages(table, mistakes);
    for (field, expect) in expectations(table) {
        ranges(&field, expect, ecosystem, mistakes);
    }
    remote(table, mistakes);
    if let Some(probes) = table.get("probes") {
        probe::check(probes.value.items(), known, mistakes);
    }
}

/// The placeholders of every string outside probes.
fn strings(table: &Node, known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    for entry in table.entries() {
        let allowed = match entry.key.as_str() {
            "command" | "args" | "env" | "cwd" => Allowed::All,
            "runtimes" | "tags" | "requires" | "env_pass" | "protocol" | "inherit_env" | "transport" => Allowed::None,
            "probes" | "severity" => continue,
            _ => Allowed::BeforeSessions,
        };
        inside(&entry.value, &entry.key, allowed, known, mistakes);
    }
}

/// The placeholders of every string in a value; `field` grows on the way down.
pub(super) fn inside(node: &Node, field: &str, allowed: Allowed, known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    text::check(node, field, allowed, known.source, mistakes);
    for entry in node.entries() {
        inside(
            &entry.value,
            &format!("{field}.{}", entry.key),
            allowed,
            known,
            mistakes,
        );
    }
    for (index, item) in node.items().iter().enumerate() {
        inside(item, &format!("{field}[{index}]"), allowed, known, mistakes);
    }
}

fn runtimes(table: &Node, known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    let named: Vec<&Node> = table
        .get("runtimes")
        .map(|entry| entry.value.items().iter().collect())
        .unwrap_or_default();
    for runtime in &named {
        let Some(name) = runtime
            .text()
            .filter(|name| !name.is_empty() && !known.runtimes.contains(name))
        else {
            continue;
        };
        let name = name.escape_debug().to_string();
        let mistake = Mistake::new(runtime.span.clone(), format!("unknown runtime `{name}`"));
        mistakes.push(match known.runtimes.as_slice() {
            [] => mistake.label("the manifest has no runtimes").help(format!(
                "add `[runtimes.{name}]` with `node = \"24\"` or `python = \">=3.10\"`"
            )),
            runtimes => mistake
                .label("no `[runtimes]` of this name")
                .did_you_mean(&name, runtimes),
        });
    }
    let named: Vec<&str> = named.iter().filter_map(|runtime| runtime.text()).collect();
    for entry in table
        .get("expect_on")
        .map(|entry| entry.value.entries())
        .unwrap_or_default()
    {
        if named.contains(&entry.key.as_str()) {
            continue;
        }
        let title = format!(
            "`expect_on.{}` names no runtime of this server",
            entry.key.escape_debug()
        );
        let mistake = Mistake::new(entry.key_span.clone(), title);
        mistakes.push(match named.as_slice() {
            [] => mistake
                .label("the server has no `runtimes`")
                .help("without runtimes `expect` says it all"),
            named => mistake
                .label("not among its `runtimes`")
                .did_you_mean(&entry.key, named),
        });
    }
}

/// A name that nothing declares is a plain program; one that is nearly a declared one is a slip.
fn requires(table: &Node, known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    for program in table
        .get("requires")
        .map(|entry| entry.value.items())
        .unwrap_or_default()
    {
        let Some(name) = program.text().filter(|name| !known.programs.contains(name)) else {
            continue;
        };
        if let Some(closest) = closest(name, known.programs.iter().copied()) {
            let title = format!("unknown program `{}` in `requires`", name.escape_debug());
            let mistake = Mistake::new(program.span.clone(), title).label("no `[[requires]]` of this name");
            mistakes.push(mistake.help(format!("did you mean `{closest}`?")).help(format!(
                "for another program, add `[[requires]]` with `program = \"{}\"`",
                name.escape_debug()
            )));
        }
    }
}

/// The packages; gives the registry of the first, which `package_version` is a range of.
fn packages(table: &Node, mistakes: &mut Vec<Mistake>) -> Option<Registry> {
    let entry = table.get("package")?;
    let nodes: Vec<&Node> = match &entry.value.content {
        Content::Array(items) => items.iter().collect(),
        _ => vec![&entry.value],
    };
    let mut first = None;
    for (index, node) in nodes.into_iter().enumerate() {
        // One with placeholders is read when they are filled in.
        let Some(spec) = node.text().filter(|spec| !spec.is_empty() && !spec.contains("${")) else {
            continue;
        };
        match PackageReference::parse(spec) {
            Ok(package) if index == 0 => first = Some(package.registry),
            Ok(_) => {}
            Err(problem) => {
                let title = format!("`package`: \"{}\" is not a package", spec.escape_debug());
                mistakes.push(
                    Mistake::new(node.span.clone(), title)
                        .label("not a package")
                        .help(problem),
                );
            }
        }
    }
    first
}

fn expectations(table: &Node) -> Vec<(String, &Node)> {
    let general = table.get("expect").map(|entry| ("expect".to_owned(), &entry.value));
    let on = table
        .get("expect_on")
        .map(|entry| entry.value.entries())
        .unwrap_or_default();
    general
        .into_iter()
        .chain(
            on.iter()
                .map(|entry| (format!("expect_on.{}", entry.key), &entry.value)),
        )
        .collect()
}

fn ranges(field: &str, expect: &Node, ecosystem: Option<Registry>, mistakes: &mut Vec<Mistake>) {
    for entry in expect.entries() {
        let Some(text) = entry
            .value
            .text()
            .filter(|text| !text.is_empty() && !text.contains("${"))
        else {
            continue;
        };
        let range = match (entry.key.as_str(), ecosystem) {
            ("version", _) | ("package_version", None) => Requirement::parse(text),
            ("package_version", Some(Registry::Npm)) => Requirement::npm(text),
            ("package_version", Some(Registry::Pypi)) => Requirement::pep440(text),
            _ => continue,
        };
        if let Err(problem) = range {
            let title = format!("`{field}.{}` is not a range", entry.key);
            mistakes.push(
                Mistake::new(entry.value.span.clone(), title)
                    .label("not a range")
                    .help(problem),
            );
        }
    }
}

/// Keys of a remote server beside a command, and the other way round.
fn remote(table: &Node, mistakes: &mut Vec<Mistake>) {
    let (remote, local) = (
        ["headers", "transport"],
        ["args", "env", "env_pass", "env_file", "cwd", "package", "runtimes"],
    );
    let (keys, missing) = match (table.get("command"), table.get("url")) {
        (Some(_), None) => (remote.as_slice(), "url"),
        (None, Some(_)) => (local.as_slice(), "command"),
        _ => return,
    };
    for entry in table
        .entries()
        .iter()
        .filter(|entry| keys.contains(&entry.key.as_str()))
    {
        let title = format!("`{}` means nothing without `{missing}`", entry.key);
        mistakes.push(Mistake::new(entry.place(), title).label(format!("this server has no `{missing}`")));
    }
}
