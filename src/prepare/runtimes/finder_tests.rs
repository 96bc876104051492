//! Fake interpreters in the folder layouts of the version managers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

/// A home, a folder that is on PATH, and nothing else.
struct Machine {
    root: TempDir,
    environment: Environment,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let environment = Environment::default()
            .with("HOME", root.path().join("home"))
            .with("PATH", root.path().join("bin"));
        Self { root, environment }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(below)
    }

    fn node(&self, below: &str, version: &str) -> PathBuf {
        write_program(&self.path(below), &format!("#!/bin/sh\necho v{version}\n"))
    }

    fn python(&self, below: &str, version: &str) -> PathBuf {
        write_program(&self.path(below), &format!("#!/bin/sh\necho Python {version}\n"))
    }

    async fn find(&self, kind: RuntimeKind, range: &str) -> Option<Interpreter> {
        let cancel = CancellationToken::new();
        Finder::new(&self.environment, &cancel).find(kind, range).await
    }
}

fn write_program(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

#[tokio::test]
async fn the_one_on_path_is_taken_if_it_fits_even_if_a_manager_has_a_higher_one() {
    let machine = Machine::new();
    let on_path = machine.node("bin/node", "20.20.2");
    machine.node("home/.nvm/versions/node/v20.21.0/bin/node", "20.21.0");
    let found = machine.find(RuntimeKind::Node, "20").await.unwrap();
    assert_eq!((found.executable, found.version.as_str()), (on_path, "20.20.2"));
}

#[tokio::test]
async fn node_is_found_in_every_managers_folders() {
    for (variable, folder, below) in [
        ("NVM_DIR", ".nvm", "versions/node/v22.1.0/bin/node"),
        (
            "FNM_DIR",
            ".local/share/fnm",
            "node-versions/v22.1.0/installation/bin/node",
        ),
        ("VOLTA_HOME", ".volta", "tools/image/node/22.1.0/bin/node"),
        ("MISE_DATA_DIR", ".local/share/mise", "installs/node/22.1.0/bin/node"),
        ("ASDF_DATA_DIR", ".asdf", "installs/nodejs/22.1.0/bin/node"),
        ("NODENV_ROOT", ".nodenv", "versions/22.1.0/bin/node"),
    ] {
        let machine = Machine::new();
        machine.node("bin/node", "20.20.2");
        let usual = machine.node(&format!("home/{folder}/{below}"), "22.1.0");
        let found = machine.find(RuntimeKind::Node, "22").await.unwrap();
        assert_eq!(found.executable, usual, "{variable}");

        let mut machine = Machine::new();
        let elsewhere = machine.node(&format!("elsewhere/{below}"), "22.1.0");
        machine.environment = machine.environment.clone().with(variable, machine.path("elsewhere"));
        let found = machine.find(RuntimeKind::Node, "22").await.unwrap();
        assert_eq!(found.executable, elsewhere, "{variable}");
    }
}

#[tokio::test]
async fn python_is_found_in_every_managers_folders() {
    for (variable, folder, below) in [
        ("PYENV_ROOT", ".pyenv", "versions/3.12.4/bin/python3"),
        (
            "UV_PYTHON_INSTALL_DIR",
            ".local/share/uv/python",
            "cpython-3.12.4-linux-x86_64-gnu/bin/python3",
        ),
        (
            "MISE_DATA_DIR",
            ".local/share/mise",
            "installs/python/3.12.4/bin/python3",
        ),
        ("ASDF_DATA_DIR", ".asdf", "installs/python/3.12.4/bin/python3"),
    ] {
        let machine = Machine::new();
        let usual = machine.python(&format!("home/{folder}/{below}"), "3.12.4");
        let found = machine.find(RuntimeKind::Python, "3.12").await.unwrap();
        assert_eq!(
            (found.executable, found.version.as_str()),
            (usual, "3.12.4"),
            "{variable}"
        );

        let mut machine = Machine::new();
        let elsewhere = machine.python(&format!("elsewhere/{below}"), "3.12.4");
        machine.environment = machine.environment.clone().with(variable, machine.path("elsewhere"));
        let found = machine.find(RuntimeKind::Python, "3.12").await.unwrap();
        assert_eq!(found.executable, elsewhere, "{variable}");
    }
}

#[tokio::test]
async fn the_highest_that_fits_is_taken_by_number_and_not_by_name() {
    let machine = Machine::new();
    for version in ["22.9.0", "22.10.0", "22.2.0", "24.1.0"] {
        machine.node(&format!("home/.nvm/versions/node/v{version}/bin/node"), version);
    }
    let found = machine.find(RuntimeKind::Node, "22").await.unwrap();
    assert_eq!(found.version, "22.10.0");
}

#[tokio::test]
async fn a_broken_one_and_one_that_lies_in_its_folders_name_are_passed_over() {
    let machine = Machine::new();
    write_program(
        &machine.path("home/.nvm/versions/node/v22.10.0/bin/node"),
        "#!/bin/sh\nexit 1\n",
    );
    machine.node("home/.nvm/versions/node/v22.9.0/bin/node", "18.0.0");
    machine.node("home/.nvm/versions/node/v22.2.0/bin/node", "22.2.0");
    let found = machine.find(RuntimeKind::Node, "22").await.unwrap();
    assert_eq!(found.version, "22.2.0");
}

#[tokio::test]
async fn links_to_versions_and_other_implementations_are_passed_over() {
    let machine = Machine::new();
    let real = machine.python("home/.local/share/mise/installs/python/3.12.4/bin/python3", "3.12.4");
    let versions = machine.path("home/.local/share/mise/installs/python");
    symlink(versions.join("3.12.4"), versions.join("latest")).unwrap();
    symlink(versions.join("3.12.4"), versions.join("3.12")).unwrap();
    machine.python("home/.pyenv/versions/pypy3.12-7.3/bin/python3", "3.12.9");
    machine.python("home/.pyenv/versions/3.12.8t/bin/python3", "3.12.8");
    let found = machine.find(RuntimeKind::Python, ">=3.10").await.unwrap();
    assert_eq!(found.executable, real);
}

#[tokio::test]
async fn a_shim_on_path_is_never_the_executable() {
    let mut machine = Machine::new();
    let real = machine.python("home/.pyenv/versions/3.11.7/bin/python3", "3.11.7");
    let shim = machine.path("home/.pyenv/shims/python3");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = -c ]; then echo {0}; else exec {0} \"$@\"; fi\n",
        real.display()
    );
    write_program(&shim, &script);
    machine.environment = machine.environment.clone().with("PATH", shim.parent().unwrap());
    let found = machine.find(RuntimeKind::Python, ">=3.10").await.unwrap();
    assert_eq!((found.executable, found.version.as_str()), (real, "3.11.7"));
}

#[tokio::test]
async fn nothing_that_fits_is_nothing() {
    let machine = Machine::new();
    machine.node("bin/node", "20.20.2");
    assert_eq!(machine.find(RuntimeKind::Node, "24").await, None);
    assert_eq!(machine.find(RuntimeKind::Python, "*").await, None);
}
