//! Manifest, flags and environment to [`Plan`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::event::RowId;
use crate::manifest::{Manifest, RuntimeLanguage, Server, Text};

use super::launch::{self, Source};
use super::resolve::Resolver;
use super::secrets::Secrets;
use super::select::{self, Candidate};
use super::{Environment, Flags, Plan, PlanError, Program, Row, Runtime, RuntimeKind, Settings};

/// One row before its strings are filled in.
struct Draft<'plan> {
    name: &'plan str,
    server: &'plan Server,
    runtime: Option<&'plan str>,
}

impl Plan {
    /// The plan of a run. `path` is the manifest's, as given; relative to the current folder of `environment`.
    ///
    /// # Errors
    /// Selectors that no row fits, or that leave none.
    pub fn make(manifest: &Manifest, path: &Path, flags: &Flags, environment: &Environment) -> Result<Self, PlanError> {
        let manifest_dir = folder_of(path, environment);
        let drafts = selected(drafts(manifest), flags)?;
        let mut secrets = Secrets::new(report_words(manifest));
        let mut rows = Vec::new();
        for draft in &drafts {
            let mut resolver = Resolver {
                environment,
                manifest_dir: &manifest_dir,
                secrets: &mut secrets,
                problems: Vec::new(),
            };
            rows.push(row(manifest, flags, draft, &mut resolver));
        }
        Ok(Self {
            manifest: path.to_path_buf(),
            manifest_sha256: manifest.sha256.clone(),
            settings: settings(manifest, flags, environment),
            programs: programs(manifest, &drafts),
            not_yet: not_yet(&drafts),
            mask: secrets.into_mask(),
            manifest_dir,
            rows,
        })
    }
}

impl Draft<'_> {
    fn id(&self) -> String {
        match self.runtime {
            Some(runtime) => format!("{}@{runtime}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// The absolute folder of the manifest, symlinks left as they are.
fn folder_of(path: &Path, environment: &Environment) -> PathBuf {
    let whole: PathBuf = environment.current_dir.join(path).components().collect();
    whole
        .parent()
        .map_or_else(|| environment.current_dir.clone(), Path::to_path_buf)
}

fn drafts(manifest: &Manifest) -> Vec<Draft<'_>> {
    let mut drafts = Vec::new();
    for (name, server) in &manifest.servers {
        if server.runtimes.is_empty() {
            drafts.push(Draft {
                name,
                server,
                runtime: None,
            });
        }
        drafts.extend(server.runtimes.iter().map(|runtime| Draft {
            name,
            server,
            runtime: Some(runtime),
        }));
    }
    drafts
}

fn selected<'plan>(drafts: Vec<Draft<'plan>>, flags: &Flags) -> Result<Vec<Draft<'plan>>, PlanError> {
    let candidates: Vec<Candidate<'_>> = drafts
        .iter()
        .map(|draft| Candidate {
            id: draft.id(),
            server: draft.name,
            tags: &draft.server.tags,
        })
        .collect();
    let chosen = select::select(&flags.selectors, &candidates)?;
    Ok(drafts
        .into_iter()
        .zip(chosen)
        .filter_map(|(draft, chosen)| chosen.then_some(draft))
        .collect())
}

fn row(manifest: &Manifest, flags: &Flags, draft: &Draft<'_>, resolver: &mut Resolver<'_>) -> Row {
    let Draft { name, server, runtime } = *draft;
    let source = Source {
        manifest,
        flags,
        server,
        runtime,
    };
    let title = resolver
        .known_option("title", server.title.as_ref())
        .filter(|title| !title.is_empty());
    let group = resolver.known_option("group", server.group.as_ref());
    let expect = launch::expectations(source, resolver);
    let mut severity = manifest.severity.clone();
    severity.extend(server.severity.iter().map(|(code, choice)| (*code, *choice)));
    Row {
        id: RowId(draft.id()),
        server: name.to_owned(),
        title: title.unwrap_or_else(|| name.to_owned()),
        runtime: runtime.and_then(|runtime| runtime_of(manifest, runtime)),
        group,
        tags: server.tags.clone(),
        severity,
        expect,
        entry: launch::entry(source, resolver),
        line: server.line,
    }
}

