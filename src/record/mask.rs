//! The strings of a record, masked once more before they are written: by place, not in the text of the
//! file, so that the record's own words (`"failed"`, `samples_ms`) keep their shape even where a
//! secret happens to be such a word. Everything is taken apart without `..`, as in `event`.

use std::path::PathBuf;

use crate::event::{mask_text, mask_value};
use crate::finding::Finding;
use crate::text::Mask;

use super::{Host, Identity, PackageIdentity, ProbeRecord, RowRecord, RunRecord, ToolRecord};

impl RunRecord {
    /// Replaces every secret in every string, ids, digests and numbers aside.
    pub fn mask(&mut self, mask: &Mask) {
        let Self {
            tool_version: _,
            id: _,
            started: _,
            finished: _,
            manifest,
            manifest_file,
            manifest_sha256: _,
            jobs: _,
            seed: _,
            partition: _,
            settings,
            host,
            calibration: _,
            rows,
            totals: _,
            exit_code: _,
            interrupted: _,
            // Ids of rows are words of the manifest.
            gone: _,
        } = self;
        path(manifest, mask);
        if let Some(file) = manifest_file {
            path(file, mask);
        }
        for value in settings.values_mut() {
            mask_value(value, mask);
        }
        mask_host(host, mask);
        for row in rows {
            mask_row(row, mask);
        }
    }
}

fn mask_host(host: &mut Host, mask: &Mask) {
    let Host {
        id: _,
        os,
        kernel,
        cpu,
        logical_cpus: _,
        memory_bytes: _,
        virtualization,
        load_average: _,
    } = host;
    for text in [os, kernel, cpu, virtualization] {
        optional(text, mask);
    }
}

fn mask_row(row: &mut RowRecord, mask: &Mask) {
    let RowRecord {
        // Keys of the manifest; the row's files are named after them.
        id: _,
        server: _,
        runtime: _,
        title,
        group,
        command,
        status: _,
        skip,
        identity,
        install: _,
        first_start: _,
        sessions,
        concurrency: _,
        tools,
        probes,
        resources: _,
        load: _,
        observations,
        findings,
        log: _,
    } = row;
    text(title, mask);
    optional(group, mask);
    optional(command, mask);
    if let Some(skip) = skip {
        text(&mut skip.message, mask);
        optional(&mut skip.cure, mask);
    }
    mask_identity(identity, mask);
    for session in sessions {
        session.mask(mask);
    }
    for tool in tools.iter_mut().flatten() {
        mask_tool(tool, mask);
    }
    for probe in probes {
        mask_probe(probe, mask);
    }
    for observation in observations {
        observation.mask(mask);
    }
    for finding in findings {
        mask_finding(finding, mask);
    }
}

fn mask_identity(identity: &mut Identity, mask: &Mask) {
    let Identity {
        reported_name,
        reported_title,
        reported_version,
        package,
        runtime,
        launcher: _,
        era: _,
        pinned,
        requested,
        negotiated,
    } = identity;
    let PackageIdentity {
        ecosystem: _,
        name,
        wanted,
        installed,
        newest,
        source: _,
        path: package_path,
    } = package;
    for text in [
        reported_name,
        reported_title,
        reported_version,
        pinned,
        requested,
        negotiated,
        name,
        wanted,
        installed,
    ] {
        optional(text, mask);
    }
    newest.mask(mask);
    if let Some(package_path) = package_path {
        path(package_path, mask);
    }
    if let Some(runtime) = runtime {
        text(&mut runtime.kind, mask);
        optional(&mut runtime.version, mask);
        path(&mut runtime.executable, mask);
    }
}

fn mask_tool(tool: &mut ToolRecord, mask: &Mask) {
    let ToolRecord {
        name,
        description_sha256: _,
        input_schema,
        output_schema,
        annotations,
    } = tool;
    text(name, mask);
    for value in [input_schema, output_schema, annotations].into_iter().flatten() {
        mask_value(value, mask);
    }
}

fn mask_probe(probe: &mut ProbeRecord, mask: &Mask) {
    let ProbeRecord {
        name,
        tool,
        outcome: _,
        planned_calls: _,
        warmup: _,
        calls: _,
        failures: _,
        first: _,
        samples: _,
        reply,
    } = probe;
    text(name, mask);
    text(tool, mask);
    optional(reply, mask);
}

fn mask_finding(finding: &mut Finding, mask: &Mask) {
    let Finding {
        code: _,
        severity: _,
        phase: _,
        message,
        expected,
        actual,
        hint,
        accepted: _,
    } = finding;
    text(message, mask);
    for part in [expected, actual, hint] {
        optional(part, mask);
    }
}

fn text(text: &mut String, mask: &Mask) {
    if let std::borrow::Cow::Owned(masked) = mask_text(text, mask) {
        *text = masked;
    }
}

fn optional(part: &mut Option<String>, mask: &Mask) {
    if let Some(part) = part {
        text(part, mask);
    }
}

fn path(path: &mut PathBuf, mask: &Mask) {
    let shown = path.to_string_lossy().into_owned();
    if let std::borrow::Cow::Owned(masked) = mask_text(&shown, mask) {
        *path = PathBuf::from(masked);
    }
}
