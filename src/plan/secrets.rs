//! Which values are secrets. Masking is by value and everywhere, so what is ordinary must be left out: a password
//! that is also the server's own name would make the report unreadable and hide nothing.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::finding::Code;
use crate::text::{Mask, is_public_variable, reads_like_secret};

use super::addresses::{self, UrlSecret};

/// Values that tell nothing, whatever they are called; compared in lower case.
const ORDINARY: &[&str] = &[
    "0.0.0.0",
    "127.0.0.1",
    "always",
    "application/json",
    "automatic",
    "bearer",
    "development",
    "default",
    "digest",
    "disabled",
    "enabled",
    "example",
    "failed",
    "info,warn",
    "installed",
    "localhost",
    "message",
    "minimal",
    "native",
    "no-cache",
    "nothing",
    "oauth2",
    "optional",
    "passed",
    "password",
    "prepare",
    "private",
    "production",
    "public",
    "python",
    "python3",
    "release",
    "reports",
    "required",
    "secret",
    "server",
    "session",
    "sessions",
    "severity",
    "skipped",
    "staging",
    "standard",
    "status",
    "stderr",
    "stdout",
    "strict",
    "string",
    "streamable-http",
    "testing",
    "text/event-stream",
    "text/plain",
    "timeout",
    "tools/call",
    "tools/list",
    "unknown",
    "utf-8",
    "verbose",
    "version",
    "warning",
    "arguments",
    "content",
    "initialize",
    "jsonrpc",
    "method",
    "params",
    "result",
    "format",
    "findings",
    "protocol",
    "runtime",
    "samples",
    "ecosystem",
    "launcher",
];

/// `Password=x;`, `API_KEY:x`, `Authorization: x`: a name, and a value up to the next separator.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?<name>[A-Za-z][\w-]*)\s*[=:]\s*(?<value>(?:(?:Bearer|Basic|Token)\s+)?[^\s;,&"']+)"#)
        .expect("the pattern is a constant")
});

/// Tokens that their issuers gave a shape: GitHub, GitLab, Slack, Stripe, model providers and the like, Notion, AWS, JWT.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        r"gh[pousr]_[A-Za-z0-9]{16,}",
        r"github_pat_\w{16,}",
        r"glpat-[\w-]{16,}",
        r"xox[abprs]-[\w-]{10,}",
        r"[sr]k_(?:live|test)_\w{8,}",
        r"sk-[\w-]{16,}",
        r"ntn_\w{12,}",
        r"AKIA[0-9A-Z]{16}",
        r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+",
    ];
    Regex::new(&format!(r"\b(?:{})", shapes.join("|"))).expect("the pattern is a constant")
});

/// The secrets of a plan, as they are found.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    values: BTreeSet<String>,
    /// Words that reports are made of: names of servers, runtimes, tools, packages.
    words: BTreeSet<String>,
}

impl Secrets {
    /// No secrets yet; `words` must stay readable in every report.
    pub(super) fn new(words: impl IntoIterator<Item = String>) -> Self {
        let codes = Code::ALL.iter().map(|code| code.name().to_owned());
        Self {
            values: BTreeSet::new(),
            words: words.into_iter().chain(codes).collect(),
        }
    }

    /// The value of a variable of our own environment or of an `env_file`.
    pub(super) fn variable(&mut self, name: &str, value: &str) {
        // A short number is only a secret under a telling name: masked, it would eat figures in the text.
        let short_number = value.len() < 8 && value.chars().all(|letter| letter.is_ascii_digit());
        if !is_public_variable(name) && (!short_number || reads_like_secret(name)) {
            self.add(value);
        }
        self.urls(value);
    }

    /// The value of a header.
    pub(super) fn header(&mut self, value: &str) {
        self.add(value);
    }

    /// A value under a name: a variable or a key of the manifest, which may tell that it is a secret.
    pub(super) fn named(&mut self, name: &str, value: &str) {
        if reads_like_secret(name) {
            self.add(value);
        }
        self.within(value);
    }

