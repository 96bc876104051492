//! The strings of a server: their placeholders, and which of them can be filled in where.

use std::ops::Range;

use crate::manifest::mistake::Mistake;
use crate::manifest::placeholder::{KNOWN_PLACEHOLDERS, Text, TextProblem};
use crate::manifest::spelling::closest;
use crate::manifest::tree::Node;

/// Which placeholders a string may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// All of them.
    All,
    /// Those that are known before a session: `${env:…}`, `${manifest_dir}`, `${self}`.
    BeforeSessions,
    /// None: the string is a name of the manifest itself.
    None,
}

/// Reads a string and tells of its placeholders; the text if it is in order.
pub(super) fn check(
    node: &Node,
    field: &str,
    allowed: Allowed,
    source: &str,
    mistakes: &mut Vec<Mistake>,
) -> Option<Text> {
    let typed = node.text()?;
    let text = match Text::parse(typed) {
        Ok(text) => text,
        Err(problems) => {
            mistakes.extend(problems.iter().map(|problem| wrong(node, field, problem, source)));
            return None;
        }
    };
    for piece in text.pieces() {
        let refused = match allowed {
            Allowed::All => false,
            Allowed::BeforeSessions => piece.is_fixture(),
            Allowed::None => !matches!(piece, crate::manifest::Piece::Literal(_)),
        };
        if refused {
            mistakes.push(misplaced(node, field, piece.name(), allowed, source));
            return None;
        }
    }
    Some(text)
}

fn wrong(node: &Node, field: &str, problem: &TextProblem, source: &str) -> Mistake {
    let title = format!("{problem} in `{field}`");
    match problem {
        TextProblem::Unknown(inside) => {
            let mistake = Mistake::new(find(node, &format!("${{{inside}}}"), source), title).label("not a placeholder");
            unknown(mistake, inside)
        }
        TextProblem::VariableName(name) => {
            let span = find(node, &format!("${{env:{name}"), source);
            Mistake::new(span, title)
                .label("letters, digits and `_`, no digit first")
                .help("write ${env:NAME} or ${env:NAME:-default}")
        }
        TextProblem::Unclosed(rest) => {
            let span = find(node, &format!("${{{rest}"), source);
            Mistake::new(span, title)
                .label("opened here")
                .help("write `$${` for a literal `${`")
        }
    }
}

fn unknown(mistake: Mistake, inside: &str) -> Mistake {
    let names = KNOWN_PLACEHOLDERS
        .iter()
        .map(|name| format!("${{{name}}}"))
        .collect::<Vec<_>>()
        .join(", ");
    let variable = inside.split(':').next().unwrap_or_default();
    let mistake = match closest(
        inside,
        KNOWN_PLACEHOLDERS.iter().copied().filter(|name| !name.contains(':')),
    ) {
        Some(closest) => mistake.help(format!("did you mean `${{{closest}}}`?")),
        // Other clients write their variables so.
        None if super::super::placeholder::is_variable_name(variable)
            && variable.chars().all(|letter| !letter.is_ascii_lowercase()) =>
        {
            mistake.help(format!("an environment variable is written `${{env:{inside}}}`"))
        }
        None => mistake,
    };
    mistake
        .help(format!("known placeholders: {names}"))
        .help("write `$${` for a literal `${`")
}

fn misplaced(node: &Node, field: &str, name: &str, allowed: Allowed, source: &str) -> Mistake {
    let span = find(node, &format!("${{{name}"), source);
    let mistake = Mistake::new(span, format!("`{field}` cannot hold a placeholder of this kind"));
    match allowed {
        Allowed::All | Allowed::BeforeSessions => mistake
            .label("only known once a session begins")
            .help("${env:NAME}, ${manifest_dir} and ${self} can stand here"),
        Allowed::None => mistake.label("no placeholder can stand here"),
    }
}

/// Where a piece of a string stands in the source; the whole string where escapes hide it.
fn find(node: &Node, piece: &str, source: &str) -> Range<usize> {
    let typed = source.get(node.span.clone()).unwrap_or_default();
    match typed.find(piece) {
        Some(start) => node.span.start + start..node.span.start + start + piece.len(),
        None => node.span.clone(),
    }
}
