//! Strings with fixture placeholders that only a session can fill. `${env:…}`, `${self}` and
//! `${manifest_dir}` are gone by now: they became literals when the plan was made.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};

/// A fixture that a string may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fixture {
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
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Text as it is.
    Literal(String),
    /// To be filled in.
    Fixture(Fixture),
}

/// A string to be filled per session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(Vec<Segment>);

impl fmt::Display for Fixture {
    /// As it is typed in a manifest.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Workspace => "${workspace}",
            Self::GitRepo => "${git_repo}",
            Self::Http => "${http}",
            Self::Browser => "${browser}",
            Self::Port => "${port}",
        })
    }
}

impl fmt::Display for Template {
    /// With the fixtures as they are typed, so that it reads the same in every session.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.0 {
            match segment {
                Segment::Literal(text) => formatter.write_str(text)?,
                Segment::Fixture(fixture) => write!(formatter, "{fixture}")?,
            }
        }
        Ok(())
    }
}

/// A JSON value whose strings are templates.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTemplate {
    /// Numbers, booleans and null.
    Plain(Value),
    /// A string.
    Text(Template),
    /// An array.
    Array(Vec<JsonTemplate>),
    /// An object, in order.
    Object(Vec<(String, JsonTemplate)>),
}

/// Which fixtures a row needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// `${workspace}`
    pub workspace: bool,
    /// `${git_repo}`
    pub git_repo: bool,
    /// `${http}`
    pub http: bool,
    /// `${browser}`
    pub browser: bool,
    /// `${port}`
    pub port: bool,
}

/// The fixtures of one session.
#[derive(Clone, Debug, Default)]
pub struct Fixtures {
    /// A fresh folder.
    pub workspace: Option<PathBuf>,
    /// A fresh repository.
    pub git_repo: Option<PathBuf>,
    /// The address of the page, with a slash at its end.
    pub http: Option<String>,
    /// A browser.
    pub browser: Option<PathBuf>,
    /// A free port.
    pub port: Option<u16>,
}

impl Template {
    /// A template of these pieces.
    pub fn new(segments: Vec<Segment>) -> Self {
        Self(segments)
    }

    /// A template without placeholders.
    pub fn literal(text: impl Into<String>) -> Self {
        Self(vec![Segment::Literal(text.into())])
    }

    /// Its pieces, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The text, if no session has to complete it.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Segment::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The text for one session. A fixture that was not laid out leaves nothing; `Needs` sees to it
    /// that those a row names are.
    pub fn fill(&self, fixtures: &Fixtures) -> String {
        let path = |path: &Option<PathBuf>| path.as_deref().map(|path| path.to_string_lossy().into_owned());
        self.0
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => text.clone(),
                Segment::Fixture(Fixture::Workspace) => path(&fixtures.workspace).unwrap_or_default(),
                Segment::Fixture(Fixture::GitRepo) => path(&fixtures.git_repo).unwrap_or_default(),
                Segment::Fixture(Fixture::Http) => fixtures.http.clone().unwrap_or_default(),
                Segment::Fixture(Fixture::Browser) => path(&fixtures.browser).unwrap_or_default(),
                Segment::Fixture(Fixture::Port) => fixtures.port.map(|port| port.to_string()).unwrap_or_default(),
            })
            .collect()
    }

    /// Adds the fixtures it names.
    pub fn add_needs(&self, needs: &mut Needs) {
        for segment in &self.0 {
            match segment {
                Segment::Literal(_) => {}
                Segment::Fixture(Fixture::Workspace) => needs.workspace = true,
                Segment::Fixture(Fixture::GitRepo) => needs.git_repo = true,
                Segment::Fixture(Fixture::Http) => needs.http = true,
                Segment::Fixture(Fixture::Browser) => needs.browser = true,
                Segment::Fixture(Fixture::Port) => needs.port = true,
            }
        }
    }
}

impl JsonTemplate {
    /// The value for one session.
    pub fn fill(&self, fixtures: &Fixtures) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Text(template) => Value::String(template.fill(fixtures)),
            Self::Array(items) => items.iter().map(|item| item.fill(fixtures)).collect(),
            Self::Object(entries) => {
                let filled = entries.iter().map(|(key, value)| (key.clone(), value.fill(fixtures)));
                Value::Object(filled.collect::<Map<_, _>>())
            }
        }
    }

    /// Adds the fixtures it names.
    pub fn add_needs(&self, needs: &mut Needs) {
        match self {
            Self::Plain(_) => {}
            Self::Text(template) => template.add_needs(needs),
            Self::Array(items) => items.iter().for_each(|item| item.add_needs(needs)),
            Self::Object(entries) => entries.iter().for_each(|(_, value)| value.add_needs(needs)),
        }
    }
}
