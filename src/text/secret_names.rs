//! Names that tell that their value is a secret: `API_KEY`, `--access-token`, `dbPassword`.

/// Variables whose values are known anyway, and stand in every path and log.
const PUBLIC: &[&str] = &[
    "CI",
    "COLORTERM",
    "DISPLAY",
    "EDITOR",
    "HOME",
    "HOSTNAME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_ENV",
    "OLDPWD",
    "PATH",
    "PWD",
    "SHELL",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "VIRTUAL_ENV",
    "VISUAL",
];

/// A last word that says the value is about a secret, not one: `AUTH_TYPE`, `--key-file`, `TOKEN_TTL`.
const ABOUT: &[&str] = &[
    "alg",
    "algorithm",
    "budget",
    "count",
    "dir",
    "directory",
    "enabled",
    "endpoint",
    "expiry",
    "file",
    "folder",
    "format",
    "host",
    "length",
    "level",
    "limit",
    "max",
    "method",
    "min",
    "mode",
    "name",
    "path",
    "port",
    "prefix",
    "provider",
    "required",
    "scheme",
    "size",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
];

/// Words that end in `key` and lock nothing.
const NO_KEYS: &[&str] = &[
    "donkey", "hockey", "hotkey", "hotkeys", "jockey", "monkey", "turkey", "whiskey",
];

/// Whether a variable's value is public, whatever it holds.
pub(crate) fn is_public_variable(name: &str) -> bool {
    PUBLIC.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// Whether a key, flag or variable reads like one that holds a secret: token, key, secret, passw, auth.
pub(crate) fn reads_like_secret(name: &str) -> bool {
    let words = words(name);
    let about = words.last().is_some_and(|last| ABOUT.contains(&last.as_str()));
    // `MAX_TOKENS` counts tokens of a language model.
    let counted = words.last().is_some_and(|last| last == "tokens") && words.len() > 1 && words[0] != "api";
    !about && !counted && words.iter().any(|word| is_telling(word))
}

fn is_telling(word: &str) -> bool {
    let has = |part: &str| word.contains(part);
    let author = has("author") && !has("authoriz") && !has("authoris");
    (has("token") && !has("tokeniz"))
        || has("secret")
        || has("passw")
        || has("passphrase")
        || has("credential")
        || ["bearer", "cookie", "cookies", "creds", "jwt", "pass", "pat", "pwd"].contains(&word)
        || (has("auth") && !author)
        || ((word.ends_with("key") || word.ends_with("keys")) && !NO_KEYS.contains(&word))
}

/// `apiKey`, `API_KEY`, `--api-key`: the words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut word, mut lower_before) = (Vec::new(), String::new(), false);
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && lower_before) {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        lower_before = letter.is_lowercase() || letter.is_numeric();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_in_every_spelling() {
        for name in [
            "API_KEY",
            "apiKey",
            "APIKEY",
            "--api-key",
            "TRACKER_API_TOKEN",
            "access-token",
            "dbPassword",
            "PGPASSWORD",
            "SECRET",
            "client_secret",
            "AUTHORIZATION",
            "OAUTH_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "auth",
            "x-api-key",
            "PASSWD",
            "GOOGLE_CREDENTIALS",
            "API_TOKENS",
        ] {
            assert!(reads_like_secret(name), "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_left_alone() {
        for name in [
            "AUTHOR",
            "keyboard",
            "monkey",
            "MAX_TOKENS",
            "TOKENIZER",
            "AUTH_TYPE",
            "KEY_FILE",
            "TOKEN_URL",
            "path",
            "name",
            "",
            "KEYWORD",
            "PORT",
            "SECRET_NAME",
            "passive",
            "max_output_tokens",
        ] {
            assert!(!reads_like_secret(name), "{name}");
        }
    }
}
