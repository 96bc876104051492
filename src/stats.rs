//! Quantiles as the reports state them: exact, from the sorted samples, each with a named rule.
//! Nothing is interpolated, smoothed or dropped here, and nothing knows what was measured.
//!
//! Crates were passed over on purpose: they use other quantile rules, or buckets.

use std::time::Duration;

/// Below this many samples the nearest-rank p95 is the maximum, so reports put a dagger on it:
/// `ceil(0.95 n) = n` for every n under 20.
pub const P95_NEEDS: usize = 20;

/// What scales the median absolute deviation to a standard deviation, and the score above which a
/// value is called an outlier: Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993),
/// also the NIST/SEMATECH e-Handbook, 1.3.5.17.
const MAD_TO_SIGMA: f64 = 0.6745;
const OUTLIER_SCORE: f64 = 3.5;

/// How much probability may lie on each side of a 95 % interval.
const TAIL: f64 = 0.025;

/// The middle value, or the midpoint of the two; `None` without samples.
pub fn median(samples: &[Duration]) -> Option<Duration> {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted[middle - 1];
    Some(lower + upper.abs_diff(lower) / 2)
}

/// The 95th percentile by nearest rank, `x[ceil(0.95 n)]` of the sorted samples: always a value
/// that was seen. Below [`P95_NEEDS`] samples it is the maximum.
pub fn p95(samples: &[Duration]) -> Option<Duration> {
    percentile(samples, 95)
}

