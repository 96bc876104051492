//! What was asked for on the command line, and what the plan is made from besides the manifest: plain values,
//! so that making a plan reads neither the process's environment nor a clock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::InstallMode;

/// The flags of a run. `None` where a flag was not given.
#[derive(Clone, Debug)]
pub struct Flags {
    /// NAME, NAME@RUNTIME, glob, tag:NAME; `!` in front leaves out.
    pub selectors: Vec<String>,
    /// `--calls`
    pub calls: Option<u32>,
    /// `--warmup`
    pub warmup: Option<u32>,
    /// `--repeats`
    pub repeats: Option<u32>,
    /// `--cold-starts`
    pub cold_starts: Option<u32>,
    /// `--jobs`
    pub jobs: Option<usize>,
    /// `--seed`; from the clock if not given.
    pub seed: Option<u64>,
    /// `--smoke`: one call each, no warm-up, as many rows at a time as there are cores. `--calls`, `--warmup` and
    /// `--jobs` beside it hold.
    pub smoke: bool,
    /// `--install`
    pub install: InstallMode,
    /// `--install-programs`
    pub install_programs: bool,
    /// `--strict`
    pub strict: bool,
    /// `--locked`
    pub locked: bool,
    /// `--reports`
    pub reports: PathBuf,
    /// `--logs`
    pub logs: PathBuf,
    /// Installed packages, runtimes, caches.
    pub state: PathBuf,
}

/// What the plan takes from the machine.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The variables; those that are no Unicode left out.
    pub variables: BTreeMap<String, String>,
    /// The current folder, absolute.
    pub current_dir: PathBuf,
    /// This binary, for `${self}`.
    pub executable: PathBuf,
    /// Logical cores, at least 1.
    pub cores: usize,
    /// The seed where no flag gives one.
    pub clock_seed: u64,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            selectors: Vec::new(),
            calls: None,
            warmup: None,
            repeats: None,
            cold_starts: None,
            jobs: None,
            seed: None,
            smoke: false,
            install: InstallMode::Missing,
            install_programs: false,
            strict: false,
            locked: false,
            reports: PathBuf::from("reports"),
            logs: PathBuf::from("logs"),
            state: PathBuf::from(".mcp-smoke"),
        }
    }
}

impl Flags {
    /// What was set, for the record.
    pub(super) fn settings(&self) -> BTreeMap<String, Value> {
        let mut set = BTreeMap::new();
        let mut note = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                set.insert(name.to_owned(), value);
            }
        };
        note(
            "selectors",
            (!self.selectors.is_empty()).then(|| Value::from(self.selectors.clone())),
        );
        note("calls", self.calls.map(Value::from));
        note("warmup", self.warmup.map(Value::from));
        note("repeats", self.repeats.map(Value::from));
        note("cold_starts", self.cold_starts.map(Value::from));
        note("jobs", self.jobs.map(Value::from));
        note("seed", self.seed.map(Value::from));
        note("smoke", self.smoke.then_some(Value::from(true)));
        note(
            "install",
            (self.install != InstallMode::Missing).then(|| Value::from(self.install.name())),
        );
        note("install_programs", self.install_programs.then_some(Value::from(true)));
        note("strict", self.strict.then_some(Value::from(true)));
        note("locked", self.locked.then_some(Value::from(true)));
        set
    }
}

impl Environment {
    /// The environment of this process.
    ///
    /// # Errors
    /// If the current folder or this binary cannot be told.
    pub fn read() -> std::io::Result<Self> {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            variables: variables.collect(),
            current_dir: std::env::current_dir()?,
            executable: std::env::current_exe()?,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            // A seed that fits a JSON number in every reader.
            clock_seed: u64::try_from(since_epoch.as_millis()).unwrap_or_default(),
        })
    }

    /// A variable, if it is set.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The home folder, if it is known.
    pub(super) fn home(&self) -> Option<&str> {
        self.variable("HOME").filter(|home| !home.is_empty())
    }
}
