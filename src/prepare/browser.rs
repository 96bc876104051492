//! `${browser}`: a browser of the Chromium family. By PATH, by `CHROME_PATH`, or in Playwright's cache.
//!
//! One that cannot even tell its version (a stub that only names a package, a binary whose libraries are
//! not there) is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::package::{Environment, Errand, Trouble};
use crate::plan::Program;

use super::voice::Voice;
use super::{Rows, Surroundings, programs};

/// The family's names on PATH.
const NAMES: &[&str] = &[
    "google-chrome",
    "google-chrome-stable",
    "chromium",
    "chromium-browser",
    "chrome",
    "msedge",
    "microsoft-edge",
    "microsoft-edge-stable",
    "google-chrome-beta",
    "brave-browser",
];
/// Where they are on macOS, below `/Applications` or `~/Applications`.
const APPLICATIONS: &[&str] = &[
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];
/// Where the binary lies in a `chromium-N` folder of Playwright's.
const PLAYWRIGHT: &[&str] = &[
    "chrome-linux/chrome",
    "chrome-linux64/chrome",
    "chrome-linux-arm64/chrome",
    "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
    "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-win/chrome.exe",
    "chrome-win64/chrome.exe",
];
/// A first start from a cold disk takes seconds.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// Gives a browser to the rows that need one, and takes them out if there is none.
pub(super) async fn give(surroundings: &Surroundings<'_>, rows: &mut Rows<'_>) {
    let concerned = rows.going.iter().filter(|row| row.launch.needs.browser);
    let Some(voice) = Voice::of_all(concerned.map(|row| &row.voice)) else {
        return;
    };
    let mut browser = find(surroundings.environment, surroundings.cancel).await;
    let program = program(surroundings);
    let mut problem = String::new();
    if browser.is_none() {
        match surroundings.install_program(&program, &voice).await {
            Ok(()) => browser = find(surroundings.environment, surroundings.cancel).await,
            Err(failed) => problem = format!(", and installing it failed: {failed}"),
        }
    }
    rows.sort_out(|row| {
        if !row.launch.needs.browser {
            return Ok(());
        }
        row.ready.browser.clone_from(&browser);
        match browser {
            Some(_) => Ok(()),
            None => Err(programs::skip(&program, &problem)),
        }
    });
}

/// Whether a program of the manifest's is a browser of the family.
pub(super) fn is_one(program: &Program) -> bool {
    let mut names = program.any_of.iter().chain([&program.name]);
    names.any(|name| NAMES.contains(&name.as_str()))
}

/// The first that works.
pub(super) async fn find(environment: &Environment, cancel: &CancellationToken) -> Option<PathBuf> {
    for candidate in candidates(environment) {
        if works(&candidate, environment, cancel).await {
            return Some(candidate);
        }
    }
    None
}

/// The manifest's entry for a browser, or what would install one here.
fn program(surroundings: &Surroundings<'_>) -> Program {
    let known = surroundings.plan.programs.values().find(|program| is_one(program));
    known.cloned().unwrap_or_else(|| {
        let apt = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"];
        let brew = ["brew", "install", "--cask", "chromium"];
        let command = if cfg!(target_os = "macos") { &brew[..] } else { &apt[..] };
        Program {
            name: "a browser of the Chromium family".to_owned(),
            any_of: Vec::new(),
            hint: Some(command.join(" ")),
            install: Vec::new(),
        }
    })
}

fn candidates(environment: &Environment) -> Vec<PathBuf> {
    let named = environment.folder("CHROME_PATH").into_iter();
    let on_path = NAMES.iter().filter_map(|name| environment.program(name));
    let mut candidates: Vec<PathBuf> = named.chain(on_path).collect();
    candidates.extend(applications(environment));
    candidates.extend(playwrights(environment));
    candidates.retain(|candidate| candidate.is_file());
    candidates
}

fn applications(environment: &Environment) -> Vec<PathBuf> {
    if !cfg!(target_os = "macos") {
        return Vec::new();
    }
    let own = environment.home().map(|home| home.join("Applications"));
    let folders = std::iter::once(PathBuf::from("/Applications")).chain(own);
    let all = folders.flat_map(|folder| APPLICATIONS.iter().map(move |below| folder.join(below)));
    all.collect()
}

/// What Playwright downloaded, the newest first.
fn playwrights(environment: &Environment) -> Vec<PathBuf> {
    let usual = environment.home().map(|home| {
        home.join(match std::env::consts::OS {
            "macos" => "Library/Caches/ms-playwright",
            "windows" => "AppData/Local/ms-playwright",
            _ => ".cache/ms-playwright",
        })
    });
    let Some(cache) = environment.folder("PLAYWRIGHT_BROWSERS_PATH").or(usual) else {
        return Vec::new();
    };
    let Ok(entries) = fs::read_dir(cache) else {
        return Vec::new();
    };
    let mut builds: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let folder = entry.ok()?.path();
            let build = folder.file_name()?.to_str()?.strip_prefix("chromium-")?.parse().ok()?;
            let binary = PLAYWRIGHT
                .iter()
                .map(|below| folder.join(below))
                .find(|binary| binary.is_file())?;
            Some((build, binary))
        })
        .collect();
    builds.sort_by_key(|(build, _)| std::cmp::Reverse(*build));
    builds.into_iter().map(|(_, binary)| binary).collect()
}

async fn works(browser: &Path, environment: &Environment, cancel: &CancellationToken) -> bool {
    let errand = Errand {
        program: browser.to_owned(),
        arguments: vec!["--version".into()],
        environment: environment.clone(),
        folder: std::env::temp_dir(),
        limit: VERSION_LIMIT,
    };
    match errand.run(&mut |_line| {}, cancel).await {
        Ok(_done) => true,
        Err(Trouble::Cancelled | Trouble::Failed { .. }) => false,
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn browser(path: &Path, script: &str) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_owned()
    }

    async fn found(environment: &Environment) -> Option<PathBuf> {
        find(environment, &CancellationToken::new()).await
    }

    #[tokio::test]
    async fn chrome_path_comes_first_then_path_then_playwrights_newest() {
        let root = tempfile::tempdir().unwrap();
        let cache = root.path().join("home/.cache/ms-playwright");
        browser(&cache.join("chromium-999/chrome-linux/chrome"), "exit 0");
        let newest = browser(&cache.join("chromium-1200/chrome-linux64/chrome"), "exit 0");
        let on_path = browser(&root.path().join("bin/chromium"), "exit 0");
        let named = browser(&root.path().join("opt/chrome"), "exit 0");
        let home = Environment::default().with("HOME", root.path().join("home"));
        if cfg!(target_os = "linux") {
            assert_eq!(found(&home).await, Some(newest.clone()));
            let moved = Environment::default().with("PLAYWRIGHT_BROWSERS_PATH", &cache);
            assert_eq!(found(&moved).await, Some(newest));
        }
        let path = home.with("PATH", root.path().join("bin"));
        assert_eq!(found(&path).await, Some(on_path));
        assert_eq!(found(&path.with("CHROME_PATH", &named)).await, Some(named));
    }

    #[tokio::test]
    async fn a_stub_that_only_names_a_package_is_no_browser() {
        let root = tempfile::tempdir().unwrap();
        browser(
            &root.path().join("chromium-browser"),
            "echo install the snap >&2; exit 1",
        );
        let environment = Environment::default().with("PATH", root.path());
        assert_eq!(found(&environment).await, None);
    }
}
