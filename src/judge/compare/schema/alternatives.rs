//! `anyOf` and `oneOf`: an alternative that was taken must be taken by one of those that there are now. Which
//! types there are altogether is compared elsewhere.

use std::collections::BTreeSet;

use super::part::Part;
use super::{Comparison, are_among};
use crate::judge::words::line;

const KEYWORDS: [&str; 2] = ["anyOf", "oneOf"];

impl Comparison {
    pub(super) fn alternatives(&mut self, before: Part<'_>, now: Part<'_>, path: &str, what: &str) {
        let (old, new) = (before.alternatives(), now.alternatives());
        if old == new || (old.is_none() && new.is_none()) {
            return;
        }
        // Choices, and types that are gone, are told already.
        if (before.choices(0).is_some() && now.choices(0).is_some()) || !are_among_types(before, now) {
            return;
        }
        // What is said beside the alternatives holds for each of them, and which of it matters is not known.
        let stand_alone = before.says_only_alternatives() && (new.is_none() || now.says_only_alternatives());
        let Some(new) = new else {
            if stand_alone {
                self.each_by(&members(before), &[now], path);
            } else {
                self.undecided = true;
            }
            return;
        };
        let new: Vec<Part<'_>> = new.into_iter().map(|schema| Part { schema, ..now }).collect();
        if old.is_some() {
            let old = members(before);
            if new.iter().all(|part| old.iter().any(|known| known.is_same(*part))) {
                self.removed(&old, &new, what);
            } else if stand_alone {
                self.each_by(&old, &new, path);
            } else {
                self.undecided = true;
            }
        } else if KEYWORDS
            .iter()
            .any(|keyword| now.without(keyword) == before.without(keyword))
        {
            self.added(before, now, &new, what);
        } else if now.says_only_alternatives() {
            self.each_by(&[before], &new, path);
        } else {
            self.undecided = true;
        }
    }

    /// Some are gone and none came.
    fn removed(&mut self, old: &[Part<'_>], new: &[Part<'_>], what: &str) {
        for gone in old.iter().filter(|gone| !new.iter().any(|part| part.is_same(**gone))) {
            let covered = new.iter().any(|part| self.covers(*gone, *part) == Some(true));
            if !covered {
                self.losses
                    .push(line(&format!("{what} no longer takes {}", gone.schema)));
            }
        }
    }

    /// Nothing else was changed: what was taken must fit one of them as a whole.
    fn added(&mut self, before: Part<'_>, now: Part<'_>, new: &[Part<'_>], what: &str) {
        let fits: Vec<Option<bool>> = new.iter().map(|part| self.covers(before, *part)).collect();
        if fits.contains(&Some(true)) {
            return;
        }
        for keyword in KEYWORDS.iter().filter(|keyword| now.schema.get(**keyword).is_some()) {
            self.tighter(keyword, before, now, what);
        }
    }

    /// Each old one against those of its type. Where several could take it, nobody knows which.
    fn each_by(&mut self, old: &[Part<'_>], new: &[Part<'_>], path: &str) {
        for part in old {
            if new.iter().any(|by| self.covers(*part, *by) == Some(true)) {
                continue;
            }
            let could: Vec<&Part<'_>> = new.iter().filter(|by| share_a_type(*part, **by)).collect();
            match could.as_slice() {
                [only] if are_among_types(*part, **only) => self.compare(*part, **only, path),
                _ => self.undecided = true,
            }
        }
    }
}

fn members(part: Part<'_>) -> Vec<Part<'_>> {
    let list = part.alternatives().unwrap_or_default();
    list.into_iter().map(|schema| Part { schema, ..part }).collect()
}

fn are_among_types(part: Part<'_>, by: Part<'_>) -> bool {
    are_among(part.types(0).as_ref(), by.types(0).as_ref())
}

/// Whether a value could be of a type of both.
fn share_a_type(one: Part<'_>, other: Part<'_>) -> bool {
    let (Some(one), Some(other)) = (one.types(0), other.types(0)) else {
        return true;
    };
    let numbers = |types: &BTreeSet<String>| types.contains("integer") || types.contains("number");
    !one.is_disjoint(&other) || (numbers(&one) && numbers(&other))
}
