//! The order and the ranges, by example and by property.

use std::cmp::Ordering;

use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Requirement, compare};

#[track_caller]
fn check(left: &str, right: &str, expected: Option<Ordering>) {
    assert_eq!(compare(left, right), expected, "{left} against {right}");
    assert_eq!(
        compare(right, left),
        expected.map(Ordering::reverse),
        "{right} against {left}"
    );
}

#[test]
fn versions_of_every_kind_have_one_order() {
    let ascending = [
        ("1.9", "1.10"),
        ("1.9.0", "1.10.0"),
        ("2026.8.18", "2026.10.24"),
        ("2026.08.18", "2026.10.24"),
        ("1.0.0-rc.1", "1.0.0"),
        ("1.0.0-rc.2", "1.0.0-rc.10"),
        ("1.0.0-rc2", "1.0.0-rc10"),
        ("1.0.0-alpha", "1.0.0-alpha.1"),
        ("1.0.0-alpha.1", "1.0.0-beta"),
        ("1.0.0-1", "1.0.0"),
        ("1.0rc1", "1.0"),
        ("1.0.dev1", "1.0a1"),
        ("1.0a1", "1.0b1"),
        ("1.0b1", "1.0rc1"),
        ("1.0", "1.0.post1"),
        ("1.0.post1.dev1", "1.0.post1"),
        ("1.0a1.dev1", "1.0a1"),
        ("1.0+1", "1.0+2"),
        ("1.0+abc", "1.0+1"),
        ("2.0", "1!1.0"),
        ("1.2.3", "1.2.3.4"),
        ("1.2.3.4", "1.2.4"),
        ("v1.2.3", "1.2.4"),
        ("V9", "v10"),
        ("0.9", "1"),
    ];
    for (lower, higher) in ascending {
        check(lower, higher, Some(Ordering::Less));
    }
}

#[test]
fn one_version_may_be_written_in_several_ways() {
    for (left, right) in [
        ("v1.2.3", "1.2.3"),
        ("1.0", "1.0.0"),
        (" 1.2 ", "1.2"),
        ("1.0rc1", "1.0.0-rc.1"),
        ("1.0.0+a", "1.0.0+b"),
    ] {
        check(left, right, Some(Ordering::Equal));
    }
}

#[test]
fn what_has_no_order_is_only_equal_to_itself() {
    check("main", "main", Some(Ordering::Equal));
    check("main", "1.0.0", None);
    check("", "1.0.0", None);
    check("abcdef0", "1234567-dirty", None);
    check("99999999999999999999999", "1", None);
}

#[track_caller]
fn fits(range: &str, yes: &[&str], no: &[&str]) {
    let requirement = Requirement::parse(range).expect("a range");
    for version in yes {
        assert!(requirement.matches(version), "{version} should fit {range}");
    }
    for version in no {
        assert!(!requirement.matches(version), "{version} should not fit {range}");
    }
}

#[test]
fn ranges_of_either_kind_are_understood() {
    fits("*", &["1.0.0", "2.0.0-rc.1", "main", ""], &[]);
    fits(
        ">=2026",
        &["2026.8.18", "2026.8", "2027", "v2026.1.0"],
        &["2025.12.31", "main", ""],
    );
    fits(
        "^1.2",
        &["1.2.0", "1.9.9", "1.3", "v1.4.2", "1.2.3.4"],
        &["2.0.0", "1.1.9", "2.0", "1.3.0-rc.1"],
    );
    fits("1.2.3", &["1.2.3", "v1.2.3"], &["1.2.4", "1.2.3.4"]);
    fits("20", &["20.1.0", "20.20.2"], &["21.0.0", "19.9.9"]);
    fits("1.x || >=3", &["1.5.0", "3.0.0"], &["2.0.0"]);
    fits("1.0 - 2.0", &["1.5.0"], &["2.1.0"]);
    fits(">=1 <2", &["1.9.0"], &["2.0.0"]);
    fits("~=1.0", &["1.0", "1.9", "1.2.3"], &["2.0", "0.9"]);
    fits("==1.0.*", &["1", "1.0", "1.0.7", "1.0.7.1"], &["1.1.0", "2"]);
    fits(">=1.0,<2", &["1.0.0", "1.9.9"], &["2.0.0"]);
    fits("!=1.5", &["1.4.0"], &["1.5"]);
    fits(">=1.2.3.4", &["1.2.3.4", "1.2.4"], &["1.2.3", "1.2.3.3"]);
    fits(">=1.0", &["1.0.post1", "1.1rc1"], &["1.0rc1"]);
    fits("^1.0.0-rc.1", &["1.0.0-rc.2", "1.0.0rc2", "1.0.0"], &["1.1.0-rc.1"]);
}

