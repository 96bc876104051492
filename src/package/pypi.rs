//! PyPI: a virtual environment of a given Python, filled by `uv` where it is at hand, else by `pip`.
//! Byte-compiled either way, or the first start of a server would pay for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Environment, Errand, Interpreter};

/// With a slow network and wheels to be built.
const INSTALL_LIMIT: Duration = Duration::from_mins(10);
/// `python -m venv` unpacks pip; slow on a loaded machine.
const VENV_LIMIT: Duration = Duration::from_mins(3);

/// How packages get into a virtual environment here.
#[derive(Clone, Debug)]
pub struct Pypi {
    python: Interpreter,
    uv: Option<PathBuf>,
    environment: Environment,
}

/// A virtual environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Venv {
    /// Its folder.
    pub folder: PathBuf,
}

impl Pypi {
    /// With `uv` if it is on PATH.
    pub fn of(python: &Interpreter, environment: &Environment) -> Self {
        Self {
            python: python.clone(),
            uv: environment.program("uv"),
            // pip's byte-compiling heeds it, and a user who sets it does not mean installed packages.
            environment: environment.clone().with("PYTHONDONTWRITEBYTECODE", ""),
        }
    }

    /// Makes the virtual environment, which is not there yet.
    pub fn make(&self, venv: &Venv) -> Errand {
        let folder = venv.folder.as_os_str();
        let python = self.python.executable.as_os_str();
        if let Some(uv) = &self.uv {
            let words = ["venv", "--no-project", "--python"].map(OsString::from);
            let arguments = words.into_iter().chain([python.to_owned(), folder.to_owned()]);
            self.errand(uv, arguments.collect(), venv, VENV_LIMIT)
        } else {
            let arguments = vec!["-m".into(), "venv".into(), folder.to_owned()];
            self.errand(&self.python.executable, arguments, venv, VENV_LIMIT)
        }
    }

    /// Installs these specs into it.
    pub fn install(&self, specs: &[String], venv: &Venv) -> Errand {
        let python = venv.python();
        let specs = specs.iter().map(OsString::from);
        if let Some(uv) = &self.uv {
            let words = ["pip", "install", "--compile-bytecode", "--python"].map(OsString::from);
            let arguments = words.into_iter().chain([python.into_os_string(), "--".into()]);
            self.errand(uv, arguments.chain(specs).collect(), venv, INSTALL_LIMIT)
        } else {
            let words = ["-m", "pip", "install", "--compile", "--disable-pip-version-check", "--"];
            let arguments = words.map(OsString::from).into_iter().chain(specs);
            self.errand(&python, arguments.collect(), venv, INSTALL_LIMIT)
        }
    }

    fn errand(&self, program: &Path, arguments: Vec<OsString>, venv: &Venv, limit: Duration) -> Errand {
        Errand {
            program: program.to_owned(),
            arguments,
            environment: self.environment.clone(),
            folder: venv.folder.parent().unwrap_or(Path::new("/")).to_owned(),
            limit,
        }
    }
}

impl Venv {
    /// The virtual environment of a project folder.
    pub fn of(project: &Path) -> Self {
        Self {
            folder: project.join("venv"),
        }
    }

    /// Where its commands are.
    pub fn bin_folder(&self) -> PathBuf {
        self.folder.join(if cfg!(windows) { "Scripts" } else { "bin" })
    }

    /// Its interpreter.
    pub fn python(&self) -> PathBuf {
        self.bin_folder()
            .join(if cfg!(windows) { "python.exe" } else { "python" })
    }

    /// Whether the Python it leads to is still there.
    pub fn is_alive(&self) -> bool {
        self.python().exists()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::plan::RuntimeKind;

    fn python() -> Interpreter {
        Interpreter {
            kind: RuntimeKind::Python,
            version: "3.12.1".to_owned(),
            executable: PathBuf::from("/somewhere/bin/python3"),
        }
    }

    #[test]
    fn without_uv_the_interpreter_makes_its_venv_and_pip_compiles() {
        let pypi = Pypi::of(&python(), &Environment::default());
        let venv = Venv::of(Path::new("/place/1"));
        assert_eq!(
            pypi.make(&venv).command_line(),
            "/somewhere/bin/python3 -m venv /place/1/venv"
        );
        let install = pypi.install(&["mcp-server-time==1".to_owned()], &venv);
        assert_eq!(
            install.command_line(),
            "/place/1/venv/bin/python -m pip install --compile --disable-pip-version-check -- 'mcp-server-time==1'"
        );
    }

    #[test]
    fn uv_does_both_where_it_is_on_path() {
        let folder = tempfile::tempdir().unwrap();
        let uv = folder.path().join("uv");
        fs::write(&uv, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&uv, fs::Permissions::from_mode(0o755)).unwrap();
        let pypi = Pypi::of(&python(), &Environment::default().with("PATH", folder.path()));
        let venv = Venv::of(Path::new("/place/1"));
        assert_eq!(pypi.make(&venv).program, uv);
        let line = pypi.install(&["x".to_owned()], &venv).command_line();
        assert!(
            line.ends_with("pip install --compile-bytecode --python /place/1/venv/bin/python -- x"),
            "{line}"
        );
    }
}
