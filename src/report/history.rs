//! The history of rows, from records: how they came out, how long their timed call took, and the nights
//! on which something changed. The runs come newest first, as the store gives them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::record::{RowRecord, RunRecord, Status};
use crate::stats;
use crate::text::{clean_for_terminal, counted, milliseconds};

/// The steps of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A night without a figure.
const NO_FIGURE: char = '·';
/// The letters of the status line.
const LEGEND: &str = "status, oldest night first: . pass, w warn, F fail, E error, - skip, blank: not among its rows; \
                      median: a bar from zero to the slowest night, · without a figure";

/// One night of a row.
#[derive(Clone, Copy)]
struct Night<'record> {
    run: &'record RunRecord,
    row: &'record RowRecord,
}

/// The ids of all rows of these runs, in the order of the newest that has them.
pub fn rows_of(runs: &[RunRecord]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let all = runs.iter().flat_map(|run| &run.rows).map(|row| row.id.0.clone());
    all.filter(|id| known.insert(id.clone())).collect()
}

/// A line per row: its nights, its medians, what it is now, and on how many nights something changed.
pub fn overview(runs: &[RunRecord]) -> String {
    let ids = rows_of(runs);
    let width = ids.iter().map(|id| id.chars().count()).max().unwrap_or_default();
    let whole: Vec<&RunRecord> = whole(runs).collect();
    let mut text = String::new();
    for id in &ids {
        let nights = nights(runs, id);
        let now = now(&nights);
        let changed = changes(&nights).len();
        let changed = if changed == 0 {
            "no change".to_owned()
        } else {
            counted(changed, "night") + " with a change"
        };
        let is_there = whole
            .last()
            .is_some_and(|run| run.rows.iter().any(|row| row.id.0 == *id));
        let gone = if is_there { "" } else { "; not in the last run" };
        let line = format!(
            "{id:width$}  {}  {}  {:>8}  {now}; {changed}{gone}",
            in_columns(&whole, &nights, &statuses(&nights)),
            in_columns(&whole, &nights, &sparkline(&medians(&nights))),
            last_median(&nights),
        );
        text.push_str(&clean_for_terminal(&line));
        text.push('\n');
    }
    let interrupted = match runs.len() - whole.len() {
        0 => String::new(),
        some => format!(" ({some} interrupted, left out)"),
    };
    text.push_str(&format!("\n{}{interrupted}, {LEGEND}\n", counted(whole.len(), "run")));
    text
}

/// A sign for each night of a row, under those of the other rows of the same night.
fn in_columns(runs: &[&RunRecord], nights: &[Night<'_>], signs: &str) -> String {
    let mut signs = nights.iter().zip(signs.chars()).peekable();
    let sign = |run: &&RunRecord| {
        let here = signs.next_if(|(night, _)| std::ptr::eq(night.run, *run));
        here.map_or(' ', |(_, sign)| sign)
    };
    runs.iter().map(sign).collect()
}

/// All that is known of one row over time; null if no run has it.
pub fn of_row(runs: &[RunRecord], id: &str) -> Option<String> {
    let nights = nights(runs, id);
    let (first, last) = (nights.first()?, nights.last()?);
    let medians = medians(&nights);
    let known: Vec<Duration> = medians.iter().flatten().copied().collect();
    let mut text = format!(
        "{id}: {} from {} to {}\n",
        counted(nights.len(), "night"),
        moment(first.run),
        moment(last.run)
    );
    text.push_str(&format!("  status  {}\n", statuses(&nights)));
    let range = match (known.iter().min(), known.iter().max(), stats::median(&known)) {
        (Some(least), Some(most), Some(middle)) => format!(
            "{} to {} ms, in the middle {} ms, last {}",
            milliseconds(*least),
            milliseconds(*most),
            milliseconds(middle),
            last_median(&nights),
        ),
        _ => "never measured".to_owned(),
    };
    text.push_str(&format!("  median  {}  {range}\n", sparkline(&medians)));
    let cold: Vec<Option<Duration>> = nights.iter().map(|night| cold_start(night.row)).collect();
    text.push_str(&format!("  start   {}  cold start\n\n", sparkline(&cold)));
    text.push_str(&format!("  {}  {}\n", moment(first.run), what_it_was(first.row)));
    for (night, said) in changes(&nights) {
        text.push_str(&format!("  {}  {}\n", moment(night.run), said.join("; ")));
    }
    let lines = text.lines().map(|line| clean_for_terminal(line).into_owned());
    Some(lines.collect::<Vec<_>>().join("\n") + "\n\n" + LEGEND + "\n")
}

/// Durations as bars from zero to the longest, so that a doubling looks like one.
pub(crate) fn sparkline(values: &[Option<Duration>]) -> String {
    let longest = values.iter().flatten().max().copied().unwrap_or_default();
    let bar = |value: &Option<Duration>| match value {
        None => NO_FIGURE,
        Some(_) if longest.is_zero() => BARS[0],
        Some(value) => {
            let share = value.div_duration_f64(longest);
            let reached = |step: &usize| share <= *step as f64 / BARS.len() as f64;
            BARS[(1..BARS.len()).find(reached).unwrap_or(BARS.len()) - 1]
        }
    };
    values.iter().map(bar).collect()
}

/// The runs, oldest first; those that were interrupted say little and are left out.
fn whole(runs: &[RunRecord]) -> impl Iterator<Item = &RunRecord> {
    runs.iter().rev().filter(|run| !run.interrupted)
}

/// The nights of a row, oldest first.
fn nights<'record>(runs: &'record [RunRecord], id: &str) -> Vec<Night<'record>> {
    whole(runs)
        .filter_map(|run| {
            let row = run.rows.iter().find(|row| row.id.0 == id)?;
            Some(Night { run, row })
        })
        .collect()
}