#[test]
fn what_is_no_range_is_refused() {
    for text in [
        "not a range at all",
        "",
        "latest",
        ">=",
        "1.2.3.4.x",
        ">>1",
        "^",
        "1..2",
        "=>1",
    ] {
        let problem = Requirement::parse(text).expect_err(text);
        assert!(problem.contains("not a range"), "{problem}");
    }
    assert!(Requirement::npm("~=1.0").is_err());
    assert!(Requirement::npm("").is_err());
    assert!(Requirement::pep440("^1.0").is_err());
}

#[test]
fn a_bare_python_version_stands_for_all_its_patches() {
    let requirement = Requirement::pep440("3.12").expect("a range");
    assert!(requirement.matches("3.12.4"));
    assert!(!requirement.matches("3.13.0"));
    assert!(!requirement.matches("3"));
    assert!(Requirement::pep440(">=3.10").expect("a range").matches("3.14.0"));
}

fn version() -> impl Strategy<Value = String> {
    let release = proptest::collection::vec(0_u64..4, 1..5)
        .prop_map(|numbers| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("."));
    let end = prop_oneof![
        Just(""),
        Just("-rc.1"),
        Just("-1"),
        Just("rc1"),
        Just("a2"),
        Just(".dev1"),
        Just(".post2"),
        Just("-x.7.z"),
        Just("+1"),
        Just("-rc10"),
        Just("b1.dev3"),
        Just("+abc")
    ];
    (release, end).prop_map(|(release, end)| format!("{release}{end}"))
}

proptest! {
    #[test]
    fn the_order_is_an_order(a in version(), b in version(), c in version()) {
        prop_assert_eq!(compare(&a, &a), Some(Ordering::Equal));
        prop_assert_eq!(compare(&a, &b), compare(&b, &a).map(Ordering::reverse));
        if let (Some(left), Some(right), Some(outer)) = (compare(&a, &b), compare(&b, &c), compare(&a, &c)) {
            if left != Ordering::Greater && right != Ordering::Greater {
                prop_assert!(outer != Ordering::Greater, "{} {} {}", a, b, c);
            }
        }
    }

    #[test]
    fn plain_versions_agree_with_both_ecosystems(a in proptest::array::uniform3(0_u64..30), b in proptest::array::uniform3(0_u64..30)) {
        let text = |parts: [u64; 3]| format!("{}.{}.{}", parts[0], parts[1], parts[2]);
        prop_assert_eq!(compare(&text(a), &text(b)), Some(a.cmp(&b)));
        let at_least = Requirement::parse(&format!(">={}", text(b))).expect("a range");
        prop_assert_eq!(at_least.matches(&text(a)), a >= b);
    }

    #[test]
    fn python_versions_agree_with_pep_440(a in version(), b in version()) {
        // Strict semver goes its own way (`1.0.0-1` comes before `1.0.0`).
        let parsed = |text: &str| text.parse::<pep440_rs::Version>().ok().filter(|_| semver::Version::parse(text).is_err());
        if let (Some(left), Some(right)) = (parsed(&a), parsed(&b)) {
            prop_assert_eq!(compare(&a, &b), Some(left.cmp(&right)));
        }
    }

    #[test]
    fn no_text_makes_it_panic(a in ".*", b in ".*") {
        let _ = compare(&a, &b);
        for requirement in [Requirement::parse(&a), Requirement::npm(&a), Requirement::pep440(&a)].into_iter().flatten() {
            let _ = requirement.matches(&b);
        }
    }
}
