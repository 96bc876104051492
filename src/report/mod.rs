//! Reports: a run record in, bytes out, one file per format. Nothing here reads a file, a clock or
//! the environment, and no verdict is made here: `judge` did that.

mod article;
mod csv;
mod diff;
mod headline;
mod history;
mod latex;
mod log_header;
mod main_table;
mod markdown;
#[cfg(test)]
mod sample;
mod sentences;
mod table;

pub use csv::{CsvTable, csv};
pub use diff::{Side, SideRow, diff};
pub use history::{of_row as history_of_row, overview as history_overview, rows_of};
pub use latex::latex;
pub use log_header::log_header;
pub use markdown::markdown;
pub use table::{record_line, terminal};
