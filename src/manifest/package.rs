//! `npm:@scope/name@^1`, `pypi:name[extra]>=1`: a package as a manifest names it.

use std::sync::LazyLock;

use regex::Regex;

use crate::version::Requirement;

/// An npm name with its scope, then what follows `@`.
static NPM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^((?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*)(?:@(.*))?$")
        .expect("the pattern is fixed and tested")
});

/// A PyPI name, then extras, then specifiers.
static PYPI: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[A-Za-z0-9._,\s-]*\])?\s*(.*)$")
        .expect("the pattern is fixed and tested")
});

/// A distribution tag of npm.
static TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z][A-Za-z0-9._-]*$").expect("the pattern is fixed and tested"));

/// A package as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageReference {
    /// Where it comes from.
    pub registry: Registry,
    /// Its name.
    pub name: String,
    /// What follows the name, as typed; `*` for a bare name.
    pub wanted: String,
    /// The whole as the package manager gets it.
    pub spec: String,
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    /// npm.
    Npm,
    /// PyPI.
    Pypi,
}

impl PackageReference {
    /// Reads a package.
    ///
    /// # Errors
    /// What would be right, as a sentence fragment.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix("npm:") {
            npm(rest.trim())
        } else if let Some(rest) = text.strip_prefix("pypi:") {
            pypi(rest.trim())
        } else {
            Err(format!("say where it comes from: \"npm:{text}\" or \"pypi:{text}\""))
        }
    }
}

fn npm(spec: &str) -> Result<PackageReference, String> {
    let example = "write \"npm:NAME\", \"npm:@scope/NAME\" or \"npm:NAME@^1.2\"";
    let Some(parts) = NPM.captures(spec) else {
        return Err(format!(
            "`{}` is not the name of an npm package; {example}",
            spec.escape_debug()
        ));
    };
    let wanted = parts.get(2).map(|wanted| wanted.as_str().trim());
    if let Some(wanted) = wanted
        && Requirement::npm(wanted).is_err()
        && !TAG.is_match(wanted)
    {
        return Err(format!(
            "`{}` is neither an npm range nor a tag; {example}",
            wanted.escape_debug()
        ));
    }
    Ok(PackageReference {
        registry: Registry::Npm,
        name: parts[1].to_owned(),
        wanted: wanted.unwrap_or("*").to_owned(),
        spec: spec.to_owned(),
    })
}

fn pypi(spec: &str) -> Result<PackageReference, String> {
    let example = "write \"pypi:NAME\", \"pypi:NAME==1.2.3\" or \"pypi:NAME[extra]>=1\"";
    let Some(parts) = PYPI.captures(spec) else {
        return Err(format!(
            "`{}` is not the name of a PyPI package; {example}",
            spec.escape_debug()
        ));
    };
    let specifiers = &parts[3];
    if specifiers.starts_with('@') {
        return Err(format!("PyPI takes its version after `==`, not after `@`; {example}"));
    }
    let bare_number = specifiers.starts_with(|first: char| first.is_ascii_digit() || first == '*');
    if !specifiers.is_empty() && (bare_number || Requirement::pep440(specifiers).is_err()) {
        return Err(format!(
            "`{}` is not a PEP 440 range; {example}",
            specifiers.escape_debug()
        ));
    }
    let wanted = spec[parts[1].len()..].trim();
    Ok(PackageReference {
        registry: Registry::Pypi,
        name: parts[1].to_owned(),
        wanted: if wanted.is_empty() { "*" } else { wanted }.to_owned(),
        spec: spec.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, registry: Registry, name: &str, wanted: &str) {
        let package = PackageReference::parse(text).expect(text);
        assert_eq!(
            (package.registry, package.name.as_str(), package.wanted.as_str()),
            (registry, name, wanted),
            "{text}"
        );
        assert!(text.ends_with(&package.spec));
    }

    #[test]
    fn packages_are_read_as_their_managers_read_them() {
        check("npm:firecrawl-mcp", Registry::Npm, "firecrawl-mcp", "*");
        check("npm:@scope/name@^1", Registry::Npm, "@scope/name", "^1");
        check("npm:@scope/name", Registry::Npm, "@scope/name", "*");
        check("npm:name@latest", Registry::Npm, "name", "latest");
        check("npm:name@>=1 <2", Registry::Npm, "name", ">=1 <2");
        check(
            "npm:chrome-devtools-mcp@1.8.0",
            Registry::Npm,
            "chrome-devtools-mcp",
            "1.8.0",
        );
        check("pypi:mcp-server-time", Registry::Pypi, "mcp-server-time", "*");
        check("pypi:mcp==2.3.0", Registry::Pypi, "mcp", "==2.3.0");
        check("pypi:name[extra]>=1,<2", Registry::Pypi, "name", "[extra]>=1,<2");
        check("pypi:name[a,b]", Registry::Pypi, "name", "[a,b]");
    }

    #[test]
    fn what_is_no_package_is_refused() {
        for text in [
            "name",
            "",
            "npm:",
            "npm:@scope",
            "npm:name@",
            "npm:../folder",
            "npm:name@not a range",
            "npm:git+ssh://x",
            "pypi:",
            "pypi:name@1",
            "pypi:name 1.0",
            "pypi:name>=",
            "pypi:-name",
            "cargo:name",
            "npm:a b",
        ] {
            assert!(PackageReference::parse(text).is_err(), "{text}");
        }
    }
}
