//! What the client costs: 10,000 calls each against the same embedded echo server, in one run, in
//! turns of 100 with the same request bytes: a blocking ping-pong over two pipes without any runtime (the
//! floor), and mcp-smoke's own session with the wire log on. Prints the ratios of medians and p95s.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

mod beside;

use std::time::Duration;

use beside::{Floor, Ours};
use mcp_smoke::stats;

/// Short turns, so that a busy moment of the machine hits both; the first call of a turn, which finds cold
/// caches, is one in a hundred and cannot reach a p95.
const TURNS: u32 = 100;
const CALLS_PER_TURN: u32 = 100;
const TEXT: &str = "calibration";

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (floor, ours, lines) = runtime.block_on(in_turns());
    let (floor_median, floor_p95) = figures("floor", &floor);
    let (our_median, our_p95) = figures("session", &ours);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "wire log   {lines} lines, load {}",
        load.split(' ').next().unwrap_or("unknown")
    );
    println!(
        "mcp-smoke  {:.2}x median  {:.2}x p95",
        our_median / floor_median,
        our_p95 / floor_p95
    );
}

/// Both servers live side by side and are asked in turns.
async fn in_turns() -> (Vec<Duration>, Vec<Duration>, usize) {
    let mut floor_server = Floor::start();
    let mut ours = Ours::start().await;
    ours.calls(CALLS_PER_TURN, TEXT).await;
    floor_server.calls(CALLS_PER_TURN, TEXT);
    let mut floor = Vec::new();
    for _ in 0..TURNS {
        ours.calls(CALLS_PER_TURN, TEXT).await;
        floor.extend(floor_server.calls(CALLS_PER_TURN, TEXT));
    }
    let (turns, lines) = ours.finish().await;
    let ours: Vec<Duration> = turns.into_iter().skip(1).flatten().collect();
    assert_eq!(ours.len(), floor.len(), "every call of the session was a sample");
    (floor, ours, lines)
}

fn figures(name: &str, samples: &[Duration]) -> (f64, f64) {
    let micros = |value: Option<Duration>| value.unwrap_or_default().as_nanos() as f64 / 1000.0;
    let (median, p95) = (micros(stats::median(samples)), micros(stats::p95(samples)));
    println!(
        "{name:<10} n = {}  median {median:.1} us  p95 {p95:.1} us",
        samples.len()
    );
    (median, p95)
}
