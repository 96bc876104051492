//! `list`: the rows a run would take. Starts and writes nothing.

use crate::cli::ListArgs;
use crate::console;
use crate::plan::{Entry, Row};
use crate::text::clean_for_terminal;

use super::{USAGE, plan};

/// Prints a line per row: id, title, command, tags.
pub(super) fn list(args: &ListArgs) -> anyhow::Result<u8> {
    let Some(plan) = plan::for_selection(&args.selection)? else {
        return Ok(USAGE);
    };
    let width = plan
        .rows
        .iter()
        .map(|row| row.id.0.chars().count())
        .max()
        .unwrap_or_default();
    let lines: Vec<String> = plan.rows.iter().map(|row| line(row, width)).collect();
    console::print_result(&plan.mask.apply(&lines.join("\n")))?;
    Ok(0)
}

fn line(row: &Row, width: usize) -> String {
    let what = match &row.entry {
        Entry::Run(launch) => launch.packages.first().map_or_else(String::new, |package| {
            format!("{}:{}", package.ecosystem.name(), package.spec)
        }),
        Entry::Disabled => "(disabled)".to_owned(),
        Entry::Remote(url) => format!("(remote, not supported yet) {url}"),
        Entry::Unusable(problems) => {
            let said: Vec<String> = problems
                .iter()
                .map(|problem| format!("{}: {}", problem.field, problem.problem))
                .collect();
            format!("(cannot be used) {}", said.join("; "))
        }
    };
    let tags = if row.tags.is_empty() {
        String::new()
    } else {
        format!("  [{}]", row.tags.join(" "))
    };
    let line = format!("{:width$}  {}  {what}{tags}", row.id.0, row.title);
    clean_for_terminal(line.trim_end()).into_owned()
}
