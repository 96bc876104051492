//! The only module that lists, writes and prunes runs and their logs. Every file is written beside its
//! place and renamed into it, every text is masked once more, and nothing is touched but folders named
//! like a run, and `latest`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;

use crate::event::{Event, RowId, mask_text};
use crate::lock::Lock;
use crate::record::RunRecord;
use crate::record::json::{RecordProblem, to_json};
use crate::text::Mask;

mod file_name;
mod history;
mod latest;
mod lock;
mod log_lines;
mod row_log;
mod run_id;
mod runs;
mod write;

#[cfg(test)]
mod tests;

pub use history::{Earlier, MOST_RUNS, earlier_runs, is_of, manifest_file, runs_so_far};
pub use lock::{read_lock, replace_lock};
pub use run_id::RunId;
pub use runs::{find_record, last_run, read_record, read_record_file, runs};

use row_log::RowLog;

/// The name of the report for people in its run's folder.
pub const MARKDOWN: &str = "report.md";
/// How many runs are named where one was not found.
const MOST_NAMED: usize = 3;
/// The record's name in its run's folder.
const RECORD: &str = "report.json";

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreProblem {
    /// The system refused.
    #[error("cannot {doing} {}", path.display())]
    Refused {
        /// What was to be done: "write".
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A report's name would lead out of its folder.
    #[error("{0:?} is no plain file name")]
    Name(String),
    /// There is no such run.
    #[error("there is no run {} in {}{}", run.display(), reports.display(), others(known))]
    NoRun {
        /// What was asked for.
        run: PathBuf,
        /// Where it was looked for.
        reports: PathBuf,
        /// The runs that are there, newest first.
        known: Vec<RunId>,
    },
    /// A record cannot be read.
    #[error("cannot read {}", path.display())]
    Record {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: RecordProblem,
    },
}

/// Where runs are kept.
#[derive(Clone, Debug)]
pub struct Folders {
    /// One folder per run, with its record and reports, and `latest`.
    pub reports: PathBuf,
    /// One folder per run, with the rows' logs.
    pub logs: PathBuf,
}

/// One run's place on disk, with the open logs of its rows.
#[derive(Debug)]
pub struct Store {
    folders: Folders,
    run_id: RunId,
    mask: Mask,
    since: Instant,
    logs: BTreeMap<RowId, RowLog>,
}

impl Store {
    /// Takes a run id and makes the run's two folders.
    pub fn create(folders: Folders, started: Timestamp, mask: Mask) -> Result<Self, StoreProblem> {
        for folder in [&folders.reports, &folders.logs] {
            fs::create_dir_all(folder).map_err(|source| refused("create", folder, source))?;
        }
        let mut run_id = RunId::of(started);
        while !take(&folders, &run_id)? {
            run_id = run_id.next();
        }
        Ok(Self {
            folders,
            run_id,
            mask,
            since: Instant::now(),
            logs: BTreeMap::new(),
        })
    }

    /// The run's id.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The folder of its record and reports.
    pub fn report_folder(&self) -> PathBuf {
        self.folders.reports.join(self.run_id.name())
    }

    /// The folder of its logs.
    pub fn log_folder(&self) -> PathBuf {
        self.folders.logs.join(self.run_id.name())
    }

    /// A row's log, as the record names it.
    pub fn log_path(&self, row: &RowId) -> PathBuf {
        log_path(&self.log_folder(), row)
    }

    /// A row's messages on the wire.
    pub fn wire_path(&self, row: &RowId) -> PathBuf {
        wire_path(&self.log_folder(), row)
    }

    /// Puts an event into the logs of its row. A log that cannot be written is no reason to end a run:
    /// what went wrong is kept for [`Store::log_problems`].
    pub fn log_event(&mut self, event: &Event) {
        let at = self.since.elapsed();
        let folder = self.log_folder();
        row_log(&mut self.logs, &folder, &event.row).event(&event.kind, at, &self.mask);
    }

    /// Ends a row's log. With a header (the reasons, when the row failed) it comes first, then the
    /// last lines of the server, then everything.
    pub fn finish_row_log(&mut self, row: &RowId, header: &[String]) -> Result<(), StoreProblem> {
        let folder = self.log_folder();
        row_log(&mut self.logs, &folder, row).finish(header, &self.mask)
    }

    /// What could not be logged, one sentence per file.
    pub fn log_problems(&self) -> Vec<String> {
        self.logs.values().flat_map(RowLog::problems).collect()
    }

    /// Writes the record; before every report, which only repeat it.
    pub fn write_record(&self, record: &RunRecord) -> Result<PathBuf, StoreProblem> {
        let mut record = record.clone();
        record.mask(&self.mask);
        let path = self.report_folder().join(RECORD);
        write::whole(&path, to_json(&record).as_bytes())?;
        Ok(path)
    }

    /// Writes a report beside the record.
    pub fn write_report(&self, name: &str, text: &str) -> Result<PathBuf, StoreProblem> {
        let mut parts = Path::new(name).components();
        let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
            return Err(StoreProblem::Name(name.to_owned()));
        };
        let path = self.report_folder().join(name);
        write::whole(&path, self.masked(text).as_bytes())?;
        Ok(path)
    }

    /// Lets `latest` in the folder of reports point to this run, unless a newer one has taken it.
    pub fn point_latest(&self) -> Result<(), StoreProblem> {
        latest::point(&self.folders.reports, &self.run_id)
    }

    /// The earlier runs of a manifest, newest first; this one is not among them.
    pub fn earlier_runs(&self, manifest: &Path) -> Result<Earlier, StoreProblem> {
        earlier_runs(&self.folders.reports, manifest, Some(&self.run_id))
    }

    /// Removes all but the newest runs; this one, those that the lock names and those that are needed never.
    /// Gives the ids of those that went.
    pub fn prune(&self, keep_runs: usize, lock: Option<&Lock>, needed: &[String]) -> Result<Vec<RunId>, StoreProblem> {
        let named = lock.into_iter().flat_map(|lock| lock.rows.values()).map(|row| &row.run);
        let mut kept: BTreeSet<RunId> = named.chain(needed).filter_map(|run| RunId::parse(run)).collect();
        kept.insert(self.run_id.clone());
        runs::prune(&self.folders, &kept, keep_runs)
    }

    /// The whole first, for secrets of several lines, then line by line, so that an escaped secret
    /// costs no other line its escapes.
    fn masked(&self, text: &str) -> String {
        let whole = self.mask.apply(text);
        let lines = whole.split_inclusive('\n').map(|line| mask_text(line, &self.mask));
        lines.map(Cow::into_owned).collect()
    }
}

