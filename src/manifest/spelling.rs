//! "Did you mean": the known word that is nearest to a mistyped one.

/// The nearest of the known words, if it is near enough to be meant.
pub fn closest<'known>(word: &str, known: impl IntoIterator<Item = &'known str>) -> Option<&'known str> {
    let letters = word.chars().count();
    let (lower, mut best) = (word.to_lowercase(), None);
    for candidate in known {
        if candidate == word {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
        let allowed = letters.max(candidate.chars().count()).div_ceil(3).min(3);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_keyboard_is_recognised() {
        let known = ["command", "args", "call_timeout", "cwd"];
        assert_eq!(closest("comand", known), Some("command"));
        assert_eq!(closest("arg", known), Some("args"));
        assert_eq!(closest("call_timout", known), Some("call_timeout"));
        assert_eq!(closest("Command", known), Some("command"));
        assert_eq!(closest("elephant", known), None);
    }
}
