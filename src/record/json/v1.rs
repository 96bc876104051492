//! Format 1, key by key in the order in which it is written. A released format only ever gains keys.
//! Lengths of time are milliseconds in keys ending `_ms`; what is unknown or was not reached is null,
//! and an object stays an object with null in its leaves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::finding::{Phase, Severity};

/// The one key that every format has.
#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) format: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) format: u32,
    pub(super) tool: Tool,
    pub(super) run: RunInfo,
    #[serde(default)]
    pub(super) host: Host,
    #[serde(default)]
    pub(super) calibration: Calibration,
    pub(super) totals: Totals,
    pub(super) exit_code: u8,
    pub(super) rows: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) version: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct RunInfo {
    pub(super) id: String,
    pub(super) started: String,
    pub(super) finished: String,
    pub(super) manifest: Manifest,
    pub(super) jobs: usize,
    pub(super) seed: u64,
    pub(super) partition: Option<String>,
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Value>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) path: String,
    #[serde(default)]
    pub(super) file: Option<String>,
    pub(super) sha256: String,
    #[serde(default)]
    pub(super) gone_rows: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Host {
    pub(super) id: Option<String>,
    pub(super) os: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) cpu: Option<String>,
    pub(super) logical_cpus: Option<usize>,
    pub(super) memory_bytes: Option<u64>,
    pub(super) virtualization: Option<String>,
    pub(super) load_average: Option<[f64; 3]>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Calibration {
    pub(super) samples: Option<usize>,
    pub(super) median_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) rows: usize,
    pub(super) pass: usize,
    pub(super) warn: usize,
    pub(super) fail: usize,
    pub(super) skip: usize,
    pub(super) error: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) server: String,
    pub(super) title: String,
    pub(super) runtime: Option<String>,
    pub(super) group: Option<String>,
    #[serde(default)]
    pub(super) command: Option<String>,
    pub(super) status: String,
    pub(super) skip_reason: Option<String>,
    #[serde(default)]
    pub(super) identity: Identity,
    pub(super) install_ms: Option<f64>,
    pub(super) first_start_ms: Option<f64>,
    #[serde(default)]
    pub(super) sessions: Vec<Session>,
    #[serde(default)]
    pub(super) tools: Tools,
    #[serde(default)]
    pub(super) probes: Vec<Probe>,
    #[serde(default)]
    pub(super) resources: Resources,
    pub(super) load_average_1m: Option<f64>,
    pub(super) cpu_pressure_avg10: Option<f64>,
    #[serde(default)]
    pub(super) findings: Vec<Finding>,
    pub(super) log: Option<String>,
    /// Not in records of the first builds, which made one call at a time.
    #[serde(default)]
    pub(super) concurrency: Option<u32>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Identity {
    pub(super) reported: Reported,
    pub(super) package: Package,
    pub(super) runtime: Runtime,
    pub(super) launcher: Option<String>,
    pub(super) protocol: Protocol,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Reported {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) version: Option<String>,
}

/// The keys from `newest` to `behind` belong to the format; a build that does not look for newer
/// versions leaves them null.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Package {
    pub(super) ecosystem: Option<String>,
    pub(super) name: Option<String>,
    pub(super) wanted: Option<String>,
    pub(super) installed: Option<String>,
    pub(super) newest: Option<String>,
    pub(super) newest_as_of: Option<String>,
    pub(super) newest_requires: Option<String>,
    pub(super) newest_deprecated: Option<String>,
    pub(super) held_back: Cause,
    pub(super) behind: Cause,
    pub(super) newest_unknown: Option<String>,
    pub(super) source: Option<String>,
    pub(super) path: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Cause {
    pub(super) cause: Option<String>,
    pub(super) detail: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Runtime {
    pub(super) kind: Option<String>,
    pub(super) version: Option<String>,
    pub(super) executable: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Protocol {
    pub(super) era: Option<String>,
    pub(super) pinned: Option<String>,
    pub(super) requested: Option<String>,
    pub(super) negotiated: Option<String>,
}

/// `repeat` null: handshake and list only.
#[derive(Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) repeat: Option<u32>,
    pub(super) attempt: u32,
    pub(super) first_byte_ms: Option<f64>,
    pub(super) cold_start_ms: Option<f64>,
    pub(super) list_ms: Option<f64>,
    pub(super) shutdown_ms: Option<f64>,
    #[serde(default)]
    pub(super) total_ms: Option<f64>,
    pub(super) shutdown: Option<String>,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    #[serde(default)]
    pub(super) left_over: Vec<String>,
    #[serde(default)]
    pub(super) probes: Vec<SessionProbe>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SessionProbe {
    pub(super) name: String,
    pub(super) first_ms: Option<f64>,
    #[serde(default)]
    pub(super) samples_ms: Vec<f64>,
    pub(super) median_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Tools {
    pub(super) count: Option<usize>,
    pub(super) names: Option<Vec<String>>,
    pub(super) list: Option<Vec<ListedTool>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ListedTool {
    pub(super) name: String,
    pub(super) description_sha256: Option<String>,
    pub(super) input_schema: Option<Value>,
    pub(super) output_schema: Option<Value>,
    pub(super) annotations: Option<Value>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Probe {
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) outcome: Option<String>,
    #[serde(default)]
    pub(super) planned_calls: Option<u32>,
    #[serde(default)]
    pub(super) warmup: Option<u32>,
    pub(super) calls: u32,
    pub(super) failures: u32,
    pub(super) first_ms: Option<f64>,
    #[serde(default)]
    pub(super) samples_ms: Vec<f64>,
    pub(super) median_ms: Option<f64>,
    pub(super) median_ci95_ms: Option<[f64; 2]>,
    pub(super) p95_ms: Option<f64>,
    pub(super) min_ms: Option<f64>,
    pub(super) max_ms: Option<f64>,
    pub(super) reply: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Resources {
    pub(super) peak_rss_bytes: Option<u64>,
    pub(super) cpu_ms: Option<f64>,
}

/// `code` is text: a later build may have written one that we do not know.
#[derive(Serialize, Deserialize)]
pub(super) struct Finding {
    pub(super) code: String,
    pub(super) severity: Severity,
    pub(super) phase: Phase,
    pub(super) message: String,
    pub(super) expected: Option<String>,
    pub(super) actual: Option<String>,
    pub(super) hint: Option<String>,
    pub(super) accepted: Option<String>,
}
