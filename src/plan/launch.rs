//! One row: its server's strings filled in, its limits and figures taken from the flags, the server or the defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::event::Ecosystem;
use crate::manifest::{self, Defaults, Expect, InheritEnv, Manifest, PackageReference, Registry, Server};
use crate::version::Requirement;

use super::resolve::Resolver;
use super::{
    Entry, Expectations, Fixture, Flags, Inherit, Launch, Limits, Needs, PackageSpec, Probe, ProbeExpectation,
    Protocol, Segment, Template, environment_file,
};

/// What a row is made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'plan> {
    pub(super) manifest: &'plan Manifest,
    pub(super) flags: &'plan Flags,
    pub(super) server: &'plan Server,
    pub(super) runtime: Option<&'plan str>,
}

/// What to do with the row.
pub(super) fn entry(source: Source<'_>, resolver: &mut Resolver<'_>) -> Entry {
    if !source.server.enabled {
        return Entry::Disabled;
    }
    let url = resolver.known_option("url", source.server.url.as_ref());
    for (name, value) in &source.server.headers {
        let value = resolver.known(&format!("headers.{name}"), value);
        resolver.secrets.header(&value);
    }
    let entry = match url {
        Some(url) => {
            resolver.secrets.urls(&url);
            Entry::Remote(url)
        }
        None => Entry::Run(Box::new(launch(source, resolver))),
    };
    if resolver.problems.is_empty() {
        entry
    } else {
        Entry::Unusable(std::mem::take(&mut resolver.problems))
    }
}

fn launch(source: Source<'_>, resolver: &mut Resolver<'_>) -> Launch {
    let Source {
        manifest: Manifest { defaults, .. },
        flags,
        server,
        ..
    } = source;
    let command = server
        .command
        .as_ref()
        .map(|command| resolver.path_template("command", command))
        .unwrap_or_default();
    if command.as_literal().is_some_and(|command| command.trim().is_empty()) {
        resolver.problem("command", "the command is empty".to_owned());
    }
    let args = server.args.iter().enumerate();
    let args: Vec<Template> = args
        .map(|(index, arg)| resolver.path_template(&format!("args[{index}]"), arg))
        .collect();
    let plain: Vec<Option<String>> = args.iter().map(|arg| arg.as_literal().map(str::to_owned)).collect();
    resolver.secrets.arguments(&plain);
    // A whole command line in `command` starts nothing, but the message about it shows it.
    let words = command.as_literal().and_then(shlex::split).unwrap_or_default();
    resolver
        .secrets
        .arguments(&words.into_iter().map(Some).collect::<Vec<_>>());
    let inherit = inherit(defaults, server);
    inherited_secrets(inherit, server, resolver);
    let repeats = flags
        .repeats
        .or(server.repeats)
        .or(defaults.repeats)
        .unwrap_or(1)
        .max(1);
    let mut launch = Launch {
        packages: packages(server, resolver),
        command,
        args,
        env: environment(server, resolver),
        inherit,
        env_pass: server.env_pass.clone(),
        cwd: working_directory(server, resolver),
        requires: server.requires.clone(),
        requires_host: resolver.known_option("requires_host", server.requires_host.as_ref()),
        protocol: protocol(server.protocol.as_ref().or(defaults.protocol.as_ref())),
        limits: limits(defaults, server),
        repeats,
        cold_starts: flags
            .cold_starts
            .or(server.cold_starts)
            .or(defaults.cold_starts)
            .unwrap_or(1),
        retries: server.retries.unwrap_or(0),
        concurrency: server.concurrency.unwrap_or(1),
        probes: probes(source, resolver),
        needs: Needs::default(),
    };
    launch.needs = needs(&launch);
    launch
}

fn inherit(defaults: &Defaults, server: &Server) -> Inherit {
    match server.inherit_env.or(defaults.inherit_env) {
        Some(InheritEnv::All) => Inherit::All,
        Some(InheritEnv::Minimal) | None => Inherit::Minimal,
    }
}

/// What a server inherits it may print.
fn inherited_secrets(inherit: Inherit, server: &Server, resolver: &mut Resolver<'_>) {
    for (name, value) in &resolver.environment.variables {
        if inherit == Inherit::All || server.env_pass.contains(name) {
            resolver.secrets.named(name, value);
        }
    }
}

fn packages(server: &Server, resolver: &mut Resolver<'_>) -> Vec<PackageSpec> {
    let mut packages = Vec::new();
    for (index, package) in server.package.iter().enumerate() {
        let field = if server.package.len() == 1 {
            "package".to_owned()
        } else {
            format!("package[{index}]")
        };
        let before = resolver.problems.len();
        let text = resolver.known(&field, package);
        if resolver.problems.len() > before {
            continue;
        }
        match PackageReference::parse(&text) {
            Ok(package) => packages.push(PackageSpec {
                ecosystem: match package.registry {
                    Registry::Npm => Ecosystem::Npm,
                    Registry::Pypi => Ecosystem::Pypi,
                },
                name: package.name,
                wanted: package.wanted,
                spec: package.spec,
            }),
            Err(problem) => resolver.problem(&field, problem),
        }
    }
    packages
}

