//! Notices messages that a server spreads over several lines (pretty-printed JSON, or a raw line
//! break inside a string). It only recognises them: other clients do not accept them either.

use serde_json::Value;

use super::message::classify;

/// More than any handshake takes; a longer one goes unrecognised and stays noise.
const MOST_BYTES: usize = 256 * 1024;

/// Lines that may belong to one message.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    lines: Vec<String>,
    bytes: usize,
}

impl Spread {
    /// Takes a line that is no message; true if it completes one that was spread over several.
    pub fn completes(&mut self, line: &str) -> bool {
        let text = line.trim_end();
        if self.lines.is_empty() && !text.trim_start().starts_with('{') {
            return false;
        }
        self.bytes += text.len();
        if self.bytes > MOST_BYTES {
            self.clear();
            return false;
        }
        self.lines.push(text.to_owned());
        let may_end = self.lines.len() > 1 && text.ends_with('}');
        let complete = may_end && (is_message(&self.lines.join("\n")) || is_message(&self.lines.join("\\n")));
        if complete {
            self.clear();
        }
        complete
    }

    /// Forgets what was collected; a proper message came.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.bytes = 0;
    }
}

fn is_message(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| classify(value, Vec::new()).is_ok())
}
