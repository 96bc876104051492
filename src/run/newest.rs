//! Asks the registries about the rows' packages, after the last session of the last row: nothing is asked
//! while something is measured.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::client::process::Command;
use crate::event::{
    Ecosystem, Event, EventKind, Launcher, Newest, PackageFacts, ProcessIdentity, RowId, RuntimeFacts, SessionKind,
    Sink,
};
use crate::package::newest::{self, ASK_LIMIT, Origin, Subject, Surroundings};
use crate::package::{Environment, Interpreter, identity};
use crate::plan::{Fixtures, Launch, Plan, Row, RuntimeKind};
use crate::prepare::ReadyRow;

use super::Interruption;
use super::launch;

/// What a row's own variables may say about its registry; the rest of them is the server's business.
const CLIENT_VARIABLES: &[&str] = &[
    "npm_config_",
    "uv_",
    "pip_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
];

/// Who answered in each row, as its events told.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// Of the first session that could tell, and whether that was the start after an installation.
    rows: BTreeMap<RowId, (ProcessIdentity, bool)>,
}

impl Answered {
    pub(super) fn take(&mut self, event: &Event) {
        let EventKind::Session(facts) = &event.kind else {
            return;
        };
        let Some(identity) = &facts.identity else { return };
        let is_first_start = facts.kind == SessionKind::FirstStart;
        let known = self.rows.get(&event.row);
        // The record takes the first session that counts, and the first start only for want of one.
        if known.is_none_or(|(_, of_first_start)| *of_first_start && !is_first_start) {
            self.rows.insert(event.row.clone(), (identity.clone(), is_first_start));
        }
    }
}

/// Tells every row that was run what its registry offers.
pub(super) async fn tell_all(
    plan: &Plan,
    ready: &BTreeMap<RowId, ReadyRow>,
    answered: &Answered,
    interruption: &Interruption,
    sink: &dyn Fn(&RowId) -> Sink,
) {
    if interruption.came() {
        return;
    }
    let subjects: Vec<(RowId, Subject)> = plan
        .rows
        .iter()
        .filter_map(|row| {
            let identity = answered.rows.get(&row.id).map(|(identity, _)| identity);
            Some((row.id.clone(), subject(row, ready.get(&row.id)?, identity)?))
        })
        .collect();
    let surroundings = Surroundings {
        state: plan.settings.state.clone(),
        environment: Environment::ours(),
        limit: ASK_LIMIT,
        now: Timestamp::now(),
        cancel: interruption.wind_down.clone(),
        clients: newest::Clients::default(),
    };
    for known in newest::ask(subjects, &surroundings).await {
        let sink = sink(&known.row);
        if let Some(note) = known.note {
            sink.note(0, std::time::Duration::ZERO, note);
        }
        if known.newest != Newest::default() {
            sink.send(EventKind::Newest(known.newest));
        }
    }
}

/// What there is to ask for a row; none where no package is known, or where it is of no registry.
fn subject(row: &Row, ready: &ReadyRow, identity: Option<&ProcessIdentity>) -> Option<Subject> {
    let launch = row.launch()?;
    let command = launch::command(launch, ready, &Fixtures::default());
    let walked = identity.and_then(|identity| identity.package.as_ref());
    let subject = match walked {
        Some(package) => of_walk(package, launch, &command, identity, ready),
        None => of_manifest(launch, ready)?,
    };
    newest::is_of_a_registry(&subject.wanted).then_some(subject)
}

fn of_manifest(launch: &Launch, ready: &ReadyRow) -> Option<Subject> {
    let spec = launch.packages.first()?;
    let installed = ready
        .installed
        .iter()
        .find(|package| is_same(package, spec.ecosystem, &spec.name));
    Some(Subject {
        ecosystem: spec.ecosystem,
        name: spec.name.clone(),
        wanted: spec.wanted.clone(),
        installed: installed.map(|package| package.version.clone()),
        origin: Origin::Ours,
        runtime: interpreter(spec.ecosystem, [ready.runtime.as_ref(), None]),
        env: Vec::new(),
    })
}

