//! Asks npm what its registry offers: `npm view`, so that the user's registries, proxies, certificates and
//! passwords hold.

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::package::Npm;

use super::offer::{Offer, Release, Until};
use super::{Answer, Silence};

/// A package with thousands of releases fills a few megabytes.
const LONGEST_ANSWER: usize = 32 * 1024 * 1024;
const HOURS_OF_A_DAY: f64 = 24.0;

/// One retry, soon: the whole question has its own limit.
const ARGUMENTS: &[&str] = &[
    "--json",
    "--loglevel=error",
    "--no-update-notifier",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=500",
    "--fetch-retry-maxtimeout=1000",
];

/// Where npm is asked.
struct Place<'question> {
    npm: &'question Npm,
    folder: &'question Path,
    /// A cache of this question alone.
    cache: String,
    cancel: &'question CancellationToken,
}

/// Everything the registry offers of that package, in one question where that will do. Pre-releases come with their engines only where they
/// satisfy one of `wanted`, or where a tag names them, and moments of publishing only if `dated`.
pub(super) async fn ask(
    npm: &Npm,
    name: &str,
    wanted: &[String],
    dated: bool,
    folder: &Path,
    cancel: &CancellationToken,
) -> Result<Answer, Silence> {
    // With its own cache at hand npm answers for a registry that is away, and does not say that it is old.
    let cache = tempfile::tempdir().map_err(|error| Silence::of(format!("cannot make a folder for npm: {error}")))?;
    let place = Place {
        npm,
        folder,
        cache: cache.path().to_string_lossy().into_owned(),
        cancel,
    };
    let fields = ["dist-tags", "name", "version", "engines", "deprecated"];
    let stable = place.view(&format!("{name}@>=0.0.0"), &fields).await?;
    if let Some(offer) = stable.as_ref().and_then(|stable| whole_offer(stable, wanted, dated)) {
        return Ok(Answer::Offer(offer));
    }
    let whole = place.view(name, &["dist-tags", "versions", "time"]).await?;
    let Some(whole) = whole else {
        return Ok(Answer::Unknown);
    };
    if whole.is_null() {
        return Err(Silence::of("the answer says nothing of the package"));
    }
    let spec = format!("{name}@{}", spec_of(&whole, wanted));
    let fields = ["name", "version", "engines", "deprecated"];
    let Some(releases) = place.view(&spec, &fields).await? else {
        return Ok(Answer::Unknown);
    };
    Ok(Answer::Offer(offer(&whole, &releases)))
}

/// The operator's `before` or `min-release-age`; none if npm does not tell.
pub(super) async fn until(npm: &Npm, folder: &Path, now: Timestamp, cancel: &CancellationToken) -> Option<Until> {
    let errand = npm.ask(&["config", "get", "before", "min-release-age"], folder);
    let output = errand.answer(LONGEST_ANSWER, cancel).await.ok()?;
    read_until(&output, now)
}

impl Place<'_> {
    /// `npm view`; none where the registry has no such package, null where it answers without a word of it.
    async fn view(&self, spec: &str, fields: &[&str]) -> Result<Option<Value>, Silence> {
        let words = ["view", spec].into_iter().chain(fields.iter().copied());
        let settings = ["--cache", self.cache.as_str()]
            .into_iter()
            .chain(ARGUMENTS.iter().copied());
        let arguments: Vec<&str> = words.chain(settings).collect();
        let errand = self.npm.ask(&arguments, self.folder);
        match errand.answer(LONGEST_ANSWER, self.cancel).await {
            Ok(output) if output.trim().is_empty() => Ok(Some(Value::Null)),
            Ok(output) => {
                let value = serde_json::from_str(&output);
                let value = value.map_err(|error| Silence::of(format!("npm's answer is no JSON: {error}")))?;
                Ok(Some(value))
            }
            Err(trouble) => {
                let silence = Silence::from(trouble);
                // The registry did answer: it has no such package.
                if silence.says("E404") { Ok(None) } else { Err(silence) }
            }
        }
    }
}

/// The offer, if the releases proper are all that matters of it.
fn whole_offer(stable: &Value, wanted: &[String], dated: bool) -> Option<Offer> {
    let first = stable.as_array().map_or(Some(stable), |several| several.first())?;
    let offer = offer(first, stable);
    let are_there = offer.tags.values().all(|version| offer.release(version).is_some());
    let may_be_early = wanted.iter().any(|wanted| wanted.contains('-'));
    (!dated && !offer.tags.is_empty() && are_there && !may_be_early).then_some(offer)
}

/// Every release proper, and the pre-releases that matter. A bare `*` would be taken for the tag `latest`.
fn spec_of(whole: &Value, wanted: &[String]) -> String {
    let tags = whole.get("dist-tags").and_then(Value::as_object);
    let tagged: Vec<&str> = tags
        .iter()
        .flat_map(|tags| tags.values())
        .filter_map(Value::as_str)
        .collect();
    let versions = texts(whole.get("versions"));
    let ranges: Vec<_> = wanted
        .iter()
        .filter_map(|wanted| crate::version::Requirement::npm(wanted).ok())
        .filter(|range| !range.is_any())
        .collect();
    let matters = |version: &&str| {
        version.contains('-') && (tagged.contains(version) || ranges.iter().any(|range| range.matches(version)))
    };
    let parts = std::iter::once(">=0.0.0").chain(versions.iter().copied().filter(matters));
    parts.collect::<Vec<_>>().join(" || ")
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        // npm unwraps what holds one thing only.
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    }
}

