//! What the client costs as payloads grow: an echo of 1 KiB to 16 MiB by mcp-smoke's own session and by the
//! blocking floor, in turns in one run. Prints both and the ratios, a line per size.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

mod beside;

use std::time::Duration;

use beside::{Floor, Ours};
use mcp_smoke::stats;

/// Lines of the answers, in KiB. The last is the longest line that is read at all.
const SIZES_KIB: [usize; 8] = [1, 4, 16, 64, 256, 1024, 4096, 16 * 1024];
/// Room for what stands around the text in an answer.
const ENVELOPE: usize = 256;
const TURNS: u32 = 10;
/// So many KiB per turn and size, but no fewer than 2 and no more than 200 calls.
const KIB_PER_TURN: usize = 16 * 1024;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!("     size      n   floor median / p95 (ms)  session median / p95 (ms)  ratios");
    for size in SIZES_KIB {
        let (floor, ours) = runtime.block_on(in_turns(size));
        let millis = |value: Option<Duration>| value.unwrap_or_default().as_secs_f64() * 1000.0;
        let figures = |samples: &[Duration]| (millis(stats::median(samples)), millis(stats::p95(samples)));
        let ((floor_median, floor_p95), (median, p95)) = (figures(&floor), figures(&ours));
        println!(
            "{size:>5} KiB  {:>5}  {floor_median:>10.3} / {floor_p95:>10.3}  {median:>12.3} / {p95:>10.3}  {:.2}x median  {:.2}x p95",
            ours.len(),
            median / floor_median,
            p95 / floor_p95,
        );
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load {}", load.split(' ').next().unwrap_or("unknown"));
}

/// Both servers anew for each size, so that no size inherits the memory of a larger one.
async fn in_turns(size_kib: usize) -> (Vec<Duration>, Vec<Duration>) {
    let text = "x".repeat(size_kib * 1024 - ENVELOPE);
    let calls = u32::try_from((KIB_PER_TURN / size_kib).clamp(2, 200)).expect("small");
    let mut floor_server = Floor::start();
    let mut ours = Ours::start().await;
    ours.calls(2, &text).await;
    floor_server.calls(2, &text);
    let mut floor = Vec::new();
    for _ in 0..TURNS {
        ours.calls(calls, &text).await;
        floor.extend(floor_server.calls(calls, &text));
    }
    let (turns, _) = ours.finish().await;
    let ours: Vec<Duration> = turns.into_iter().skip(1).flatten().collect();
    assert_eq!(ours.len(), floor.len(), "every call of the session was a sample");
    (floor, ours)
}
