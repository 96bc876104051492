//! What is installed, read back from disk; what a package manager said about it does not count.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::event::{Ecosystem, PackageFacts};

use super::Venv;

/// The package of that name in `<project>/node_modules`.
pub fn installed_npm(project: &Path, name: &str) -> Option<PackageFacts> {
    let path = project.join("node_modules").join(name);
    let manifest: Value = serde_json::from_slice(&fs::read(path.join("package.json")).ok()?).ok()?;
    Some(PackageFacts {
        ecosystem: Ecosystem::Npm,
        name: manifest.get("name")?.as_str()?.to_owned(),
        version: manifest.get("version")?.as_str()?.to_owned(),
        path,
    })
}

/// The distribution of that name in a virtual environment; names compare as PyPI compares them.
pub fn installed_pypi(venv: &Venv, name: &str) -> Option<PackageFacts> {
    let wanted = normalized(name);
    let infos = site_packages(venv)
        .into_iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "dist-info"));
    for path in infos {
        let Some((stem, _version)) = path.file_stem().and_then(|stem| stem.to_str()?.split_once('-')) else {
            continue;
        };
        if normalized(stem) == wanted {
            return distribution(path);
        }
    }
    None
}

fn distribution(path: PathBuf) -> Option<PackageFacts> {
    let metadata = fs::read(path.join("METADATA")).ok()?;
    let metadata = String::from_utf8_lossy(&metadata);
    // The header ends at the first empty line; a description may contain anything.
    let header = metadata.lines().take_while(|line| !line.trim().is_empty());
    let field = |name: &str| {
        let mut lines = header.clone();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(value.trim().to_owned())
    };
    let (name, version) = (field("Name")?, field("Version")?);
    Some(PackageFacts {
        ecosystem: Ecosystem::Pypi,
        name,
        version,
        path,
    })
}

fn site_packages(venv: &Venv) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![venv.folder.join("Lib").join("site-packages")];
    }
    let Ok(entries) = fs::read_dir(venv.folder.join("lib")) else {
        return Vec::new();
    };
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path().join("site-packages")));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// PEP 503: case, `-`, `_` and `.` do not tell names apart.
fn normalized(name: &str) -> String {
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_npm_package_is_read_from_its_own_package_json() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("node_modules/@scope/server");
        fs::create_dir_all(&package).unwrap();
        fs::write(
            package.join("package.json"),
            r#"{"name":"@scope/server","version":"1.2.3"}"#,
        )
        .unwrap();
        let facts = installed_npm(folder.path(), "@scope/server").unwrap();
        assert_eq!((facts.version.as_str(), facts.path), ("1.2.3", package));
        assert_eq!(installed_npm(folder.path(), "other"), None);
    }

    #[test]
    fn a_distribution_is_found_whatever_way_its_name_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let venv = Venv::of(folder.path());
        let packages = venv.folder.join("lib/python3.12/site-packages");
        for (info, name, version) in [
            ("mcp-2.3.0", "mcp", "2.3.0"),
            ("mcp_server_time-2026.10.19", "mcp-server-time", "2026.10.19"),
        ] {
            let info = packages.join(format!("{info}.dist-info"));
            fs::create_dir_all(&info).unwrap();
            let metadata = format!("Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nVersion: 9\n");
            fs::write(info.join("METADATA"), metadata).unwrap();
        }
        for name in ["mcp-server-time", "MCP_Server.Time"] {
            assert_eq!(installed_pypi(&venv, name).unwrap().version, "2026.10.19");
        }
        assert_eq!(installed_pypi(&venv, "mcp").unwrap().version, "2.3.0");
        assert_eq!(installed_pypi(&venv, "mcp-server"), None);
    }
}
