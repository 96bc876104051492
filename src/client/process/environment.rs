//! The environment a server gets by default: the few variables that the official SDK clients pass on.
//! Reading ours is all it does; merging and masking are the plan's.

use super::system::MINIMAL_VARIABLES;

/// `HOME LOGNAME PATH SHELL TERM USER` of our own environment, those that are set.
///
/// Values that start with `()` are exported shell functions and left out, as the SDK clients do; so
/// are values that are no UTF-8.
pub fn minimal_environment() -> Vec<(String, String)> {
    minimal_of(|name| std::env::var(name).ok())
}

fn minimal_of(lookup: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    MINIMAL_VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), lookup(name)?)))
        .filter(|(_, value)| !value.starts_with("()"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_variables_are_passed_and_no_shell_functions() {
        let environment = minimal_of(|name| match name {
            "HOME" => Some("/home/user".to_owned()),
            "SHELL" => Some("() { :; }".to_owned()),
            "PATH" => Some("/bin".to_owned()),
            _ => None,
        });
        let expected = [("HOME", "/home/user"), ("PATH", "/bin")];
        assert_eq!(
            environment,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
