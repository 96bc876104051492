//! Durations as people write them: `500ms`, `60s`, `2m`, `1.5s`, `1h`.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// Longer than any run that is meant.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What would be right, for messages.
pub(super) const WANTED: &str = "a number and a unit, such as \"500ms\", \"60s\", \"2m\" or \"1h\"";

/// The duration that was written.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "" if !number.is_empty() => return Err(format!("a duration needs a unit; write {WANTED}")),
        _ => return Err(format!("write {WANTED}")),
    };
    let plain = !number.is_empty()
        && number.starts_with(|letter: char| letter.is_ascii_digit())
        && number.ends_with(|letter: char| letter.is_ascii_digit())
        && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let Some(number) = number.parse::<f64>().ok().filter(|_| plain) else {
        return Err(format!("write {WANTED}"));
    };
    match Duration::try_from_secs_f64(number * seconds_per_unit) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        Ok(_) | Err(_) => Err("the longest is a week, \"168h\"".to_owned()),
    }
}

/// For serde: a duration that may be left out.
pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse(&text).map_err(serde::de::Error::custom))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("60s", 60_000),
            ("2m", 120_000),
            ("1.5s", 1_500),
            ("1h", 3_600_000),
            ("0s", 0),
            ("10m", 600_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "soon",
            "",
            "s",
            "60",
            "-1s",
            "1 s",
            "1s ",
            ".5s",
            "5.s",
            "1d",
            "1e3s",
            "99999999999h",
            "1.2.3s",
            "2m30s",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
