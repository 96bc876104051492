//! Strings with placeholders. Only `${` starts one, so `$USER` and `$5` are plain text; `$${` is a literal `${`.

use std::fmt;

use serde::Deserialize;

/// All that may stand in `${}`, as messages show it.
pub const KNOWN_PLACEHOLDERS: [&str; 9] = [
    "workspace",
    "git_repo",
    "http",
    "manifest_dir",
    "self",
    "browser",
    "port",
    "env:NAME",
    "env:NAME:-default",
];

/// A string whose placeholders are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Text(Vec<Piece>);

/// A piece of such a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is.
    Literal(String),
    /// `${workspace}`
    Workspace,
    /// `${git_repo}`
    GitRepo,
    /// `${http}`
    Http,
    /// `${browser}`
    Browser,
    /// `${port}`
    Port,
    /// `${manifest_dir}`
    ManifestDir,
    /// `${self}`
    Itself,
    /// `${env:NAME}` or `${env:NAME:-default}`
    Env {
        /// The variable.
        name: String,
        /// What stands in if it is unset or empty.
        default: Option<String>,
    },
}

/// What is wrong with a placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextProblem {
    /// Nothing of that name; with its text between the braces.
    Unknown(String),
    /// `${env:…}` whose name no variable can have; with that name.
    VariableName(String),
    /// A `${` without `}`; what follows it.
    Unclosed(String),
}

impl Text {
    /// Reads a string.
    ///
    /// # Errors
    /// Every placeholder in it that is not known.
    pub fn parse(text: &str) -> Result<Self, Vec<TextProblem>> {
        let (mut pieces, mut problems, mut literal, mut rest) = (Vec::new(), Vec::new(), String::new(), text);
        while let Some(start) = rest.find("${") {
            if rest[..start].ends_with('$') {
                literal.push_str(&rest[..start - 1]);
                literal.push_str("${");
                rest = &rest[start + 2..];
                continue;
            }
            literal.push_str(&rest[..start]);
            let Some(length) = rest[start..].find('}') else {
                problems.push(TextProblem::Unclosed(rest[start + 2..].to_owned()));
                rest = "";
                break;
            };
            match placeholder(&rest[start + 2..start + length]) {
                Ok(piece) => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(piece);
                }
                Err(problem) => problems.push(problem),
            }
            rest = &rest[start + length + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        if problems.is_empty() {
            Ok(Self(pieces))
        } else {
            Err(problems)
        }
    }

    /// Its pieces, in order; no two literals stand side by side.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The text, if it has no placeholder.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

impl Piece {
    /// Whether only a session can fill it in.
    pub fn is_fixture(&self) -> bool {
        match self {
            Self::Workspace | Self::GitRepo | Self::Http | Self::Browser | Self::Port => true,
            Self::Literal(_) | Self::ManifestDir | Self::Itself | Self::Env { .. } => false,
        }
    }

    /// Its name between the braces, for messages.
    pub fn name(&self) -> &str {
        match self {
            Self::Literal(text) => text,
            Self::Workspace => "workspace",
            Self::GitRepo => "git_repo",
            Self::Http => "http",
            Self::Browser => "browser",
            Self::Port => "port",
            Self::ManifestDir => "manifest_dir",
            Self::Itself => "self",
            Self::Env { name, .. } => name,
        }
    }
}

fn placeholder(inside: &str) -> Result<Piece, TextProblem> {
    if let Some(variable) = inside.strip_prefix("env:") {
        let (name, default) = match variable.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (variable, None),
        };
        if !is_variable_name(name) {
            return Err(TextProblem::VariableName(name.to_owned()));
        }
        return Ok(Piece::Env {
            name: name.to_owned(),
            default,
        });
    }
    match inside {
        "workspace" => Ok(Piece::Workspace),
        "git_repo" => Ok(Piece::GitRepo),
        "http" => Ok(Piece::Http),
        "browser" => Ok(Piece::Browser),
        "port" => Ok(Piece::Port),
        "manifest_dir" => Ok(Piece::ManifestDir),
        "self" => Ok(Piece::Itself),
        _ => Err(TextProblem::Unknown(inside.to_owned())),
    }
}

/// Whether an environment variable can be named so.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl FromIterator<Piece> for Text {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        Self(pieces.into_iter().collect())
    }
}

impl TryFrom<String> for Text {
    type Error = TextProblem;

    fn try_from(text: String) -> Result<Self, TextProblem> {
        Self::parse(&text).map_err(|mut problems| problems.swap_remove(0))
    }
}

impl fmt::Display for TextProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(inside) => write!(formatter, "unknown placeholder `${{{}}}`", inside.escape_debug()),
            Self::VariableName(name) => {
                write!(
                    formatter,
                    "`{}` cannot be the name of an environment variable",
                    name.escape_debug()
                )
            }
            Self::Unclosed(_) => formatter.write_str("a `${` is not closed by `}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.to_owned())
    }

    #[test]
    fn only_a_dollar_with_a_brace_starts_a_placeholder() {
        for plain in [
            "$USER",
            "price $5",
            "a}b{c",
            "$",
            "$$",
            "mysql://$USER@localhost",
            "{workspace}",
        ] {
            assert_eq!(Text::parse(plain).expect(plain).as_literal(), Some(plain));
        }
        assert_eq!(
            Text::parse("$${x} and $${").expect("escaped").as_literal(),
            Some("${x} and ${")
        );
    }

    #[test]
    fn placeholders_are_read_with_their_defaults() {
        let text = Text::parse("${workspace}/a/${env:X:-https://x:1}${env:Y}").expect("known");
        let variable = |name: &str, default: Option<&str>| Piece::Env {
            name: name.to_owned(),
            default: default.map(str::to_owned),
        };
        assert_eq!(
            text.pieces(),
            [
                Piece::Workspace,
                literal("/a/"),
                variable("X", Some("https://x:1")),
                variable("Y", None)
            ]
        );
    }

    #[test]
    fn every_wrong_placeholder_of_a_string_is_told() {
        let problems = Text::parse("${nope} ${env:} ${env:1A} ${").expect_err("four mistakes");
        assert_eq!(
            problems,
            [
                TextProblem::Unknown("nope".into()),
                TextProblem::VariableName(String::new()),
                TextProblem::VariableName("1A".into()),
                TextProblem::Unclosed(String::new()),
            ]
        );
    }

    proptest! {
        #[test]
        fn text_without_a_dollar_stays_as_it_is(text in "[^$]*") {
            let parsed = Text::parse(&text).expect("no placeholder");
            prop_assert_eq!(parsed.as_literal(), Some(text.as_str()));
        }

        #[test]
        fn no_text_makes_it_panic(text in r"[${}a:\-é]*") {
            let _ = Text::parse(&text);
        }
    }
}
