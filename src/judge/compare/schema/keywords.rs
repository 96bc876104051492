//! The keywords that each forbid something by themselves: choices, bounds, patterns, names and what else an
//! object or a list may hold. New is narrower; of what changed only what is certain is told.

use std::collections::BTreeSet;

use serde_json::Value;

use super::part::{ANYTHING, Part, names, takes_everything};
use super::{Comparison, joined, shown};
use crate::judge::words::line;

/// Beyond it no number is exact in JSON, so some generators write it as a bound that bounds nothing.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// The keywords of a bound, and which way it goes.
struct Bound {
    inclusive: &'static str,
    exclusive: Option<&'static str>,
    /// 1 for an upper one, -1 for a lower one.
    sign: f64,
    /// What holds where it is not set, if anything does.
    least: Option<f64>,
}

/// Where a schema ends, counted upwards.
struct Edge {
    keyword: &'static str,
    at: f64,
    is_out: bool,
}

const BOUNDS: &[Bound] = &[
    Bound::new("maximum", Some("exclusiveMaximum"), 1.0, None),
    Bound::new("minimum", Some("exclusiveMinimum"), -1.0, None),
    Bound::new("maxLength", None, 1.0, None),
    Bound::new("minLength", None, -1.0, Some(0.0)),
    Bound::new("maxItems", None, 1.0, None),
    Bound::new("minItems", None, -1.0, Some(0.0)),
    Bound::new("maxProperties", None, 1.0, None),
    Bound::new("minProperties", None, -1.0, Some(0.0)),
    Bound::new("maxContains", None, 1.0, None),
    Bound::new("minContains", None, -1.0, Some(1.0)),
];

impl Bound {
    const fn new(inclusive: &'static str, exclusive: Option<&'static str>, sign: f64, least: Option<f64>) -> Self {
        Self {
            inclusive,
            exclusive,
            sign,
            least,
        }
    }

    fn edge(&self, part: Part<'_>) -> Option<Edge> {
        let number = |keyword: &str| part.schema[keyword].as_f64().filter(|bound| bound.abs() < EXACT);
        // Up to draft 4 `exclusiveMaximum` is true or false, and says it of `maximum`.
        let is_out = self.exclusive.filter(|keyword| part.schema[*keyword] == true);
        let inclusive = number(self.inclusive).map(|at| Edge {
            keyword: is_out.unwrap_or(self.inclusive),
            at: at * self.sign,
            is_out: is_out.is_some(),
        });
        let exclusive = self.exclusive.and_then(|keyword| {
            let at = number(keyword)? * self.sign;
            Some(Edge {
                keyword,
                at,
                is_out: true,
            })
        });
        let edges = inclusive.into_iter().chain(exclusive);
        let mut edges: Vec<Edge> = edges.map(|edge| edge.of_integers(part)).collect();
        edges.sort_by(|one, other| one.at.total_cmp(&other.at).then(other.is_out.cmp(&one.is_out)));
        edges.into_iter().next()
    }
}

fn takes_only_integers(part: Part<'_>) -> bool {
    let types = part.types(0);
    types.is_some_and(|types| types == BTreeSet::from(["integer".to_owned()]))
}

fn is_multiple(whole: f64, part: f64) -> bool {
    let times = whole / part;
    (times - times.round()).abs() <= 1e-9 * times.max(1.0) && times >= 0.5
}

