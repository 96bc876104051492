//! `requires_host`: a row whose host has no address here is skipped as offline.

use std::collections::BTreeMap;
use std::net::ToSocketAddrs;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::event::SkipReason;

use super::{Refusal, Rows};

/// A name server that answers at all does so sooner.
const LIMIT: Duration = Duration::from_secs(3);

/// Takes out the rows whose host cannot be resolved.
pub(super) async fn check(rows: &mut Rows<'_>) {
    let hosts = rows.going.iter().filter_map(|row| row.launch.requires_host.clone());
    // All at once, so that the limit is one limit.
    let questions: BTreeMap<String, _> = hosts.map(|host| (host.clone(), ask(host))).collect();
    let mut answers = BTreeMap::new();
    for (host, question) in questions {
        tokio::select! {
            answer = question => drop(answers.insert(host, answer)),
            () = rows.cancel.cancelled() => break,
        }
    }
    rows.sort_out(|row| {
        let Some(host) = &row.launch.requires_host else {
            return Ok(());
        };
        if answers.get(host) == Some(&true) {
            return Ok(());
        }
        Err(Refusal::skipped(
            SkipReason::Offline,
            format!("the name {host} cannot be resolved here"),
            Some(format!(
                "connect this machine to {host}, or leave the row out: !{}",
                row.row.id
            )),
        ))
    });
}

/// The system's own look-up cannot be called off, so it gets a thread that nobody waits for beyond the limit.
fn ask(host: String) -> impl Future<Output = bool> {
    let (answer, question) = oneshot::channel();
    let asked = std::thread::Builder::new().name("resolve".to_owned()).spawn(move || {
        let resolved = (host.as_str(), 0)
            .to_socket_addrs()
            .is_ok_and(|mut addresses| addresses.next().is_some());
        // Nobody waits for it any more after the limit.
        let _ = answer.send(resolved);
    });
    let deadline = Instant::now() + LIMIT;
    async move { asked.is_ok() && matches!(timeout_at(deadline, question).await, Ok(Ok(true))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn loopback_has_an_address_and_an_invalid_name_has_none() {
        assert!(ask("127.0.0.1".to_owned()).await);
        // RFC 6761: `.invalid` never resolves.
        assert!(!ask("no-such-host.invalid".to_owned()).await);
    }
}
