//! `uvx` and `uv tool run`: what their arguments ask for.
//!
//! Pure text. Where uv put the package cannot be told from it (the folder's name is a hash of what was
//! resolved), so what really ran is read from the live process.

/// What `uvx` is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UvxCall {
    /// `--from`.
    pub(super) from: Option<String>,
    /// The first word that is no option: a command, and without `--from` also the spec.
    pub(super) word: Option<String>,
}

impl UvxCall {
    /// The spec as typed.
    pub(super) fn spec(&self) -> Option<&str> {
        self.from.as_deref().or(self.word.as_deref())
    }

    /// The name of the script that is run.
    pub(super) fn script(&self) -> Option<&str> {
        let word = self.word.as_deref()?;
        if self.from.is_some() {
            return Some(word);
        }
        word.split(['@', '=', '<', '>', '!', '~', '[', ' ']).next()
    }
}

/// uv's options that take a value (uv 0.13, `uvx --help`).
const WITH_VALUE: &[&str] = &[
    "--from",
    "-w",
    "--with",
    "--with-editable",
    "--with-requirements",
    "-c",
    "--constraints",
    "--constraint",
    "-b",
    "--build-constraints",
    "--build-constraint",
    "--overrides",
    "--override",
    "--env-file",
    "--python-platform",
    "--torch-backend",
    "--index",
    "--default-index",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "--index-strategy",
    "--keyring-provider",
    "-P",
    "--upgrade-package",
    "--upgrade-group",
    "--resolution",
    "--prerelease",
    "--prerelease-package",
    "--fork-strategy",
    "--exclude-newer",
    "--exclude-newer-package",
    "--no-sources-package",
    "--reinstall-package",
    "--link-mode",
    "-C",
    "--config-setting",
    "--config-settings",
    "--config-settings-package",
    "--no-build-isolation-package",
    "--no-build-package",
    "--no-binary-package",
    "--cache-dir",
    "--refresh-package",
    "-p",
    "--python",
    "--color",
    "--allow-insecure-host",
    "--trusted-host",
    "--directory",
    "--project",
    "--config-file",
    "--preview-features",
    "--python-preference",
];

/// Reads the arguments of `uvx`.
pub(super) fn read_uvx(args: &[String]) -> UvxCall {
    let mut call = UvxCall::default();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        if !word.starts_with('-') || word == "--" {
            call.word = if word == "--" { after.first() } else { Some(word) }.cloned();
            return call;
        }
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        let detached = WITH_VALUE.contains(&name) && attached.is_none();
        if name == "--from" {
            call.from = attached
                .or_else(|| after.first().map(String::as_str))
                .map(str::to_owned);
        }
        rest = after.get(usize::from(detached)..).unwrap_or_default();
    }
    call
}

/// Reads the arguments of `uv` where they are `tool run` (or `tool uvx`, as it names itself).
pub(super) fn read_uv(args: &[String]) -> Option<UvxCall> {
    let tool = next_word(args)?;
    let run = next_word(&args[tool + 1..])? + tool + 1;
    let asks = args[tool] == "tool" && matches!(args[run].as_str(), "run" | "uvx");
    asks.then(|| read_uvx(&args[run + 1..]))
}

/// The place of the first word that is neither an option nor an option's value.
fn next_word(args: &[String]) -> Option<usize> {
    let mut place = 0;
    while let Some(word) = args.get(place) {
        if !word.starts_with('-') {
            return Some(place);
        }
        place += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
    }
    None
}
