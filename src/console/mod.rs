//! The only printer: the result on stdout, everything else on stderr. It decides on colour and width
//! and knows nothing of what it prints; texts come masked and cleaned.

mod progress;

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};

pub use progress::Progress;

/// What a result is set to where no terminal tells its width: a log viewer, a file.
const USUAL_WIDTH: usize = 120;

/// Writes a result to stdout, with a line end if it lacks one. A reader that went away (`| head`) is no error.
pub fn print_result(text: &str) -> io::Result<()> {
    write_all(&mut io::stdout().lock(), text)
}

/// Says something on stderr, with a line end if it lacks one. If nobody listens there is nobody to tell that.
pub fn say(text: &str) {
    drop(write_all(&mut io::stderr().lock(), text));
}

/// Says an error with its causes, once: `error: what: why`, further lines as they are.
pub fn say_error(error: &anyhow::Error) {
    say(&format!("error: {error:#}"));
}

/// Whether somebody is there to be asked.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a person: true for a yes, false for anything else.
pub fn ask(question: &str) -> bool {
    drop(write!(io::stderr().lock(), "{question} [y/N] "));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && is_yes(&answer)
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Whether the result on stdout may have colours: `NO_COLOR` forbids and `CLICOLOR_FORCE` asks for
/// them; else a terminal has them that is not `dumb`.
pub fn colour_choice() -> bool {
    colours(|name| env::var(name).ok(), io::stdout().is_terminal())
}

/// Whether messages on stderr may have colours, by the same rule.
pub fn colour_choice_for_messages() -> bool {
    colours(|name| env::var(name).ok(), io::stderr().is_terminal())
}

/// The width to set a result to: `COLUMNS`, else the terminal's, else 120.
pub fn terminal_width() -> usize {
    let given = env::var("COLUMNS").ok();
    // The table crate asks the system for the size of stdout's terminal, if it is one.
    width(given.as_deref(), || comfy_table::Table::new().width())
}

fn width(columns: Option<&str>, of_terminal: impl FnOnce() -> Option<u16>) -> usize {
    let given = columns.and_then(|columns| columns.trim().parse().ok());
    let width = given.or_else(|| of_terminal().map(usize::from));
    // Zero is what some terminals say that do not know.
    width.filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

/// `NO_COLOR` (no-color.org) wins over `CLICOLOR_FORCE` and `CLICOLOR` (bixense.com/clicolors). In CI
/// a terminal without a type is one all the same.
fn colours(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    if !is_terminal || set("CLICOLOR").is_some_and(|value| value == "0") {
        return false;
    }
    set("TERM").map_or_else(|| set("CI").is_some(), |term| term != "dumb")
}

/// Whether a live display makes sense: a terminal that can move its cursor, and nobody's build log.
fn can_show_progress(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    is_terminal && set("CI").is_none() && set("TERM").is_some_and(|term| term != "dumb")
}

fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(stream, "{text}{end}").and_then(|()| stream.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refusing(ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(self.0))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn environment(set: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| {
            set.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn a_broken_pipe_is_success_and_a_full_disk_is_not() {
        assert!(write_all(&mut Refusing(ErrorKind::BrokenPipe), "text").is_ok());
        assert!(write_all(&mut Refusing(ErrorKind::StorageFull), "text").is_err());
    }

    #[test]
    fn a_result_ends_with_one_line_end() {
        let mut written = Vec::new();
        write_all(&mut written, "one").expect("a vector takes all");
        write_all(&mut written, "two\n").expect("a vector takes all");
        assert_eq!(written, b"one\ntwo\n");
    }

    #[test]
    fn only_a_yes_is_one() {
        assert!(is_yes("y\n") && is_yes(" Yes "));
        assert!(!is_yes("\n") && !is_yes("n") && !is_yes("yo"));
    }

    #[test]
    fn colours_follow_the_environment() {
        let check =
            |set, is_terminal, expected| assert_eq!(colours(environment(set), is_terminal), expected, "{set:?}");
        check(&[("TERM", "xterm")], true, true);
        check(&[("TERM", "xterm")], false, false);
        check(&[("TERM", "dumb")], true, false);
        check(&[], true, false);
        check(&[("CI", "true")], true, true);
        check(&[("TERM", "xterm"), ("NO_COLOR", "1")], true, false);
        check(&[("TERM", "xterm"), ("NO_COLOR", "")], true, true);
        check(&[("CLICOLOR_FORCE", "1")], false, true);
        check(&[("CLICOLOR_FORCE", "0")], false, false);
        check(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true, false);
        check(&[("TERM", "xterm"), ("CLICOLOR", "0")], true, false);
    }

    #[test]
    fn progress_is_for_a_person_at_a_terminal() {
        let check = |set, is_terminal, expected| assert_eq!(can_show_progress(environment(set), is_terminal), expected);
        check(&[("TERM", "xterm")], true, true);
        check(&[("TERM", "xterm")], false, false);
        check(&[("TERM", "xterm"), ("CI", "true")], true, false);
        check(&[("TERM", "dumb")], true, false);
    }

    #[test]
    fn columns_win_over_the_terminal_and_nonsense_over_neither() {
        assert_eq!(width(Some("80"), || Some(200)), 80);
        assert_eq!(width(Some("wide"), || Some(200)), 200);
        assert_eq!(width(Some("0"), || None), 120);
        assert_eq!(width(None, || None), 120);
    }
}