/// The percentile by nearest rank, `x[ceil(percent/100 n)]` of the sorted samples. The percent is a
/// whole number from 1 to 100 (others are taken as the nearer end), so that no rank is lost to rounding.
pub fn percentile(samples: &[Duration], percent: u32) -> Option<Duration> {
    let sorted = sorted(samples);
    let rank = (percent.clamp(1, 100) as usize * sorted.len()).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// A 95 % interval of the median from exact order statistics: the narrowest pair of ranks
/// `(k, n + 1 - k)` that misses the median with at most 2.5 % on each side, whatever the
/// distribution is. `None` below six samples, where no pair of ranks will do.
pub fn median_interval(samples: &[Duration]) -> Option<(Duration, Duration)> {
    let rank = median_interval_rank(samples.len())?;
    let sorted = sorted(samples);
    Some((sorted[rank - 1], sorted[sorted.len() - rank]))
}

/// The places (in the order given) of the samples whose modified z-score,
/// `0.6745 |x - median| / MAD`, is above 3.5. Where more than half of the samples are equal there is
/// no scale to measure by, and none is an outlier.
pub fn outliers(samples: &[Duration]) -> Vec<usize> {
    let Some(center) = median(samples) else {
        return Vec::new();
    };
    let deviations: Vec<Duration> = samples.iter().map(|sample| sample.abs_diff(center)).collect();
    let Some(scale) = median(&deviations).filter(|scale| !scale.is_zero()) else {
        return Vec::new();
    };
    let is_outlier = |deviation: Duration| MAD_TO_SIGMA * deviation.div_duration_f64(scale) > OUTLIER_SCORE;
    (0..samples.len())
        .filter(|place| is_outlier(deviations[*place]))
        .collect()
}

/// The largest `k` with `P(B < k) <= 2.5 %`, where B is binomial with n trials of one half: how many
/// of n samples fall below the median. `None` if there is none.
fn median_interval_rank(count: usize) -> Option<usize> {
    // In logarithms: 0.5^n itself is zero in a float from n = 1075 on.
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for successes in 0..count.div_ceil(2) {
        below += log_term.exp();
        if below > TAIL {
            return (successes > 0).then_some(successes);
        }
        log_term += ((count - successes) as f64 / (successes + 1) as f64).ln();
    }
    None
}

fn sorted(samples: &[Duration]) -> Vec<Duration> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn ms(values: &[u64]) -> Vec<Duration> {
        values.iter().map(|value| Duration::from_millis(*value)).collect()
    }

    fn some_samples() -> impl Strategy<Value = Vec<Duration>> {
        proptest::collection::vec((0_u64..100_000).prop_map(Duration::from_micros), 1..120)
    }

    /// n over k.
    fn choose(n: usize, k: usize) -> u128 {
        (0..k as u128).fold(1, |product, step| product * (n as u128 - step) / (step + 1))
    }

    #[test]
    fn nothing_comes_of_no_samples() {
        assert_eq!(median(&[]), None);
        assert_eq!(p95(&[]), None);
        assert_eq!(percentile(&[], 100), None);
        assert_eq!(median_interval(&[]), None);
        assert!(outliers(&[]).is_empty());
    }

    #[test]
    fn the_median_is_the_middle_or_the_midpoint_of_the_two() {
        assert_eq!(median(&ms(&[3, 1, 2])), Some(Duration::from_millis(2)));
        assert_eq!(median(&ms(&[4, 1, 2, 3])), Some(Duration::from_micros(2500)));
    }

    #[test]
    fn p95_is_the_maximum_below_twenty_samples_and_the_19th_of_twenty() {
        let count = |count: u64| (1..=count).collect::<Vec<_>>();
        for few in 1..P95_NEEDS as u64 {
            assert_eq!(p95(&ms(&count(few))), Some(Duration::from_millis(few)));
        }
        assert_eq!(p95(&ms(&count(20))), Some(Duration::from_millis(19)));
        assert_eq!(p95(&ms(&count(30))), Some(Duration::from_millis(29)));
        assert_eq!(p95(&ms(&count(100))), Some(Duration::from_millis(95)));
    }

    #[test]
    fn the_interval_of_the_median_has_the_ranks_of_the_tables() {
        for (count, low, high) in [
            (6, 1, 6),
            (7, 1, 7),
            (9, 2, 8),
            (10, 2, 9),
            (20, 6, 15),
            (30, 10, 21),
            (50, 18, 33),
            (100, 40, 61),
        ] {
            let samples = ms(&(1..=count).collect::<Vec<_>>());
            let expected = (Duration::from_millis(low), Duration::from_millis(high));
            assert_eq!(median_interval(&samples), Some(expected), "n = {count}");
        }
        for few in 0..6 {
            assert_eq!(median_interval(&ms(&(0..few).collect::<Vec<_>>())), None, "n = {few}");
        }
    }

    #[test]
    fn the_interval_of_very_many_samples_does_not_underflow() {
        // The normal approximation: n/2 - 1.96 sqrt(n)/2 = 4902, plus or minus one.
        let rank = median_interval_rank(10_000).expect("there are enough samples");
        assert!((4901..=4903).contains(&rank), "{rank}");
    }

    #[test]
    fn an_outlier_is_flagged_by_its_place() {
        assert_eq!(outliers(&ms(&[10, 11, 90, 10, 12, 11, 9])), [2]);
        assert!(outliers(&ms(&[10, 11, 12, 10, 12, 11, 9])).is_empty());
    }

    #[test]
    fn without_a_scale_nothing_is_an_outlier() {
        assert!(outliers(&ms(&[5, 5, 5, 5, 500])).is_empty());
    }

    proptest! {
        #[test]
        fn the_order_of_the_samples_does_not_matter(samples in some_samples(), turn in 0_usize..120) {
            let mut turned = samples.clone();
            turned.reverse();
            let by = turn % turned.len();
            turned.rotate_left(by);
            prop_assert_eq!(median(&turned), median(&samples));
            prop_assert_eq!(p95(&turned), p95(&samples));
            prop_assert_eq!(median_interval(&turned), median_interval(&samples));
            prop_assert_eq!(outliers(&turned).len(), outliers(&samples).len());
        }

        #[test]
        fn a_percentile_is_a_value_that_was_seen(samples in some_samples(), percent in 0_u32..=101) {
            let value = percentile(&samples, percent).expect("there are samples");
            prop_assert!(samples.contains(&value));
            // Nearest rank: at least that share of the samples is not above it.
            let not_above = samples.iter().filter(|sample| **sample <= value).count();
            prop_assert!(not_above * 100 >= percent.min(100) as usize * samples.len());
        }

        #[test]
        fn quantiles_are_in_order_and_within_the_range(samples in some_samples()) {
            let least = *samples.iter().min().expect("there are samples");
            let most = *samples.iter().max().expect("there are samples");
            let middle = median(&samples).expect("there are samples");
            let high = p95(&samples).expect("there are samples");
            prop_assert!(least <= middle && middle <= high && high <= most);
            if let Some((low, high)) = median_interval(&samples) {
                prop_assert!(samples.contains(&low) && samples.contains(&high));
                prop_assert!(low <= middle && middle <= high);
            }
        }

        #[test]
        fn no_smaller_sample_has_the_share_of_a_percentile_below_it(samples in some_samples(), percent in 1_u32..=100) {
            let value = percentile(&samples, percent).expect("there are samples");
            let below = samples.iter().filter(|sample| **sample < value).count();
            prop_assert!(below * 100 < percent as usize * samples.len());
        }

        #[test]
        fn p95_is_the_maximum_exactly_where_the_dagger_stands(count in 1_usize..400) {
            let samples = ms(&(1..=count as u64).collect::<Vec<_>>());
            prop_assert_eq!(p95(&samples) == samples.last().copied(), count < P95_NEEDS);
        }

        #[test]
        fn no_more_than_half_of_the_samples_are_on_one_side_of_the_median(samples in some_samples()) {
            let middle = median(&samples).expect("there are samples");
            let below = samples.iter().filter(|sample| **sample < middle).count();
            let above = samples.iter().filter(|sample| **sample > middle).count();
            prop_assert!(below * 2 <= samples.len() && above * 2 <= samples.len());
        }

        #[test]
        fn the_interval_of_the_median_is_the_narrowest_that_holds_it(count in 1_usize..120) {
            // How many of all 2^n outcomes have fewer than `rank` samples below the median, exactly.
            let outcomes_below = |rank: usize| (0..rank).map(|below| choose(count, below)).sum::<u128>();
            let allowed = (1_u128 << count) / 40;
            match median_interval_rank(count) {
                Some(rank) => {
                    prop_assert!(outcomes_below(rank) <= allowed, "rank {} misses too often", rank);
                    prop_assert!(outcomes_below(rank + 1) > allowed, "rank {} is too wide", rank);
                }
                None => prop_assert!(outcomes_below(1) > allowed),
            }
        }

        #[test]
        fn the_unit_of_the_samples_does_not_matter(samples in some_samples(), factor in 1_u32..1000) {
            let scaled: Vec<Duration> = samples.iter().map(|sample| *sample * factor * 2).collect();
            let doubled: Vec<Duration> = samples.iter().map(|sample| *sample * 2).collect();
            prop_assert_eq!(median(&scaled), median(&doubled).map(|value| value * factor));
            prop_assert_eq!(p95(&scaled), p95(&doubled).map(|value| value * factor));
            prop_assert_eq!(outliers(&scaled), outliers(&doubled));
        }

        #[test]
        fn whatever_lies_further_out_than_an_outlier_is_one_too(samples in some_samples()) {
            let center = median(&samples).expect("there are samples");
            let flagged = outliers(&samples);
            let Some(nearest) = flagged.iter().map(|place| samples[*place].abs_diff(center)).min() else {
                return Ok(());
            };
            for (place, sample) in samples.iter().enumerate() {
                prop_assert_eq!(flagged.contains(&place), sample.abs_diff(center) >= nearest);
            }
        }

        #[test]
        fn fewer_than_half_of_the_samples_are_outliers(samples in some_samples()) {
            prop_assert!(outliers(&samples).len() * 2 < samples.len().max(1));
        }
    }
}
