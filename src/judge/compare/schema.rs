//! Two JSON Schemas of one tool held against each other: what a caller may no longer send, and what a caller
//! no longer gets. Pure, and without a notion of findings.
//!
//! Told is only what is certain: some value was taken and is not any more. What cannot be decided (one pattern
//! against another, `if` and `then`, alternatives that overlap) is left to whoever tells of any other change.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::judge::words::line;

pub(super) use form::{differences, sorted, without_prose};
use part::{ANYTHING, Part};

mod alternatives;
mod form;
mod keywords;
mod part;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

/// Schemas nest and refer to themselves; deeper than this nobody reads.
const DEEPEST: usize = 12;
/// Nor more pairs of schemas than this: one that refers to itself many times has more than could ever be held
/// against each other.
const MOST_PAIRS: usize = 5_000;

/// Which way the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the server: it must go on taking what it took.
    Input,
    /// From the server: it must go on giving what it gave.
    Output,
}

/// What has been found between two documents.
struct Comparison {
    direction: Direction,
    losses: Vec<String>,
    /// Whether something differs of which it is not known what it comes to.
    undecided: bool,
    depth: usize,
    pairs_left: usize,
}

/// What was narrowed (input) or removed (output), in words; empty if nothing was.
pub(super) fn losses(before: Option<&Value>, now: Option<&Value>, direction: Direction) -> Vec<String> {
    let anything = || Value::Object(Map::new());
    match (direction, before, now) {
        (Direction::Output, None, _) => Vec::new(),
        (Direction::Output, Some(_), None) => vec!["there is no output schema any more".to_owned()],
        (Direction::Input | Direction::Output, before, now) => {
            let before = before.map_or_else(anything, without_prose);
            let now = now.map_or_else(anything, without_prose);
            let mut comparison = Comparison::new(direction, MOST_PAIRS);
            comparison.compare(Part::of(&before), Part::of(&now), "");
            let mut told = BTreeSet::new();
            comparison.losses.retain(|loss| told.insert(loss.clone()));
            comparison.losses
        }
    }
}

impl Comparison {
    fn new(direction: Direction, pairs_left: usize) -> Self {
        Self {
            direction,
            losses: Vec::new(),
            undecided: false,
            depth: 0,
            pairs_left,
        }
    }

    fn compare(&mut self, before: Part<'_>, now: Part<'_>, path: &str) {
        let (before, now) = (before.resolved(), now.resolved());
        if before.is_same(now) {
            return;
        }
        if self.depth > DEEPEST || self.pairs_left == 0 {
            self.undecided = true;
            return;
        }
        self.pairs_left -= 1;
        self.depth += 1;
        self.compare_resolved(before, now, path);
        self.depth -= 1;
    }

    fn compare_resolved(&mut self, before: Part<'_>, now: Part<'_>, path: &str) {
        // From nothing there is only more.
        if before.is_never() {
            return;
        }
        let what = self.words(path);
        if now.is_never() {
            let (verb, taken) = (verb(&what), self.taken());
            self.losses.push(format!("{what} {verb} not {taken} any more"));
            return;
        }
        if !self.can_be_followed(before, now, &what) {
            return;
        }
        let fits = self.types(before, now, &what);
        if self.direction == Direction::Input {
            // Where the type is another one, that is what is told.
            if fits {
                self.choices(before, now, &what);
            }
            self.keywords(before, now, &what);
            self.required(before, now, path);
            self.around_properties(before, now, path, &what);
        }
        self.properties(before, now, path);
        self.items(before, now, path);
        if self.direction == Direction::Input {
            self.alternatives(before, now, path, &what);
        }
    }

    /// What holds together parts of a schema elsewhere is followed only where it stayed or was added as a whole.
    fn can_be_followed(&mut self, before: Part<'_>, now: Part<'_>, what: &str) -> bool {
        if before.schema["$ref"] != now.schema["$ref"] {
            self.undecided = true;
            return false;
        }
        for keyword in ["if", "then", "else"] {
            self.undecided |= before.schema[keyword] != now.schema[keyword];
        }
        let (old, new) = (before.list("allOf"), now.list("allOf"));
        if old == new {
            return true;
        }
        let stayed = old.iter().all(|part| new.contains(part));
        let rest_is_same = before.without("allOf") == now.without("allOf");
        if stayed && rest_is_same && self.direction == Direction::Input {
            let added: Vec<&&Value> = new.iter().filter(|part| !old.contains(*part)).collect();
            for part in added {
                let schema = Part { schema: part, ..now };
                if self.covers(before, schema) != Some(true) {
                    self.losses
                        .push(line(&format!("{what}: `allOf` asks for {part} too, which it did not")));
                }
            }
        } else {
            self.undecided = true;
        }
        false
    }

