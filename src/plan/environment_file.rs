//! `env_file`: NAME=value lines, all of whose values are secrets.

use std::fs;
use std::path::Path;

/// The variables of a file, in their order.
///
/// # Errors
/// A sentence fragment that names the path that was tried.
pub(super) fn read(path: &Path) -> Result<Vec<(String, String)>, String> {
    let shown = path.display();
    let text = fs::read(path).map_err(|problem| format!("{shown} cannot be read: {}", reason(&problem)))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let lines = dotenvy::from_read_iter(text);
    lines
        .map(|line| line.map_err(|problem| format!("{shown}: {}", line_problem(&problem))))
        .collect()
}

fn reason(problem: &std::io::Error) -> String {
    match problem.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => problem.to_string(),
    }
}

/// What is wrong with a line, without the line itself: it may hold a secret.
fn line_problem(problem: &dotenvy::Error) -> String {
    match problem {
        dotenvy::Error::LineParse(_, column) => format!("a line is not NAME=value (at its character {column})"),
        dotenvy::Error::Io(problem) => problem.to_string(),
        _ => "it is not a file of NAME=value lines".to_owned(),
    }
}
