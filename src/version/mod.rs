//! One order for semver, npm ranges, PEP 440 and dotted numbers, so that "lower than last night" means
//! the same for every ecosystem. It knows text only: no registry, no package manager.

mod key;
mod requirement;

use std::cmp::Ordering;

use key::Key;

pub use requirement::Requirement;

/// How two versions stand to each other; `v` in front and surrounding blanks are ignored. None where there
/// is no order, unless both texts are the same.
pub fn compare(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (bare(left), bare(right));
    if left == right {
        return Some(Ordering::Equal);
    }
    Some(Key::parse(left)?.cmp(&Key::parse(right)?))
}

/// The version without blanks around it and without `v` in front.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let rest = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if rest.starts_with(|first: char| first.is_ascii_digit()) {
        rest
    } else {
        text
    }
}

#[cfg(test)]
mod tests;