    /// A type that is no longer taken; for outputs any type that was not given before.
    fn types(&mut self, before: Part<'_>, now: Part<'_>, what: &str) -> bool {
        let (old, new) = (before.types(0), now.types(0));
        let fits = match self.direction {
            Direction::Input => are_among(old.clone().or_else(|| before.types_of_choices()).as_ref(), new.as_ref()),
            Direction::Output => are_among(new.clone().or_else(|| now.types_of_choices()).as_ref(), old.as_ref()),
        };
        if !fits {
            let words = |types: Option<BTreeSet<String>>| {
                types.map_or_else(
                    || "of any type".to_owned(),
                    |types| types.into_iter().collect::<Vec<_>>().join(" or "),
                )
            };
            let (verb, was) = (verb(what), if verb(what) == "are" { "were" } else { "was" });
            self.losses
                .push(line(&format!("{what} {verb} {}, {was} {}", words(new), words(old))));
        }
        fits
    }

    fn required(&mut self, before: Part<'_>, now: Part<'_>, path: &str) {
        let old = before.required();
        for name in now.required().difference(&old) {
            let path = joined(path, name);
            self.losses.push(format!("argument `{}` is required now", line(&path)));
        }
    }

    fn properties(&mut self, before: Part<'_>, now: Part<'_>, path: &str) {
        for (name, old) in before.properties() {
            let path = joined(path, name);
            match now.property(name) {
                Some(new) => self.compare(old, new, &path),
                None if old.resolved().is_never() => {}
                None => {
                    let what = self.words(&path);
                    self.losses.push(format!("{what} is gone"));
                }
            }
        }
        // A new argument is no loss; one that is named only to be forbidden was taken where others were.
        let forbidden = now
            .properties()
            .filter(|(name, new)| before.property(name).is_none() && new.resolved().is_never() && !before.is_closed());
        if self.direction == Direction::Input {
            for (name, _) in forbidden {
                let what = self.words(&joined(path, name));
                self.losses.push(format!("{what} is not taken any more"));
            }
        }
    }

    fn items(&mut self, before: Part<'_>, now: Part<'_>, path: &str) {
        let each = format!("{path}[]");
        let of_any = |part: Part<'_>| part.schema.get("items").is_none();
        match (before.below("items"), now.below("items")) {
            (Some(old), Some(new)) => self.compare(old, new, &each),
            (None, Some(new)) if of_any(before) && self.direction == Direction::Input => {
                let anything = Part {
                    schema: &ANYTHING,
                    ..before
                };
                self.compare(anything, new, &each);
            }
            (None | Some(_), _) => {}
        }
        for keyword in ["items", "prefixItems"] {
            let (old, new) = (before.list(keyword), now.list(keyword));
            self.undecided |= old.len() != new.len();
            for (number, (old, new)) in old.into_iter().zip(new).enumerate() {
                let path = format!("{path}[{number}]");
                let (old, new) = (Part { schema: old, ..before }, Part { schema: new, ..now });
                self.compare(old, new, &path);
            }
        }
    }

    /// Whether everything that one schema takes is taken by the other; null where that is not known.
    fn covers(&mut self, taken: Part<'_>, by: Part<'_>) -> Option<bool> {
        let mut aside = Self::new(Direction::Input, self.pairs_left);
        aside.depth = self.depth;
        aside.compare(taken, by, "");
        self.pairs_left = aside.pairs_left;
        match (aside.losses.is_empty(), aside.undecided) {
            (false, _) => Some(false),
            (true, false) => Some(true),
            (true, true) => None,
        }
    }

    fn words(&self, path: &str) -> String {
        match (self.direction, path) {
            (Direction::Input, "") => "the arguments".to_owned(),
            (Direction::Output, "") => "the output".to_owned(),
            (Direction::Input, path) => format!("argument `{}`", line(path)),
            (Direction::Output, path) => format!("output `{}`", line(path)),
        }
    }

    fn taken(&self) -> &'static str {
        match self.direction {
            Direction::Input => "taken",
            Direction::Output => "given",
        }
    }
}

fn verb(what: &str) -> &'static str {
    if what.ends_with('s') { "are" } else { "is" }
}

/// Whether all of the types are among the wider ones; None is any type.
fn are_among(types: Option<&BTreeSet<String>>, wider: Option<&BTreeSet<String>>) -> bool {
    match (types, wider) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(types), Some(wider)) => types
            .iter()
            .all(|kind| wider.contains(kind) || (kind == "integer" && wider.contains("number"))),
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// `false`, or `not set` for a keyword that is not there.
fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "not set".to_owned(), ToString::to_string)
}
