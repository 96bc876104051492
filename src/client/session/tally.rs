//! What is counted rather than told one by one: noise, stray messages, refused requests.

use crate::client::protocol::Quirk;
use crate::event::{Observation, Seen};
use crate::finding::Phase;

use super::wording::excerpt;

/// Counts of one process.
#[derive(Debug, Default)]
pub(super) struct Tally {
    noise: Vec<Count>,
    stray: Vec<Count>,
    encoding: Vec<Count>,
    refused: Vec<Count>,
    other_id: Option<(Phase, String, String)>,
}

#[derive(Debug)]
struct Count {
    phase: Phase,
    first: String,
    times: u32,
}

impl Tally {
    /// A line on stdout that is no message.
    pub(super) fn noise(&mut self, phase: Phase, line: &str) {
        count(&mut self.noise, phase, || excerpt(line));
    }

    /// The noise of a phase turned out to be a framing of its own, which is told instead.
    pub(super) fn forget_noise(&mut self, phase: Phase) {
        self.noise.retain(|count| count.phase != phase);
    }

    /// A message that nobody asked for.
    pub(super) fn stray(&mut self, phase: Phase, description: impl FnOnce() -> String) {
        count(&mut self.stray, phase, description);
    }

    /// A request of the server's that was refused.
    pub(super) fn refused(&mut self, phase: Phase, method: &str) {
        match self.refused.iter_mut().find(|count| count.first == method) {
            Some(count) => count.times += 1,
            None => self.refused.push(Count {
                phase,
                first: method.to_owned(),
                times: 1,
            }),
        }
    }

    /// An answer whose id came back in another form.
    pub(super) fn other_id(&mut self, phase: Phase, expected: u64, actual: &serde_json::Value) {
        self.other_id
            .get_or_insert_with(|| (phase, expected.to_string(), actual.to_string()));
    }

    /// Something that was tolerated in a message.
    pub(super) fn quirk(&mut self, phase: Phase, quirk: Quirk, line: &[u8]) {
        match quirk {
            Quirk::ByteOrderMark => {
                count(&mut self.noise, phase, || {
                    "a byte order mark (U+FEFF) before a message".to_owned()
                });
            }
            Quirk::NotUtf8 => count(&mut self.encoding, phase, || excerpt(&String::from_utf8_lossy(line))),
            Quirk::Batch(messages) => {
                count(&mut self.stray, phase, || {
                    format!("an array of {messages} messages (a JSON-RPC batch)")
                });
            }
            Quirk::ErrorNull => {
                count(&mut self.stray, phase, || {
                    "an answer with `\"error\": null` beside its result".to_owned()
                });
            }
        }
    }

    pub(super) fn into_observations(self) -> Vec<Observation> {
        let observation = |phase, what| Observation {
            phase,
            probe: None,
            what,
        };
        let counted = |counts: Vec<Count>, what: fn(String, u32) -> Seen| {
            counts
                .into_iter()
                .map(move |count| observation(count.phase, what(count.first, count.times)))
        };
        let mut observations = Vec::new();
        observations.extend(counted(self.noise, |first, lines| Seen::StdoutNoise { first, lines }));
        observations.extend(counted(self.stray, |first, messages| Seen::StrayMessage {
            first,
            messages,
        }));
        observations.extend(counted(self.encoding, |excerpt, messages| Seen::BadEncoding {
            excerpt,
            messages,
        }));
        observations.extend(counted(self.refused, |method, times| Seen::ServerRequestRefused {
            method,
            times,
        }));
        if let Some((phase, expected, actual)) = self.other_id {
            observations.push(observation(
                phase,
                Seen::IdMismatch {
                    expected,
                    actual,
                    tolerated: true,
                },
            ));
        }
        observations
    }
}

fn count(counts: &mut Vec<Count>, phase: Phase, first: impl FnOnce() -> String) {
    match counts.iter_mut().find(|count| count.phase == phase) {
        Some(count) => count.times += 1,
        None => counts.push(Count {
            phase,
            first: first(),
            times: 1,
        }),
    }
}
