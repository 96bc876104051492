//! npm, run by a given Node: that Node's npm is the npm at hand run by it, because npm picks versions by
//! the Node that runs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::newest::ASK_LIMIT;
use super::{Environment, Errand, Interpreter};

/// `npm install` with a slow network; most take seconds.
const INSTALL_LIMIT: Duration = Duration::from_mins(10);
/// `npm config get` is answered from files.
const CONFIG_LIMIT: Duration = Duration::from_secs(30);

/// An npm and the Node that runs it.
#[derive(Clone, Debug)]
pub struct Npm {
    node: Interpreter,
    /// `npm-cli.js`.
    script: PathBuf,
    /// The user's environment with that Node first on PATH.
    environment: Environment,
}

/// Whether packages may run their install scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scripts {
    /// As a user's `npm install` would.
    AsConfigured,
    /// None.
    Ignored,
}

/// Where an npm finds its settings.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    global_config: Option<PathBuf>,
    certificates: Option<String>,
}

impl Npm {
    /// The npm for that Node: the first on PATH if that Node is the one on PATH, else the one shipped with
    /// it, else whichever is at hand.
    pub fn of(node: &Interpreter, environment: &Environment) -> Option<Self> {
        let on_path = || {
            environment
                .programs("npm")
                .iter()
                .find_map(|program| script_of(program))
        };
        let shipped = || shipped_with(node);
        let script = if node.is_first_on_path(environment) {
            on_path().or_else(shipped)
        } else {
            shipped().or_else(on_path)
        };
        Some(Self {
            node: node.clone(),
            script: script?,
            environment: environment.clone().with_path_first(node.bin_folder()),
        })
    }

    /// The Node that runs it.
    pub(super) fn node(&self) -> &Path {
        &self.node.executable
    }

    /// The same npm with settings that only the default Node would see. npm's global configuration lies
    /// beside the Node that runs it, so a proxy or a company's certificates set there are lost under
    /// another Node, and an installation fails after minutes of retries.
    #[must_use]
    pub async fn with_settings_of_default(mut self, folder: &Path, cancel: &CancellationToken) -> Self {
        let Some(default) = self.default_npm(folder) else {
            return self;
        };
        let theirs = settings(&default, cancel).await;
        let own = settings(&self.errand(CONFIG_ARGUMENTS, folder, CONFIG_LIMIT), cancel).await;
        for (name, value) in lent(&theirs, &own) {
            self.environment = self.environment.with(name, value);
        }
        self
    }

    /// `npm install` of these specs in that folder, which has a `package.json` of its own.
    pub fn install(&self, specs: &[String], scripts: Scripts, folder: &Path) -> Errand {
        let mut arguments = vec!["install", "--no-audit", "--no-fund"];
        if scripts == Scripts::Ignored {
            arguments.push("--ignore-scripts");
        }
        arguments.push("--");
        arguments.extend(specs.iter().map(String::as_str));
        self.errand(&arguments, folder, INSTALL_LIMIT)
    }

    /// A question that npm answers without changing anything.
    pub(super) fn ask(&self, arguments: &[&str], folder: &Path) -> Errand {
        self.errand(arguments, folder, ASK_LIMIT)
    }

    /// Its version, from the `package.json` beside it.
    pub(super) fn version(&self) -> Option<String> {
        let manifest = self.script.parent()?.parent()?.join("package.json");
        let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
        Some(manifest.get("version")?.as_str()?.to_owned())
    }

    /// Makes the folder a project of its own, or npm would climb to the user's.
    pub fn make_project(folder: &Path) -> std::io::Result<()> {
        std::fs::write(folder.join("package.json"), "{\"private\":true}\n")
    }

    /// Where the commands of installed packages are.
    pub fn bin_folder(project: &Path) -> PathBuf {
        project.join("node_modules").join(".bin")
    }

    fn errand(&self, arguments: &[&str], folder: &Path, limit: Duration) -> Errand {
        let script = std::iter::once(self.script.clone().into_os_string());
        Errand {
            program: self.node.executable.clone(),
            arguments: script.chain(arguments.iter().map(OsString::from)).collect(),
            environment: self.environment.clone(),
            folder: folder.to_owned(),
            limit,
        }
    }

    /// `npm config get` by the npm that the user would run, if that is run by another Node than ours.
    fn default_npm(&self, folder: &Path) -> Option<Errand> {
        // `self.environment` has our Node first on PATH; the user's PATH comes after it.
        let users = std::env::join_paths(self.environment.path().into_iter().skip(1)).ok()?;
        let environment = self.environment.clone().with("PATH", users);
        if self.node.is_first_on_path(&environment) {
            return None;
        }
        Some(Errand {
            program: environment.program("npm")?,
            arguments: CONFIG_ARGUMENTS.iter().map(OsString::from).collect(),
            folder: folder.to_owned(),
            limit: CONFIG_LIMIT,
            environment,
        })
    }
}

const CONFIG_ARGUMENTS: &[&str] = &["config", "get", "globalconfig", "cafile"];