    /// What a text holds that is secret by itself: values under telling names in JSON, in `Name=value;` and
    /// `Name: value`, tokens of well-known shapes, and what addresses carry.
    fn within(&mut self, text: &str) {
        self.urls(text);
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
            self.call_arguments("", &value);
        } else {
            for found in PAIR.captures_iter(text) {
                if reads_like_secret(&found["name"]) {
                    self.add(&found["value"]);
                }
            }
        }
        self.values
            .extend(TOKEN.find_iter(text).map(|token| token.as_str().to_owned()));
    }

    /// The arguments of a command; None for those that only a session completes.
    pub(super) fn arguments(&mut self, arguments: &[Option<String>]) {
        let mut before: Option<&str> = None;
        for argument in arguments {
            let Some(argument) = argument.as_deref() else {
                before = None;
                continue;
            };
            if let Some(flag) = before.filter(|_| !argument.starts_with('-')) {
                self.flag_value(flag, argument);
            }
            match argument.split_once('=') {
                Some((name, value)) if is_name(name) => self.named(name, value),
                _ => self.within(argument),
            }
            before = (argument.starts_with('-') && !argument.contains('=')).then_some(argument);
        }
    }

    /// The arguments of a call. A bare `key` there is an ordinary word: of a memory, a map, a keyboard.
    pub(super) fn call_arguments(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => {
                if reads_like_secret(name) && !matches!(name.to_lowercase().as_str(), "key" | "keys" | "auth") {
                    self.add(text);
                }
                for secret in addresses::secrets(text) {
                    match secret {
                        UrlSecret::Password(value) => self.add(&value),
                        UrlSecret::Query { name, value } if reads_like_secret(&name) => self.add(&value),
                        UrlSecret::Query { .. } => {}
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.call_arguments(name, item)),
            Value::Object(entries) => entries.iter().for_each(|(key, item)| self.call_arguments(key, item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Passwords and query values of every address in a text.
    pub(super) fn urls(&mut self, text: &str) {
        for secret in addresses::secrets(text) {
            match secret {
                UrlSecret::Password(value) | UrlSecret::Query { value, .. } => self.add(&value),
            }
        }
    }

    /// The mask over all of them.
    pub(super) fn into_mask(self) -> Mask {
        let Self { values, words } = self;
        Mask::new(values.into_iter().filter(|value| !is_ordinary(value, &words)))
    }

    fn flag_value(&mut self, flag: &str, value: &str) {
        match flag {
            "-H" | "--header" => {
                if let Some((_, value)) = value.split_once(':') {
                    self.header(value);
                }
            }
            _ => self.named(flag.trim_start_matches('-'), value),
        }
    }

    /// Takes a value, and what of it may be printed alone: a line of a key file, the token after `Bearer`.
    fn add(&mut self, value: &str) {
        let value = value.trim();
        self.values.insert(value.to_owned());
        if value.contains(['\n', '\r']) {
            self.values.extend(value.lines().map(|line| line.trim().to_owned()));
        }
        if let Some((scheme, rest)) = value.split_once(' ')
            && ["bearer", "basic", "token", "apikey", "api-key"].contains(&scheme.to_lowercase().as_str())
        {
            self.values.insert(rest.trim().to_owned());
        }
    }
}

/// `--api-key`, `API_KEY`: what may stand before `=` in an argument.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

/// Whether masking the value would hide nothing but ordinary words.
fn is_ordinary(value: &str, words: &BTreeSet<String>) -> bool {
    ORDINARY.contains(&value.to_lowercase().as_str())
        || !value.chars().any(char::is_alphanumeric)
        || words.iter().any(|word| word.contains(value))
        || is_path(value)
}

/// A path that is there (or several, as in PATH): reports are full of them.
fn is_path(value: &str) -> bool {
    let parts: Vec<&Path> = value.split(':').map(Path::new).collect();
    parts.iter().all(|part| part.is_absolute()) && parts.iter().any(|part| part.exists())
}