/// The variables of `env_file`, then those of `env`, which win.
fn environment(server: &Server, resolver: &mut Resolver<'_>) -> Vec<(String, Template)> {
    let mut variables: Vec<(String, Template)> = Vec::new();
    if let Some(file) = &server.env_file {
        let before = resolver.problems.len();
        let path = resolver.known_path("env_file", file);
        if resolver.problems.len() == before {
            match environment_file::read(&path) {
                Ok(lines) => {
                    for (name, value) in lines {
                        resolver.secrets.variable(&name, &value);
                        set(&mut variables, name, Template::literal(value));
                    }
                }
                Err(problem) => resolver.problem("env_file", problem),
            }
        }
    }
    for (name, value) in &server.env {
        let value = resolver.template(&format!("env.{name}"), value);
        if let Some(value) = value.as_literal() {
            resolver.secrets.named(name, value);
        }
        set(&mut variables, name.clone(), value);
    }
    variables
}

fn set(variables: &mut Vec<(String, Template)>, name: String, value: Template) {
    variables.retain(|(other, _)| *other != name);
    variables.push((name, value));
}

/// The working directory: the manifest's folder, or one relative to it.
fn working_directory(server: &Server, resolver: &mut Resolver<'_>) -> Template {
    let folder = resolver.manifest_dir.to_path_buf();
    let Some(typed) = &server.cwd else {
        return literal_path(&folder);
    };
    let cwd = resolver.path_template("cwd", typed);
    if let Some(path) = cwd.as_literal() {
        // Without the `.` parts, which would only lengthen what failures show.
        return literal_path(&folder.join(path).components().collect::<PathBuf>());
    }
    match cwd.segments().first() {
        Some(Segment::Fixture(Fixture::Workspace | Fixture::GitRepo)) => cwd,
        Some(Segment::Literal(start)) if Path::new(start).is_absolute() => cwd,
        _ => {
            let prefix = Segment::Literal(format!("{}/", folder.display()));
            Template::new(std::iter::once(prefix).chain(cwd.segments().iter().cloned()).collect())
        }
    }
}

fn literal_path(path: &Path) -> Template {
    Template::literal(path.to_string_lossy())
}

fn protocol(typed: Option<&String>) -> Protocol {
    match typed.map(String::as_str) {
        None | Some("auto") => Protocol::Auto,
        Some("initialize") => Protocol::Initialize,
        Some("discover") => Protocol::Discover,
        Some(revision) => Protocol::Revision(revision.to_owned()),
    }
}

fn limits(defaults: &Defaults, server: &Server) -> Limits {
    let seconds = Duration::from_secs;
    Limits {
        startup: server
            .startup_timeout
            .or(defaults.startup_timeout)
            .unwrap_or(seconds(60)),
        list: server.list_timeout.or(defaults.list_timeout).unwrap_or(seconds(30)),
        shutdown_grace: server.shutdown_grace.or(defaults.shutdown_grace).unwrap_or(seconds(2)),
        row: server.row_timeout.or(defaults.row_timeout).unwrap_or(seconds(600)),
    }
}

fn probes(source: Source<'_>, resolver: &mut Resolver<'_>) -> Vec<Probe> {
    let probes = source.server.probes.iter().enumerate();
    probes
        .map(|(index, probe)| one_probe(source, probe, &format!("probes[{index}]"), resolver))
        .collect()
}

fn one_probe(source: Source<'_>, probe: &manifest::Probe, field: &str, resolver: &mut Resolver<'_>) -> Probe {
    let Source {
        manifest: Manifest { defaults, .. },
        server,
        ..
    } = source;
    let tool = resolver.known(&format!("{field}.tool"), &probe.tool);
    let arguments = serde_json::Value::Object(probe.arguments.clone());
    resolver.secrets.call_arguments("", &arguments);
    Probe {
        name: resolver
            .known_option(&format!("{field}.name"), probe.name.as_ref())
            .unwrap_or_else(|| tool.clone()),
        tool,
        arguments: resolver.json(&format!("{field}.arguments"), &arguments),
        calls: calls(source, probe),
        warmup: warmup(source, probe),
        timeout: probe
            .timeout
            .or(server.call_timeout)
            .or(defaults.call_timeout)
            .unwrap_or(Duration::from_secs(30)),
        expect: probe_expectation(&probe.expect, &format!("{field}.expect"), resolver),
    }
}