fn runtime_of(manifest: &Manifest, name: &str) -> Option<Runtime> {
    let (_, runtime) = manifest.runtimes.iter().find(|(known, _)| known == name)?;
    let (language, range) = runtime.language_and_range();
    let kind = match language {
        RuntimeLanguage::Node => RuntimeKind::Node,
        RuntimeLanguage::Python => RuntimeKind::Python,
    };
    Some(Runtime {
        name: name.to_owned(),
        kind,
        range: range.to_owned(),
    })
}

fn settings(manifest: &Manifest, flags: &Flags, environment: &Environment) -> Settings {
    let whole = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
    let smoke_jobs = flags.smoke.then_some(environment.cores);
    Settings {
        jobs: flags
            .jobs
            .or(smoke_jobs)
            .or(whole(manifest.defaults.jobs))
            .unwrap_or(1)
            .max(1),
        keep_runs: whole(manifest.defaults.keep_runs).unwrap_or(60),
        seed: flags.seed.unwrap_or(environment.clock_seed),
        install: flags.install,
        install_programs: flags.install_programs,
        strict: flags.strict,
        locked: flags.locked,
        smoke: flags.smoke,
        reports: flags.reports.clone(),
        logs: flags.logs.clone(),
        state: environment.current_dir.join(&flags.state),
        flags: flags.settings(),
    }
}

/// The programs of `[[requires]]`, and those that rows name without declaring them: looked up under their own name.
fn programs(manifest: &Manifest, drafts: &[Draft<'_>]) -> BTreeMap<String, Program> {
    let mut programs = BTreeMap::new();
    for name in drafts.iter().flat_map(|draft| &draft.server.requires) {
        let plain = Program {
            name: name.clone(),
            any_of: vec![name.clone()],
            hint: None,
            install: Vec::new(),
        };
        programs.insert(name.clone(), plain);
    }
    for declared in &manifest.requires {
        let any_of = if declared.any_of.is_empty() {
            vec![declared.program.clone()]
        } else {
            declared.any_of.clone()
        };
        let program = Program {
            name: declared.program.clone(),
            any_of,
            hint: declared.hint.clone(),
            install: declared.install.clone(),
        };
        programs.insert(declared.program.clone(), program);
    }
    programs
}

/// Keys that this build reads but does not act on, each named once.
fn not_yet(drafts: &[Draft<'_>]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for Draft { name, server, .. } in drafts {
        let used = [
            ("url", server.url.is_some()),
            ("headers", !server.headers.is_empty()),
            ("transport", server.transport.is_some()),
        ];
        for key in used
            .into_iter()
            .filter(|(_, used)| *used)
            .map(|(key, _)| format!("servers.{name}.{key}"))
        {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// The words of this manifest that reports are made of.
fn report_words(manifest: &Manifest) -> Vec<String> {
    let mut words: Vec<String> = manifest.runtimes.iter().map(|(name, _)| name.clone()).collect();
    for (name, server) in &manifest.servers {
        words.push(name.clone());
        words.extend(server.tags.iter().cloned());
        let expected = server.expect.tools.iter().flatten();
        let probes = server
            .probes
            .iter()
            .flat_map(|probe| [Some(&probe.tool), probe.name.as_ref()])
            .flatten();
        // A command with spaces is a whole command line by mistake, and may hold a secret.
        let command = server
            .command
            .as_ref()
            .filter(|command| command.as_literal().is_some_and(|text| !text.contains(' ')));
        let texts = [
            server.title.as_ref(),
            server.group.as_ref(),
            server.expect.name.as_ref(),
            command,
        ]
        .into_iter()
        .flatten();
        let texts = texts.chain(&server.package).chain(expected).chain(probes);
        words.extend(texts.filter_map(Text::as_literal).map(str::to_owned));
    }
    words
}
