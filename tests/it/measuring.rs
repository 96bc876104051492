//! The worked example and the table of `docs/measuring.md`, computed anew: by `stats` where it is our
//! rule, by the definitions of Hyndman and Fan (1996) where it is another one.

use std::time::Duration;

use mcp_smoke::stats;

const PAGE: &str = include_str!("../../docs/measuring.md");

/// The cells of the rows of the table with this heading, without its two first lines.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let at = PAGE.find(heading).unwrap_or_else(|| panic!("no table {heading}"));
    let rows = PAGE[at..].lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The numbers of the first block of the page: the samples of the example, in milliseconds.
fn samples() -> Vec<f64> {
    let block = PAGE.split("```").nth(1).expect("the samples stand in a block");
    block.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// The value at a place between two ranks, by linear interpolation.
fn at(sorted: &[f64], place: f64) -> f64 {
    let place = place.clamp(1.0, sorted.len() as f64);
    let rank = (1..=sorted.len()).rev().find(|rank| *rank as f64 <= place).unwrap();
    let below = sorted[rank - 1];
    let above = sorted[rank.min(sorted.len() - 1)];
    below + (above - below) * place.fract()
}

#[test]
fn the_example_of_the_other_rules_is_computed_from_its_samples() {
    let mut sorted = samples();
    assert_eq!(sorted.len(), 30);
    sorted.sort_by(f64::total_cmp);
    let durations: Vec<Duration> = sorted.iter().map(|ms| Duration::from_secs_f64(ms / 1000.0)).collect();
    let n = sorted.len() as f64;
    let expected = [
        ("nearest rank", (0.95 * n).ceil()),
        ("rank rounded down", (0.95 * n).floor()),
        ("R-6", (n + 1.0) * 0.95),
        ("R-7", (n - 1.0) * 0.95 + 1.0),
        ("R-8", (n + 1.0 / 3.0) * 0.95 + 1.0 / 3.0),
    ];
    let rows = table("| rule | used by | place | p95 (ms) |");
    assert_eq!(rows.len(), expected.len());
    for (row, (rule, place)) in rows.iter().zip(expected) {
        assert!(row[0].starts_with(rule), "{row:?}");
        let told = row[2].rsplit(' ').next().unwrap();
        assert_eq!(told, format!("{}", (place * 100.0).round() / 100.0), "{rule}");
        assert_eq!(row[3], format!("{:.4}", at(&sorted, place)), "{rule}");
    }
    let ours = stats::p95(&durations).unwrap();
    assert_eq!(rows[0][3], format!("{:.4}", ours.as_secs_f64() * 1000.0));
}

#[test]
fn the_table_of_what_an_n_can_carry_is_computed() {
    let rows = table("| n | p95 is |");
    assert!(rows.len() > 5);
    for row in rows {
        let n: usize = row[0].parse().unwrap();
        let ranks: Vec<Duration> = (1..=n as u64).map(Duration::from_millis).collect();
        let rank = |duration: Duration| duration.as_millis() as usize;
        let p95 = rank(stats::p95(&ranks).unwrap());
        let maximum = if p95 == n { ", the maximum" } else { "" };
        assert_eq!(row[1], format!("value {p95}{maximum}"));
        assert_eq!(row[2], format!("{:.1} %", 0.95_f64.powf(n as f64) * 100.0), "n = {n}");
        let Some((low, high)) = stats::median_interval(&ranks) else {
            assert_eq!((row[3], row[4]), ("none", "none"), "n = {n}");
            continue;
        };
        assert_eq!(row[3], format!("{} and {}", rank(low), rank(high)));
        // The chance that at least `low` and at most `n - low` of n fair coins show heads.
        let mut term = 0.5_f64.powf(n as f64);
        let mut outside = 0.0;
        for heads in 0..rank(low) {
            outside += term;
            term *= (n - heads) as f64 / (heads + 1) as f64;
        }
        assert_eq!(row[4], format!("{:.1} %", (1.0 - 2.0 * outside) * 100.0), "n = {n}");
    }
}
