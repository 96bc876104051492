//! The manifest: TOML to [`Manifest`], strict. Every mistake in it is told at once, with its place and what
//! would be right; what comes out of [`Manifest::parse`] holds no mistake that can be seen without the
//! environment. It must not look at the environment, the disk or a program: `plan` does.

mod check;
mod duration;
mod mistake;
mod model;
mod package;
mod placeholder;
mod schema;
mod secrets;
mod spelling;
pub(crate) mod tree;

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

pub use mistake::{Mistake, Mistakes};
pub use model::{
    Defaults, Expect, InheritEnv, Manifest, Probe, ProbeExpect, Requires, Runtime, RuntimeLanguage, Server, Transport,
};
pub use package::{PackageReference, Registry};
pub use placeholder::{KNOWN_PLACEHOLDERS, Piece, Text, TextProblem};
pub use schema::SCHEMA;
pub use spelling::closest;

use tree::Node;

impl Manifest {
    /// Reads a manifest; `path` is only named in mistakes. A byte order mark and CR LF are accepted.
    ///
    /// # Errors
    /// All mistakes of the text at once.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Mistakes> {
        let sha256 = Sha256::digest(text.as_bytes())
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
                hex
            });
        let source = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let (root, mut mistakes) = Node::parse(&source);
        if mistakes.is_empty() {
            mistakes.extend(schema::check(&root));
            mistakes.extend(check::check(&root, &source));
        }
        if mistakes.is_empty() {
            match Self::read(&root, &source, sha256) {
                Ok(manifest) => return Ok(manifest),
                // The schema refuses all that serde refuses; a test holds them together.
                Err(problem) => mistakes.push(Mistake::new(0..0, format!("the manifest cannot be read: {problem}"))),
            }
        }
        Err(Mistakes::new(path, &source, mistakes))
    }

    fn read(root: &Node, source: &str, sha256: String) -> Result<Self, serde_json::Error> {
        let mut manifest: Self = serde_json::from_value(root.to_json())?;
        manifest.sha256 = sha256;
        for (name, server) in &mut manifest.servers {
            let start = root
                .get("servers")
                .and_then(|servers| servers.value.get(name))
                .map_or(0, |entry| entry.place().start);
            server.line = source[..start].matches('\n').count() + 1;
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests;
