//! Runtimes of our own under `<state>/runtimes`: Node from npm's packages that ship its binary, Python by
//! `uv`, where that is at hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::package::{Environment, Errand, Installation, Interpreter, Npm, Place, Scripts, Trouble};
use crate::plan::RuntimeKind;

use super::{Finder, managers};

/// A Python is 30 MB to fetch and to unpack.
const PYTHON_LIMIT: Duration = Duration::from_mins(10);

/// Why there is no such runtime.
#[derive(Clone, Debug)]
pub(in crate::prepare) enum Missing {
    /// What would install it is not here: what, and the cure.
    Installer { problem: String, cure: String },
    /// Installing it failed.
    Failed { problem: String, last_lines: Vec<String> },
    /// The run was interrupted.
    Cancelled,
}

/// Where our own runtime of that range is.
pub(in crate::prepare) fn place_of(state: &Path, kind: RuntimeKind, range: &str) -> Place {
    let name: String = range
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '.' {
                letter
            } else {
                '_'
            }
        })
        .collect();
    let digest = crate::prepare::digest(&[range]);
    Place::new(state.join("runtimes").join(format!("{}-{name}-{digest}", kind.name())))
}

/// Our own runtime of that range, if it was installed earlier.
pub(in crate::prepare) async fn installed(
    finder: &mut Finder<'_>,
    kind: RuntimeKind,
    range: &str,
    installation: &Installation,
) -> Option<Interpreter> {
    match kind {
        RuntimeKind::Node => finder.ask(kind, range, node_in(&installation.folder)).await,
        RuntimeKind::Python => {
            let candidates = managers::in_uv_folder(&installation.folder.join("python"));
            finder.first_of(kind, range, candidates).await
        }
    }
}

/// Installs a runtime of that range into a folder of its own. The caller looks what came of it.
pub(in crate::prepare) async fn install(
    kind: RuntimeKind,
    range: &str,
    folder: &Path,
    environment: &Environment,
    on_line: &mut (dyn FnMut(&str) + Send),
    cancel: &CancellationToken,
) -> Result<Duration, Missing> {
    let errand = match kind {
        RuntimeKind::Node => node_errand(range, folder, environment, cancel).await?,
        RuntimeKind::Python => python_errand(range, folder, environment)?,
    };
    on_line(&format!("$ {}", errand.command_line()));
    match errand.run(on_line, cancel).await {
        Ok(done) => Ok(done.took),
        Err(Trouble::Cancelled) => Err(Missing::Cancelled),
        Err(Trouble::Failed { problem, last_lines }) => Err(Missing::Failed { problem, last_lines }),
    }
}

async fn node_errand(
    range: &str,
    folder: &Path,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Result<Errand, Missing> {
    let missing = |problem: &str| Missing::Installer {
        problem: format!("no Node {range} was found, and {problem}"),
        cure: format!("install Node {range} so that it is on PATH or in a version manager"),
    };
    let package = node_package().ok_or_else(|| missing("npm has none for this system"))?;
    let any = Finder::new(environment, cancel).find(RuntimeKind::Node, "*").await;
    let any = any.ok_or_else(|| missing("npm, which would install one, needs some Node to run"))?;
    let npm = Npm::of(&any, environment).ok_or_else(|| missing("there is no npm to install one"))?;
    Npm::make_project(folder).map_err(|error| Missing::Failed {
        problem: format!("cannot write {}: {error}", folder.display()),
        last_lines: Vec::new(),
    })?;
    let npm = npm.with_settings_of_default(folder, cancel).await;
    let range = if range.trim().is_empty() { "*" } else { range };
    // The binary is in the package as it is; scripts have no business in it.
    Ok(npm.install(&[format!("{package}@{range}")], Scripts::Ignored, folder))
}

fn python_errand(range: &str, folder: &Path, environment: &Environment) -> Result<Errand, Missing> {
    let uv = environment.program("uv").ok_or_else(|| Missing::Installer {
        problem: format!("no Python {range} was found, and there is no uv to install one"),
        cure: format!("install uv (pipx install uv), or Python {range}"),
    })?;
    let mut arguments = vec!["python".into(), "install".into()];
    if !matches!(range.trim(), "" | "*") {
        arguments.push(range.into());
    }
    Ok(Errand {
        program: uv,
        arguments,
        environment: environment
            .clone()
            .with("UV_PYTHON_INSTALL_DIR", folder.join("python"))
            // Or it would put links into the user's own bin folder.
            .with("UV_PYTHON_INSTALL_BIN", "0")
            .with("UV_PYTHON_PREFERENCE", "only-managed"),
        folder: folder.to_owned(),
        limit: PYTHON_LIMIT,
    })
}

fn node_in(folder: &Path) -> PathBuf {
    let package = node_package().unwrap_or_default();
    let name = if cfg!(windows) { "node.exe" } else { "node" };
    let binary = folder.join("node_modules").join(package).join("bin").join(name);
    fs::canonicalize(&binary).unwrap_or(binary)
}

/// npm's package with nothing but Node's binary for this system.
fn node_package() -> Option<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        "windows" => "win",
        _ => return None,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "arm" => "armv7l",
        "powerpc64" => "ppc64le",
        "s390x" => "s390x",
        _ => return None,
    };
    Some(format!("node-{system}-{processor}"))
}
