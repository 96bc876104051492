//! Whether a session is worth another try: only what the server did wrong in it counts, not what the
//! manifest or the lock would have liked to see. Whether the row fails for it is `judge`'s to say.

use crate::event::{Observation, Seen, SessionFacts};

/// Whether the session did not come to its end as it should: no handshake, no list, or a call that did
/// not end as its probe expects.
pub fn went_wrong(session: &SessionFacts) -> bool {
    let failures = session.probes.iter().any(|probe| probe.failures > 0);
    session.handshake.is_none() || failures || session.observations.iter().any(is_reason)
}

/// What another try may not show again. Judged one by one, so that a new observation is not forgotten.
fn is_reason(observation: &Observation) -> bool {
    match &observation.what {
        Seen::SpawnFailed { .. }
        | Seen::ExitedEarly { .. }
        | Seen::ServerDied { .. }
        | Seen::InitTimeout { .. }
        | Seen::InitError { .. }
        | Seen::InvalidInitialize { .. }
        | Seen::ProtocolVersion { .. }
        | Seen::ListError { .. }
        | Seen::ListTimeout { .. }
        | Seen::ListTooLong { .. }
        | Seen::PaginationLoop { .. }
        | Seen::ToolMissing { .. }
        | Seen::ToolError { .. }
        | Seen::RpcError { .. }
        | Seen::RateLimited { .. }
        | Seen::CallTimeout { .. }
        | Seen::CallUnsupported { .. }
        | Seen::UnexpectedResult { .. }
        | Seen::BadFraming { .. }
        | Seen::OutputLimit { .. }
        | Seen::IdMismatch { tolerated: false, .. } => true,
        // Outside a session, and the same every time.
        Seen::ConfigError { .. }
        | Seen::InstallFailed { .. }
        | Seen::RowTimeout { .. }
        | Seen::LeftByKilledRun { .. }
        // Worth a word, and no failure.
        | Seen::InstallStale { .. }
        | Seen::Downloaded { .. }
        | Seen::IdentityMissing { .. }
        | Seen::ListInvalid { .. }
        | Seen::ToolInvalid { .. }
        | Seen::ToolDuplicate { .. }
        | Seen::NoTools { .. }
        | Seen::CallInvalid { .. }
        | Seen::SoftError { .. }
        | Seen::StdoutNoise { .. }
        | Seen::StrayMessage { .. }
        | Seen::BadEncoding { .. }
        | Seen::IdMismatch { tolerated: true, .. }
        | Seen::ServerRequestRefused { .. }
        | Seen::UncleanShutdown { .. }
        | Seen::LeftOver { .. }
        | Seen::Interrupted
        | Seen::SessionDisagrees { .. } => false,
    }
}
