//! `version-split`: one package that is not the same on two runtimes of one run. Said once for each row that
//! is behind, against the newest, with what differs.
//!
//! A row is held against the other runtimes of its own server, and against another server only where its own
//! has no other runtime: or what is said of it would change whenever somebody else's row does.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::event::RowId;
use crate::finding::Code;
use crate::judge::compare::tools::{self, Change};
use crate::judge::compare::versions::{self, Step};
use crate::judge::sentences::Told;
use crate::judge::words::{line, names, quote, shown};
use crate::lock::RowFacts;
use crate::record::RowRecord;
use crate::text::counted;
use crate::version;

#[cfg(test)]
mod tests;

/// Between a version and its row in `expected` and `actual`; acceptance takes them apart again.
pub(super) const ON: &str = " on ";

/// A row that answered, with its place in the run.
struct Side<'run> {
    place: usize,
    row: &'run RowRecord,
    facts: RowFacts,
}

/// What differs between two sides, in words.
struct Differences {
    parts: Vec<String>,
    /// Whether any of them is more than prose.
    split: bool,
}

/// Every row that is behind another one of the same package.
pub(super) fn between(rows: &[RowRecord]) -> BTreeMap<RowId, Told> {
    let sides: Vec<Side<'_>> = rows
        .iter()
        .enumerate()
        .filter_map(|(place, row)| {
            let facts = RowFacts::of(row)?;
            Some(Side { place, row, facts })
        })
        .collect();
    let found = sides.iter().filter_map(|side| {
        let has_twin = rows.iter().any(|row| is_twin(side.row, row));
        let newer = sides.iter().filter(|other| {
            let of_its_kind = !has_twin || side.same_entry(other);
            of_its_kind && side.comparable(other) && other.is_newer_than(side)
        });
        let newest = newer.reduce(|best, other| if other.is_newer_than(best) { other } else { best })?;
        Some((side.row.id.clone(), side.behind(newest)?))
    });
    found.collect()
}

/// The same server on another runtime, whether it answered or not.
fn is_twin(row: &RowRecord, other: &RowRecord) -> bool {
    row.server == other.server && row.runtime != other.runtime
}

impl Side<'_> {
    /// Another runtime, and one entry of the manifest or one package asked for in the same way.
    fn comparable(&self, other: &Self) -> bool {
        let one_package = match (&self.facts.package, &other.facts.package) {
            (Some(one), Some(two)) => {
                (one.ecosystem, &one.name, &one.wanted) == (two.ecosystem, &two.name, &two.wanted)
            }
            (None, _) | (_, None) => false,
        };
        self.row.runtime != other.row.runtime
            && versions::same_package(&self.facts, &other.facts)
            && (self.same_entry(other) || one_package)
    }

    fn same_entry(&self, other: &Self) -> bool {
        self.row.server == other.row.server
    }

    /// By version; where that does not tell, by runtime; else the first one stands for what should be.
    fn is_newer_than(&self, other: &Self) -> bool {
        match versions::of_row(&other.facts, &self.facts) {
            Step::Up => true,
            Step::Down => false,
            Step::Same | Step::Other | Step::Unknown => match self.by_runtime(other) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal => self.place < other.place,
            },
        }
    }

    fn by_runtime(&self, other: &Self) -> Ordering {
        let runtimes = self.facts.runtime.as_ref().zip(other.facts.runtime.as_ref());
        let order = runtimes
            .filter(|(one, two)| one.kind == two.kind)
            .and_then(|(one, two)| version::compare(one.version.as_deref()?, two.version.as_deref()?));
        order.unwrap_or(Ordering::Equal)
    }

    fn behind(&self, newest: &Self) -> Option<Told> {
        let differences = Differences::between(self, newest);
        if !differences.split {
            return None;
        }
        let side = |side: &Self, other: &Self| format!("{}{ON}{}", side.version(other), side.row.id);
        let (here, there) = (side(self, newest), side(newest, self));
        let message = format!(
            "not the same on two runtimes: {here}{}, {there}{}; {}",
            self.runtime(),
            newest.runtime(),
            differences.parts.join("; ")
        );
        let message = message.trim_end_matches("; ").to_owned();
        Some(Told::new(Code::VersionSplit, message).expected(there).actual(here))
    }

    /// The version that counts between the two: on disk where both know it.
    fn version(&self, other: &Self) -> String {
        let reported = self.facts.reported_version.as_deref();
        let version = match versions::installed(&self.facts, &other.facts) {
            Some(_) => self.facts.installed(),
            None => reported,
        };
        version.map_or_else(|| "(none)".to_owned(), shown)
    }

    fn runtime(&self) -> String {
        self.facts.runtime.as_ref().map_or_else(String::new, |runtime| {
            let version = runtime.version.as_deref().unwrap_or("of unknown version");
            format!(" ({})", line(&format!("{} {version}", runtime.kind)))
        })
    }
}

