//! The record as JSON, `report.json`. Every format has its own structs (`v1.rs`), apart from the core
//! types, so that these can change without an earlier run becoming unreadable.
//!
//! Reading: the format is looked at first, and a newer one is refused with an error of its own, which a
//! run treats as "no earlier record". Within a format keys may be added; so, other than on inputs that
//! people write, unknown keys are not refused here: an older build can read what a newer one wrote.

mod from;
mod to;
mod v1;

#[cfg(test)]
mod tests;

use super::RunRecord;

pub(crate) use to::in_milliseconds;

/// The format that this build writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// Why a text is no record.
#[derive(Debug, thiserror::Error)]
pub enum RecordProblem {
    /// It was written by a newer build.
    #[error("the record has format {found}, newer than format {FORMAT}, which this build reads")]
    NewerFormat {
        /// The format it names.
        found: u64,
    },
    /// It is JSON, but names no format.
    #[error("this is no record: it has no `format`")]
    NoFormat,
    /// It is no JSON, or not in the shape of its format.
    #[error("the record cannot be read")]
    Malformed(#[from] serde_json::Error),
    /// A value is none of those that the format knows.
    #[error("the record cannot be read: {key} is {value:?}")]
    UnknownWord {
        /// The key it stands under.
        key: &'static str,
        /// What stands there.
        value: String,
    },
}

/// The record in the newest format, over many lines, with a line end at its end.
#[expect(clippy::missing_panics_doc, reason = "it cannot panic")]
pub fn to_json(record: &RunRecord) -> String {
    let mut text =
        serde_json::to_string_pretty(&to::run(record)).expect("structs of strings and numbers always are JSON");
    text.push('\n');
    text
}

/// Reads a record of any format up to [`FORMAT`].
///
/// A record holds less than a run knew: observations, handshakes and tools of single sessions, and the
/// texts of descriptions are not in it.
pub fn from_json(text: &str) -> Result<RunRecord, RecordProblem> {
    let head: v1::Head = serde_json::from_str(text)?;
    match head.format {
        None => Err(RecordProblem::NoFormat),
        Some(found) if found > u64::from(FORMAT) => Err(RecordProblem::NewerFormat { found }),
        Some(_) => from::run(serde_json::from_str(text)?),
    }
}
