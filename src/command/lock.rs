//! `lock`: accepts what the last complete run saw. Shows what changes, keeps the rest, and asks at a
//! terminal only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::anyhow;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

use crate::cli::LockArgs;
use crate::console;
use crate::event::RowId;
use crate::finding::Code;
use crate::judge::{self, ToolChange};
use crate::lock::{Accepted, Lock, LockedRow, RowFacts};
use crate::plan::Plan;
use crate::record::{RowRecord, RunRecord};
use crate::store;
use crate::text::{clean_for_terminal, counted};

use super::{USAGE, history, plan};

/// Nothing could be taken, though there was something to take.
const NOTHING_TAKEN: u8 = 1;
/// How often the lock may be changed by somebody else before we give up.
const MOST_TRIES: u32 = 5;

/// What becomes of one row of the lock.
enum Change {
    /// It is as it was.
    Same,
    /// It comes in, or is another: in words.
    Taken(String),
    /// It goes.
    Dropped(&'static str),
    /// It stays as it is in the lock, or out of it; why.
    Refused(String),
}

/// Locks the selected rows and gives the code to exit with.
pub(super) fn lock(args: &LockArgs) -> anyhow::Result<u8> {
    let Some(plan) = plan::for_selection(&args.selection)? else {
        return Ok(USAGE);
    };
    let path = Lock::path_beside(&plan.manifest);
    let mut record = match &args.from {
        Some(run) => named_run(&args.reports, run, &plan)?,
        None => last_complete_run(&args.reports, &plan)?,
    };
    record.mask(&plan.mask);
    let everything = args.selection.selectors.is_empty();
    // Somebody else may write it meanwhile: what he accepted must not be lost.
    for _ in 0..MOST_TRIES {
        let text = store::read_lock(&path)?;
        let Ok(known) = parse(text.as_deref(), &path) else {
            return Ok(USAGE);
        };
        let known = known.unwrap_or_default();
        let (lock, changes) = anew(&known, &record, &plan, everything);
        let words = in_words(&changes, &path, &record);
        if lock == known {
            console::print_result(&plan.mask.apply(&words))?;
            let refused = changes.values().any(|change| matches!(change, Change::Refused(_)));
            let taken = changes.values().any(|change| matches!(change, Change::Same));
            return Ok(if refused && !taken { NOTHING_TAKEN } else { 0 });
        }
        let asks = !args.yes && console::can_ask();
        if asks {
            console::print_result(&plan.mask.apply(&words))?;
            if !console::ask(&format!("write {}?", path.display())) {
                console::say("nothing was written");
                return Ok(0);
            }
        }
        if store::replace_lock(&path, text.as_deref(), &lock)? {
            if !asks {
                console::print_result(&plan.mask.apply(&words))?;
            }
            return Ok(0);
        }
        if asks {
            break;
        }
    }
    Err(anyhow!(
        "{} was changed by somebody else meanwhile, nothing was written\nhint: run `mcp-smoke lock` again",
        path.display()
    ))
}

/// The lock of a manifest, if there is one. Mistakes in it are shown here, and the caller only sees that
/// there were any.
pub(super) fn read(path: &Path) -> anyhow::Result<Result<Option<Lock>, ()>> {
    Ok(parse(store::read_lock(path)?.as_deref(), path))
}

fn parse(text: Option<&str>, path: &Path) -> Result<Option<Lock>, ()> {
    let lock = text.map(|text| Lock::parse(text, path)).transpose();
    lock.map_err(|mistakes| {
        let colour = console::colour_choice_for_messages();
        console::say(&if colour { mistakes.coloured() } else { mistakes.plain() });
    })
}

fn named_run(reports: &Path, name: &str, plan: &Plan) -> anyhow::Result<RunRecord> {
    let path = store::find_record(reports, Some(Path::new(name)))?;
    let record = store::read_record_file(&path)?;
    let file = store::manifest_file(&plan.manifest);
    if !store::is_of(&record, &plan.manifest, file.as_deref()) {
        return Err(anyhow!(
            "run {} is one of {}, not of {}\nhint: `-m {}` locks the rows of that manifest",
            record.id,
            record.manifest.display(),
            plan.manifest.display(),
            record.manifest.display()
        ));
    }
    if record.interrupted {
        console::say(&format!(
            "note: run {} was interrupted: its rows may be incomplete",
            record.id
        ));
    }
    Ok(record)
}

/// The newest run of the manifest that nobody interrupted. A record that cannot be read is passed over.
fn last_complete_run(reports: &Path, plan: &Plan) -> anyhow::Result<RunRecord> {
    let earlier = store::runs_so_far(reports, &plan.manifest)?;
    history::tell_passed_over(&earlier);
    if let Some(record) = earlier.runs.into_iter().find(|record| !record.interrupted) {
        return Ok(record);
    }
    Err(anyhow!(
        "there is no complete run of {} under {}\nhint: `mcp-smoke run` makes one; `--from RUN` names another",
        plan.manifest.display(),
        reports.display()
    ))
}

/// The lock with the selected rows as the run saw them, and what that changes.
fn anew(known: &Lock, record: &RunRecord, plan: &Plan, everything: bool) -> (Lock, BTreeMap<RowId, Change>) {
    let today = Timestamp::now().to_zoned_datetime(TimeZone::UTC).date();
    let mut lock = known.clone();
    let mut changes = BTreeMap::new();
    for planned in &plan.rows {
        let old = known.rows.get(&planned.id);
        let seen = record.rows.iter().find(|row| row.id == planned.id);
        let change = match seen.map(facts) {
            None => Change::Refused("not in that run; `--from RUN` names another".to_owned()),
            Some(Err(why)) => Change::Refused(why),
            Some(Ok(facts)) => {
                let found = seen
                    .map(|row| judge::acceptable(row, Some(planned)))
                    .unwrap_or_default();
                let row = LockedRow {
                    accepted_on: today,
                    run: record.id.clone(),
                    accepted: dated(found, old, seen, today),
                    facts,
                };
                match old {
                    Some(old) if old.facts == row.facts && old.accepted == row.accepted => Change::Same,
                    old => {
                        let words = taken(old, &row);
                        lock.rows.insert(planned.id.clone(), row);
                        Change::Taken(words)
                    }
                }
            }
        };
        changes.insert(planned.id.clone(), change);
    }
    if everything {
        for id in known.gone_from(plan.rows.iter().map(|row| &row.id)) {
            lock.rows.remove(&id);
            changes.insert(id, Change::Dropped("no longer in the manifest"));
        }
    }
    (lock, changes)
}

/// The facts that a lock takes: a good handshake and a list that was read to its end.
fn facts(row: &RowRecord) -> Result<RowFacts, String> {
    if let Some(skip) = &row.skip {
        return Err(format!("it was not run then ({})", skip.reason.name()));
    }
    let facts = RowFacts::of(row).ok_or("it has no good handshake in that run")?;
    if facts.tools.is_none() {
        return Err("its list of tools was not read to the end in that run".to_owned());
    }
    Ok(facts)
}

/// What was accepted before keeps its day.
fn dated(found: Vec<(Code, String)>, old: Option<&LockedRow>, seen: Option<&RowRecord>, today: Date) -> Vec<Accepted> {
    let accepted = found.into_iter().map(|(code, fact)| Accepted {
        on: old.and_then(|old| old.accepted(code, &fact)).unwrap_or(today),
        code,
        fact,
    });
    let still = old
        .zip(seen)
        .into_iter()
        .flat_map(|(old, seen)| judge::still_accepted(seen, old));
    let accepted: BTreeSet<Accepted> = accepted.chain(still.cloned()).collect();
    accepted.into_iter().collect()
}

/// What comes in, or what of it is another.
fn taken(old: Option<&LockedRow>, new: &LockedRow) -> String {
    let mut parts = Vec::new();
    let before = old.map(|old| &old.facts);
    let mut part = |what: &str, of: fn(&RowFacts) -> Option<String>| {
        let (then, now) = (before.and_then(of), of(&new.facts));
        let shown = |value: Option<String>| value.unwrap_or_else(|| "(none)".to_owned());
        match (&then, &now) {
            (None, None) => {}
            _ if before.is_none() => parts.push(format!("{what} {}", shown(now))),
            _ if then != now => parts.push(format!("{what} {} -> {}", shown(then), shown(now))),
            _ => {}
        }
    };
    part("package", |facts| {
        let package = facts.package.as_ref()?;
        Some(format!("{}:{}", package.ecosystem.name(), package.name))
    });
    part("wanted", |facts| facts.wanted().map(str::to_owned));
    part("installed", |facts| facts.installed().map(str::to_owned));
    part("reports", |facts| {
        facts.reported_name.as_ref().map(|name| format!("{name:?}"))
    });
    part("version", |facts| {
        facts.reported_version.as_ref().map(|version| format!("{version:?}"))
    });
    part("runtime", |facts| {
        let runtime = facts.runtime.as_ref()?;
        Some(format!(
            "{} {}",
            runtime.kind,
            runtime.version.as_deref().unwrap_or("(unknown)")
        ))
    });
    part("protocol", |facts| {
        Some(format!("{} {}", facts.era.name(), facts.protocol))
    });
    parts.extend(tools(before, &new.facts));
    let is_new = |accepted: &&Accepted| old.is_none_or(|old| old.accepted(accepted.code, &accepted.fact).is_none());
    let accepts = new.accepted.iter().filter(is_new);
    parts.extend(accepts.map(|accepted| format!("accepts {} ({})", accepted.code, accepted.fact)));
    let ended = old.into_iter().flat_map(|old| &old.accepted);
    let ended = ended.filter(|accepted| new.accepted(accepted.code, &accepted.fact).is_none());
    parts.extend(ended.map(|accepted| format!("no longer {} ({})", accepted.code, accepted.fact)));
    parts.join(", ")
}

/// `22 tools`, or which of them are others.
fn tools(before: Option<&RowFacts>, now: &RowFacts) -> Option<String> {
    let new = now.tools.as_ref()?;
    let Some(old) = before.and_then(|before| before.tools.as_ref()) else {
        return Some(counted(new.len(), "tool"));
    };
    let changes = judge::tool_changes(old, new);
    let listed: Vec<String> = changes
        .iter()
        .map(|(name, change)| match change {
            ToolChange::Added => format!("+{name}"),
            ToolChange::Removed => format!("-{name}"),
            ToolChange::Narrowed(_) | ToolChange::Drifted(_) => format!("~{name}"),
            ToolChange::Reworded => format!("~{name} (wording)"),
        })
        .collect();
    (!listed.is_empty()).then(|| format!("tools {}", listed.join(" ")))
}

fn in_words(changes: &BTreeMap<RowId, Change>, path: &Path, record: &RunRecord) -> String {
    let width = changes.keys().map(|id| id.0.chars().count()).max().unwrap_or_default();
    let mut lines = Vec::new();
    let mut same = 0_usize;
    for (id, change) in changes {
        let (sign, words) = match change {
            Change::Same => {
                same += 1;
                continue;
            }
            Change::Taken(words) => ('+', words.as_str()),
            Change::Dropped(why) => ('-', *why),
            Change::Refused(why) => ('!', why.as_str()),
        };
        let line = format!("{sign} {:width$}  {words}", id.0);
        lines.push(clean_for_terminal(line.trim_end()).into_owned());
    }
    let count = |wanted: fn(&Change) -> bool| changes.values().filter(|change| wanted(change)).count();
    let taken = count(|change| matches!(change, Change::Taken(_)));
    let dropped = count(|change| matches!(change, Change::Dropped(_)));
    let refused = count(|change| matches!(change, Change::Refused(_)));
    lines.push(format!(
        "{}, from run {}: {taken} taken, {dropped} dropped, {same} unchanged, {refused} not taken",
        path.display(),
        record.id
    ));
    lines.join("\n")
}
