//! `schema manifest`: the JSON Schema that editors complete `servers.toml` from.

use crate::cli::{SchemaArgs, WhichSchema};
use crate::{console, manifest};

/// Prints the schema.
pub(super) fn print(args: &SchemaArgs) -> anyhow::Result<u8> {
    match args.which {
        WhichSchema::Manifest => console::print_result(manifest::SCHEMA)?,
    }
    Ok(0)
}
