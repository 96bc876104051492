//! What to do about a failure, where the evidence is plain: a small list of known words on stderr
//! and of known mistakes in a launch. It must not guess: without evidence there is no hint.
//!
//! What only shows while a server is waited for (a prompt, a download, a buffer) session hints at itself.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::plan::{Fixtures, Launch};

/// Words that a server, npm, uv or docker prints, and what cures it.
struct Known {
    /// Any of these, in lower case, is evidence.
    words: &'static [&'static str],
    /// The cure.
    hint: &'static str,
}

/// Each from a report in the field or seen with a real server; the first that fits wins.
const KNOWN: &[Known] = &[
    Known {
        words: &["ok to proceed? (y)", "npx canceled due to missing packages"],
        hint: "npx asks before it installs: start it as `npx -y …`",
    },
    Known {
        words: &["cannot connect to the docker daemon", "is the docker daemon running"],
        hint: "start the docker daemon, and check that this user may reach it",
    },
    Known {
        words: &["eaddrinuse", "address already in use"],
        hint: "another process holds the port: end it, or let the row take a free one with `${port}`",
    },
    Known {
        words: &["enotempty"],
        hint: "npx's cache is broken, as when two starts share it: remove the folder that npm names and run it alone",
    },
    Known {
        words: &["npm error code e404", "npm err! code e404"],
        hint: "the registry has no package of that name and version: check how it is written",
    },
    Known {
        words: &[
            "invalid peer certificate",
            "self-signed certificate",
            "self signed certificate",
            "unable to get local issuer certificate",
        ],
        hint: "a certificate authority of your own is not known to it: name NODE_EXTRA_CA_CERTS or SSL_CERT_FILE in `env_pass`",
    },
    Known {
        words: &[
            "getaddrinfo enotfound",
            "getaddrinfo eai_again",
            "temporary failure in name resolution",
        ],
        hint: "a host name could not be resolved: name the proxy's variables in `env_pass`, or the host in `requires_host`",
    },
    Known {
        words: &[
            "database is locked",
            "could not set lock",
            "could not acquire lock",
            "already locked",
        ],
        hint: "another instance holds the lock: end it, and give each row a place of its own such as `${workspace}`",
    },
    Known {
        words: &[
            "unsupported engine",
            "ebadengine",
            "requires node",
            "referenceerror: file is not defined",
        ],
        hint: "the Node that ran it is too old for it: name a newer one in `runtimes`",
    },
];

/// What words on stderr ask for.
pub(super) fn from_stderr(lines: &[String], launch: Option<&Launch>) -> Option<String> {
    known(lines)
        .or_else(|| missing_module(lines))
        .or_else(|| missing_variable(lines, launch))
}

/// What to do about a server that left without a word.
pub(super) fn from_launch(launch: Option<&Launch>) -> Option<String> {
    docker_without_stdin(launch?)
}

/// What to do about a call that the server's backend refused for want of a key.
pub(super) fn from_reply(text: &str) -> Option<String> {
    static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b401\b|\bunauthori[sz]ed\b|\binvalid api key\b").expect("a constant expression that compiles")
    });
    REFUSED
        .is_match(text)
        .then(|| "its key is missing or was refused: check the row's `env` and `env_pass`".to_owned())
}

/// The listed name that a wrong one was probably meant to be.
pub(super) fn near_name<'tool>(wanted: &str, listed: impl IntoIterator<Item = &'tool str>) -> Option<String> {
    // Below this similarity the names of one server's tools suggest each other.
    const NEAR: f64 = 0.88;
    listed
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(similarity, _)| *similarity >= NEAR)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| format!("did you mean {}?", super::words::code(name)))
}

/// The revision that an answer names as the one it speaks.
pub(super) fn revision(answered: &str, offered: &str) -> Option<String> {
    static REVISION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b20\d\d-\d\d-\d\d\b").expect("a constant expression that compiles"));
    let named = REVISION
        .find_iter(answered)
        .map(|found| found.as_str())
        .filter(|date| *date != offered);
    // Dates of this form order like their text; of several the newest is the best to ask for.
    named
        .max()
        .map(|date| format!("set `protocol = \"{date}\"` to speak the revision it knows"))
}

fn known(lines: &[String]) -> Option<String> {
    let text = lines.join("\n").to_lowercase();
    let known = KNOWN
        .iter()
        .find(|known| known.words.iter().any(|word| text.contains(word)))?;
    Some(known.hint.to_owned())
}

fn missing_module(lines: &[String]) -> Option<String> {
    static PYTHON: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"ModuleNotFoundError: No module named '([^']+)'").expect("a constant expression that compiles")
    });
    static NODE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"Cannot find (?:module|package) '([^']+)'").expect("a constant expression that compiles")
    });
    let find = |pattern: &Regex| {
        lines
            .iter()
            .rev()
            .find_map(|line| Some(pattern.captures(line)?[1].to_owned()))
    };
    if let Some(module) = find(&PYTHON) {
        let module = super::words::code(&module);
        return Some(format!(
            "the Python that ran it lacks {module}: install it there, or pin the version of the package that brings it"
        ));
    }
    let module = find(&NODE)?;
    Some(if Path::new(&module).is_absolute() {
        "nothing lies at that path: check `args` and `cwd`".to_owned()
    } else {
        let module = super::words::code(&module);
        format!("its installation lacks {module}: install it anew (`--install update`)")
    })
}

fn missing_variable(lines: &[String], launch: Option<&Launch>) -> Option<String> {
    static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b").expect("a constant expression that compiles")
    });
    static MISSED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\bnot set\b|\bunset\b|\brequired\b|\bmust be set\b|\bmissing\b|\bnot provided\b|environment variable",
        )
        .expect("a constant expression that compiles")
    });
    let given = |name: &str| {
        launch.is_some_and(|launch| {
            launch.env.iter().any(|(key, _)| key == name) || launch.env_pass.iter().any(|key| key == name)
        })
    };
    let missed = lines.iter().rev().filter(|line| MISSED.is_match(line));
    let mut names = missed
        .flat_map(|line| VARIABLE.find_iter(line))
        .map(|found| found.as_str());
    let name = names.find(|name| !name.starts_with("ERR_") && *name != "MODULE_NOT_FOUND" && !given(name))?;
    Some(format!(
        "servers get few variables of yours: name `{name}` in the row's `env_pass`, or set it in `env`"
    ))
}

fn docker_without_stdin(launch: &Launch) -> Option<String> {
    let program = program_name(launch);
    if !matches!(program.as_str(), "docker" | "podman") {
        return None;
    }
    let args: Vec<String> = launch.args.iter().map(|arg| arg.fill(&Fixtures::default())).collect();
    let keeps_stdin = |arg: &String| {
        let cluster = arg
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-') && !rest.contains('='));
        cluster.is_some_and(|letters| letters.contains('i')) || arg.starts_with("--interactive")
    };
    (args.iter().any(|arg| arg == "run") && !args.iter().any(keeps_stdin))
        .then(|| format!("{program} run without `-i` gives the server no stdin: add `-i`"))
}

fn program_name(launch: &Launch) -> String {
    let program = launch.command.fill(&Fixtures::default());
    let name = Path::new(&program)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or(program)
}

#[cfg(test)]
mod tests;
