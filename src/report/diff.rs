//! What changed from one state of a fleet to another, row by row, in sentences. A state is a run or what a
//! lock holds; which of the two makes no difference here.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::finding::{Code, Severity};
use crate::record::{RowRecord, RunRecord, Status, ToolRecord};
use crate::stats;
use crate::text::{clean_for_terminal, counted, milliseconds};
use crate::version;

/// From this ratio on, either way, a median is worth a sentence: `latency-regression` begins there too.
const WORTH_TELLING: f64 = 1.5;

/// A state of a fleet.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it is called: a run's id, or the lock's file.
    pub name: String,
    /// Its rows.
    pub rows: Vec<SideRow>,
}

/// A row of it; what the side does not know is null.
#[derive(Clone, Debug, Default)]
pub struct SideRow {
    /// The row's id.
    pub id: String,
    /// How it came out.
    pub status: Option<Status>,
    /// Which findings fail or warn.
    pub codes: Option<BTreeSet<Code>>,
    /// The package.
    pub package: Option<String>,
    /// Its version on disk.
    pub installed: Option<String>,
    /// The name that it reports.
    pub reported_name: Option<String>,
    /// The version that it reports.
    pub reported_version: Option<String>,
    /// `node`, `python`.
    pub runtime: Option<String>,
    /// The runtime's version.
    pub runtime_version: Option<String>,
    /// The protocol revision.
    pub protocol: Option<String>,
    /// Its tools.
    pub tools: Option<Vec<ToolRecord>>,
    /// The timed call, and its median.
    pub timed: Option<(String, Duration)>,
}

impl Side {
    /// A run as one side.
    pub fn of_run(run: &RunRecord) -> Self {
        Self {
            name: run.id.clone(),
            rows: run.rows.iter().map(of_row).collect(),
        }
    }
}

/// The differences, with a last line that counts them.
pub fn diff(old: &Side, new: &Side) -> String {
    let mut text = String::new();
    let mut differing = 0;
    for row in &new.rows {
        let said = match old.rows.iter().find(|before| before.id == row.id) {
            Some(before) => sentences(before, row),
            None => vec![format!("is not in {}", old.name)],
        };
        differing += usize::from(!said.is_empty());
        push(&mut text, &row.id, &said);
    }
    for row in &old.rows {
        if !new.rows.iter().any(|after| after.id == row.id) {
            differing += 1;
            push(&mut text, &row.id, &[format!("is not in {}", new.name)]);
        }
    }
    let all: BTreeSet<&str> = old.rows.iter().chain(&new.rows).map(|row| row.id.as_str()).collect();
    text.push_str(&clean_for_terminal(&match differing {
        0 => format!(
            "{} and {} say the same of {}",
            old.name,
            new.name,
            counted(all.len(), "row")
        ),
        _ => format!(
            "{differing} of {} differ between {} and {}",
            counted(all.len(), "row"),
            old.name,
            new.name
        ),
    }));
    text.push('\n');
    text
}

fn push(text: &mut String, id: &str, said: &[String]) {
    if said.is_empty() {
        return;
    }
    text.push_str(&clean_for_terminal(id));
    text.push('\n');
    for sentence in said {
        text.push_str(&format!("  {}\n", clean_for_terminal(sentence)));
    }
    text.push('\n');
}

fn of_row(row: &RowRecord) -> SideRow {
    let identity = &row.identity;
    let median = |probe: &crate::record::ProbeRecord| Some((probe.tool.clone(), stats::median(&probe.samples)?));
    let telling = row.findings.iter().filter(|finding| finding.severity > Severity::Note);
    SideRow {
        id: row.id.0.clone(),
        status: Some(row.status),
        codes: Some(telling.map(|finding| finding.code).collect()),
        package: identity.package.name.clone(),
        installed: identity.package.installed.clone(),
        reported_name: identity.reported_name.clone(),
        reported_version: identity.reported_version.clone(),
        runtime: identity.runtime.as_ref().map(|runtime| runtime.kind.clone()),
        runtime_version: identity.runtime.as_ref().and_then(|runtime| runtime.version.clone()),
        protocol: identity.negotiated.clone(),
        tools: row.tools.clone(),
        timed: row.probes.first().and_then(median),
    }
}

fn sentences(old: &SideRow, new: &SideRow) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(status(old, new));
    said.extend(other("the package", old.package.as_ref(), new.package.as_ref()));
    said.extend(moved("installed", old.installed.as_ref(), new.installed.as_ref()));
    said.extend(other(
        "the reported name",
        old.reported_name.as_ref(),
        new.reported_name.as_ref(),
    ));
    said.extend(moved(
        "the reported version",
        old.reported_version.as_ref(),
        new.reported_version.as_ref(),
    ));
    said.extend(other("the runtime", old.runtime.as_ref(), new.runtime.as_ref()));
    let runtime = new.runtime.as_deref().unwrap_or("the runtime");
    said.extend(moved(
        runtime,
        old.runtime_version.as_ref(),
        new.runtime_version.as_ref(),
    ));
    said.extend(moved("the protocol", old.protocol.as_ref(), new.protocol.as_ref()));
    if let (Some(old), Some(new)) = (&old.tools, &new.tools) {
        said.extend(tools(old, new));
    }
    said.extend(slower(old, new));
    said
}