fn statuses(nights: &[Night<'_>]) -> String {
    let letter = |night: &Night<'_>| match night.row.status {
        Status::Pass => '.',
        Status::Warn => 'w',
        Status::Fail => 'F',
        Status::Error => 'E',
        Status::Skip => '-',
    };
    nights.iter().map(letter).collect()
}

fn medians(nights: &[Night<'_>]) -> Vec<Option<Duration>> {
    let median = |night: &Night<'_>| stats::median(&night.row.probes.first()?.samples);
    nights.iter().map(median).collect()
}

fn last_median(nights: &[Night<'_>]) -> String {
    let last = medians(nights).into_iter().rev().flatten().next();
    last.map_or_else(|| "–".to_owned(), |median| format!("{} ms", milliseconds(median)))
}

fn cold_start(row: &RowRecord) -> Option<Duration> {
    let all: Vec<Duration> = row.sessions.iter().filter_map(|session| session.cold_start).collect();
    stats::median(&all)
}

fn moment(run: &RunRecord) -> String {
    run.started.strftime("%Y-%m-%d %H:%M").to_string()
}

fn now(nights: &[Night<'_>]) -> String {
    let known = nights
        .iter()
        .rev()
        .find_map(|night| installed(night.row).or_else(|| reported(night.row)));
    known.unwrap_or_else(|| "never answered".to_owned())
}

fn what_it_was(row: &RowRecord) -> String {
    let facts = [
        Some(outcome(row)),
        installed(row),
        reported(row).map(|reported| format!("reports {reported}")),
        runtime(row),
        row.tools.as_ref().map(|tools| counted(tools.len(), "tool")),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What changed on which night. What is not known on a night is not a change: it is held against the last
/// night on which it was.
fn changes<'record>(nights: &[Night<'record>]) -> Vec<(Night<'record>, Vec<String>)> {
    let mut found = Vec::new();
    let mut known: [Option<String>; 3] = [None, None, None];
    let mut status = None;
    let mut tools: Option<BTreeSet<String>> = None;
    for night in nights {
        let mut said = Vec::new();
        let facts = [installed(night.row), reported(night.row), runtime(night.row)];
        for ((known, fact), word) in known.iter_mut().zip(facts).zip(["", "reports ", ""]) {
            if let (Some(then), Some(now)) = (&*known, &fact)
                && then != now
            {
                said.push(format!("{word}{then} -> {}", without_same_name(then, now)));
            }
            *known = fact.or(known.take());
        }
        if let Some(now) = names(night.row) {
            said.extend(tools.as_ref().and_then(|then| other_tools(then, &now)));
            tools = Some(now);
        }
        let now = outcome(night.row);
        if let Some(then) = status.replace(now.clone()).filter(|then| *then != now) {
            said.push(format!("{then} -> {now}"));
        }
        if !said.is_empty() {
            found.push((*night, said));
        }
    }
    found
}

/// `server 1.2.3 -> 1.2.4`: the name is told once, where it is the same.
fn without_same_name<'now>(then: &str, now: &'now str) -> &'now str {
    match (then.rsplit_once(' '), now.rsplit_once(' ')) {
        (Some((old_name, _)), Some((name, version))) if old_name == name => version,
        _ => now,
    }
}

/// The status, with what made it so.
fn outcome(row: &RowRecord) -> String {
    format!("{}{}", row.status.name(), because(row))
}

/// The codes of the findings that made it so.
fn because(row: &RowRecord) -> String {
    let worst = row.findings.iter().map(|finding| finding.severity).max();
    let codes: BTreeSet<&str> = row
        .findings
        .iter()
        .filter(|finding| Some(finding.severity) == worst)
        .map(|finding| finding.code.name())
        .collect();
    match row.status {
        Status::Pass | Status::Skip => String::new(),
        Status::Warn | Status::Fail | Status::Error if codes.is_empty() => String::new(),
        Status::Warn | Status::Fail | Status::Error => {
            format!(" ({})", codes.into_iter().collect::<Vec<_>>().join(", "))
        }
    }
}

fn other_tools(then: &BTreeSet<String>, now: &BTreeSet<String>) -> Option<String> {
    let gone = then.difference(now).map(|name| format!("- {name}"));
    let new = now.difference(then).map(|name| format!("+ {name}"));
    let differing: Vec<String> = gone.chain(new).collect();
    (!differing.is_empty()).then(|| format!("{} -> {} tools ({})", then.len(), now.len(), differing.join(", ")))
}

fn names(row: &RowRecord) -> Option<BTreeSet<String>> {
    let tools = row.tools.as_ref()?;
    Some(tools.iter().map(|tool| tool.name.clone()).collect())
}

fn installed(row: &RowRecord) -> Option<String> {
    let package = &row.identity.package;
    Some(format!(
        "{} {}",
        package.name.as_deref()?,
        package.installed.as_deref()?
    ))
}

fn reported(row: &RowRecord) -> Option<String> {
    let identity = &row.identity;
    let version = identity.reported_version.as_deref()?;
    let version = if version.is_empty() { "(empty)" } else { version };
    Some(format!("{} {version}", identity.reported_name.as_deref()?))
}

fn runtime(row: &RowRecord) -> Option<String> {
    let runtime = row.identity.runtime.as_ref()?;
    Some(format!("{} {}", runtime.kind, runtime.version.as_deref()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Code, Phase, Severity};
    use crate::report::sample::{finding, sample_record, sample_row};

    fn night(day: usize, change: impl FnOnce(&mut RowRecord)) -> RunRecord {
        let mut run = sample_record();
        run.started = format!("2026-11-{day:02}T02:15:00Z").parse().expect("a moment");
        let mut row = sample_row("time");
        change(&mut row);
        run.rows = vec![row];
        run
    }

    #[test]
    fn a_doubling_looks_like_one() {
        let millis = |values: &[u64]| {
            values
                .iter()
                .map(|value| Some(Duration::from_millis(*value)))
                .collect::<Vec<_>>()
        };
        assert_eq!(sparkline(&millis(&[100, 100, 200])), "▄▄█");
        assert_eq!(sparkline(&[None, Some(Duration::ZERO)]), "·▁");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn a_row_shows_its_nights_and_only_those_with_a_change() {
        let runs = [
            night(4, |row| row.status = Status::Pass),
            night(3, |row| {
                row.identity.package.installed = Some("2026.10.20".to_owned());
                row.tools.as_mut().expect("tools").truncate(1);
            }),
            night(2, |row| {
                row.status = Status::Fail;
                row.identity.reported_version = None;
                row.tools = None;
                row.probes.clear();
            }),
            night(1, |_| {}),
        ];
        let said = of_row(&runs, "time").expect("it is there");
        insta::assert_snapshot!(said);
        assert!(of_row(&runs, "nobody").is_none());
        assert!(
            overview(&runs).contains("3 nights with a change"),
            "{}",
            overview(&runs)
        );
    }

    #[test]
    fn rows_stand_under_each_other_night_by_night() {
        let mut runs = [night(3, |_| {}), night(2, |_| {}), night(1, |_| {})];
        runs[0].rows = vec![sample_row("new")];
        runs[1].rows.push(sample_row("new"));
        let said = overview(&runs);
        let of = |id: &str| {
            said.lines()
                .find(|line| line.starts_with(id))
                .expect("a line")
                .to_owned()
        };
        assert!(of("new").starts_with("new    ..   "), "{said}");
        assert!(of("time").starts_with("time  .. "), "{said}");
        assert!(of("time").ends_with("; not in the last run"), "{said}");
    }

    #[test]
    fn another_reason_of_the_same_status_is_a_change() {
        let fails = |code: Code| {
            move |row: &mut RowRecord| {
                row.status = Status::Fail;
                row.findings = vec![finding(code, Severity::Fail, Phase::Call, "x")];
            }
        };
        let runs = [night(2, fails(Code::ListError)), night(1, fails(Code::ExitedEarly))];
        let said = of_row(&runs, "time").expect("it is there");
        assert!(said.contains("2026-11-01 02:15  fail (exited-early), "), "{said}");
        assert!(
            said.contains("2026-11-02 02:15  fail (exited-early) -> fail (list-error)"),
            "{said}"
        );
    }

    #[test]
    fn an_interrupted_night_is_left_out() {
        let mut runs = [night(2, |_| {}), night(1, |_| {})];
        runs[0].interrupted = true;
        assert!(
            of_row(&runs, "time")
                .expect("it is there")
                .contains("1 night from 2026-11-01")
        );
        assert!(overview(&runs).contains("\n1 run (1 interrupted, left out), "));
    }
}
