//! `explain [CODE]`: what a finding means, what shows it and what settles it; without a code, all of them.

use anyhow::anyhow;

use crate::cli::ExplainArgs;
use crate::console;
use crate::event::SkipReason;
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
        Some(name) => match (parse(name), skip_reason(name)) {
            (Err(_), Some(reason)) => reason_told(reason, width),
            (code, _) => told(code?, width),
        },
    };
    console::print_result(&text)?;
    Ok(0)
}

/// The table says why a row was not run, by a word that is no code.
fn skip_reason(name: &str) -> Option<SkipReason> {
    let name = spelt(name);
    SkipReason::ALL.iter().copied().find(|reason| reason.name() == name)
}

fn reason_told(reason: SkipReason, width: usize) -> String {
    let skipped = Code::RowSkipped;
    let head = format!("{} is why a row was not run; the finding is {skipped}.", reason.name());
    format!("{}\n\n{}", wrap(&head, width).join("\n"), told(skipped, width))
}

fn spelt(name: &str) -> String {
    name.trim().to_lowercase().replace('_', "-")
}

fn parse(name: &str) -> anyhow::Result<Code> {
    let name = spelt(name);
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
    fn every_word_of_the_table_is_explained() {
        for reason in SkipReason::ALL {
            let code = parse(reason.name()).ok();
            let known = code.is_some() || skip_reason(reason.name()).is_some();
            assert!(known, "{}", reason.name());
            assert!(reason_told(*reason, 80).contains("row-skipped: is a note by default"));
        }
        assert_eq!(skip_reason("PROGRAM_MISSING"), Some(SkipReason::ProgramMissing));
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
