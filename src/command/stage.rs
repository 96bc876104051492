//! `stage`: how rows would be started, for another client that is to be measured beside ours
//! (`benches/peers`). It starts no server.

use std::io;

use anyhow::Context;
use serde_json::{Map, Value, json};

use crate::cli::StageArgs;
use crate::client::session::FilledProbe;
use crate::console;
use crate::run::{self, Interruption, Staged, StagedRow};

use super::{USAGE, plan};

/// Prints a line of JSON per row and keeps the fixtures until stdin closes or we are interrupted.
/// The environment stands there unmasked: without it the server could not be started.
pub(super) fn stage(args: &StageArgs) -> anyhow::Result<u8> {
    let Some(plan) = plan::for_stage(args)? else {
        return Ok(USAGE);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the system gave no event queue")?;
    let kept = runtime.block_on(async {
        let interruption = Interruption::default();
        let work = async {
            let stage = run::stage(&plan, &interruption).await;
            let lines: Vec<String> = stage.rows.iter().map(|row| line(row).to_string()).collect();
            console::print_result(&lines.join("\n")).context("could not write to stdout")?;
            // It ends with stdin; the thread that reads it is left behind if we are interrupted.
            drop(tokio::task::spawn_blocking(|| io::copy(&mut io::stdin().lock(), &mut io::sink())).await);
            drop(stage);
            anyhow::Ok(())
        };
        tokio::select! {
            kept = work => kept,
            () = interruption.listen_once() => Ok(()),
        }
    });
    runtime.shutdown_background();
    kept.map(|()| 0)
}

fn line(row: &StagedRow) -> Value {
    match &row.outcome {
        Ok(staged) => ready(&row.id.0, staged),
        Err(reason) => json!({ "id": row.id.0, "skipped": reason }),
    }
}

fn ready(id: &str, staged: &Staged) -> Value {
    let command = &staged.command;
    let env: Map<String, Value> = command
        .env
        .iter()
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .collect();
    let probes: Vec<Value> = staged.probes.iter().map(|(name, probe)| call(name, probe)).collect();
    json!({
        "id": id,
        "command": command.program.to_string_lossy(),
        "args": command.args,
        "env": env,
        "cwd": command.cwd.to_string_lossy(),
        "probes": probes,
    })
}

fn call(name: &str, probe: &FilledProbe) -> Value {
    json!({
        "name": name,
        "tool": probe.tool,
        "arguments": probe.arguments,
        "calls": probe.calls,
        "warmup": probe.warmup,
        "timeout_ms": u64::try_from(probe.timeout.as_millis()).unwrap_or(u64::MAX),
        "expect": {
            "text": probe.expect.text,
            "not_text": probe.expect.not_text,
            "error": probe.expect.error,
        },
    })
}
