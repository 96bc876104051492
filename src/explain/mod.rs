//! What each finding means, for the person who meets it in the morning: its cause, what the report and
//! the log hold as evidence, and its cure. It must not know of any run; what happened tonight is the
//! finding's own sentence.

use crate::finding::{Class, Code, Severity};

mod call;
mod end;
mod list;
mod start;
mod versions;
mod wire;

/// What there is to know about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What happened, and what usually brings it about.
    pub cause: &'static str,
    /// What shows it, and where that stands.
    pub evidence: &'static str,
    /// What settles it.
    pub cure: &'static str,
}

/// The explanation of a code. Every code has one: a new code does not compile without.
pub fn explain(code: Code) -> Explanation {
    match code {
        Code::SpawnFailed => start::SPAWN_FAILED,
        Code::ExitedEarly => start::EXITED_EARLY,
        Code::InitTimeout => start::INIT_TIMEOUT,
        Code::InitError => start::INIT_ERROR,
        Code::InvalidInitialize => start::INVALID_INITIALIZE,
        Code::ProtocolVersion => start::PROTOCOL_VERSION,
        Code::InstallFailed => start::INSTALL_FAILED,
        Code::InstallStale => start::INSTALL_STALE,
        Code::NeedsAuthorization => start::NEEDS_AUTHORIZATION,
        Code::ConfigError => start::CONFIG_ERROR,
        Code::IdentityMissing => start::IDENTITY_MISSING,
        Code::Downloaded => start::DOWNLOADED,
        Code::RowSkipped => start::ROW_SKIPPED,
        Code::ListError => list::LIST_ERROR,
        Code::ListTimeout => list::LIST_TIMEOUT,
        Code::ListTooLong => list::LIST_TOO_LONG,
        Code::PaginationLoop => list::PAGINATION_LOOP,
        Code::ListInvalid => list::LIST_INVALID,
        Code::ToolInvalid => list::TOOL_INVALID,
        Code::ToolDuplicate => list::TOOL_DUPLICATE,
        Code::NoTools => list::NO_TOOLS,
        Code::ToolMissing => list::TOOL_MISSING,
        Code::ToolError => call::TOOL_ERROR,
        Code::RpcError => call::RPC_ERROR,
        Code::RateLimited => call::RATE_LIMITED,
        Code::CallTimeout => call::CALL_TIMEOUT,
        Code::CallUnsupported => call::CALL_UNSUPPORTED,
        Code::UnexpectedResult => call::UNEXPECTED_RESULT,
        Code::CallInvalid => call::CALL_INVALID,
        Code::SoftError => call::SOFT_ERROR,
        Code::LatencyRegression => call::LATENCY_REGRESSION,
        Code::BadFraming => wire::BAD_FRAMING,
        Code::OutputLimit => wire::OUTPUT_LIMIT,
        Code::IdMismatch => wire::ID_MISMATCH,
        Code::StdoutNoise => wire::STDOUT_NOISE,
        Code::StrayMessage => wire::STRAY_MESSAGE,
        Code::BadEncoding => wire::BAD_ENCODING,
        Code::ServerRequestRefused => wire::SERVER_REQUEST_REFUSED,
        Code::ServerDied => end::SERVER_DIED,
        Code::RowTimeout => end::ROW_TIMEOUT,
        Code::UncleanShutdown => end::UNCLEAN_SHUTDOWN,
        Code::LeftOver => end::LEFT_OVER,
        Code::Interrupted => end::INTERRUPTED,
        Code::Flaky => end::FLAKY,
        Code::RuntimeMismatch => versions::RUNTIME_MISMATCH,
        Code::NameChanged => versions::NAME_CHANGED,
        Code::VersionMismatch => versions::VERSION_MISMATCH,
        Code::VersionDowngrade => versions::VERSION_DOWNGRADE,
        Code::VersionUnverifiable => versions::VERSION_UNVERIFIABLE,
        Code::HeldBack => versions::HELD_BACK,
        Code::ToolRemoved => versions::TOOL_REMOVED,
        Code::ToolCountChanged => versions::TOOL_COUNT_CHANGED,
        Code::ToolSchemaChanged => versions::TOOL_SCHEMA_CHANGED,
        Code::VersionSplit => versions::VERSION_SPLIT,
        Code::VersionChanged => versions::VERSION_CHANGED,
        Code::RuntimeChanged => versions::RUNTIME_CHANGED,
        Code::ToolReworded => versions::TOOL_REWORDED,
        Code::ToolDrift => versions::TOOL_DRIFT,
        Code::NotInLock => versions::NOT_IN_LOCK,
        Code::VersionUpgraded => versions::VERSION_UPGRADED,
        Code::ToolAdded => versions::TOOL_ADDED,
        Code::BehindNewest => versions::BEHIND_NEWEST,
        Code::NewestUnknown => versions::NEWEST_UNKNOWN,
        Code::ReportedVersionStale => versions::REPORTED_VERSION_STALE,
    }
}

/// How severe a code is by default, and what it speaks of, in one line.
pub fn standing(code: Code) -> String {
    let severity = match code.default_severity() {
        Severity::Fail => "fails its row",
        Severity::Warn => "warns",
        Severity::Note => "is a note",
    };
    let class = match (code.class(), code.default_severity()) {
        (Class::Behaviour, _) => "",
        (Class::VersionsAndTools, Severity::Fail) => "; of versions and tools (alone it makes exit code 3)",
        (Class::VersionsAndTools, Severity::Warn) => {
            "; of versions and tools (alone it makes exit code 3 under --strict, else 0)"
        }
        (Class::VersionsAndTools, Severity::Note) => {
            "; of versions and tools (alone it makes exit code 0, and 3 where the manifest makes it fail)"
        }
    };
    format!("{severity} by default{class}")
}

/// Whether to settle it by the lock is a way: only what a person can accept.
pub fn can_be_accepted(code: Code) -> bool {
    code.class() == Class::VersionsAndTools && code.default_severity() > Severity::Note
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_cause_evidence_and_cure_in_whole_sentences() {
        for code in Code::ALL {
            let Explanation { cause, evidence, cure } = explain(*code);
            for text in [cause, evidence, cure] {
                assert!(text.chars().count() > 40, "{code}: {text:?} is a stub");
                assert!(
                    text.ends_with('.') && text.starts_with(|letter: char| !letter.is_lowercase()),
                    "{code}: {text:?}"
                );
                assert!(!text.contains("  ") && !text.contains('\n'), "{code}: {text:?}");
            }
        }
    }

    #[test]
    fn no_two_codes_share_a_text() {
        let mut seen = BTreeSet::new();
        for code in Code::ALL {
            let Explanation { cause, evidence, cure } = explain(*code);
            for text in [cause, evidence, cure] {
                assert!(seen.insert(text), "{code}: {text:?} stands twice");
            }
        }
    }

    #[test]
    fn a_code_of_versions_says_its_exit_code() {
        assert_eq!(
            standing(Code::HeldBack),
            "fails its row by default; of versions and tools (alone it makes exit code 3)"
        );
        for code in Code::ALL.iter().filter(|code| code.class() == Class::VersionsAndTools) {
            let said = standing(*code);
            let plainly = said.ends_with("(alone it makes exit code 3)");
            assert_eq!(plainly, code.default_severity() == Severity::Fail, "{said}");
        }
        assert_eq!(standing(Code::StdoutNoise), "warns by default");
        assert!(can_be_accepted(Code::VersionSplit) && !can_be_accepted(Code::InitTimeout));
    }
}
