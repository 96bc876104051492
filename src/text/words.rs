//! Numbers as words: counts with their nouns, durations in sentences, milliseconds in table cells.

use std::time::Duration;

/// The noun with an `s` (or `es`, `ies`) unless there is one of it.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        return noun.to_owned();
    }
    let before_y = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// `1 row`, `21 rows`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// A duration in a sentence: `250 ms`, `1.5 s`, `60 s`, `10 min`. Rounded to what a reader can use:
/// hundredths below 10 ms and 10 s, tenths of longer seconds; whole minutes from two on are minutes.
pub fn duration_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds >= 120 && seconds.is_multiple_of(60) && duration.subsec_nanos() == 0 {
        return format!("{} min", seconds / 60);
    }
    let milliseconds = duration.as_secs_f64() * 1000.0;
    match milliseconds {
        short if short < 9.995 => format!("{} ms", trimmed(short, 2)),
        medium if medium < 999.5 => format!("{medium:.0} ms"),
        long if long < 9995.0 => format!("{} s", trimmed(long / 1000.0, 2)),
        longer => format!("{} s", trimmed(longer / 1000.0, 1)),
    }
}

/// A duration in a table cell whose header says `ms`, always by one rule: whole from 100 on, one
/// decimal from 10 on, two below: `279`, `10.3`, `6.21`, `0.42`. Ten microseconds are about what a
/// round trip over a pipe costs; more digits would be noise.
pub fn milliseconds(duration: Duration) -> String {
    // One rounding only, so that a reader of the record who formats its number gets the same cell.
    let milliseconds = duration.as_nanos() as f64 / 1_000_000.0;
    // The bounds are where rounding would reach the next form.
    match milliseconds {
        small if small < 9.995 => format!("{small:.2}"),
        medium if medium < 99.95 => format!("{medium:.1}"),
        large => format!("{large:.0}"),
    }
}

/// A number with at most that many decimals, without zeros at its end.
fn trimmed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn one_is_singular_and_the_rest_plural() {
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0, "row"), "0 rows");
        assert_eq!(counted(2, "process"), "2 processes");
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "day"), "2 days");
    }

    #[test]
    fn durations_in_sentences_are_short() {
        let check = |micros: u64, words: &str| assert_eq!(duration_words(Duration::from_micros(micros)), words);
        check(0, "0 ms");
        check(50, "0.05 ms");
        check(9_999, "10 ms");
        check(250_000, "250 ms");
        check(999_700, "1 s");
        check(1_500_000, "1.5 s");
        check(60_000_000, "60 s");
        check(70_640_000, "70.6 s");
        check(90_000_000, "90 s");
        check(600_000_000, "10 min");
    }

    #[test]
    fn cells_follow_one_rule() {
        let check = |micros: u64, cell: &str| assert_eq!(milliseconds(Duration::from_micros(micros)), cell);
        check(279_400, "279");
        check(1_201_300, "1201");
        check(99_960, "100");
        check(10_310, "10.3");
        check(9_996, "10.0");
        check(6_214, "6.21");
        check(800, "0.80");
        check(420, "0.42");
        check(0, "0.00");
    }

    proptest! {
        #[test]
        fn a_cell_is_within_its_rounding(micros in 0_u64..10_000_000) {
            let cell = milliseconds(Duration::from_micros(micros));
            let shown: f64 = cell.parse().expect("a cell is a number");
            let exact = micros as f64 / 1000.0;
            prop_assert!((shown - exact).abs() <= (exact * 0.0051).max(0.005_001), "{} for {}", cell, exact);
        }
    }
}