/// The newest runs, for somebody who mistyped one.
fn others(known: &[RunId]) -> String {
    let newest: Vec<String> = known.iter().take(MOST_NAMED).map(RunId::name).collect();
    if newest.is_empty() {
        return "; no run has been stored there yet".to_owned();
    }
    format!("; the newest there: {}", newest.join(", "))
}

fn row_log<'logs>(logs: &'logs mut BTreeMap<RowId, RowLog>, folder: &Path, row: &RowId) -> &'logs mut RowLog {
    if !logs.contains_key(row) {
        logs.insert(row.clone(), RowLog::new(log_path(folder, row), wire_path(folder, row)));
    }
    logs.get_mut(row).expect("it was put in just above")
}

fn log_path(folder: &Path, row: &RowId) -> PathBuf {
    folder.join(format!("{}.log", file_name::of(row)))
}

fn wire_path(folder: &Path, row: &RowId) -> PathBuf {
    folder.join(format!("{}.wire.jsonl", file_name::of(row)))
}

/// Makes the folders of a run; false if the id is taken. Making a folder is what takes it, so that two
/// runs that start in one second cannot share one.
fn take(folders: &Folders, run_id: &RunId) -> Result<bool, StoreProblem> {
    let reports = folders.reports.join(run_id.name());
    let logs = folders.logs.join(run_id.name());
    if !make(&reports)? {
        return Ok(false);
    }
    if folders.reports == folders.logs || make(&logs)? {
        return Ok(true);
    }
    fs::remove_dir(&reports).map_err(|source| refused("remove", &reports, source))?;
    Ok(false)
}

fn make(folder: &Path) -> Result<bool, StoreProblem> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(problem) => Err(refused("create", folder, problem)),
    }
}

fn refused(doing: &'static str, path: &Path, source: io::Error) -> StoreProblem {
    StoreProblem::Refused {
        doing,
        path: path.to_owned(),
        source,
    }
}