/// A flag sets what a probe leaves open and never raises what it says itself: it may write.
fn calls(source: Source<'_>, probe: &manifest::Probe) -> u32 {
    let flag = source.flags.calls.or(source.flags.smoke.then_some(1));
    let calls = match (probe.calls, flag) {
        (Some(own), Some(flag)) => own.min(flag),
        (Some(own), None) => own,
        (None, flag) => flag
            .or(source.server.calls)
            .or(source.manifest.defaults.calls)
            .unwrap_or(30),
    };
    calls.max(1)
}

/// The same for the calls before; a probe whose own `calls` is 1 makes exactly one.
fn warmup(source: Source<'_>, probe: &manifest::Probe) -> u32 {
    let flag = source.flags.warmup.or(source.flags.smoke.then_some(0));
    match (probe.calls, probe.warmup, flag) {
        (Some(1), _, _) => 0,
        (_, Some(own), Some(flag)) => own.min(flag),
        (_, Some(own), None) => own,
        (_, None, flag) => flag
            .or(source.server.warmup)
            .or(source.manifest.defaults.warmup)
            .unwrap_or(0),
    }
}

fn probe_expectation(expect: &manifest::ProbeExpect, field: &str, resolver: &mut Resolver<'_>) -> ProbeExpectation {
    let mut template =
        |key: &str, text: Option<&manifest::Text>| text.map(|text| resolver.template(&format!("{field}.{key}"), text));
    let text = template("text", expect.text.as_ref());
    let not_text = template("not_text", expect.not_text.as_ref());
    let error = template("error", expect.error.as_ref());
    ProbeExpectation {
        text,
        not_text,
        matches: expect
            .matches
            .as_ref()
            .map(|pattern| resolver.pattern(&format!("{field}.matches"), pattern)),
        error,
        structured: expect
            .structured
            .as_ref()
            .map(|value| resolver.json(&format!("{field}.structured"), value)),
    }
}

/// What is expected of the server on this runtime.
pub(super) fn expectations(source: Source<'_>, resolver: &mut Resolver<'_>) -> Expectations {
    let general = &source.server.expect;
    let nothing = Expect::default();
    let (on, on_field) = match source
        .runtime
        .and_then(|runtime| source.server.expect_on.get_key_value(runtime))
    {
        Some((runtime, expect)) => (expect, format!("expect_on.{runtime}")),
        None => (&nothing, String::new()),
    };
    let mut pick = |key: &str, special: Option<&manifest::Text>, usual: Option<&manifest::Text>| match special {
        Some(text) => Some(resolver.known(&format!("{on_field}.{key}"), text)),
        None => resolver.known_option(&format!("expect.{key}"), usual),
    };
    let name = pick("name", on.name.as_ref(), general.name.as_ref());
    let version = pick("version", on.version.as_ref(), general.version.as_ref());
    let package_version = pick(
        "package_version",
        on.package_version.as_ref(),
        general.package_version.as_ref(),
    );
    for (field, range) in [
        ("expect.version", &version),
        ("expect.package_version", &package_version),
    ] {
        if let Some(Err(problem)) = range.as_deref().filter(|range| !range.is_empty()).map(any_range) {
            resolver.problem(field, problem);
        }
    }
    let (tools, tools_field) = match (&on.tools, &general.tools) {
        (Some(tools), _) => (tools.as_slice(), format!("{on_field}.tools")),
        (None, Some(tools)) => (tools.as_slice(), "expect.tools".to_owned()),
        (None, None) => ([].as_slice(), String::new()),
    };
    let tools = tools.iter().enumerate();
    Expectations {
        name,
        version,
        package_version,
        tools: tools
            .map(|(index, tool)| resolver.known(&format!("{tools_field}[{index}]"), tool))
            .collect(),
        tool_count: on
            .tool_count
            .or(general.tool_count)
            .and_then(|count| usize::try_from(count).ok()),
    }
}

/// The manifest checked each range by its ecosystem; what placeholders made of it is only checked for shape.
fn any_range(text: &str) -> Result<(), String> {
    Requirement::parse(text)
        .or_else(|_| Requirement::pep440(text))
        .map(|_| ())
}

fn needs(launch: &Launch) -> Needs {
    let mut needs = Needs::default();
    let strings = [&launch.command, &launch.cwd]
        .into_iter()
        .chain(&launch.args)
        .chain(launch.env.iter().map(|(_, value)| value));
    strings.for_each(|template| template.add_needs(&mut needs));
    for probe in &launch.probes {
        probe.arguments.add_needs(&mut needs);
        let expect = &probe.expect;
        [&expect.text, &expect.not_text, &expect.error]
            .into_iter()
            .flatten()
            .for_each(|template| template.add_needs(&mut needs));
        expect.structured.iter().for_each(|value| value.add_needs(&mut needs));
    }
    needs
}
