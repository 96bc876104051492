//! A fleet in a folder of its own: a manifest, the real binary, and what it left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a manifest.
pub(crate) struct Fleet {
    folder: TempDir,
    env: Vec<(String, String)>,
}

/// What one command printed, and left.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `reports/latest/report.json`, if there is one.
    pub(crate) record: Option<Value>,
}

impl Fleet {
    pub(crate) fn new(manifest: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("servers.toml"), manifest).unwrap();
        Self {
            folder,
            env: Vec::new(),
        }
    }

    /// One server per fault mode, with one echo probe each.
    pub(crate) fn of_modes(defaults: &str, modes: &[(&str, &[&str])]) -> Self {
        let servers: String = modes.iter().map(|(mode, args)| server(mode, mode, args, "")).collect();
        Self::new(&format!("[defaults]\n{defaults}\n{servers}"))
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// What is set beside the environment of the tests.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.env.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The command, ready to be spawned.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-smoke"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env("COLUMNS", "120");
        command.envs(self.environment());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.outcome(&self.command(args).output().unwrap())
    }

    pub(crate) fn outcome(&self, output: &Output) -> Outcome {
        let record = fs::read_to_string(self.path().join("reports/latest/report.json")).ok();
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            record: record.map(|text| serde_json::from_str(&text).unwrap()),
        }
    }

    /// The text of every file below these folders.
    pub(crate) fn everything_written(&self) -> String {
        let mut all = String::new();
        let mut folders = vec![self.path().join("reports"), self.path().join("logs")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(&folder)
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().path())
            {
                if path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    all += &String::from_utf8_lossy(&fs::read(path).unwrap());
                }
            }
        }
        all
    }

    /// The log of a row of the latest run.
    pub(crate) fn log(&self, row: &str) -> String {
        let runs = fs::read_dir(self.path().join("logs")).into_iter().flatten();
        runs.filter_map(|run| fs::read_to_string(run.unwrap().path().join(format!("{row}.log"))).ok())
            .collect()
    }
}

impl Outcome {
    pub(crate) fn record(&self) -> &Value {
        self.record
            .as_ref()
            .unwrap_or_else(|| panic!("no record: {} {}", self.stdout, self.stderr))
    }

    pub(crate) fn row(&self, id: &str) -> &Value {
        let rows = self.record()["rows"].as_array().unwrap();
        rows.iter()
            .find(|row| row["id"] == id)
            .unwrap_or_else(|| panic!("no row {id}"))
    }

    pub(crate) fn codes(&self, id: &str) -> Vec<String> {
        let findings = self.row(id)["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|finding| finding["code"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// The path of the fault server.
pub(crate) fn fault_server() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/faulty.py")
}

/// A `[servers.NAME]` that runs a fault mode; `more` are further lines of it.
pub(crate) fn server(name: &str, mode: &str, args: &[&str], more: &str) -> String {
    let mut argv = vec![fault_server().to_string_lossy().into_owned(), mode.to_owned()];
    argv.extend(args.iter().map(|arg| (*arg).to_owned()));
    let argv = serde_json::to_string(&argv).unwrap();
    let expect = if mode == "payload" {
        ""
    } else {
        "expect = { text = \"grüße\" }\n"
    };
    format!(
        "[servers.{name}]\ncommand = \"python3\"\nargs = {argv}\n{more}\n\
         [[servers.{name}.probes]]\ntool = \"echo\"\narguments = {{ text = \"grüße\" }}\n{expect}"
    )
}

/// Processes whose command line or environment holds the mark, zombies aside.
pub(crate) fn left_over(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(line) = fs::read(path.join("cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let state = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let zombie = state
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'));
        if line.contains(mark) && !zombie {
            found.push(line);
        }
    }
    found
}
