//! pip's choice, case by case.

use super::{Conditions, Offer, Release, choice, newest};

fn offer(releases: &[(&str, &str, bool)]) -> Offer {
    Offer {
        releases: releases
            .iter()
            .map(|(version, requires, yanked)| Release {
                version: (*version).to_owned(),
                requires: (!requires.is_empty()).then(|| (*requires).to_owned()),
                yanked: *yanked,
                ..Release::default()
            })
            .collect(),
        ..Offer::default()
    }
}

#[track_caller]
fn check(offer: &Offer, wanted: &str, python311: &str, newest_is: &str) {
    let version = |release: Option<&Release>| release.map_or("-", |release| release.version.as_str()).to_owned();
    let conditions = Conditions {
        runtime: Some("3.11.7".to_owned()),
        ..Conditions::default()
    };
    assert_eq!(
        version(choice(offer, wanted, &conditions)),
        python311,
        "{wanted:?} on Python 3.11"
    );
    assert_eq!(version(newest(offer, wanted)), newest_is, "newest of {wanted:?}");
}

#[test]
fn what_needs_a_newer_python_is_left_out_quietly() {
    let offer = offer(&[
        ("1.9", ">=3.8", false),
        ("1.10", ">=3.10", false),
        ("2.0", ">=3.12", false),
    ]);
    check(&offer, "*", "1.10", "2.0");
    check(&offer, "latest", "1.10", "2.0");
    check(&offer, "[extra]>=1", "1.10", "2.0");
    check(&offer, ">=1,<2", "1.10", "1.10");
    check(&offer, "==1.*", "1.10", "1.10");
    check(&offer, "1.9", "1.9", "1.9");
    check(&offer, ">=2", "-", "2.0");
    check(&offer, ">=3", "-", "-");
    check(&offer, "not a range", "-", "-");
    check(&offer, ">=1.9; python_version > '3'", "1.10", "2.0");
}

#[test]
fn a_yanked_release_is_taken_only_where_it_is_named() {
    let offer = offer(&[("1.0", "", false), ("1.1", "", true)]);
    check(&offer, "*", "1.0", "1.0");
    check(&offer, ">=1.1", "-", "-");
    check(&offer, "==1.1", "1.1", "1.1");
    check(&offer, "==1.*", "1.0", "1.0");
}

#[test]
fn a_pre_release_is_taken_only_where_it_is_named_or_there_is_nothing_else() {
    let both = offer(&[("1.0", "", false), ("2.0rc1", "", false), ("2.0.dev3", "", false)]);
    check(&both, "*", "1.0", "1.0");
    check(&both, ">=2.0rc1", "2.0rc1", "2.0rc1");
    let only = offer(&[("0.1a1", "", false), ("0.1a2", ">=3.12", false)]);
    check(&only, "*", "0.1a1", "0.1a2");
}

#[test]
fn epochs_and_post_releases_are_ordered_as_python_orders_them() {
    let offer = offer(&[
        ("2026.8.18", "", false),
        ("2026.10.24", "", false),
        ("2026.10.24.post1", "", false),
        ("no version", "", false),
    ]);
    check(&offer, "*", "2026.10.24.post1", "2026.10.24.post1");
    let offer = self::offer(&[("2026.1", "", false), ("1!1.0", "", false)]);
    check(&offer, "*", "1!1.0", "1!1.0");
}

#[test]
fn a_range_of_pythons_that_nobody_can_read_proves_nothing() {
    check(
        &offer(&[("1.0", "", false), ("2.0", "three or so", false)]),
        "*",
        "2.0",
        "2.0",
    );
}
