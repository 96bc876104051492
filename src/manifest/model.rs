//! The manifest as typed: every key of it and nothing else. What is left out stays `None`; `plan` resolves it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::finding::{Code, SeverityChoice};

use super::duration;
use super::placeholder::Text;

/// A manifest without mistakes, as typed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// SHA-256 of the text as given, hex.
    #[serde(skip)]
    pub sha256: String,
    /// `[defaults]`.
    #[serde(default)]
    pub defaults: Defaults,
    /// `[runtimes.NAME]`, in their order.
    #[serde(default, deserialize_with = "in_order")]
    pub runtimes: Vec<(String, Runtime)>,
    /// `[servers.NAME]`, in their order.
    #[serde(deserialize_with = "in_order")]
    pub servers: Vec<(String, Server)>,
    /// `[severity]`.
    #[serde(default)]
    pub severity: BTreeMap<Code, SeverityChoice>,
    /// `[[requires]]`.
    #[serde(default)]
    pub requires: Vec<Requires>,
}

/// `[defaults]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the keys are described by the schema")]
pub struct Defaults {
    pub calls: Option<u32>,
    pub warmup: Option<u32>,
    pub repeats: Option<u32>,
    pub cold_starts: Option<u32>,
    #[serde(deserialize_with = "duration::optional")]
    pub startup_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration::optional")]
    pub list_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration::optional")]
    pub call_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration::optional")]
    pub shutdown_grace: Option<Duration>,
    #[serde(deserialize_with = "duration::optional")]
    pub row_timeout: Option<Duration>,
    pub protocol: Option<String>,
    pub inherit_env: Option<InheritEnv>,
    pub jobs: Option<u32>,
    pub keep_runs: Option<u32>,
}

/// `inherit_env`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InheritEnv {
    /// The six variables that the official SDK clients pass.
    Minimal,
    /// Everything.
    All,
}

/// `[runtimes.NAME]`; exactly one of them is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// An npm range of Node.js versions.
    node: Option<String>,
    /// A PEP 440 range of Python versions.
    python: Option<String>,
}

/// What a runtime of the manifest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeLanguage {
    /// Node.js.
    Node,
    /// Python.
    Python,
}

impl Runtime {
    /// What it is, and the range as typed.
    pub fn language_and_range(&self) -> (RuntimeLanguage, &str) {
        match (&self.node, &self.python) {
            (Some(range), _) => (RuntimeLanguage::Node, range),
            (None, Some(range)) => (RuntimeLanguage::Python, range),
            // The schema asks for one of them.
            (None, None) => (RuntimeLanguage::Node, "*"),
        }
    }
}

/// `[servers.NAME]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are described by the schema")]
pub struct Server {
    /// The line of its header, 1-based.
    #[serde(skip)]
    pub line: usize,
    pub title: Option<Text>,
    #[serde(default, deserialize_with = "one_or_more")]
    pub package: Vec<Text>,
    #[serde(default)]
    pub runtimes: Vec<String>,
    pub command: Option<Text>,
    #[serde(default)]
    pub args: Vec<Text>,
    #[serde(default, deserialize_with = "in_order")]
    pub env: Vec<(String, Text)>,
    #[serde(default)]
    pub env_pass: Vec<String>,
    pub env_file: Option<Text>,
    pub cwd: Option<Text>,
    pub url: Option<Text>,
    #[serde(default, deserialize_with = "in_order")]
    pub headers: Vec<(String, Text)>,
    pub transport: Option<Transport>,
    #[serde(default = "yes")]
    pub enabled: bool,
    #[serde(default)]
    pub tags: Vec<String>,
    pub group: Option<Text>,
    #[serde(default)]
    pub requires: Vec<String>,
    pub requires_host: Option<Text>,
    #[serde(default)]
    pub expect: Expect,
    #[serde(default)]
    pub expect_on: BTreeMap<String, Expect>,
    #[serde(default)]
    pub probes: Vec<Probe>,
    #[serde(default)]
    pub severity: BTreeMap<Code, SeverityChoice>,
    pub concurrency: Option<u32>,
    pub retries: Option<u32>,
    pub calls: Option<u32>,
    pub warmup: Option<u32>,
    pub repeats: Option<u32>,
    pub cold_starts: Option<u32>,
    #[serde(default, deserialize_with = "duration::optional")]
    pub startup_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "duration::optional")]
    pub list_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "duration::optional")]
    pub call_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "duration::optional")]
    pub shutdown_grace: Option<Duration>,
    #[serde(default, deserialize_with = "duration::optional")]
    pub row_timeout: Option<Duration>,
    pub protocol: Option<String>,
    pub inherit_env: Option<InheritEnv>,
}

/// `transport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, the older one.
    Sse,
}

/// `[servers.NAME.expect]` and `[servers.NAME.expect_on.RUNTIME]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are described by the schema")]
pub struct Expect {
    pub name: Option<Text>,
    pub version: Option<Text>,
    pub package_version: Option<Text>,
    pub tools: Option<Vec<Text>>,
    pub tool_count: Option<u32>,
}

/// `[[servers.NAME.probes]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are described by the schema")]
pub struct Probe {
    pub name: Option<Text>,
    pub tool: Text,
    #[serde(default)]
    pub arguments: Map<String, Value>,
    pub calls: Option<u32>,
    pub warmup: Option<u32>,
    #[serde(default, deserialize_with = "duration::optional")]
    pub timeout: Option<Duration>,
    #[serde(default)]
    pub expect: ProbeExpect,
}

/// `expect` of a probe.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are described by the schema")]
pub struct ProbeExpect {
    pub text: Option<Text>,
    pub not_text: Option<Text>,
    pub matches: Option<Text>,
    pub error: Option<Text>,
    pub structured: Option<Value>,
}

/// `[[requires]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are described by the schema")]
pub struct Requires {
    pub program: String,
    #[serde(default)]
    pub any_of: Vec<String>,
    pub hint: Option<String>,
    #[serde(default)]
    pub install: Vec<Vec<String>>,
}

fn yes() -> bool {
    true
}

/// A string or a list of strings.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    let value = match Value::deserialize(deserializer)? {
        Value::Array(items) => Value::Array(items),
        single => Value::Array(vec![single]),
    };
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

/// A table as a list, in the order of the text.
fn in_order<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<(String, T)>, D::Error> {
    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a table")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(Entries(PhantomData))
}
