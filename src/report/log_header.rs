//! What a row's log opens with, written once the row is judged: how it came out and why, so that
//! nobody has to scroll.

use crate::finding::Severity;
use crate::record::RowRecord;
use crate::text::clean_for_terminal;

/// The lines of the header; none for a row of which there is nothing to say.
pub fn log_header(row: &RowRecord) -> Vec<String> {
    if row.findings.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("{}: {}", row.id, row.status.name())];
    for finding in &row.findings {
        let severity = match finding.severity {
            Severity::Fail => "fail",
            Severity::Warn => "warn",
            Severity::Note => "note",
        };
        lines.push(format!("{severity} {}: {}", finding.code, finding.message));
        lines.extend(finding.hint.iter().map(|hint| format!("    hint: {hint}")));
    }
    lines.iter().map(|line| clean_for_terminal(line).into_owned()).collect()
}
