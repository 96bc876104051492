//! Package specs as people type them: the name, and what was wanted of it.
//!
//! Pure text. Folders, archives and repositories are no specs of a registry and give nothing.

/// The name and what was wanted of an npm spec: `@scope/x@1.2` is `("@scope/x", "1.2")`, a bare name wants `*`.
pub(super) fn npm(spec: &str) -> Option<(String, String)> {
    let cut = spec
        .char_indices()
        .skip(1)
        .find(|(_, letter)| *letter == '@')
        .map(|(place, _)| place);
    let (name, wanted) = cut.map_or((spec, ""), |place| (&spec[..place], &spec[place + 1..]));
    if !is_npm_name(name) || wanted.contains(['/', ':']) {
        return None;
    }
    Some((name.to_owned(), or_any(wanted)))
}

/// The name and what was wanted of a PyPI spec: `x==1` wants `==1`, `x@latest` wants `latest`, `x` wants `*`.
pub(super) fn pypi(spec: &str) -> Option<(String, String)> {
    let spec = spec.split(';').next().unwrap_or_default().trim();
    let end = spec.find(|letter: char| !is_pypi_letter(letter)).unwrap_or(spec.len());
    let (name, rest) = spec.split_at(end);
    let rest = without_extras(rest.trim())?;
    let wanted = match rest.strip_prefix('@') {
        Some(at) => at.trim(),
        None if rest.is_empty() || rest.starts_with(['=', '<', '>', '!', '~']) => rest,
        None => return None,
    };
    let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    (is_name && !wanted.contains(['/', ':'])).then(|| (name.to_owned(), or_any(wanted)))
}

/// A PyPI name in the one form in which names are compared (PEP 503).
pub(super) fn pypi_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

fn or_any(wanted: &str) -> String {
    if wanted.is_empty() {
        "*".to_owned()
    } else {
        wanted.to_owned()
    }
}

fn is_npm_name(name: &str) -> bool {
    let (scope, bare) = match name.strip_prefix('@') {
        Some(scoped) => match scoped.split_once('/') {
            Some((scope, bare)) => (Some(scope), bare),
            None => return false,
        },
        None => (None, name),
    };
    let reads_well = |part: &str| {
        let letters = part
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-._~".contains(letter));
        letters && !part.is_empty() && !part.starts_with('.')
    };
    reads_well(bare) && scope.is_none_or(reads_well)
}

fn is_pypi_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Drops `[extra,…]` in front.
fn without_extras(text: &str) -> Option<&str> {
    match text.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map(|(_, rest)| rest.trim()),
        None => Some(text),
    }
}
