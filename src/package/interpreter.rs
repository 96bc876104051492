//! An interpreter that is known to be there: its executable has told its version.

use std::path::{Path, PathBuf};

use crate::event::RuntimeFacts;
use crate::plan::RuntimeKind;

use super::Environment;

/// Node or Python on this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interpreter {
    /// Which of them.
    pub kind: RuntimeKind,
    /// What its `--version` said, without prefix.
    pub version: String,
    /// The executable itself, never a version manager's shim.
    pub executable: PathBuf,
}

impl Interpreter {
    /// The folder it lies in, where its companions (`npm`, `pip`) are.
    pub fn bin_folder(&self) -> &Path {
        self.executable.parent().unwrap_or(Path::new("/"))
    }

    /// Whether its usual name on PATH leads to it.
    pub fn is_first_on_path(&self, environment: &Environment) -> bool {
        let name = match self.kind {
            RuntimeKind::Node => "node",
            RuntimeKind::Python => "python3",
        };
        let first = environment
            .program(name)
            .and_then(|program| program.canonicalize().ok());
        first.is_some() && first == self.executable.canonicalize().ok()
    }

    /// The words of a record for it.
    pub fn facts(&self) -> RuntimeFacts {
        RuntimeFacts {
            kind: self.kind.name().to_owned(),
            version: Some(self.version.clone()),
            executable: self.executable.clone(),
        }
    }
}
