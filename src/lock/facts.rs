//! What one run saw of one row, as far as it can be held against another run: who answered and which tools
//! it had. Times, probes and findings are none of it.

use std::collections::BTreeMap;

use crate::event::{Ecosystem, Era, Observation, Seen};
use crate::finding::{Code, Phase, Severity};
use crate::record::{RowRecord, ToolRecord};

/// What a row was.
#[derive(Clone, Debug, PartialEq)]
pub struct RowFacts {
    /// The package that answered, where one did.
    pub package: Option<PackageVersion>,
    /// `serverInfo.name`.
    pub reported_name: Option<String>,
    /// `serverInfo.version`.
    pub reported_version: Option<String>,
    /// What ran it.
    pub runtime: Option<RuntimeVersion>,
    /// The handshake.
    pub era: Era,
    /// The revision that was spoken.
    pub protocol: String,
    /// Its tools by name (of one listed twice the first), canonical; null if the list was not read to its end.
    pub tools: Option<BTreeMap<String, ToolRecord>>,
}

/// The package that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageVersion {
    /// npm or PyPI.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// What was asked for.
    pub wanted: Option<String>,
    /// The version on disk.
    pub installed: Option<String>,
}

/// The interpreter that ran a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeVersion {
    /// `node`, `python`, or the file name of another executable.
    pub kind: String,
    /// Its version, where it told one.
    pub version: Option<String>,
}

impl RowFacts {
    /// The facts of a row; none without a good handshake.
    pub fn of(row: &RowRecord) -> Option<Self> {
        let identity = &row.identity;
        let package = &identity.package;
        Some(Self {
            package: package
                .ecosystem
                .zip(package.name.clone())
                .map(|(ecosystem, name)| PackageVersion {
                    ecosystem,
                    name,
                    wanted: package.wanted.clone(),
                    installed: package.installed.clone(),
                }),
            reported_name: identity.reported_name.clone(),
            reported_version: identity.reported_version.clone(),
            runtime: identity.runtime.as_ref().map(|runtime| RuntimeVersion {
                kind: runtime.kind.clone(),
                version: runtime.version.clone(),
            }),
            era: identity.era?,
            protocol: identity.negotiated.clone()?,
            tools: row
                .tools
                .as_ref()
                .filter(|_| whole_list(row))
                .map(|tools| by_name(tools)),
        })
    }

    /// The version on disk.
    pub fn installed(&self) -> Option<&str> {
        self.package.as_ref()?.installed.as_deref()
    }

    /// What was asked for of the package.
    pub fn wanted(&self) -> Option<&str> {
        self.package.as_ref()?.wanted.as_deref()
    }

    /// The version on disk where it is known, else the reported one.
    pub fn version(&self) -> Option<&str> {
        self.installed().or(self.reported_version.as_deref())
    }
}

fn by_name(tools: &[ToolRecord]) -> BTreeMap<String, ToolRecord> {
    // The first of several wins, as it does for clients that look a tool up by its name.
    let tools = tools.iter().rev().map(|tool| (tool.name.clone(), tool.clone()));
    tools.collect()
}

/// A list that was cut short says nothing about what is missing from it. Tonight's row knows by what was
/// seen, one that was read back only by its findings.
fn whole_list(row: &RowRecord) -> bool {
    let of_sessions = row.sessions.iter().flat_map(|session| &session.observations);
    let cut = row.observations.iter().chain(of_sessions).any(cuts_the_list);
    let told = row.findings.iter().any(|finding| {
        let list_code = matches!(
            finding.code,
            Code::ListError | Code::ListTimeout | Code::ListTooLong | Code::PaginationLoop
        );
        list_code || (finding.phase == Phase::List && finding.severity == Severity::Fail)
    });
    !cut && !told
}

fn cuts_the_list(observation: &Observation) -> bool {
    match observation.what {
        Seen::ListError { .. } | Seen::ListTimeout { .. } | Seen::ListTooLong { .. } | Seen::PaginationLoop { .. } => {
            true
        }
        Seen::ServerDied { .. } | Seen::BadFraming { .. } | Seen::OutputLimit { .. } | Seen::IdMismatch { .. } => {
            observation.phase == Phase::List
        }
        _ => false,
    }
}
