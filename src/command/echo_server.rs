//! `echo-server`: the embedded MCP server.

use anyhow::Context;

/// Serves until stdin closes.
pub(super) fn serve() -> anyhow::Result<u8> {
    crate::echo_server::serve_stdio().context("could not read stdin or write stdout")?;
    Ok(0)
}
