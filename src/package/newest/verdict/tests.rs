//! What is said of a row, cause by cause.

use crate::event::Ecosystem;

use super::super::offer::{Conditions, Offer, Release, Until};
use super::{Question, Verdict, verdict};

fn release(version: &str, requires: &str) -> Release {
    Release {
        version: version.to_owned(),
        requires: (!requires.is_empty()).then(|| requires.to_owned()),
        published: Some("2026-08-28T10:00:00Z".parse().unwrap()),
        ..Release::default()
    }
}

fn offer(latest: &str, releases: Vec<Release>) -> Offer {
    Offer {
        tags: [("latest".to_owned(), latest.to_owned())].into(),
        releases,
    }
}

fn ask(ecosystem: Ecosystem, offer: &Offer, installed: &str, runtime: &str) -> Verdict {
    ask_with(ecosystem, offer, installed, runtime, None)
}

fn ask_with(ecosystem: Ecosystem, offer: &Offer, installed: &str, runtime: &str, until: Option<Until>) -> Verdict {
    let conditions = Conditions {
        runtime: Some(runtime.to_owned()),
        npm: Some("11.19.1".to_owned()),
        until,
    };
    let question = Question {
        ecosystem,
        wanted: "*",
        installed: Some(installed),
        conditions,
    };
    verdict(offer, &question)
}

fn held(verdict: &Verdict) -> Option<(&str, &str)> {
    let cause = verdict.newest.held_back.as_ref()?;
    Some((cause.cause.as_str(), cause.detail.as_deref().unwrap_or_default()))
}

#[test]
fn engines_hold_back_with_the_range_and_the_node_that_runs() {
    let offer = offer("0.39.0", vec![release("0.36.0", ">=20"), release("0.39.0", ">=22.13")]);
    let told = ask(Ecosystem::Npm, &offer, "0.36.0", "20.20.2");
    assert_eq!(
        held(&told),
        Some(("engines", "needs Node >=22.13 and this row runs Node 20.20.2"))
    );
    assert_eq!(told.newest.version.as_deref(), Some("0.39.0"));
    assert_eq!(told.newest.requires.as_deref(), Some(">=22.13"));
    assert!(!told.is_behind);
    let free = ask(Ecosystem::Npm, &offer, "0.36.0", "24.1.0");
    assert_eq!((held(&free), free.is_behind), (None, true));
    let there = ask(Ecosystem::Npm, &offer, "0.39.0", "20.20.2");
    assert_eq!((held(&there), there.is_behind), (None, false));
}

#[test]
fn what_is_installed_above_the_newest_is_never_held_back() {
    let offer = offer("1.4.0", vec![release("1.4.0", ">=22"), release("2.0.0", ">=18")]);
    let told = ask(Ecosystem::Npm, &offer, "2.0.0", "20.20.2");
    assert_eq!((held(&told), told.is_behind), (None, false));
    // And where a fresh installation would go past the newest, nothing holds the row back.
    let told = ask(Ecosystem::Npm, &offer, "1.3.0", "20.20.2");
    assert_eq!((held(&told), told.is_behind), (None, true));
}

#[test]
fn a_deprecated_newest_is_a_cause_of_its_own() {
    let mut bad = release("2.0.0", ">=18");
    bad.deprecated = Some("bad release".to_owned());
    let offer = offer("2.0.0", vec![release("1.4.0", ">=18"), bad]);
    let told = ask(Ecosystem::Npm, &offer, "1.4.0", "20.20.2");
    assert_eq!(held(&told), Some(("deprecated", "is deprecated (bad release)")));
    assert_eq!(told.newest.deprecated.as_deref(), Some("bad release"));
}

#[test]
fn an_npm_that_is_too_old_is_named() {
    let mut needy = release("2.0.0", "");
    needy.requires_npm = Some(">=12".to_owned());
    let offer = offer("2.0.0", vec![release("1.4.0", ""), needy]);
    let told = ask(Ecosystem::Npm, &offer, "1.4.0", "24.1.0");
    assert_eq!(
        held(&told),
        Some(("engines", "needs npm >=12 and this row has npm 11.19.1"))
    );
}

#[test]
fn the_operators_own_setting_is_named_with_its_value_and_engines_go_before_it() {
    let mut old = release("1.4.0", "");
    old.published = Some("2026-01-01T00:00:00Z".parse().unwrap());
    let until = |setting| {
        Some(Until {
            setting,
            value: "2026-03-01".to_owned(),
            moment: "2026-03-01T00:00:00Z".parse().unwrap(),
        })
    };
    let free = offer("2.0.0", vec![old.clone(), release("2.0.0", "")]);
    let told = ask_with(Ecosystem::Npm, &free, "1.4.0", "24.1.0", until("before"));
    assert_eq!(
        held(&told),
        Some(("before", "was published on 2026-08-28 and your `before` is 2026-03-01"))
    );
    let told = ask_with(Ecosystem::Pypi, &free, "1.4.0", "3.11.7", until("exclude-newer"));
    assert_eq!(held(&told).map(|(cause, _)| cause), Some("exclude-newer"));
    let tied = offer("2.0.0", vec![old, release("2.0.0", ">=26")]);
    let told = ask_with(Ecosystem::Npm, &tied, "1.4.0", "24.1.0", until("before"));
    assert_eq!(held(&told).map(|(cause, _)| cause), Some("engines"));
}

#[test]
fn a_newer_python_holds_back_in_the_same_words() {
    let offer = offer("", vec![release("1.0", ">=3.8"), release("2.0", ">=3.13")]);
    let told = ask(Ecosystem::Pypi, &offer, "1.0", "3.11.7");
    assert_eq!(
        held(&told),
        Some(("requires-python", "needs Python >=3.13 and this row runs Python 3.11.7"))
    );
    let told = ask(Ecosystem::Pypi, &offer, "0.9", "3.11.7");
    assert!(held(&told).is_some() && told.is_behind);
}

#[test]
fn an_offer_of_nothing_that_was_wanted_says_nothing() {
    assert_eq!(
        ask(Ecosystem::Npm, &Offer::default(), "1.0.0", "20.1.0"),
        Verdict::default()
    );
}
