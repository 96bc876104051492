//! Placeholders and `~` of one row filled in, as far as they can be before a session. What cannot be filled in is
//! collected as a problem of the row; what came from the environment is remembered as a secret.

use std::path::Path;

use serde_json::Value;

use crate::manifest::{Piece, Text};

use super::secrets::Secrets;
use super::{Environment, Fixture, JsonTemplate, Problem, Segment, Template};

/// Fills in the strings of one row.
pub(super) struct Resolver<'plan> {
    pub(super) environment: &'plan Environment,
    pub(super) manifest_dir: &'plan Path,
    pub(super) secrets: &'plan mut Secrets,
    pub(super) problems: Vec<Problem>,
}

impl Resolver<'_> {
    /// A string that a session may have to complete.
    pub(super) fn template(&mut self, field: &str, text: &Text) -> Template {
        let mut segments: Vec<Segment> = Vec::new();
        for piece in text.pieces() {
            match self.piece(field, piece) {
                Segment::Literal(more) => match segments.last_mut() {
                    Some(Segment::Literal(text)) => text.push_str(&more),
                    Some(Segment::Fixture(_)) | None => segments.push(Segment::Literal(more)),
                },
                fixture @ Segment::Fixture(_) => segments.push(fixture),
            }
        }
        Template::new(segments)
    }

    /// A string at whose start `~` stands for the home folder.
    pub(super) fn path_template(&mut self, field: &str, text: &Text) -> Template {
        match self.without_tilde(field, text) {
            Some(text) => self.template(field, &text),
            None => self.template(field, text),
        }
    }

    /// A string that must be known before any session.
    pub(super) fn known(&mut self, field: &str, text: &Text) -> String {
        let mut known = String::new();
        for piece in text.pieces() {
            match self.piece(field, piece) {
                Segment::Literal(text) => known.push_str(&text),
                Segment::Fixture(_) => self.problem(
                    field,
                    format!("${{{}}} is only known once a session begins", piece.name()),
                ),
            }
        }
        known
    }

    /// The same for one that may be left out.
    pub(super) fn known_option(&mut self, field: &str, text: Option<&Text>) -> Option<String> {
        text.map(|text| self.known(field, text))
    }

    /// A path that must be known before any session; relative ones are taken from the manifest's folder.
    pub(super) fn known_path(&mut self, field: &str, text: &Text) -> std::path::PathBuf {
        let expanded = self.without_tilde(field, text);
        let path = self.known(field, expanded.as_ref().unwrap_or(text));
        self.manifest_dir.join(path)
    }

    /// A regular expression; what is filled in stands for itself.
    pub(super) fn pattern(&mut self, field: &str, text: &Text) -> String {
        let mut pattern = String::new();
        for piece in text.pieces() {
            match (piece, self.piece(field, piece)) {
                (Piece::Literal(_), Segment::Literal(text)) => pattern.push_str(&text),
                (_, Segment::Literal(text)) => pattern.push_str(&regex::escape(&text)),
                (_, Segment::Fixture(_)) => {
                    self.problem(field, format!("${{{}}} cannot stand in a pattern", piece.name()))
                }
            }
        }
        if let Err(problem) = regex::Regex::new(&pattern) {
            self.problem(field, format!("not a regular expression: {problem}"));
        }
        pattern
    }

    /// A JSON value whose strings may hold placeholders.
    pub(super) fn json(&mut self, field: &str, value: &Value) -> JsonTemplate {
        match value {
            Value::String(text) => match Text::parse(text) {
                Ok(text) => JsonTemplate::Text(self.template(field, &text)),
                // The manifest was checked; plain text is the best reading of what was not.
                Err(_) => JsonTemplate::Text(Template::literal(text.clone())),
            },
            Value::Array(items) => {
                let items = items.iter().enumerate();
                JsonTemplate::Array(
                    items
                        .map(|(index, item)| self.json(&format!("{field}[{index}]"), item))
                        .collect(),
                )
            }
            Value::Object(entries) => {
                let entries = entries.iter();
                let filled = entries.map(|(key, item)| (key.clone(), self.json(&format!("{field}.{key}"), item)));
                JsonTemplate::Object(filled.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => JsonTemplate::Plain(value.clone()),
        }
    }

    /// Notes what makes the row unusable, once.
    pub(super) fn problem(&mut self, field: &str, problem: String) {
        let problem = Problem {
            field: field.to_owned(),
            problem,
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn piece(&mut self, field: &str, piece: &Piece) -> Segment {
        match piece {
            Piece::Literal(text) => Segment::Literal(text.clone()),
            Piece::Workspace => Segment::Fixture(Fixture::Workspace),
            Piece::GitRepo => Segment::Fixture(Fixture::GitRepo),
            Piece::Http => Segment::Fixture(Fixture::Http),
            Piece::Browser => Segment::Fixture(Fixture::Browser),
            Piece::Port => Segment::Fixture(Fixture::Port),
            Piece::ManifestDir => Segment::Literal(self.manifest_dir.to_string_lossy().into_owned()),
            Piece::Itself => Segment::Literal(self.environment.executable.to_string_lossy().into_owned()),
            Piece::Env { name, default } => Segment::Literal(self.variable(field, name, default.as_deref())),
        }
    }

    fn variable(&mut self, field: &str, name: &str, default: Option<&str>) -> String {
        match (self.environment.variable(name), default) {
            // As in a shell, `:-` also stands in for an empty variable.
            (Some(""), Some(default)) | (None, Some(default)) => default.to_owned(),
            (Some(value), _) => {
                self.secrets.from_variable(name, value);
                value.to_owned()
            }
            (None, None) => {
                self.problem(field, format!("the environment variable {name} is not set"));
                String::new()
            }
        }
    }

    /// The text with `~` or `~/` at its start replaced; None if there is none.
    fn without_tilde(&mut self, field: &str, text: &Text) -> Option<Text> {
        let Some(Piece::Literal(first)) = text.pieces().first() else {
            return None;
        };
        let rest = first.strip_prefix('~')?;
        let alone = rest.is_empty() && text.pieces().len() == 1;
        if !alone && !rest.starts_with('/') {
            return None;
        }
        let Some(home) = self.environment.home() else {
            self.problem(field, "`~` stands for the home folder, but HOME is not set".to_owned());
            return None;
        };
        let first = Piece::Literal(format!("{}{rest}", home.trim_end_matches('/')));
        Some(
            std::iter::once(first)
                .chain(text.pieces()[1..].iter().cloned())
                .collect(),
        )
    }
}
