//! The two logs of one row while it runs. Lines go straight into the files that stay, so that a crash
//! leaves what was known; only the header, which is known last and stands first, is put in front by
//! writing the log anew beside it. Nothing is held in memory but the last few lines.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::event::{EventKind, LogLine, LogSource, WireLine, mask_json_line, mask_text};
use crate::text::{Mask, clean_for_terminal};

use super::{StoreProblem, log_lines, refused, write};

/// How many of the server's last lines stand in front of a failed row's log.
const LAST_LINES: usize = 20;
/// The longest wire log of a row, all its sessions together.
const LONGEST_WIRE_LOG: u64 = 64 * 1024 * 1024;
/// How much of each is shown there; the whole line stands below.
const LONGEST_LAST_LINE: usize = 2_000;

/// The logs of one row.
#[derive(Debug)]
pub(super) struct RowLog {
    log: Output,
    wire: Output,
    wire_bytes: u64,
    last_lines: VecDeque<String>,
}

/// A file that lines are added to, opened when the first comes.
#[derive(Debug)]
struct Output {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    problem: Option<io::Error>,
}

impl RowLog {
    pub(super) fn new(log: PathBuf, wire: PathBuf) -> Self {
        Self {
            log: Output::new(log),
            wire: Output::new(wire),
            wire_bytes: 0,
            last_lines: VecDeque::new(),
        }
    }

    /// Writes what the event says; `at` is the time since the run began, for events without their own.
    pub(super) fn event(&mut self, kind: &EventKind, at: Duration, mask: &Mask) {
        if let EventKind::Wire(line) = kind {
            self.wire_line(line, mask);
            return;
        }
        if let EventKind::Log(line) = kind {
            self.keep(line, mask);
        }
        for line in log_lines::of(kind, at) {
            let text = clean(&line.text, mask);
            self.log.add(|file| writeln!(file, "{} {text}", line.margin));
        }
        match kind {
            EventKind::Session(_) => {
                self.log.flush();
                self.wire.flush();
            }
            EventKind::RowDone => {
                self.log.close();
                self.wire.close();
            }
            EventKind::Doing(_)
            | EventKind::Log(_)
            | EventKind::Wire(_)
            | EventKind::Installed(_)
            | EventKind::PackageInPlace(_)
            | EventKind::Newest(_)
            | EventKind::Measuring(_)
            | EventKind::CallDone { .. }
            | EventKind::Observed(_)
            | EventKind::Skipped(_) => {}
        }
    }

    /// A server that floods its stdout must not fill the disk: past the limit the log says so and ends.
    fn wire_line(&mut self, line: &WireLine, mask: &Mask) {
        if self.wire_bytes > LONGEST_WIRE_LOG {
            return;
        }
        self.wire_bytes += line.text.len() as u64;
        let text = if self.wire_bytes > LONGEST_WIRE_LOG {
            "(this wire log reached its limit of 64 MiB and ends here)".into()
        } else {
            mask_json_line(&line.text, mask)
        };
        self.wire.add(|file| log_lines::write_wire(file, line, &text));
    }

    /// Ends the logs, with a header put in front if there is one.
    pub(super) fn finish(&mut self, header: &[String], mask: &Mask) -> Result<(), StoreProblem> {
        // Every row has a log, also one to which nothing happened.
        self.log.add(|_| Ok(()));
        self.log.close();
        self.wire.close();
        if header.is_empty() {
            return Ok(());
        }
        let path = &self.log.path;
        let mut body = File::open(path).map_err(|source| refused("read", path, source))?;
        write::replace(path, |file| {
            for line in header {
                writeln!(file, "{}", clean(line, mask))?;
            }
            if !self.last_lines.is_empty() {
                writeln!(file, "\nlast lines of the server:")?;
            }
            for line in &self.last_lines {
                writeln!(file, "  {line}")?;
            }
            writeln!(file, "\nall that happened:")?;
            io::copy(&mut body, file).map(drop)
        })
    }

    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        [&self.log, &self.wire].into_iter().filter_map(|output| {
            let problem = output.problem.as_ref()?;
            Some(format!("cannot write {}: {problem}", output.path.display()))
        })
    }

    fn keep(&mut self, line: &LogLine, mask: &Mask) {
        match line.source {
            LogSource::Runner => return,
            LogSource::Stderr | LogSource::Stdout | LogSource::Install => {}
        }
        if self.last_lines.len() == LAST_LINES {
            self.last_lines.pop_front();
        }
        let shown = clean(&line.text, mask).chars().take(LONGEST_LAST_LINE).collect();
        self.last_lines.push_back(shown);
    }
}

impl Output {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            problem: None,
        }
    }

    /// Adds to the file; after a first failure nothing more is tried.
    fn add(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if self.problem.is_some() {
            return;
        }
        let written = self.open().and_then(write);
        self.note(written);
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::new(OpenOptions::new().create(true).append(true).open(&self.path)?),
        };
        Ok(self.file.insert(file))
    }

    fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            let flushed = file.flush();
            self.note(flushed);
        }
    }

    fn close(&mut self) {
        self.flush();
        self.file = None;
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(problem) = written {
            self.problem.get_or_insert(problem);
        }
    }
}

/// Masked first: an escape could hide a secret.
fn clean(text: &str, mask: &Mask) -> String {
    clean_for_terminal(&mask_text(text, mask)).into_owned()
}