fn offer(whole: &Value, releases: &Value) -> Offer {
    let tags = whole.get("dist-tags").and_then(Value::as_object);
    let tags = tags
        .into_iter()
        .flatten()
        .filter_map(|(tag, version)| Some((tag.clone(), version.as_str()?.to_owned())));
    let releases = match releases {
        Value::Array(several) => several.iter().collect(),
        one => vec![one],
    };
    Offer {
        tags: tags.collect(),
        releases: releases
            .into_iter()
            .filter_map(|value| release(value, whole.get("time")))
            .collect(),
    }
}

fn release(value: &Value, times: Option<&Value>) -> Option<Release> {
    let version = value.get("version")?.as_str()?.to_owned();
    // Old packages have a list of texts there, which npm does not heed either.
    let engine = |name: &str| Some(value.get("engines")?.get(name)?.as_str()?.to_owned());
    let deprecated = match value.get("deprecated") {
        Some(Value::String(reason)) if !reason.is_empty() => Some(reason.clone()),
        Some(Value::Bool(true)) => Some("no reason is given".to_owned()),
        Some(_) | None => None,
    };
    let published = times.and_then(|times| times.get(&version)?.as_str()?.parse().ok());
    Some(Release {
        requires: engine("node"),
        requires_npm: engine("npm"),
        deprecated,
        yanked: false,
        published,
        version,
    })
}

fn read_until(output: &str, now: Timestamp) -> Option<Until> {
    let value = |key: &str| {
        let mut lines = output.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?.trim();
        (!matches!(value, "" | "null" | "undefined")).then_some(value)
    };
    if let Some(before) = value("before") {
        return Some(Until {
            setting: "before",
            value: before.to_owned(),
            moment: moment(before)?,
        });
    }
    let days = value("min-release-age")?;
    let hours = days.parse::<f64>().ok().filter(|days| *days > 0.0)? * HOURS_OF_A_DAY;
    Some(Until {
        setting: "min-release-age",
        value: format!("{days} days"),
        moment: now
            .checked_sub(jiff::SignedDuration::try_from_secs_f64(hours * 3600.0).ok()?)
            .ok()?,
    })
}

/// A moment as npm prints it, or a date, or the long form of JavaScript's dates.
fn moment(text: &str) -> Option<Timestamp> {
    let date = || {
        Some(
            text.parse::<Date>()
                .ok()?
                .to_zoned_datetime(TimeZone::UTC)
                .ok()?
                .timestamp(),
        )
    };
    let long = || {
        let text = text.split(" (").next().unwrap_or(text).replace("GMT", "");
        let zoned = jiff::fmt::strtime::parse("%a %b %d %Y %H:%M:%S %z", &text).ok()?;
        zoned.to_timestamp().ok()
    };
    text.parse().ok().or_else(date).or_else(long)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn every_release_is_asked_for_and_of_the_pre_releases_those_that_matter() {
        let whole = json!({
            "dist-tags": { "latest": "1.4.0", "next": "2.0.0-rc.2" },
            "versions": ["1.4.0", "1.9.0-beta.1", "2.0.0-rc.2", "3.0.0-alpha.1"],
        });
        assert_eq!(spec_of(&whole, &["*".into()]), ">=0.0.0 || 2.0.0-rc.2");
        let both = [">=1.9.0-beta.1".into(), "next".into()];
        assert_eq!(spec_of(&whole, &both), ">=0.0.0 || 1.9.0-beta.1 || 2.0.0-rc.2");
        assert_eq!(
            spec_of(&json!({ "versions": "1.0.0-0" }), &["^1.0.0-0".into()]),
            ">=0.0.0 || 1.0.0-0"
        );
    }

    #[test]
    fn releases_are_read_as_npm_prints_them_several_or_one() {
        let whole = json!({
            "dist-tags": { "latest": "2.0.0" },
            "time": { "2.0.0": "2026-08-28T10:00:39.188Z" },
        });
        let two = json!({ "name": "x", "version": "2.0.0", "engines": { "node": ">=22", "npm": ">=10" }, "deprecated": "bad" });
        let old = json!({ "name": "x", "version": "0.1.0", "engines": ["node >= 0.6"], "deprecated": false });
        let read = offer(&whole, &json!([old, two]));
        assert_eq!(read.tags["latest"], "2.0.0");
        assert_eq!(read.releases.len(), 2);
        assert_eq!(read.releases[0].requires, None);
        assert_eq!(read.releases[0].deprecated, None);
        let newest = read.release("2.0.0").unwrap();
        assert_eq!(newest.requires.as_deref(), Some(">=22"));
        assert_eq!(newest.requires_npm.as_deref(), Some(">=10"));
        assert_eq!(newest.deprecated.as_deref(), Some("bad"));
        assert_eq!(newest.published.unwrap().to_string(), "2026-08-28T10:00:39.188Z");
        assert_eq!(offer(&whole, &two).releases, vec![newest.clone()]);
    }

    #[test]
    fn the_operators_end_of_time_is_read_from_npms_settings() {
        let read = |text: &str| read_until(text, now());
        assert_eq!(read("before=null\nmin-release-age=null\n"), None);
        assert_eq!(read("before=undefined\nmin-release-age=0\n"), None);
        for text in [
            "2026-01-01",
            "2026-01-01T00:00:00.000Z",
            "Thu Jan 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time)",
        ] {
            let until = read(&format!("before={text}\nmin-release-age=null\n")).unwrap();
            assert_eq!(until.setting, "before");
            assert_eq!(until.moment.to_string(), "2026-01-01T00:00:00Z", "{text}");
        }
        let until = read("before=null\nmin-release-age=7\n").unwrap();
        assert_eq!((until.setting, until.value.as_str()), ("min-release-age", "7 days"));
        assert_eq!(until.moment.to_string(), "2026-11-23T12:00:00Z");
    }
}
