//! Sessions that failed and were lived again: which of a row's sessions count, and which were given up for
//! another try. It must not say why one failed.

use crate::event::{SessionFacts, SessionKind};

/// The sessions of a row that count, the last try of each, and those that were given up; both in their order.
/// The start after an installation is in neither: it judges nothing.
pub fn tries(sessions: &[SessionFacts]) -> (Vec<&SessionFacts>, Vec<&SessionFacts>) {
    let of_row = sessions.iter().enumerate();
    let (given_up, counted): (Vec<_>, Vec<_>) = of_row
        .filter(|(_, session)| session.kind != SessionKind::FirstStart)
        .partition(|(place, session)| {
            // A further try comes right after the one that failed.
            sessions
                .get(place + 1)
                .is_some_and(|next| next.kind == session.kind && next.attempt == session.attempt + 1)
        });
    let facts = |parted: Vec<(usize, _)>| parted.into_iter().map(|(_, session)| session).collect();
    (facts(counted), facts(given_up))
}
