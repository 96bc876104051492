//! Held back or behind: the sentence, the severity and the cure for each cause.

use crate::event::{Cause, Ecosystem, Newest};
use crate::finding::{Finding, Severity};
use crate::judge::fixtures::{judged, planned, row, session};
use crate::plan::{Entry, PackageSpec, Row};

fn cause(word: &str, detail: &str) -> Cause {
    Cause {
        cause: word.to_owned(),
        detail: Some(detail.to_owned()),
    }
}

fn findings(planned: Row, installed: Option<&str>, newest: Newest) -> Vec<Finding> {
    let mut record = row("row", vec![session(1, &["echo"])]);
    let package = &mut record.identity.package;
    package.ecosystem = Some(Ecosystem::Npm);
    package.name = Some("@sentry/mcp-server".to_owned());
    package.installed = installed.map(str::to_owned);
    package.newest = newest;
    judged(record, planned).findings
}

fn newest(held_back: impl Into<Option<Cause>>, behind: impl Into<Option<Cause>>) -> Newest {
    Newest {
        version: Some("0.39.0".to_owned()),
        requires: Some(">=22.13".to_owned()),
        held_back: held_back.into(),
        behind: behind.into(),
        ..Newest::default()
    }
}

#[track_caller]
fn check(newest: Newest, code: &str, severity: Severity, message: &str, hint: Option<&str>) {
    let found = findings(planned("row"), Some("0.36.0"), newest);
    let [finding] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((finding.code.name(), finding.severity), (code, severity));
    assert_eq!(finding.message, message);
    assert_eq!(finding.hint.as_deref(), hint);
    assert_eq!(finding.expected.as_deref(), Some("0.39.0"));
    assert_eq!(finding.actual.as_deref(), Some("0.36.0"));
}

#[test]
fn a_row_held_back_by_its_runtime_fails_in_one_sentence_with_its_cure() {
    check(
        newest(
            cause("engines", "needs Node >=22.13 and this row runs Node 20.20.2"),
            None,
        ),
        "held-back",
        Severity::Fail,
        "0.36.0 is installed where 0.39.0 is the newest: 0.39.0 needs Node >=22.13 and this row runs Node 20.20.2",
        Some("run it on a Node that fits >=22.13, or accept it with `mcp-smoke lock`"),
    );
}

#[test]
fn what_the_operator_set_himself_is_a_note() {
    for word in ["before", "min-release-age", "exclude-newer"] {
        let told = findings(
            planned("row"),
            Some("0.36.0"),
            newest(cause(word, "was published later"), None),
        );
        assert_eq!(
            (told[0].code.name(), told[0].severity),
            ("held-back", Severity::Note),
            "{word}"
        );
        assert!(told[0].hint.as_ref().unwrap().contains(word));
    }
}

#[test]
fn an_answer_of_an_earlier_night_is_dated() {
    let told = Newest {
        as_of: Some("2026-11-29".to_owned()),
        ..newest(None, None)
    };
    check(
        told,
        "behind-newest",
        Severity::Note,
        "0.36.0 is installed where 0.39.0 is the newest (as of 2026-11-29)",
        None,
    );
}

#[test]
fn each_cause_of_being_behind_has_its_cure() {
    for (word, cure) in [
        ("npx-cache", "`npx @sentry/mcp-server@latest` asks"),
        ("uvx-cache", "`uvx @sentry/mcp-server@latest` asks"),
        ("uv-tool", "`uv tool upgrade"),
        ("global-install", "`npm install --global"),
        ("parent-folder", "renew it there"),
    ] {
        let told = findings(
            planned("row"),
            Some("0.36.0"),
            newest(None, cause(word, "it lies there")),
        );
        assert_eq!(
            (told[0].code.name(), told[0].severity),
            ("behind-newest", Severity::Note)
        );
        assert!(
            told[0].message.ends_with("is the newest: it lies there"),
            "{}",
            told[0].message
        );
        assert!(told[0].hint.as_ref().unwrap().starts_with(cure), "{:?}", told[0].hint);
    }
}

#[test]
fn a_package_of_ours_that_is_merely_old_can_be_installed_anew() {
    let mut planned = planned("row");
    if let Entry::Run(launch) = &mut planned.entry {
        launch.packages.push(PackageSpec {
            ecosystem: Ecosystem::Npm,
            name: "@sentry/mcp-server".to_owned(),
            wanted: "*".to_owned(),
            spec: "@sentry/mcp-server".to_owned(),
        });
    }
    let told = findings(planned, Some("0.36.0"), newest(None, None));
    assert_eq!(told[0].hint.as_deref(), Some("`--install update` installs it anew"));
}

#[test]
fn a_row_can_be_held_back_and_behind_what_it_could_have() {
    let both = newest(
        cause("engines", "needs Node >=22.13 and this row runs Node 20.20.2"),
        cause("npx-cache", "npx has it in /there"),
    );
    let codes: Vec<_> = findings(planned("row"), Some("0.30.0"), both)
        .iter()
        .map(|finding| finding.code.name())
        .collect();
    assert_eq!(codes, ["held-back", "behind-newest"]);
}

#[test]
fn nothing_is_said_of_the_newest_itself_of_what_is_above_it_or_unknown() {
    let held = || newest(cause("engines", "needs more"), None);
    assert!(findings(planned("row"), Some("0.39.0"), held()).is_empty());
    assert!(findings(planned("row"), Some("0.40.0"), held()).is_empty());
    assert!(findings(planned("row"), None, held()).is_empty());
    assert!(findings(planned("row"), Some("0.36.0"), Newest::default()).is_empty());
}
