//! The checks of `[[servers.NAME.probes]]`.

use regex::Regex;

use super::text::{self, Allowed};
use super::{Known, durations, server, twice};

use crate::manifest::mistake::Mistake;
use crate::manifest::tree::{Entry, Node};

/// Every mistake of a server's probes that only these checks find.
pub(super) fn check(probes: &[Node], known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    // Two probes of one tool may go by its name; names that were given must differ.
    twice(probes.iter().filter_map(|probe| probe.get("name")), "probe", mistakes);
    for (index, probe) in probes.iter().enumerate() {
        let field = format!("probes[{index}]");
        durations(probe.entries(), &format!("{field}."), mistakes);
        for entry in probe.entries() {
            let name = format!("{field}.{}", entry.key);
            match entry.key.as_str() {
                "arguments" => server::inside(&entry.value, &name, Allowed::All, known, mistakes),
                "expect" => expectation(entry, &name, known, mistakes),
                _ => server::inside(&entry.value, &name, Allowed::BeforeSessions, known, mistakes),
            }
        }
    }
}

fn expectation(expect: &Entry, field: &str, known: &Known<'_>, mistakes: &mut Vec<Mistake>) {
    for entry in expect.value.entries() {
        let name = format!("{field}.{}", entry.key);
        if entry.key != "matches" {
            server::inside(&entry.value, &name, Allowed::All, known, mistakes);
            continue;
        }
        let text = text::check(&entry.value, &name, Allowed::BeforeSessions, known.source, mistakes);
        let Some(Err(problem)) = text.as_ref().and_then(|text| text.as_literal()).map(Regex::new) else {
            continue;
        };
        let title = format!("`{name}` is not a regular expression");
        mistakes.push(
            Mistake::new(entry.value.span.clone(), title)
                .label("not a regular expression")
                .help(reason(&problem)),
        );
    }
}

/// The last line of a regex error says what is wrong; those before draw the pattern once more.
fn reason(problem: &regex::Error) -> String {
    let text = problem.to_string();
    text.lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}
