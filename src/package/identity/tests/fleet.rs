//! Folders as package managers lay them out, with as little in them as the rule reads.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::client::process::{Command, LiveProcess};
use crate::event::PackageFacts;

use super::super::live::Pipes;
use super::super::{Found, look};

/// A temporary folder to lay things out in.
pub(super) struct Fleet {
    folder: tempfile::TempDir,
}

impl Fleet {
    pub(super) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The real path, without links.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(super) fn text(&self, path: &str) -> String {
        self.path(path).to_string_lossy().into_owned()
    }

    pub(super) fn file(&self, path: &str, content: &str) -> PathBuf {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        file
    }

    pub(super) fn program(&self, path: &str, content: &str) -> PathBuf {
        let file = self.file(path, content);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    pub(super) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let link = self.path(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }

    /// `NAME` in `FOLDER/node_modules`, with `dist/index.js` and a bin of that name.
    pub(super) fn npm(&self, folder: &str, name: &str, version: &str, bin: &str) {
        let package = format!("{folder}/node_modules/{name}");
        let manifest = format!(r#"{{"name": "{name}", "version": "{version}"}}"#);
        self.file(&format!("{package}/package.json"), &manifest);
        // Deeper manifests without name or version are common, and say nothing.
        self.file(&format!("{package}/dist/package.json"), r#"{"type": "module"}"#);
        self.program(&format!("{package}/dist/index.js"), "#!/usr/bin/env node\n");
        self.link(
            &format!("{folder}/node_modules/.bin/{bin}"),
            format!("../{name}/dist/index.js"),
        );
    }

    /// A venv whose `python` is a link out of it.
    pub(super) fn venv(&self, folder: &str) {
        if !self.path("usr/bin/python3.11").exists() {
            self.program("usr/bin/python3.11", "\u{7f}ELF");
        }
        self.link(&format!("{folder}/bin/python"), self.path("usr/bin/python3.11"));
        self.link(&format!("{folder}/bin/python3"), "python");
        self.file(
            &format!("{folder}/pyvenv.cfg"),
            "include-system-site-packages = false\n",
        );
    }

    /// A distribution in a prefix: its module, its console script and its `.dist-info`.
    pub(super) fn pypi(&self, prefix: &str, distribution: &Distribution) {
        let Distribution {
            name,
            version,
            module,
            script,
        } = distribution;
        let site = format!("{prefix}/lib/python3.11/site-packages");
        let info = format!("{site}/{}-{version}.dist-info", name.replace('-', "_"));
        self.file(
            &format!("{info}/METADATA"),
            &format!("Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nName: no\n"),
        );
        let mut record = format!("{module}/__init__.py,sha256=x,1\n{module}/__main__.py,sha256=x,1\n");
        self.file(&format!("{site}/{module}/__main__.py"), "");
        if let Some(script) = script {
            record += ["../../../bin/", script, ",sha256=x,1\n"].concat().as_str();
            let entries = format!("[other]\n{script}-not = x:y\n\n[console_scripts]\n{script} = {module}:main\n");
            self.file(&format!("{info}/entry_points.txt"), &entries);
            let first = format!("#!{}\nimport sys\n", self.text(&format!("{prefix}/bin/python")));
            self.program(&format!("{prefix}/bin/{script}"), &first);
        }
        self.file(&format!("{info}/RECORD"), &record);
    }

    /// The package that the rule finds for a command of which no process is left.
    pub(super) fn package(
        &self,
        command_line: &[&str],
        environment: &[(&str, &str)],
        cwd: &str,
    ) -> Option<PackageFacts> {
        look(&[], &command(command_line, environment, &self.path(cwd)), &NoPipes).package
    }

    /// The package for a live process that runs this, started by something unreadable.
    pub(super) fn live(
        &self,
        command_line: &[&str],
        executable: &str,
        environment: &[(&str, &str)],
        cwd: &str,
    ) -> Found {
        let mut process = process(1, None, command_line);
        process.executable = Some(self.path(executable));
        process.cwd = Some(self.path(cwd));
        process.environment = pairs(environment);
        look(&[process], &command(&["nothing"], &[], &self.root()), &NoPipes)
    }
}

/// What [`Fleet::pypi`] lays out.
pub(super) struct Distribution {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) module: &'static str,
    pub(super) script: Option<&'static str>,
}

/// The server that most tests here run.
pub(super) const TIME: Distribution = Distribution {
    name: "mcp-server-time",
    version: "2026.10.19",
    module: "mcp_server_time",
    script: Some("mcp-server-time"),
};

/// A system that does not tell who holds which pipe.
pub(super) struct NoPipes;

impl Pipes for NoPipes {
    fn held(&self, _: u32) -> Option<BTreeSet<PathBuf>> {
        None
    }

    fn ours(&self, _: u32) -> BTreeSet<PathBuf> {
        BTreeSet::new()
    }
}

pub(super) fn command(command_line: &[&str], environment: &[(&str, &str)], cwd: &Path) -> Command {
    Command {
        program: PathBuf::from(command_line[0]),
        args: command_line[1..].iter().map(ToString::to_string).collect(),
        env: pairs(environment),
        cwd: cwd.to_owned(),
        owner: None,
    }
}

pub(super) fn process(pid: u32, parent: Option<u32>, command_line: &[&str]) -> LiveProcess {
    LiveProcess {
        pid,
        parent,
        command_line: command_line.iter().map(ToString::to_string).collect(),
        executable: None,
        cwd: None,
        environment: Vec::new(),
    }
}

/// `name version`, or nothing.
pub(super) fn shown(package: Option<PackageFacts>) -> String {
    package.map_or_else(
        || "-".to_owned(),
        |package| format!("{} {}", package.name, package.version),
    )
}

fn pairs(environment: &[(&str, &str)]) -> Vec<(String, String)> {
    environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}
