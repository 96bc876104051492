//! The calibration of a run: the embedded echo server, measured by the same code as every row.
//! What comes out is the client's own share of each figure.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use crate::client::process::{self, Command};
use crate::client::session::{FilledExpectation, FilledProbe, Session, SessionSpec, Stop};
use crate::event::{RowId, SessionKind, Sink};
use crate::plan::{Limits, Protocol};

use super::Interruption;

/// Calls that count.
pub const CALIBRATION_CALLS: u32 = 1000;
const WARM_UP_CALLS: u32 = 100;
const LIMIT: Duration = Duration::from_secs(10);

/// Measures the embedded echo server on a thread and a runtime like a row's: its samples. Null if it cannot be
/// started or the run is interrupted: a run without calibration is still a run.
pub async fn calibrate(interruption: &Interruption) -> Option<Vec<Duration>> {
    let Interruption { wind_down, kill } = interruption.clone();
    let measured = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        runtime.block_on(measure(Stop::new(wind_down, kill, Some(Instant::now() + LIMIT))))
    });
    measured.await.ok().flatten()
}

async fn measure(stop: Stop) -> Option<Vec<Duration>> {
    let command = Command {
        program: std::env::current_exe().ok()?,
        args: vec!["echo-server".into()],
        env: process::minimal_environment(),
        cwd: std::env::current_dir().ok()?,
        owner: None,
    };
    let limits = Limits {
        startup: LIMIT,
        list: LIMIT,
        shutdown_grace: Duration::from_secs(1),
        row: LIMIT,
    };
    let spec = SessionSpec {
        number: 1,
        kind: SessionKind::Repeat(1),
        attempt: 1,
        command,
        protocol: Protocol::Initialize,
        limits,
    };
    // Nobody listens: the calibration has no log of its own.
    let (sender, _) = unbounded_channel();
    let mut session = Session::open(spec, Sink::new(RowId("calibration".into()), sender), stop).await;
    session.list_tools().await;
    session.probe(&probe()).await;
    let facts = session.close().await;
    facts.probes.into_iter().next().map(|probe| probe.samples)
}

fn probe() -> FilledProbe {
    FilledProbe {
        index: 0,
        tool: "echo".into(),
        arguments: json!({ "text": "calibration" }),
        calls: CALIBRATION_CALLS,
        warmup: WARM_UP_CALLS,
        timeout: LIMIT,
        expect: FilledExpectation {
            text: Some("calibration".into()),
            ..FilledExpectation::default()
        },
        concurrency: 1,
    }
}