fn status(old: &SideRow, new: &SideRow) -> Option<String> {
    let (then, now) = (old.status?, new.status?);
    let none = BTreeSet::new();
    let (had, has) = (old.codes.as_ref().unwrap_or(&none), new.codes.as_ref().unwrap_or(&none));
    let listed = |codes: Vec<&Code>| codes.into_iter().map(|code| code.name()).collect::<Vec<_>>().join(", ");
    let (gone, come) = (
        listed(had.difference(has).collect()),
        listed(has.difference(had).collect()),
    );
    let mut parts = Vec::new();
    if then != now {
        parts.push(format!("the status went from {} to {}", then.name(), now.name()));
    }
    if !come.is_empty() {
        parts.push(format!("new: {come}"));
    }
    if !gone.is_empty() {
        parts.push(format!("gone: {gone}"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "(empty)" } else { value }
}

fn other(what: &str, old: Option<&String>, new: Option<&String>) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) if old != new => Some(format!("{what} was {} and is {}", shown(old), shown(new))),
        _ => None,
    }
}

/// A version, with its direction where there is one. One that is not known any more is told as well.
fn moved(what: &str, old: Option<&String>, new: Option<&String>) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) if old != new => {
            let verb = match version::compare(old, new) {
                Some(std::cmp::Ordering::Less) => "went up",
                Some(std::cmp::Ordering::Greater) => "went back",
                Some(std::cmp::Ordering::Equal) | None => "changed",
            };
            Some(format!("{what} {verb} from {} to {}", shown(old), shown(new)))
        }
        (Some(old), None) => Some(format!("{what} was {} and is not known any more", shown(old))),
        (Some(_) | None, Some(_)) | (None, None) => None,
    }
}

fn tools(old: &[ToolRecord], new: &[ToolRecord]) -> Vec<String> {
    let named = |tools: &'_ [ToolRecord]| tools.iter().map(|tool| tool.name.clone()).collect::<BTreeSet<_>>();
    let (had, has) = (named(old), named(new));
    let list = |names: Vec<&String>, verb: &str| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let be = if names.len() == 1 { "is" } else { "are" };
        (!names.is_empty()).then(|| format!("{} {be} {verb}: {}", counted(names.len(), "tool"), quoted.join(", ")))
    };
    let mut said = Vec::new();
    said.extend(list(had.difference(&has).collect(), "gone"));
    said.extend(list(has.difference(&had).collect(), "new"));
    for tool in new {
        let before = old.iter().find(|before| before.name == tool.name);
        said.extend(before.and_then(|before| other_shape(before, tool)));
    }
    said
}

/// Order of keys is no change; JSON objects compare without it.
fn other_shape(old: &ToolRecord, new: &ToolRecord) -> Option<String> {
    let parts = [
        (old.description_sha256 != new.description_sha256, "description"),
        (old.input_schema != new.input_schema, "input schema"),
        (old.output_schema != new.output_schema, "output schema"),
        (old.annotations != new.annotations, "annotations"),
    ];
    let changed: Vec<&str> = parts
        .into_iter()
        .filter(|(changed, _)| *changed)
        .map(|(_, word)| word)
        .collect();
    (!changed.is_empty()).then(|| format!("tool `{}` has changed: {}", new.name, changed.join(", ")))
}

fn slower(old: &SideRow, new: &SideRow) -> Option<String> {
    let ((then_tool, then), (tool, now)) = (old.timed.as_ref()?, new.timed.as_ref()?);
    let ratio = now.div_duration_f64(*then);
    let telling = ratio >= WORTH_TELLING || ratio <= 1.0 / WORTH_TELLING;
    (then_tool == tool && telling && ratio.is_finite()).then(|| {
        format!(
            "the median of `{tool}` went from {} ms to {} ms ({ratio:.1} times)",
            milliseconds(*then),
            milliseconds(*now)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample_record;

    #[test]
    fn two_equal_runs_differ_in_nothing() {
        let side = Side::of_run(&sample_record());
        assert_eq!(
            diff(&side, &side),
            "20261130T021500Z and 20261130T021500Z say the same of 10 rows\n"
        );
    }

    #[test]
    fn every_kind_of_difference_is_a_sentence() {
        let old = sample_record();
        let mut new = sample_record();
        new.id = "20261201T021500Z".to_owned();
        let row = &mut new.rows[0];
        row.status = Status::Fail;
        row.identity.package.installed = Some("2025.12.1".to_owned());
        row.identity.reported_version = Some("0.10.0".to_owned());
        row.identity.runtime.as_mut().expect("a runtime").version = Some("20.20.3".to_owned());
        let tools = row.tools.as_mut().expect("tools");
        tools.remove(0);
        tools[0].description_sha256 = Some("another".to_owned());
        tools[1].name = "renamed".to_owned();
        for sample in &mut row.probes[0].samples {
            *sample *= 2;
        }
        new.rows[1].identity.reported_name = Some("another-server".to_owned());
        new.rows.remove(2);
        insta::assert_snapshot!(diff(&Side::of_run(&old), &Side::of_run(&new)));
    }
}