impl Edge {
    /// Below 3 is up to 2 where only integers are taken.
    fn of_integers(self, part: Part<'_>) -> Self {
        if !takes_only_integers(part) {
            return self;
        }
        let at = if self.is_out {
            self.at.ceil() - 1.0
        } else {
            self.at.floor()
        };
        Self {
            at,
            is_out: false,
            ..self
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        self.at < other.at || (self.at <= other.at && self.is_out && !other.is_out)
    }
}

impl Comparison {
    /// Everything that one keyword says alone.
    pub(super) fn keywords(&mut self, before: Part<'_>, now: Part<'_>, what: &str) {
        self.bounds(before, now, what);
        self.multiple(before, now, what);
        if now.schema["uniqueItems"] == true && before.schema["uniqueItems"] != true {
            self.tighter("uniqueItems", before, now, what);
        }
        for keyword in ["pattern", "format"] {
            match (before.schema.get(keyword), now.schema.get(keyword)) {
                (None, Some(_)) => self.tighter(keyword, before, now, what),
                (Some(old), Some(new)) if old != new => self.undecided = true,
                (None | Some(_), _) => {}
            }
        }
        self.denied(before, now, what);
        let contains = now.below("contains").filter(|_| now.schema["minContains"] != 0);
        if contains.is_some() && before.below("contains").is_none() {
            self.tighter("contains", before, now, what);
        } else {
            self.within("contains", before, now, what);
        }
    }

    /// `enum` and `const`.
    pub(super) fn choices(&mut self, before: Part<'_>, now: Part<'_>, what: &str) {
        let (old, new) = (before.choices(0), now.choices(0));
        let Some(new) = new else {
            return;
        };
        match old {
            None => self.losses.push(format!("{what} takes only {} now", listed(&new))),
            Some(old) => {
                let gone: Vec<&Value> = old.into_iter().filter(|value| !new.contains(value)).collect();
                if !gone.is_empty() {
                    self.losses.push(format!("{what} no longer takes {}", listed(&gone)));
                }
            }
        }
    }

    /// Bounds that are new or tighter.
    fn bounds(&mut self, before: Part<'_>, now: Part<'_>, what: &str) {
        for bound in BOUNDS {
            let (old, new) = (bound.edge(before), bound.edge(now));
            let Some(new) = new else {
                continue;
            };
            let tighter = match (&old, bound.least) {
                (Some(old), _) => new.is_within(old),
                (None, Some(least)) => new.at < least * bound.sign,
                (None, None) => true,
            };
            if !tighter {
                continue;
            }
            let value = &now.schema[new.keyword];
            let was = match &old {
                Some(old) if old.keyword != new.keyword => {
                    format!("`{}` was {}", old.keyword, before.schema[old.keyword])
                }
                Some(_) | None => format!("was {}", shown(before.schema.get(new.keyword))),
            };
            self.losses.push(format!("{what}: `{}` is {value}, {was}", new.keyword));
        }
    }

    /// What was a multiple must be one of the new number too: the old number itself is.
    fn multiple(&mut self, before: Part<'_>, now: Part<'_>, what: &str) {
        let number = |part: Part<'_>| part.schema["multipleOf"].as_f64().filter(|number| *number > 0.0);
        let tighter = match (number(before), number(now)) {
            (_, None) => false,
            // Every integer is a multiple of one.
            (None, Some(new)) => !(takes_only_integers(now) && is_multiple(1.0, new)),
            (Some(old), Some(new)) => !is_multiple(old, new),
        };
        if tighter {
            self.tighter("multipleOf", before, now, what);
        }
    }

    /// `not`: what it takes is not taken, so that it must not come to take more.
    fn denied(&mut self, before: Part<'_>, now: Part<'_>, what: &str) {
        match (before.below("not"), now.below("not")) {
            (_, None) => {}
            (None, Some(new)) => {
                if !new.resolved().is_never() {
                    self.tighter("not", before, now, what);
                }
            }
            (Some(old), Some(new)) => match self.covers(new, old) {
                Some(true) => {}
                Some(false) => self.tighter("not", before, now, what),
                None => self.undecided = true,
            },
        }
    }

    /// What an object may hold beside its properties, and what one property asks for of the others.
    pub(super) fn around_properties(&mut self, before: Part<'_>, now: Part<'_>, path: &str, what: &str) {
        for keyword in [
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "additionalItems",
            "unevaluatedItems",
        ] {
            self.within(keyword, before, now, what);
        }
        self.dependent_names(before, now, path);
        for keyword in ["dependentSchemas", "dependencies"] {
            self.dependent_schemas(keyword, before, now, what);
        }
        self.by_pattern(before, now, what);
    }

