//! Secrets inside addresses: `postgres://user:PASSWORD@host/db`, `https://host/mcp?key=VALUE`.

/// What an address may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UrlSecret {
    /// Between the user and the host; or a user alone in http, which is how tokens are passed.
    Password(String),
    /// A query value with its name.
    Query {
        /// Before `=`.
        name: String,
        /// After it.
        value: String,
    },
}

/// The secrets of every address in a text, as typed and with `%xx` decoded.
pub(super) fn secrets(text: &str) -> Vec<UrlSecret> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let scheme = rest[..start]
            .rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '+')
            .next()
            .unwrap_or_default();
        rest = &rest[start + 3..];
        let end = rest
            .find(|letter: char| letter.is_whitespace() || "\"'<>`".contains(letter))
            .unwrap_or(rest.len());
        let (address, after) = rest.split_at(end);
        password(scheme, address, &mut found);
        query(address, &mut found);
        rest = after;
    }
    found
}

fn password(scheme: &str, address: &str, found: &mut Vec<UrlSecret>) {
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user_info, _)) = authority.rsplit_once('@') else {
        return;
    };
    let secret = match user_info.split_once(':') {
        Some((_, password)) => password,
        None if scheme.starts_with("http") => user_info,
        None => return,
    };
    for value in spellings(secret) {
        found.push(UrlSecret::Password(value));
    }
}

fn query(address: &str, found: &mut Vec<UrlSecret>) {
    let Some((_, query)) = address.split_once('?') else {
        return;
    };
    let query = query.split('#').next().unwrap_or_default();
    for (name, value) in query.split(['&', ';']).filter_map(|pair| pair.split_once('=')) {
        for value in spellings(value) {
            found.push(UrlSecret::Query {
                name: name.to_owned(),
                value,
            });
        }
    }
}

fn spellings(value: &str) -> Vec<String> {
    let decoded = decoded(value);
    if decoded == value {
        vec![decoded]
    } else {
        vec![value.to_owned(), decoded]
    }
}

fn decoded(value: &str) -> String {
    let (bytes, mut plain, mut index) = (value.as_bytes(), Vec::new(), 0);
    while index < bytes.len() {
        let digits = bytes.get(index + 1..index + 3).filter(|_| bytes[index] == b'%');
        let byte = digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        plain.push(byte.unwrap_or(bytes[index]));
        index += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let value = |secret| match secret {
            UrlSecret::Password(value) | UrlSecret::Query { value, .. } => value,
        };
        secrets(text).into_iter().map(value).collect()
    }

    #[test]
    fn passwords_and_query_values_are_found() {
        assert_eq!(values("postgres://me:p%40ss@db:5432/x"), ["p%40ss", "p@ss"]);
        assert_eq!(values("https://h/mcp?key=abc&x=1#y=2"), ["abc", "1"]);
        assert_eq!(
            values("see https://ghp_token@github.com/a and mysql://u:one:two@h"),
            ["ghp_token", "one:two"]
        );
    }

    #[test]
    fn plain_addresses_hold_none() {
        for text in [
            "http://127.0.0.1:8731/",
            "ssh://git@host/x",
            "postgres://postgres@localhost/db",
            "a://",
            "://?",
            "%",
            "https://h?x",
        ] {
            assert_eq!(values(text), Vec::<String>::new(), "{text}");
        }
    }
}
