//! Each probe of a row over all its repeats: counts added, samples put one after the other. Nothing
//! that failed is averaged in, and a repeat that was tried again counts by its last try.

use crate::event::{ProbeFacts, SessionFacts, SessionKind};
use crate::plan::Probe;

use super::{Outcome, ProbeRecord, tries};

/// One record for each probe of the plan, in its order.
pub(super) fn pool(probes: &[Probe], sessions: &[SessionFacts]) -> Vec<ProbeRecord> {
    let (counted, _) = tries(sessions);
    let counted = || {
        counted
            .iter()
            .filter(|session| matches!(session.kind, SessionKind::Repeat(_)))
    };
    let pooled = probes.iter().enumerate().map(|(index, probe)| {
        let facts: Vec<&ProbeFacts> = counted()
            .flat_map(|session| session.probes.iter().filter(|facts| facts.index == index))
            .collect();
        ProbeRecord {
            name: probe.name.clone(),
            tool: probe.tool.clone(),
            outcome: outcome(&facts),
            planned_calls: Some(probe.calls),
            warmup: Some(probe.warmup),
            calls: facts.iter().map(|facts| facts.calls).sum(),
            failures: facts.iter().map(|facts| facts.failures).sum(),
            first: facts.first().and_then(|facts| facts.first),
            samples: facts.iter().flat_map(|facts| facts.samples.iter().copied()).collect(),
            reply: facts.iter().find_map(|facts| facts.reply.clone()),
        }
    });
    pooled.collect()
}

fn outcome(facts: &[&ProbeFacts]) -> Option<Outcome> {
    let called = || facts.iter().filter(|facts| facts.calls > 0);
    if facts.iter().any(|facts| facts.failures > 0) {
        Some(Outcome::Failed)
    } else if called().next().is_none() {
        None
    } else if called().all(|facts| facts.refused) {
        Some(Outcome::Refused)
    } else {
        Some(Outcome::Ok)
    }
}
