//! Package caches. npx keeps one folder for a spec whatever Node runs it and replaces what is in it in
//! place, so rows of different runtimes must not share a cache.
//!
//! A row with a `package` gets its runtime's own; a plain `npx` or `uvx` row keeps the user's, so that a
//! stale one is seen, unless the server runs on several runtimes.

use crate::event::RuntimeFacts;
use crate::plan::Plan;

use super::Rows;

/// Gives rows their caches.
pub(super) fn give(plan: &Plan, rows: &mut Rows<'_>) {
    let caches = plan.settings.state.join("caches");
    for row in &mut rows.going {
        let Some(runtime) = &row.ready.runtime else {
            continue;
        };
        let server = &row.row.server;
        let runtimes = plan.rows.iter().filter(|other| &other.server == server).count();
        if row.launch.packages.is_empty() && runtimes < 2 {
            continue;
        }
        let folder = caches.join(name_of(runtime));
        let variable = |name: &str, below: &str| (name.to_owned(), folder.join(below).to_string_lossy().into_owned());
        row.ready.env = vec![variable("npm_config_cache", "npm"), variable("UV_CACHE_DIR", "uv")];
    }
}

/// By version: native code that a cache holds is built for one.
fn name_of(runtime: &RuntimeFacts) -> String {
    format!("{}-{}", runtime.kind, runtime.version.as_deref().unwrap_or("unknown"))
}
