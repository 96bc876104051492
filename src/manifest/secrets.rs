//! Secrets that are typed into the manifest, hidden before a line of it is shown with a mistake. It works on
//! the text alone, since a text with a mistake may have no tree; what reads like a secret too much is hidden too.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{Mask, reads_like_secret};

/// `API_KEY = "…"`, `"--api-key", "…"`, and `--token=…` or `?api_key=…` within a string.
static NAMED_VALUES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r#"(?<name>[\w.-]+)["']?\s*=\s*["'](?<value>[^"'\n]*)"#,
        r#"["'](?<name>--?[\w-]+)["']\s*,\s*["'](?<value>[^"'\n]*)"#,
        r#"(?<name>[\w-]+)=(?<value>[^\s"'&\n]+)"#,
    ]
    .map(|pattern| Regex::new(pattern).expect("a test compiles them"))
    .into()
});

/// The text with stars where a secret stands, every other byte at its place; and the mask of those secrets.
pub(super) fn hide(source: &str) -> (String, Mask) {
    let mut hidden = source.to_owned();
    let mut secrets = Vec::new();
    for pattern in NAMED_VALUES.iter() {
        for found in pattern.captures_iter(source) {
            let value = found.name("value").expect("every pattern has it");
            if !reads_like_secret(&found["name"]) || value.as_str().contains("${") || !Mask::hides(value.as_str()) {
                continue;
            }
            hidden.replace_range(value.range(), &"*".repeat(value.len()));
            secrets.push(value.as_str().to_owned());
        }
    }
    (hidden, Mask::new(secrets))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::manifest::Manifest;

    #[test]
    fn a_typed_secret_is_hidden_and_every_other_byte_stays() {
        for (text, shown) in [
            (r#"API_KEY = "sk-12345678""#, r#"API_KEY = "***********""#),
            (r#"{ "dbPassword" = 'pässwörd' }"#, r#"{ "dbPassword" = '**********' }"#),
            (
                r#"args = ["--token", "abcdef", "-v"]"#,
                r#"args = ["--token", "******", "-v"]"#,
            ),
            (r#"args = ["--api-key=abcdef"]"#, r#"args = ["--api-key=******"]"#),
            (
                r#"url = "x://h/?api_key=abcdef&b=1""#,
                r#"url = "x://h/?api_key=******&b=1""#,
            ),
            (r#"API_KEY = "${API_KEY}""#, r#"API_KEY = "${API_KEY}""#),
            (r#"command = "mcp-server""#, r#"command = "mcp-server""#),
            (r#"TOKEN = "unfinished"#, r#"TOKEN = "**********"#),
        ] {
            assert_eq!(hide(text).0, shown);
        }
    }

    #[test]
    fn no_mistake_shows_a_secret_of_its_line() {
        for line in [
            r#"env = { API_TOKEN = "s3cr3t-value", PORT = 1 }"#,
            r#"env = { API_TOKEN = "s3cr3t-value" "#,
            r#"environment = { API_TOKEN = "s3cr3t-value" }"#,
            r#"args = ["--token", "s3cr3t-value", 5]"#,
            r#"args = ["--token=s3cr3t-value", 5]"#,
            r#"cwd = "${nonsense}/?token=s3cr3t-value""#,
        ] {
            let text = format!("[servers.one]\ncommand = \"one\"\n{line}\n");
            let mistakes = Manifest::parse(&text, Path::new("servers.toml")).expect_err(line);
            assert!(!mistakes.plain().contains("s3cr3t"), "{}", mistakes.plain());
        }
    }
}
