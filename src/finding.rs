//! The finding codes: what they are called, how severe each is by default, and which of them
//! speak of versions and tools. Everything that names a finding takes its word from here.
//! It must not know how a finding is found.

use std::fmt;

use serde::{Deserialize, Serialize};

/// In the sentence of a finding that holds against the lock, before the run in which it held already: it is not new.
pub const ALREADY: &str = ", already so in ";

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; never changes a status.
    Note,
    /// A real client would stumble, or something changed.
    Warn,
    /// The row fails.
    Fail,
}

/// Where in the life of a row something was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Runtimes, packages and programs are put in place.
    Prepare,
    /// The process is started.
    Spawn,
    /// The handshake, of either era.
    Initialize,
    /// `tools/list`.
    List,
    /// `tools/call`.
    Call,
    /// From closing stdin until nothing is left.
    Shutdown,
    /// Held against the manifest, the lock or earlier runs.
    Compare,
}

/// What a row's `[severity]` entry asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeverityChoice {
    /// Fail the row.
    Fail,
    /// Warn.
    Warn,
    /// Only note it.
    Note,
    /// Leave the finding out.
    Ignore,
}

/// What a code speaks of; exit code 3 is for rows that fail only by `VersionsAndTools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The server does not work as it should.
    Behaviour,
    /// It works, but it is not what it was or should be.
    VersionsAndTools,
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $class:ident),* $(,)?) => {
        /// The stable code of a finding, kebab-case in every output.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "the codes are explained by `explain`")]
        pub enum Code { $(#[serde(rename = $name)] $variant),* }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The kebab-case name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The severity when neither manifest nor lock says otherwise.
            pub fn default_severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),* }
            }

            /// Whether it speaks of behaviour or of versions and tools.
            pub fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class),* }
            }
        }
    };
}

codes! {
    SpawnFailed "spawn-failed" Fail Behaviour,
    ExitedEarly "exited-early" Fail Behaviour,
    InitTimeout "init-timeout" Fail Behaviour,
    InitError "init-error" Fail Behaviour,
    InvalidInitialize "invalid-initialize" Fail Behaviour,
    ProtocolVersion "protocol-version" Fail Behaviour,
    ServerDied "server-died" Fail Behaviour,
    ListError "list-error" Fail Behaviour,
    ListTimeout "list-timeout" Fail Behaviour,
    ListTooLong "list-too-long" Fail Behaviour,
    PaginationLoop "pagination-loop" Fail Behaviour,
    ToolMissing "tool-missing" Fail Behaviour,
    ToolError "tool-error" Fail Behaviour,
    RpcError "rpc-error" Fail Behaviour,
    RateLimited "rate-limited" Fail Behaviour,
    CallTimeout "call-timeout" Fail Behaviour,
    CallUnsupported "call-unsupported" Fail Behaviour,
    UnexpectedResult "unexpected-result" Fail Behaviour,
    BadFraming "bad-framing" Fail Behaviour,
    OutputLimit "output-limit" Fail Behaviour,
    IdMismatch "id-mismatch" Fail Behaviour,
    RowTimeout "row-timeout" Fail Behaviour,
    InstallFailed "install-failed" Fail Behaviour,
    NeedsAuthorization "needs-authorization" Fail Behaviour,
    ConfigError "config-error" Fail Behaviour,
    RuntimeMismatch "runtime-mismatch" Fail VersionsAndTools,
    NameChanged "name-changed" Fail VersionsAndTools,
    VersionMismatch "version-mismatch" Fail VersionsAndTools,
    VersionDowngrade "version-downgrade" Fail VersionsAndTools,
    VersionUnverifiable "version-unverifiable" Fail VersionsAndTools,
    HeldBack "held-back" Fail VersionsAndTools,
    ToolRemoved "tool-removed" Fail VersionsAndTools,
    ToolCountChanged "tool-count-changed" Fail VersionsAndTools,
    ToolSchemaChanged "tool-schema-changed" Fail VersionsAndTools,
    StdoutNoise "stdout-noise" Warn Behaviour,
    StrayMessage "stray-message" Warn Behaviour,
    BadEncoding "bad-encoding" Warn Behaviour,
    UncleanShutdown "unclean-shutdown" Warn Behaviour,
    IdentityMissing "identity-missing" Warn Behaviour,
    ListInvalid "list-invalid" Warn Behaviour,
    ToolInvalid "tool-invalid" Warn Behaviour,
    ToolDuplicate "tool-duplicate" Warn Behaviour,
    NoTools "no-tools" Warn Behaviour,
    CallInvalid "call-invalid" Warn Behaviour,
    SoftError "soft-error" Warn Behaviour,
    LatencyRegression "latency-regression" Warn Behaviour,
    Flaky "flaky" Warn Behaviour,
    InstallStale "install-stale" Warn Behaviour,
    Interrupted "interrupted" Warn Behaviour,
    LeftOver "left-over" Warn Behaviour,
    VersionSplit "version-split" Warn VersionsAndTools,
    VersionChanged "version-changed" Warn VersionsAndTools,
    RuntimeChanged "runtime-changed" Warn VersionsAndTools,
    ToolReworded "tool-reworded" Warn VersionsAndTools,
    ToolDrift "tool-drift" Warn VersionsAndTools,
    NotInLock "not-in-lock" Warn VersionsAndTools,
    ServerRequestRefused "server-request-refused" Note Behaviour,
    Downloaded "downloaded" Note Behaviour,
    RowSkipped "row-skipped" Note Behaviour,
    VersionUpgraded "version-upgraded" Note VersionsAndTools,
    ToolAdded "tool-added" Note VersionsAndTools,
    BehindNewest "behind-newest" Note VersionsAndTools,
    NewestUnknown "newest-unknown" Note VersionsAndTools,
    ReportedVersionStale "reported-version-stale" Note VersionsAndTools,
}

impl Code {
    /// The code of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Something worth saying about a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// After `[severity]`, acceptance and `--strict` (which does not change it).
    pub severity: Severity,
    /// Where it was noticed.
    pub phase: Phase,
    /// One sentence fragment, lower case, without a full stop.
    pub message: String,
    /// What was expected, where that can be said.
    pub expected: Option<String>,
    /// What was there instead.
    pub actual: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The date (YYYY-MM-DD) on which a person accepted it.
    pub accepted: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_name() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.name()), Some(*code));
        }
        assert_eq!(Code::parse("no-such-code"), None);
    }
}