    /// A keyword with a schema, where what is not set takes everything.
    fn within(&mut self, keyword: &str, before: Part<'_>, now: Part<'_>, what: &str) {
        let or_anything = |part: Part<'_>| part.below(keyword).is_some();
        if !or_anything(before) && !or_anything(now) {
            return;
        }
        let anything = |part| Part {
            schema: &ANYTHING,
            ..part
        };
        let old = before.below(keyword).unwrap_or_else(|| anything(before));
        let new = now.below(keyword).unwrap_or_else(|| anything(now));
        match self.covers(old, new) {
            Some(true) => {}
            Some(false) => self.tighter(keyword, before, now, what),
            None => self.undecided = true,
        }
    }

    /// `dependentRequired`, and lists in the `dependencies` of earlier drafts.
    fn dependent_names(&mut self, before: Part<'_>, now: Part<'_>, path: &str) {
        let of = |part: Part<'_>, name: &str| {
            let lists = ["dependentRequired", "dependencies"].map(|keyword| part.schema[keyword].get(name));
            let all: BTreeSet<String> = lists.into_iter().flatten().flat_map(names).map(str::to_owned).collect();
            all
        };
        let known = before.required();
        let asking = ["dependentRequired", "dependencies"]
            .into_iter()
            .flat_map(|keyword| now.named(keyword));
        for (name, _) in asking {
            let old = of(before, name);
            for needed in of(now, name)
                .difference(&old)
                .filter(|needed| !known.contains(needed.as_str()))
            {
                let (needed, beside) = (joined(path, needed), joined(path, name));
                let (needed, beside) = (line(&needed), line(&beside));
                self.losses
                    .push(format!("argument `{needed}` is required beside `{beside}` now"));
            }
        }
    }

    fn dependent_schemas(&mut self, keyword: &str, before: Part<'_>, now: Part<'_>, what: &str) {
        for (name, new) in now.named(keyword).filter(|(_, new)| !new.schema.is_array()) {
            let old = before.schema[keyword].get(name).filter(|old| !old.is_array());
            let covered = match old {
                None => Some(takes_everything(new.schema)),
                Some(old) => self.covers(Part { schema: old, ..before }, new),
            };
            self.of_name(keyword, name, covered, (old, new.schema), what);
        }
    }

    /// `patternProperties`: what fits a pattern was taken as any other property was.
    fn by_pattern(&mut self, before: Part<'_>, now: Part<'_>, what: &str) {
        const KEYWORD: &str = "patternProperties";
        for (name, new) in now.named(KEYWORD) {
            let old = before.schema[KEYWORD].get(name);
            let covered = match old {
                Some(old) => self.covers(Part { schema: old, ..before }, new),
                None if before.is_closed() || takes_everything(new.schema) => Some(true),
                None if before.below("additionalProperties").is_none() => Some(false),
                None => None,
            };
            self.of_name(KEYWORD, name, covered, (old, new.schema), what);
        }
        for (name, _) in before.named(KEYWORD) {
            if now.schema[KEYWORD].get(name).is_none() && now.is_closed() {
                self.losses
                    .push(line(&format!("{what} named as `{name}` are not taken any more")));
            }
        }
    }

    fn of_name(
        &mut self,
        keyword: &str,
        name: &str,
        covered: Option<bool>,
        sides: (Option<&Value>, &Value),
        what: &str,
    ) {
        let (old, new) = sides;
        match covered {
            Some(true) => {}
            Some(false) => self.losses.push(line(&format!(
                "{what}: `{keyword}` of `{name}` is {new}, was {}",
                shown(old)
            ))),
            None => self.undecided = true,
        }
    }

    /// `the arguments: `additionalProperties` is false, was not set`.
    pub(super) fn tighter(&mut self, keyword: &str, before: Part<'_>, now: Part<'_>, what: &str) {
        let (old, new) = (before.schema.get(keyword), now.schema.get(keyword));
        let said = format!("{what}: `{keyword}` is {}, was {}", shown(new), shown(old));
        self.losses.push(line(&said));
    }
}

fn listed(values: &[&Value]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    line(&texts.join(", "))
}
