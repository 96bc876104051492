//! No secret is left in any event, however it was written; nothing else is changed.

use std::fmt::Write;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::samples::{event, every_kind, wire};
use super::{EventKind, Seen, mask_json_line, mask_text};
use crate::text::Mask;

fn mask(secrets: &[&str]) -> Mask {
    Mask::new(secrets.iter().map(|secret| (*secret).to_owned()))
}

/// The text as it stands inside a JSON string, so many layers deep.
fn in_json(text: &str, layers: u32) -> String {
    (0..layers).fold(text.to_owned(), |text, _| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    })
}

/// As Python's `json.dumps` and `ascii()` write it.
fn in_ascii(text: &str) -> String {
    let mut written = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            written += &in_json(&character.to_string(), 1);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(written, "\\u{unit:04x}").expect("a string takes everything");
            }
        }
    }
    written
}

/// Holds for the masked text and for what is read out of it.
fn shows(text: &str, secret: &str) -> bool {
    (0..4).any(|layers| text.contains(&in_json(secret, layers)))
        || text.contains(&format!("{secret:?}").trim_matches('"').to_owned())
}

#[test]
fn a_secret_is_masked_in_every_string_of_every_event() {
    let secret = "hunter2-§-hunter2";
    for mut event in every_kind(&format!("before {secret} after")) {
        let had_it = format!("{event:?}").contains(secret);
        event.mask(&mask(&[secret]));
        let shown = format!("{event:?}");
        assert!(!shown.contains(secret), "{shown}");
        assert_eq!(had_it, shown.contains("before *** after"), "{shown}");
    }
}

#[test]
fn an_event_without_a_secret_stays_as_it_is() {
    for mut event in every_kind(r#"a "quoted" line\nwith \u00e9 and é"#) {
        let before = format!("{event:?}");
        event.mask(&mask(&["another secret"]));
        assert_eq!(format!("{event:?}"), before);
    }
}

#[test]
fn the_row_of_an_event_keeps_its_name() {
    let mut one = event(EventKind::Doing("reading rowing".to_owned()));
    one.row.0 = "rowing".to_owned();
    one.mask(&mask(&["rowing"]));
    assert_eq!(
        (one.row.0.as_str(), format!("{:?}", one.kind)),
        ("rowing", r#"Doing("reading ***")"#.to_owned())
    );
}

#[test]
fn numbers_are_never_touched() {
    let mask = mask(&["1234567", "9876543"]);
    let line = r#"{"id":1234567, "result":{"size":1234567.5,"list":[9876543]}}"#;
    assert_eq!(mask_json_line(line, &mask), line);
    let mixed = r#"{"id":1234567,"text":"key 1234567","list":[9876543]}"#;
    assert_eq!(
        mask_json_line(mixed, &mask),
        r#"{"id":1234567,"text":"key ***","list":[9876543]}"#
    );
    let mut timeout = event(EventKind::Observed(super::Observation {
        phase: crate::finding::Phase::Call,
        probe: Some(1_234_567),
        what: Seen::RowTimeout {
            limit: Duration::from_secs(1_234_567),
        },
    }));
    let before = format!("{timeout:?}");
    timeout.mask(&mask);
    assert_eq!(format!("{timeout:?}"), before);
}

#[test]
fn a_line_is_written_anew_only_if_something_was_masked() {
    let mask = mask(&["tok\"en\n12"]);
    let spaced = r#"{ "b" : 1.0,   "a" : "\u00e9 C:\\new" }"#;
    assert_eq!(mask_json_line(spaced, &mask), spaced);
    let secret = r#"{ "b" : 1.0,   "a" : "tok\"en\n12" }"#;
    assert_eq!(mask_json_line(secret, &mask), r#"{"b":1.0,"a":"***"}"#);
}

#[test]
fn keys_and_json_inside_strings_are_masked() {
    let secret = r#"pa"ss\word"#;
    let inner = json!({ "key": secret }).to_string();
    let line = json!({ secret: 1, "content": [{ "text": inner }] }).to_string();
    let masked = mask_json_line(&line, &mask(&[secret])).into_owned();
    assert!(!shows(&masked, secret), "{masked}");
    assert!(serde_json::from_str::<Value>(&masked).is_ok(), "{masked}");
}

#[test]
fn a_secret_in_what_is_no_json_is_masked_as_text() {
    let mask = mask(&["secret\"12", "1234567"]);
    assert_eq!(mask_json_line(r#"{"cut": "secret\"12"#, &mask), r#"{"cut": "***"#);
    assert_eq!(mask_json_line("listening with 1234567", &mask), "listening with ***");
    assert_eq!(
        mask_json_line("1234567", &mask),
        "***",
        "a lone number is noise, not a message"
    );
}

#[test]
fn escapes_of_other_languages_are_seen_through() {
    let mask = mask(&["pässwörd_1|x"]);
    for line in [
        r"key=p\u00e4ssw\u00f6rd_1|x",
        r"key=p\xe4ssw\xf6rd_1|x",
        r"key=p\u{e4}ssw\u{f6}rd_1|x",
        r"key=pässwörd\_1\|x",
    ] {
        assert_eq!(mask_text(line, &mask), "key=***", "{line}");
    }
    let pair = Mask::new(["key-😀-key".to_owned()]);
    assert_eq!(mask_text(r"a key-\ud83d\ude00-key", &pair), "a ***");
}

#[test]
fn broken_escapes_are_no_trouble() {
    for line in [
        "\\",
        r"\u",
        r"\u12",
        r"\ud83d",
        r"\ud83d\u0041",
        r"\u{}",
        r"\u{ffffffffff}",
        r"\x",
        r"\U0",
    ] {
        assert_eq!(mask_text(line, &mask(&["secret"])), line);
    }
}

prop_compose! {
    /// Six characters and more, of the kinds that get escaped; the first two come in no word of ours.
    fn secrets()(tail in r#"[a-z0-9"\\\n\t/'é😀 §{}:,]{4,20}"#) -> String {
        format!("§§{tail}")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_secret_is_in_any_masked_event(
        secret in secrets(),
        before in r#"[a-z" ]{0,8}"#,
        after in r#"[a-z" ]{0,8}"#,
        layers in 0_u32..3,
    ) {
        let text = format!("{before}{}{after}", in_json(&secret, layers));
        for mut event in every_kind(&text) {
            event.mask(&mask(&[&secret]));
            let shown = format!("{event:?}");
            prop_assert!(!shows(&shown, &secret), "{shown}");
        }
    }

    #[test]
    fn no_secret_is_in_a_masked_text(secret in secrets(), before in any::<String>(), after in any::<String>()) {
        for written in [secret.clone(), in_json(&secret, 1), in_json(&secret, 2), in_ascii(&secret)] {
            let text = format!("{before} {written} {after}");
            let masked = mask_text(&text, &mask(&[&secret]));
            prop_assert!(!masked.contains(&written), "{masked}");
        }
    }

    #[test]
    fn a_masked_message_is_still_a_message(secret in secrets(), id in any::<i64>()) {
        let message = json!({ "id": id, "result": { "text": format!("<{secret}>") } }).to_string();
        let mut one = event(wire(message));
        one.mask(&mask(&[&secret]));
        let EventKind::Wire(line) = one.kind else { unreachable!("masking keeps the kind") };
        let value: Value = serde_json::from_str(&line.text).expect("it is JSON");
        prop_assert_eq!(value, json!({ "id": id, "result": { "text": "<***>" } }));
    }
}
