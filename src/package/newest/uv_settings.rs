//! What the user told uv about indexes and about time: its variables, then its own files. Projects' files do
//! not count, since packages go into folders of our own.

use std::fs;
use std::path::PathBuf;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};
use toml::Value;

use crate::package::Environment;

use super::offer::Until;

/// What uv was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UvSettings {
    /// Instead of the public index.
    pub(super) index: Option<String>,
    /// Besides it.
    pub(super) further: Vec<String>,
    /// `exclude-newer`, as typed.
    pub(super) exclude_newer: Option<String>,
}

impl UvSettings {
    /// Variables go before files, the user's file before the system's.
    pub(super) fn read(environment: &Environment) -> Self {
        let variable = |name: &str| Some(environment.value(name)?.to_str()?.to_owned());
        let mut settings = Self {
            index: variable("UV_DEFAULT_INDEX").or_else(|| variable("UV_INDEX_URL")),
            further: ["UV_INDEX", "UV_EXTRA_INDEX_URL"]
                .iter()
                .filter_map(|name| variable(name))
                .flat_map(|value| value.split_whitespace().map(unnamed).collect::<Vec<_>>())
                .collect(),
            exclude_newer: variable("UV_EXCLUDE_NEWER"),
        };
        settings.index = settings.index.as_deref().map(unnamed);
        for file in files(environment) {
            let text = fs::read_to_string(file).unwrap_or_default();
            if let Ok(table) = text.parse::<toml::Table>() {
                settings.complete(&table);
            }
        }
        settings
    }

    /// The operator's end of time; none if there is none, or nobody can read it.
    pub(super) fn until(&self, now: Timestamp) -> Option<Until> {
        let value = self.exclude_newer.as_deref()?;
        Some(Until {
            setting: "exclude-newer",
            value: value.to_owned(),
            moment: moment(value, now)?,
        })
    }

    fn complete(&mut self, table: &toml::Table) {
        let table = table.get("pip").and_then(Value::as_table).into_iter().chain([table]);
        for table in table {
            let text = |key: &str| Some(table.get(key)?.as_str()?.to_owned());
            self.exclude_newer = self.exclude_newer.take().or_else(|| match table.get("exclude-newer")? {
                Value::Datetime(moment) => Some(moment.to_string()),
                value => Some(value.as_str()?.to_owned()),
            });
            let indexes = table.get("index").and_then(Value::as_array);
            for index in indexes.into_iter().flatten().filter_map(Value::as_table) {
                let url = index.get("url").and_then(Value::as_str).map(str::to_owned);
                if index.get("default").and_then(Value::as_bool) == Some(true) {
                    self.index = self.index.take().or(url);
                } else {
                    self.further.extend(url);
                }
            }
            self.index = self.index.take().or_else(|| text("index-url"));
        }
    }
}

/// `name=https://…` without its name.
fn unnamed(index: &str) -> String {
    match index.split_once('=') {
        Some((name, url)) if !name.contains(['/', ':']) => url.to_owned(),
        Some(_) | None => index.to_owned(),
    }
}

fn files(environment: &Environment) -> Vec<PathBuf> {
    if environment.value("UV_NO_CONFIG").is_some() {
        return Vec::new();
    }
    if let Some(file) = environment.value("UV_CONFIG_FILE") {
        return vec![PathBuf::from(file)];
    }
    let users = environment
        .folder("XDG_CONFIG_HOME")
        .or_else(|| Some(environment.home()?.join(".config")));
    let users = users.map(|folder| folder.join("uv/uv.toml"));
    users.into_iter().chain([PathBuf::from("/etc/uv/uv.toml")]).collect()
}

/// A moment, a day (which is in to its end, where the machine is), or a span back from now: `30 days`, `P30D`.
fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    if let Ok(day) = text.parse::<Date>() {
        let next = day.checked_add(1.day()).ok()?;
        return Some(next.to_zoned_datetime(TimeZone::system()).ok()?.timestamp());
    }
    let span: Span = text.trim_end_matches(" ago").parse().ok()?;
    let now = now.to_zoned_datetime(TimeZone::UTC);
    Some(now.checked_sub(span.abs()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn variables_go_before_the_users_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uv/uv.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = "exclude-newer = \"2026-01-01T00:00:00Z\"\n[[index]]\nurl = \"https://one.example/simple\"\ndefault = true\n[[index]]\nurl = \"https://two.example/simple\"\n";
        fs::write(file, text).unwrap();
        let environment = Environment::default().with("XDG_CONFIG_HOME", folder.path());
        let settings = UvSettings::read(&environment);
        assert_eq!(settings.index.as_deref(), Some("https://one.example/simple"));
        assert_eq!(settings.further, ["https://two.example/simple"]);
        let until = settings.until(now()).unwrap();
        assert_eq!(until.moment.to_string(), "2026-01-01T00:00:00Z");
        let environment = environment
            .with("UV_DEFAULT_INDEX", "mine=https://three.example/simple")
            .with("UV_EXCLUDE_NEWER", "30 days");
        let settings = UvSettings::read(&environment);
        assert_eq!(settings.index.as_deref(), Some("https://three.example/simple"));
        assert_eq!(
            settings.until(now()).unwrap().moment.to_string(),
            "2026-10-31T12:00:00Z"
        );
    }

    #[test]
    fn what_is_no_time_is_no_end_of_time() {
        let settings = |value: &str| UvSettings {
            exclude_newer: Some(value.to_owned()),
            ..UvSettings::default()
        };
        assert_eq!(settings("soon").until(now()), None);
        assert_eq!(
            settings("P7D").until(now()).unwrap().moment.to_string(),
            "2026-11-23T12:00:00Z"
        );
        let day = settings("2026-11-01").until(now()).unwrap().moment;
        assert!(day > "2026-11-01T00:00:00Z".parse().unwrap() && day < "2026-11-04T00:00:00Z".parse().unwrap());
    }
}
