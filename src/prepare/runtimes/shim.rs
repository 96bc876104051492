//! Shims: small programs that version managers put on PATH, which choose a version at every start. What one
//! stands for, the interpreter behind it is asked, in the user's current folder as a user would run it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::package::{Environment, Errand};
use crate::plan::RuntimeKind;

/// A shim of a slow manager on a loaded machine takes a second.
const LIMIT: Duration = Duration::from_secs(20);

/// What a program on PATH is.
#[derive(Debug, PartialEq, Eq)]
enum Nature {
    /// The executable itself, or a link to it.
    Itself(PathBuf),
    /// It lies where only shims lie, or leads to a manager's own program.
    Shim,
    /// A script: perhaps a shim, perhaps somebody's wrapper.
    Script,
}

/// The executable that a program on PATH stands for; none for a shim without one.
pub(super) async fn resolve(
    kind: RuntimeKind,
    program: &Path,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Option<PathBuf> {
    match nature(kind, program) {
        Nature::Itself(executable) => Some(executable),
        Nature::Shim => stands_for(kind, program, environment, cancel).await,
        Nature::Script => {
            let executable = stands_for(kind, program, environment, cancel).await;
            Some(executable.unwrap_or_else(|| program.to_owned()))
        }
    }
}

fn nature(kind: RuntimeKind, program: &Path) -> Nature {
    let Ok(target) = program.canonicalize() else {
        return Nature::Shim;
    };
    let in_shims = program.parent().is_some_and(|folder| folder.ends_with("shims"));
    // volta-shim, mise, snap: one program under many names.
    let another = !target
        .file_name()
        .is_some_and(|name| is_name_of(kind, &name.to_string_lossy()));
    if in_shims || another {
        Nature::Shim
    } else if starts_as_script(&target) {
        Nature::Script
    } else if kind == RuntimeKind::Node {
        // fnm's folder on PATH is one of each shell; what it leads to stays.
        Nature::Itself(target)
    } else {
        // The python of a virtual environment is a link out of it, and only as that link it is the venv's.
        Nature::Itself(program.to_owned())
    }
}

fn is_name_of(kind: RuntimeKind, name: &str) -> bool {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    match kind {
        RuntimeKind::Node => matches!(name, "node" | "nodejs"),
        RuntimeKind::Python => {
            let version = name.strip_prefix("python");
            version.is_some_and(|version| version.chars().all(|digit| digit.is_ascii_digit() || digit == '.'))
        }
    }
}

fn starts_as_script(program: &Path) -> bool {
    let mut start = [0; 2];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"#!"
}

async fn stands_for(
    kind: RuntimeKind,
    program: &Path,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Option<PathBuf> {
    let arguments: [OsString; 2] = match kind {
        RuntimeKind::Node => ["-p".into(), "process.execPath".into()],
        RuntimeKind::Python => ["-c".into(), "import sys; print(sys.executable)".into()],
    };
    let errand = Errand {
        program: program.to_owned(),
        arguments: arguments.into(),
        environment: environment.clone(),
        folder: std::env::current_dir().ok()?,
        limit: LIMIT,
    };
    let done = errand.run(&mut |_line| {}, cancel).await.ok()?;
    let executable = PathBuf::from(done.output.lines().next_back()?.trim());
    // A wrapper that knows nothing of the question answers something else.
    (executable.is_absolute() && executable.is_file() && executable != program).then_some(executable)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn write_program(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    async fn resolved(kind: RuntimeKind, program: &Path) -> Option<PathBuf> {
        resolve(kind, program, &Environment::ours(), &CancellationToken::new()).await
    }

    #[tokio::test]
    async fn a_shim_is_replaced_by_what_it_stands_for() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("versions/3.12.1/bin/python3");
        write_program(&real, "#!/bin/sh\n");
        let shim = folder.path().join("shims/python3");
        write_program(&shim, &format!("#!/bin/sh\necho {}\n", real.display()));
        assert_eq!(resolved(RuntimeKind::Python, &shim).await, Some(real));
    }

    #[tokio::test]
    async fn a_shim_that_stands_for_nothing_is_never_used() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("shims/node");
        write_program(&broken, "#!/bin/sh\necho 'no version is set' >&2\nexit 1\n");
        assert_eq!(resolved(RuntimeKind::Node, &broken).await, None);
        let manager = folder.path().join("bin/volta-shim");
        write_program(&manager, "#!/bin/sh\nexit 126\n");
        symlink(&manager, folder.path().join("bin/node")).unwrap();
        assert_eq!(resolved(RuntimeKind::Node, &folder.path().join("bin/node")).await, None);
    }

    #[tokio::test]
    async fn a_wrapper_that_names_no_executable_is_used_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let wrapper = folder.path().join("node");
        write_program(&wrapper, "#!/bin/sh\necho v22.1.0\n");
        assert_eq!(resolved(RuntimeKind::Node, &wrapper).await, Some(wrapper));
    }

    #[test]
    fn a_link_of_a_shell_is_followed_for_node_and_kept_for_a_virtual_environment() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["node", "python3.12"] {
            fs::write(root.join(name), b"\x7fELF").unwrap();
        }
        fs::create_dir(root.join("bin")).unwrap();
        symlink(root.join("node"), root.join("bin/node")).unwrap();
        symlink(root.join("python3.12"), root.join("bin/python")).unwrap();
        assert_eq!(
            nature(RuntimeKind::Node, &root.join("bin/node")),
            Nature::Itself(root.join("node"))
        );
        let python = root.join("bin/python");
        assert_eq!(nature(RuntimeKind::Python, &python), Nature::Itself(python));
    }
}
