//! npm's choice, case by case: the packages are those of the loopback registry, the versions what the real npm
//! (11.19.1) installed of them on Node 20 and 24.

use std::collections::BTreeMap;

use super::super::offer::Until;
use super::{Conditions, Offer, Release, choice, engine_fits, newest};

const SPEC: &str = include_str!("../../../../tests/fixtures/registry/spec.json");
const NODE20: &str = "20.20.2";
const NODE24: &str = "24.22.3";

fn offer_of(package: &str) -> Offer {
    let spec: serde_json::Value = serde_json::from_str(SPEC).unwrap();
    let package = &spec["packages"][package];
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let versions = package["versions"].as_object().unwrap();
    Offer {
        tags: BTreeMap::from([("latest".to_owned(), text(&package["dist-tags"]["latest"]).unwrap())]),
        releases: versions
            .iter()
            .map(|(version, facts)| Release {
                version: version.clone(),
                requires: text(&facts["engines"]["node"]),
                deprecated: text(&facts["deprecated"]),
                ..Release::default()
            })
            .collect(),
    }
}

fn on(node: &str) -> Conditions {
    Conditions {
        runtime: Some(node.to_owned()),
        ..Conditions::default()
    }
}

#[track_caller]
fn check(package: &str, wanted: &str, node20: &str, node24: &str, newest_is: &str) {
    let offer = offer_of(package);
    let version = |release: Option<&Release>| release.map_or("-", |release| release.version.as_str()).to_owned();
    assert_eq!(
        version(choice(&offer, wanted, &on(NODE20))),
        node20,
        "{package}@{wanted} on Node 20"
    );
    assert_eq!(
        version(choice(&offer, wanted, &on(NODE24))),
        node24,
        "{package}@{wanted} on Node 24"
    );
    assert_eq!(
        version(newest(&offer, wanted)),
        newest_is,
        "newest of {package}@{wanted}"
    );
}

#[test]
fn a_bare_name_is_a_range_and_takes_the_best_that_fits() {
    check("fleet-demo-server", "*", "1.4.0", "2.0.0", "2.0.0");
    check("case-d-tag-older", "*", "1.4.0", "1.4.0", "1.4.0");
    check("case-e-deprecated", "*", "1.4.0", "2.0.0", "2.0.0");
    check("case-f-none-fits", "*", "2.0.0", "2.0.0", "2.0.0");
    check("case-g-above-latest", "*", "2.0.0", "1.4.0", "1.4.0");
    check("case-h-only-deprecated-fits", "*", "1.4.0", "2.0.0", "2.0.0");
    check("case-i-prerelease", "*", "1.4.0", "2.0.0", "2.0.0");
    check("case-j-no-engines", "*", "0.1.0", "2.0.0", "2.0.0");
    check("case-k-latest-deprecated", "*", "1.4.0", "1.4.0", "2.0.0");
}

#[test]
fn a_typed_tag_and_a_typed_version_are_taken_whatever_their_engines_say() {
    for wanted in ["latest", "2.0.0", "v2.0.0", "=2.0.0", "^2", "~2.0"] {
        check("fleet-demo-server", wanted, "2.0.0", "2.0.0", "2.0.0");
    }
    check(
        "case-i-prerelease",
        "1.9.0-beta.1",
        "1.9.0-beta.1",
        "1.9.0-beta.1",
        "1.9.0-beta.1",
    );
    check("fleet-demo-server", "no-such-tag", "-", "-", "-");
    check("fleet-demo-server", "3.0.0", "-", "-", "-");
    check("fleet-demo-server", "^3", "-", "-", "-");
}

#[test]
fn a_range_without_the_tag_has_the_highest_stable_release_as_its_newest() {
    check("fleet-demo-server", "1", "1.4.0", "1.4.0", "1.4.0");
    check("fleet-demo-server", ">=1", "1.4.0", "2.0.0", "2.0.0");
    check("case-d-tag-older", "^2", "2.0.0", "2.0.0", "2.0.0");
    check(
        "case-i-prerelease",
        ">=1.9.0-beta.1 <2",
        "1.9.0-beta.1",
        "1.9.0-beta.1",
        "-",
    );
    check("case-g-above-latest", "<1.4", "1.3.0", "1.3.0", "1.3.0");
}

#[test]
fn the_operators_end_of_time_takes_the_best_before_it_also_under_a_tag() {
    let mut offer = offer_of("case-d-tag-older");
    offer.tags.insert("latest".to_owned(), "2.0.0".to_owned());
    for (release, day) in offer.releases.iter_mut().zip(["2026-01-01", "2026-06-01"]) {
        release.published = Some(format!("{day}T00:00:00Z").parse().unwrap());
    }
    let until = |day: &str| Conditions {
        until: Some(Until {
            setting: "before",
            value: day.to_owned(),
            moment: format!("{day}T00:00:00Z").parse().unwrap(),
        }),
        ..on(NODE24)
    };
    let taken = |wanted: &str, day: &str| choice(&offer, wanted, &until(day)).map(|release| release.version.clone());
    assert_eq!(taken("*", "2026-03-01").as_deref(), Some("1.4.0"));
    assert_eq!(taken("latest", "2026-03-01").as_deref(), Some("1.4.0"));
    assert_eq!(taken("2.0.0", "2026-03-01"), None);
    assert_eq!(taken("*", "2026-07-01").as_deref(), Some("2.0.0"));
    assert_eq!(taken("*", "2025-01-01"), None);
}

#[test]
fn a_tag_that_names_a_pre_release_is_taken_for_a_bare_name() {
    let mut offer = offer_of("case-i-prerelease");
    offer.tags.insert("latest".to_owned(), "1.9.0-beta.1".to_owned());
    assert_eq!(choice(&offer, "*", &on(NODE20)).unwrap().version, "1.9.0-beta.1");
    assert_eq!(newest(&offer, "*").unwrap().version, "1.9.0-beta.1");
    assert_eq!(newest(&offer, ">=1").unwrap().version, "2.0.0");
}

#[test]
fn engines_that_nobody_can_read_prove_nothing() {
    assert!(engine_fits(Some(">=18"), Some("v20.1.0")));
    assert!(!engine_fits(Some(">=22"), Some("20.1.0")));
    assert!(engine_fits(Some(">=22"), None));
    assert!(engine_fits(None, Some("20.1.0")));
    assert!(engine_fits(Some(""), Some("20.1.0")));
    assert!(engine_fits(Some("whatever"), Some("20.1.0")));
    assert!(engine_fits(Some("^18.17.0 || >=20.5.0"), Some("20.20.2")));
    assert!(!engine_fits(Some("^18.17.0 || >=20.5.0"), Some("19.0.0")));
    // A nightly of Node 25 counts as Node 25.
    assert!(engine_fits(Some(">=24"), Some("25.0.0-nightly20260101")));
}

#[test]
fn an_npm_that_is_too_old_is_a_misfit_too() {
    let mut offer = offer_of("case-d-tag-older");
    offer.tags.insert("latest".to_owned(), "2.0.0".to_owned());
    for release in &mut offer.releases {
        release.requires_npm = (release.version == "2.0.0").then(|| ">=12".to_owned());
    }
    let conditions = Conditions {
        npm: Some("11.19.1".to_owned()),
        ..on(NODE24)
    };
    assert_eq!(choice(&offer, "*", &conditions).unwrap().version, "1.4.0");
}
