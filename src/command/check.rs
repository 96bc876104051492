//! `check`: the manifest, and whether its runtimes, programs and commands are at hand. Starts no
//! server and installs nothing.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::cli::CheckArgs;
use crate::console;
use crate::event::{RowId, Sink, SkipReason};
use crate::lock::Lock;
use crate::plan::{Entry, Plan, Row};
use crate::prepare::{self, Readiness, ReadyRow};
use crate::run;
use crate::text::{clean_for_terminal, counted};

use super::{USAGE, lock, plan};

/// Some row could not be started as it stands.
const NOT_READY: u8 = 1;

/// Checks, and prints a line per row.
pub(super) fn check(args: &CheckArgs) -> anyhow::Result<u8> {
    let Some(plan) = plan::for_check(&args.selection)? else {
        return Ok(USAGE);
    };
    // A run would refuse a damaged one.
    if lock::read(&Lock::path_beside(&plan.manifest))?.is_err() {
        return Ok(USAGE);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the system gave no event queue")?;
    let ready = runtime.block_on(look(&plan));
    runtime.shutdown_background();
    let width = plan
        .rows
        .iter()
        .map(|row| row.id.0.chars().count())
        .max()
        .unwrap_or_default();
    let verdicts: Vec<(&Row, Verdict)> = plan.rows.iter().map(|row| (row, verdict(row, &ready))).collect();
    let mut lines: Vec<String> = verdicts
        .iter()
        .map(|(row, verdict)| line(row, verdict, width))
        .collect();
    lines.extend(
        plan.not_yet
            .iter()
            .map(|key| format!("note: {key} is read, but not acted on yet")),
    );
    let wrong = verdicts
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Wrong(_)))
        .count();
    lines.push(match wrong {
        0 => format!(
            "{} is sound: {}",
            plan.manifest.display(),
            counted(plan.rows.len(), "row")
        ),
        _ => format!("{} of {} cannot be started so", wrong, counted(plan.rows.len(), "row")),
    });
    console::print_result(&plan.mask.apply(&lines.join("\n")))?;
    Ok(if wrong == 0 { 0 } else { NOT_READY })
}

/// What a row would meet.
enum Verdict {
    /// It would be started so.
    Ready(String),
    /// A run would see to it, or skip the row.
    Missing(String),
    /// A run would fail it.
    Wrong(String),
}

/// Only looks: nobody hears the events, since nothing is installed.
async fn look(plan: &Plan) -> BTreeMap<RowId, Readiness> {
    let (sender, _) = unbounded_channel();
    let sink = |row: &RowId| Sink::new(row.clone(), sender.clone());
    prepare::prepare(plan, &sink, &CancellationToken::new()).await
}

fn verdict(row: &Row, ready: &BTreeMap<RowId, Readiness>) -> Verdict {
    match (&row.entry, ready.get(&row.id)) {
        (Entry::Disabled, _) => Verdict::Missing("disabled".into()),
        (Entry::Remote(_), _) => Verdict::Missing("remote, not supported yet".into()),
        (Entry::Unusable(problems), _) => {
            let said: Vec<String> = problems
                .iter()
                .map(|problem| format!("{}: {}", problem.field, problem.problem))
                .collect();
            Verdict::Wrong(said.join("; "))
        }
        (Entry::Run(_), Some(Readiness::Ready(ready))) => command(row, ready),
        (Entry::Run(_), Some(Readiness::Skipped(skip))) => {
            if skip.reason == SkipReason::NotInstalled {
                return Verdict::Missing("not installed yet: a run installs it".to_owned());
            }
            let cure = skip.cure.as_ref().map(|cure| format!(" ({cure})")).unwrap_or_default();
            Verdict::Missing(format!("{}{cure}", skip.message))
        }
        (Entry::Run(_), Some(Readiness::Failed) | None) => Verdict::Wrong("could not be prepared".into()),
    }
}

fn command(row: &Row, ready: &ReadyRow) -> Verdict {
    let Some(program) = run::program_of(row, ready) else {
        return Verdict::Wrong("has no command".into());
    };
    let runtime = ready.runtime.as_ref().map(|runtime| {
        format!(
            ", {} {}",
            runtime.kind,
            runtime.version.as_deref().unwrap_or("of unknown version")
        )
    });
    if is_there(&program) {
        Verdict::Ready(format!("{}{}", program.display(), runtime.unwrap_or_default()))
    } else {
        Verdict::Wrong(format!("command not found: {}", program.display()))
    }
}

fn is_there(program: &Path) -> bool {
    program.is_absolute() && program.exists()
}

fn line(row: &Row, verdict: &Verdict, width: usize) -> String {
    let (word, text) = match verdict {
        Verdict::Ready(text) => ("ok", text),
        Verdict::Missing(text) => ("--", text),
        Verdict::Wrong(text) => ("no", text),
    };
    clean_for_terminal(&format!("{word}  {:width$}  {text}", row.id.0)).into_owned()
}
