//! What a process tree used, as far as looks at it can tell. It never looks by itself.

use std::time::Duration;

use super::table::{self, Process};
use crate::event::ResourceFacts;

/// The largest of what every look has seen.
///
/// Memory: the sum, over the processes that lived at one look, of the most that each ever had resident
/// (`VmHWM`; what is resident now where a system has no such figure). Pages that several processes
/// share are counted in each, and peaks of different moments are added: it is an upper bound of the
/// tree's peak as the looks saw it, and misses processes that lived between two looks.
///
/// CPU: the sum, over the same processes, of user and system time, of their own and of those of their
/// children that have ended and were waited for. The largest sum of any look counts, since a process
/// takes its own time along when it ends and nobody waits for it. What is used between the last look
/// and the end is not in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    facts: Option<ResourceFacts>,
}

impl Usage {
    /// Takes one look at these processes.
    pub(super) fn sample(&mut self, processes: &[Process]) {
        let memory: Vec<u64> = processes
            .iter()
            .filter_map(|process| table::peak_memory(process.pid))
            .collect();
        if memory.is_empty() {
            return;
        }
        let cpu = processes
            .iter()
            .map(|process| process.own_cpu + process.reaped_cpu)
            .sum();
        self.take(memory.iter().sum(), cpu);
    }

    /// What was seen; null before the first look and where the system tells nothing.
    pub(super) fn facts(&self) -> Option<ResourceFacts> {
        self.facts
    }

    fn take(&mut self, memory: u64, cpu: Duration) {
        let before = self.facts.unwrap_or(ResourceFacts {
            peak_rss_bytes: 0,
            cpu: Duration::ZERO,
        });
        self.facts = Some(ResourceFacts {
            peak_rss_bytes: before.peak_rss_bytes.max(memory),
            cpu: before.cpu.max(cpu),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_never_fall() {
        let mut usage = Usage::default();
        assert_eq!(usage.facts(), None);
        usage.take(10, Duration::from_secs(2));
        usage.take(4, Duration::from_secs(1));
        assert_eq!(
            usage.facts(),
            Some(ResourceFacts {
                peak_rss_bytes: 10,
                cpu: Duration::from_secs(2)
            })
        );
    }
}