impl Differences {
    fn between(side: &Side<'_>, newest: &Side<'_>) -> Self {
        let (here, there) = (&side.facts, &newest.facts);
        let mut differences = Self {
            parts: Vec::new(),
            split: matches!(versions::of_row(here, there), Step::Up | Step::Down | Step::Other),
        };
        // Two entries of one package may well be set up to differ in all but the version.
        if !side.same_entry(newest) {
            return differences;
        }
        let text = |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".to_owned(), quote);
        if here.reported_name != there.reported_name {
            differences.add(format!(
                "calls itself {} here and {} there",
                text(&here.reported_name),
                text(&there.reported_name)
            ));
        }
        let reported = versions::step(here.reported_version.as_deref(), there.reported_version.as_deref());
        // What is reported is told where it is not what is installed, which is told already.
        let by_installed = versions::installed(here, there).is_some();
        let as_installed =
            |facts: &RowFacts| versions::step(facts.reported_version.as_deref(), facts.installed()) == Step::Same;
        let told_already = as_installed(here) && as_installed(there);
        if by_installed && !told_already && matches!(reported, Step::Up | Step::Down | Step::Other) {
            differences.add(format!(
                "reports version {} here and {} there",
                text(&here.reported_version),
                text(&there.reported_version)
            ));
        }
        if (here.era, &here.protocol) != (there.era, &there.protocol) {
            let words = |facts: &RowFacts| line(&format!("{} {}", facts.era.name(), facts.protocol));
            differences.add(format!("speaks {} here and {} there", words(here), words(there)));
        }
        differences.tools(here, there);
        differences
    }

    fn tools(&mut self, here: &RowFacts, there: &RowFacts) {
        let (Some(here), Some(there)) = (&here.tools, &there.tools) else {
            return;
        };
        let changes = tools::changes(here, there);
        let mut list = |what: &str, wanted: fn(&Change) -> bool, split: bool| {
            let those: Vec<&str> = changes
                .iter()
                .filter(|(_, change)| wanted(change))
                .map(|(name, _)| name.as_str())
                .collect();
            if !those.is_empty() {
                self.parts.push(format!("{what} {}", names(those)));
                self.split |= split;
            }
        };
        let counts = format!("of {} here and {} there", counted(here.len(), "tool"), there.len());
        let count = format!("{counts}, only here:");
        let only_there = if changes.values().any(|change| *change == Change::Removed) {
            "only there:".to_owned()
        } else {
            format!("{counts}, only there:")
        };
        list(&count, |change| *change == Change::Removed, true);
        list(&only_there, |change| *change == Change::Added, true);
        list(
            "with other schemas or annotations there:",
            |change| matches!(change, Change::Narrowed(_) | Change::Drifted(_)),
            true,
        );
        list("worded otherwise there:", |change| *change == Change::Reworded, false);
    }

    fn add(&mut self, part: String) {
        self.parts.push(part);
        self.split = true;
    }
}