/// The script behind an `npm` on PATH; none if it is a version manager's shim.
fn script_of(program: &Path) -> Option<PathBuf> {
    let script = program.canonicalize().ok()?;
    (script.extension()? == "js").then_some(script)
}

fn shipped_with(node: &Interpreter) -> Option<PathBuf> {
    let bin = node.executable.canonicalize().ok()?.parent()?.to_owned();
    let beside = script_of(&bin.join("npm"));
    let in_library = || {
        let folders = [bin.parent()?.join("lib"), bin.clone()];
        let scripts = folders.map(|folder| folder.join("node_modules/npm/bin/npm-cli.js"));
        scripts.into_iter().find(|script| script.is_file())
    };
    beside.or_else(in_library)
}

async fn settings(errand: &Errand, cancel: &CancellationToken) -> Settings {
    match errand.run(&mut |_line| {}, cancel).await {
        Ok(done) => read_settings(&done.output),
        // Then npm itself will say what is wrong with it.
        Err(_trouble) => Settings::default(),
    }
}

fn read_settings(output: &str) -> Settings {
    let value = |key: &str| {
        let found = output
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let found = found
            .map(str::trim)
            .filter(|value| !matches!(*value, "" | "null" | "undefined"));
        found.map(str::to_owned)
    };
    Settings {
        global_config: value("globalconfig").map(PathBuf::from).filter(|path| path.is_file()),
        certificates: value("cafile"),
    }
}

/// What the other Node must be told to see what the default one sees.
fn lent(default: &Settings, own: &Settings) -> Vec<(&'static str, OsString)> {
    let mut lent = Vec::new();
    if let (Some(config), None) = (&default.global_config, &own.global_config) {
        lent.push(("npm_config_globalconfig", config.clone().into_os_string()));
    }
    if let (Some(certificates), None) = (&default.certificates, &own.certificates) {
        lent.push(("npm_config_cafile", certificates.into()));
    }
    lent
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::plan::RuntimeKind;

    /// A folder with `bin/node`, and `bin/npm` leading to `lib/node_modules/npm/bin/npm-cli.js`.
    fn node_with_npm(prefix: &Path) -> Interpreter {
        let node = node_alone(prefix);
        let script = prefix.join("lib/node_modules/npm/bin/npm-cli.js");
        fs::create_dir_all(script.parent().unwrap()).unwrap();
        fs::write(&script, "#!/usr/bin/env node\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(script, prefix.join("bin/npm")).unwrap();
        node
    }

    fn node_alone(prefix: &Path) -> Interpreter {
        let executable = prefix.join("bin/node");
        fs::create_dir_all(prefix.join("bin")).unwrap();
        fs::write(&executable, "#!/bin/sh\necho v24.1.0\n").unwrap();
        fs::set_permissions(&executable, fs::Permissions::from_mode(0o755)).unwrap();
        Interpreter {
            kind: RuntimeKind::Node,
            version: "24.1.0".to_owned(),
            executable,
        }
    }

    fn path(prefix: &Path) -> Environment {
        Environment::default().with("PATH", prefix.join("bin"))
    }

    #[test]
    fn a_node_without_npm_runs_the_one_on_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        node_with_npm(&root.join("default"));
        let other = node_alone(&root.join("other"));
        let npm = Npm::of(&other, &path(&root.join("default"))).unwrap();
        assert!(npm.script.starts_with(root.join("default")));
        let errand = npm.install(&["x@1".to_owned()], Scripts::AsConfigured, &root);
        assert_eq!(errand.program, other.executable);
        assert_eq!(errand.arguments.last().unwrap(), "x@1");
        assert_eq!(errand.environment.path()[0], root.join("other/bin"));
    }

    #[test]
    fn a_node_that_ships_an_npm_runs_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        node_with_npm(&root.join("default"));
        let other = node_with_npm(&root.join("other"));
        let npm = Npm::of(&other, &path(&root.join("default"))).unwrap();
        assert!(npm.script.starts_with(root.join("other")));
    }

    #[test]
    fn a_shim_called_npm_is_no_npm() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let node = node_alone(&root.join("shims"));
        fs::copy(&node.executable, root.join("shims/bin/npm")).unwrap();
        assert!(Npm::of(&node, &path(&root.join("shims"))).is_none());
    }

    #[test]
    fn settings_that_the_other_node_does_not_see_are_lent_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("npmrc");
        fs::write(&config, "").unwrap();
        let theirs = read_settings(&format!(
            "globalconfig={}\ncafile=/certificates.pem\n",
            config.display()
        ));
        let own = read_settings("globalconfig=/no/such/npmrc\ncafile=null\n");
        assert_eq!(own, Settings::default());
        let names: Vec<_> = lent(&theirs, &own).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["npm_config_globalconfig", "npm_config_cafile"]);
        assert!(lent(&theirs, &theirs).is_empty());
        assert!(lent(&own, &theirs).is_empty());
    }
}
