//! How often `latency-regression` is wrong: nights simulated over known distributions, with the rule that
//! `judge` uses. Prints the rates of false alarms and of shifts that were missed; the figures in
//! `docs/measuring.md` are this output. Seeds are fixed, so that it prints the same everywhere.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::time::Duration;

use fastrand::Rng;
use mcp_smoke::judge::latency::slower;

/// What the timed call usually takes at the median.
const USUAL: Duration = Duration::from_micros(920);
/// Nights without a shift, per cell.
const QUIET_NIGHTS: usize = 100_000;
/// Shifts, per cell.
const SHIFTS: usize = 10_000;
/// As a run sees it: at most so many earlier nights.
const MOST_NIGHTS: usize = 60;

/// How the medians of one server scatter from night to night.
#[derive(Clone, Copy)]
enum Distribution {
    Normal,
    /// Skewed to the right, as times are.
    LogNormal,
    /// Normal, and one night in twenty on a busy host that makes everything 1.3 times as slow.
    BusyNights,
}

fn main() {
    println!(
        "| distribution | scatter | false, of {QUIET_NIGHTS} nights | 1.2 times, told on its first night | 2 times, missed on its first night (10 nights before) | 2 times, missed (30 nights before) | 2 times, missed on both of its first two (30 before) |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, distribution) in [
        ("normal", Distribution::Normal),
        ("log-normal", Distribution::LogNormal),
        ("normal with busy nights", Distribution::BusyNights),
    ] {
        for scatter in [0.02, 0.05, 0.10, 0.15] {
            let quiet = false_alarms(distribution, scatter);
            let fifth = SHIFTS - missed(distribution, scatter, 1.2, 30, 1);
            println!(
                "| {name} | {:.0} % | {quiet} | {} | {} | {} | {} |",
                scatter * 100.0,
                percent(fifth),
                percent(missed(distribution, scatter, 2.0, 10, 1)),
                percent(missed(distribution, scatter, 2.0, 30, 1)),
                percent(missed(distribution, scatter, 2.0, 30, 2)),
            );
        }
    }
}

fn percent(of_shifts: usize) -> String {
    format!("{:.2} %", of_shifts as f64 / SHIFTS as f64 * 100.0)
}

/// Alarms in a long row of nights on which nothing happened.
fn false_alarms(distribution: Distribution, scatter: f64) -> usize {
    let mut rng = Rng::with_seed(1);
    let mut past: Vec<Duration> = Vec::new();
    let mut alarms = 0;
    for _ in 0..QUIET_NIGHTS {
        let tonight = night(&mut rng, distribution, scatter, 1.0);
        alarms += usize::from(slower(tonight, recent(&past)).is_some());
        past.push(tonight);
    }
    alarms
}

/// How many of the shifts were told on none of their first nights.
fn missed(distribution: Distribution, scatter: f64, shift: f64, before: usize, nights: usize) -> usize {
    let mut rng = Rng::with_seed(2);
    let mut missed = 0;
    for _ in 0..SHIFTS {
        let mut past: Vec<Duration> = (0..before)
            .map(|_| night(&mut rng, distribution, scatter, 1.0))
            .collect();
        let told = (0..nights).any(|_| {
            let tonight = night(&mut rng, distribution, scatter, shift);
            let told = slower(tonight, recent(&past)).is_some();
            past.push(tonight);
            told
        });
        missed += usize::from(!told);
    }
    missed
}

fn recent(past: &[Duration]) -> &[Duration] {
    &past[past.len().saturating_sub(MOST_NIGHTS)..]
}

fn night(rng: &mut Rng, distribution: Distribution, scatter: f64, shift: f64) -> Duration {
    let normal = standard_normal(rng);
    let factor = match distribution {
        Distribution::Normal => 1.0 + scatter * normal,
        Distribution::LogNormal => (scatter * normal).exp(),
        Distribution::BusyNights => {
            let busy = if rng.f64() < 0.05 { 1.3 } else { 1.0 };
            busy * (1.0 + scatter * normal)
        }
    };
    USUAL.mul_f64((shift * factor).max(0.01))
}

/// Box and Muller.
fn standard_normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = (1.0 - rng.f64(), rng.f64());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
