//! The little of a shell's grammar that launch commands use: `-c`, several commands in a line, `exec`, `A=B`.
//!
//! Pure text. Nothing is expanded: a word with a variable in it stays as it is and will not be found.

/// One simple command of a shell line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// `A=B` in front of it.
    pub(super) assignments: Vec<(String, String)>,
    /// The program and its arguments, without `exec`.
    pub(super) words: Vec<String>,
}

/// The text after `-c`, also where it is one of several letters (`-lc`).
pub(super) fn command_text(args: &[String]) -> Option<&str> {
    let mut rest = args;
    while let Some((option, after)) = rest.split_first() {
        let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        if letters.is_some_and(|letters| letters.contains('c')) {
            return after.iter().find(|word| !word.starts_with('-')).map(String::as_str);
        }
        rest = match option.as_str() {
            "-o" | "-O" | "+o" | "+O" => after.get(1..).unwrap_or_default(),
            long if long.starts_with('-') => after,
            _ => return None,
        };
    }
    None
}

/// The simple commands of a line, split where a shell would; unreadable quoting gives none.
pub(super) fn commands(text: &str) -> Vec<SimpleCommand> {
    let Some(all) = pieces(text)
        .iter()
        .map(|piece| shlex::split(piece))
        .collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    all.into_iter().filter(|words| !words.is_empty()).map(simple).collect()
}

/// `NAME=VALUE` as a pair.
pub(super) fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let reads_well = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    (starts_well && reads_well).then(|| (name.to_owned(), value.to_owned()))
}

fn simple(words: Vec<String>) -> SimpleCommand {
    let mut command = SimpleCommand {
        assignments: Vec::new(),
        words: Vec::new(),
    };
    for word in words {
        let at_start = command.words.is_empty();
        match assignment(&word) {
            Some(pair) if at_start => command.assignments.push(pair),
            _ if at_start && word == "exec" => {}
            _ => command.words.push(word),
        }
    }
    command
}

/// Cuts at `;`, `&`, `|` and line ends outside quotes; the `&` of a redirection (`2>&1`, `&>`) is no cut.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote = None;
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let redirection = letter == '&' && (before == '>' || letters.peek() == Some(&'>'));
        let cuts = quote.is_none() && matches!(letter, ';' | '&' | '|' | '\n') && !redirection;
        if cuts {
            pieces.push(String::new());
            before = letter;
            continue;
        }
        let piece = pieces.last_mut().expect("there is one piece from the start");
        piece.push(letter);
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None | Some('"'), '\\') => piece.extend(letters.next()),
            _ => {}
        }
        before = letter;
    }
    pieces
}
