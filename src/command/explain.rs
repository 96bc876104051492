//! `explain [CODE]`: what a finding means, what shows it and what settles it; without a code, all of them.

use anyhow::anyhow;

use crate::cli::ExplainArgs;
use crate::console;
use crate::explain::{self, Explanation};
use crate::finding::{Class, Code, Severity};
use crate::manifest::closest;
use crate::text::wrap;

/// Explanations are not set wider than this, or they could not be read.
const WIDEST: usize = 100;

/// Prints the explanation, or the list.
pub(super) fn print(args: &ExplainArgs) -> anyhow::Result<u8> {
    let width = console::terminal_width().min(WIDEST);
    let text = match args.code.as_deref() {
        None => list(),
        Some(name) => told(parse(name)?, width),
    };
    console::print_result(&text)?;
    Ok(0)
}

fn parse(name: &str) -> anyhow::Result<Code> {
    let name = name.trim().to_lowercase().replace('_', "-");
    Code::parse(&name).ok_or_else(|| {
        let names = Code::ALL.iter().map(|code| code.name());
        let meant = closest(&name, names).map_or_else(String::new, |meant| format!("did you mean {meant}? "));
        anyhow!("there is no finding {name:?}\nhint: {meant}`mcp-smoke explain` lists all of them")
    })
}

fn told(code: Code, width: usize) -> String {
    let Explanation { cause, evidence, cure } = explain::explain(code);
    let head = format!("{code}: {}", explain::standing(code));
    let mut text = format!("{}\n", wrap(&head, width).join("\n"));
    for (word, said) in [("cause", cause), ("evidence", evidence), ("cure", cure)] {
        text.push_str(&format!("\n{word}\n"));
        for line in wrap(said, width.saturating_sub(2)) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    let also = if explain::can_be_accepted(code) {
        "`mcp-smoke lock` accepts it as it is; "
    } else {
        ""
    };
    let closing = format!(
        "{also}`{code} = \"fail\" | \"warn\" | \"note\" | \"ignore\"` under [severity], or in a server's `severity`, sets how much it matters."
    );
    text.push('\n');
    for line in wrap(&closing, width) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// All codes by severity, the two classes apart.
fn list() -> String {
    let width = Code::ALL.iter().map(|code| code.name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for (severity, word) in [
        (Severity::Fail, "fail by default"),
        (Severity::Warn, "warn by default"),
        (Severity::Note, "notes"),
    ] {
        text.push_str(&format!("{word}\n"));
        for code in Code::ALL.iter().filter(|code| code.default_severity() == severity) {
            let class = match code.class() {
                Class::Behaviour => "",
                Class::VersionsAndTools => "of versions and tools",
            };
            text.push_str(format!("  {:width$}  {class}", code.name()).trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text.push_str("mcp-smoke explain CODE tells cause, evidence and cure of one.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_code_is_told_what_was_meant() {
        let said = parse("held-bakc").expect_err("there is no such code").to_string();
        assert!(said.contains("did you mean held-back?"), "{said}");
        assert_eq!(parse("HELD_BACK").ok(), Some(Code::HeldBack));
    }

    #[test]
    fn every_code_is_listed_and_none_is_wider_than_the_terminal() {
        let listed = list();
        for code in Code::ALL {
            assert!(
                listed
                    .lines()
                    .any(|line| line.split_whitespace().next() == Some(code.name())),
                "{code}"
            );
            let too_wide = told(*code, 80).lines().any(|line| line.chars().count() > 80);
            assert!(!too_wide, "{code}");
        }
    }
}