fn of_walk(
    package: &PackageFacts,
    launch: &Launch,
    command: &Command,
    identity: Option<&ProcessIdentity>,
    ready: &ReadyRow,
) -> Subject {
    let running = identity.and_then(|identity| identity.runtime.as_ref());
    let ours = launch
        .packages
        .iter()
        .find(|spec| is_same(package, spec.ecosystem, &spec.name));
    let typed = identity::wanted_of(command).filter(|(ecosystem, name, _)| is_same(package, *ecosystem, name));
    let subject = Subject {
        ecosystem: package.ecosystem,
        name: package.name.clone(),
        wanted: typed.map_or_else(|| "*".to_owned(), |(_, _, wanted)| wanted),
        installed: Some(package.version.clone()),
        origin: Origin::Theirs {
            launcher: identity.map_or(Launcher::Direct, |identity| identity.launcher),
            path: Some(package.path.clone()),
            cwd: command.cwd.clone(),
        },
        // What a fresh npx or uvx would run is what runs now.
        runtime: interpreter(package.ecosystem, [running, ready.runtime.as_ref()]),
        env: client_variables(&command.env),
    };
    match ours {
        Some(spec) => Subject {
            wanted: spec.wanted.clone(),
            origin: Origin::Ours,
            // It was installed for this one, whatever runs it.
            runtime: interpreter(package.ecosystem, [ready.runtime.as_ref(), running]),
            env: Vec::new(),
            ..subject
        },
        None => subject,
    }
}

fn is_same(package: &PackageFacts, ecosystem: Ecosystem, name: &str) -> bool {
    let comparable = |name: &str| identity::comparable_name(ecosystem, name);
    package.ecosystem == ecosystem && comparable(&package.name) == comparable(name)
}

/// The first of these that runs packages of this kind and has told its version.
fn interpreter(ecosystem: Ecosystem, candidates: [Option<&RuntimeFacts>; 2]) -> Option<Interpreter> {
    let kind = match ecosystem {
        Ecosystem::Npm => RuntimeKind::Node,
        Ecosystem::Pypi => RuntimeKind::Python,
    };
    let mut fitting = candidates
        .into_iter()
        .flatten()
        .filter(|runtime| runtime.kind == kind.name());
    fitting.find_map(|runtime| {
        Some(Interpreter {
            kind,
            version: runtime.version.clone()?,
            executable: runtime.executable.clone(),
        })
    })
}

fn client_variables(env: &[(String, String)]) -> Vec<(String, String)> {
    let mut variables: Vec<_> = env
        .iter()
        .filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            CLIENT_VARIABLES.iter().any(|start| name.starts_with(start)) && !name.contains("cache")
        })
        .cloned()
        .collect();
    variables.sort();
    variables
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn runtime(kind: &str, version: Option<&str>) -> RuntimeFacts {
        RuntimeFacts {
            kind: kind.to_owned(),
            version: version.map(str::to_owned),
            executable: PathBuf::from(format!("/bin/{kind}")),
        }
    }

    #[test]
    fn a_fresh_installation_is_thought_of_for_a_runtime_of_the_packages_kind() {
        let (node, python) = (runtime("node", Some("24.1.0")), runtime("python", Some("3.11.7")));
        let found = interpreter(Ecosystem::Npm, [Some(&python), Some(&node)]).unwrap();
        assert_eq!((found.kind, found.version.as_str()), (RuntimeKind::Node, "24.1.0"));
        let silent = runtime("node", None);
        assert_eq!(interpreter(Ecosystem::Npm, [Some(&silent), None]), None);
    }

    #[test]
    fn of_a_rows_variables_only_those_of_the_client_count_and_no_cache() {
        let env = [
            ("npm_config_registry", "http://127.0.0.1:1"),
            ("API_KEY", "x"),
            ("npm_config_cache", "/here"),
            ("UV_INDEX_URL", "http://127.0.0.1:2"),
            ("UV_CACHE_DIR", "/there"),
        ];
        let env: Vec<_> = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let names: Vec<_> = client_variables(&env).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["UV_INDEX_URL", "npm_config_registry"]);
    }
}
