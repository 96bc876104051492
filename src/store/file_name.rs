//! A row's name as a file name. Names of rows are plain already; this is the guard that no other one,
//! however it came about, leads out of the folder, hides, or shares a file with another row.

use crate::event::RowId;

/// File systems allow 255 bytes; the endings need some of them.
const LONGEST: usize = 180;

/// The start of the names of a row's files.
pub(super) fn of(row: &RowId) -> String {
    let name = row.0.as_str();
    let plain = |character: char| character.is_ascii_alphanumeric() || "._@+-".contains(character);
    if !name.is_empty() && !name.starts_with('.') && name.len() <= LONGEST && name.chars().all(plain) {
        return name.to_owned();
    }
    let kept: String = name
        .chars()
        .take(LONGEST / 2)
        .map(|character| if plain(character) { character } else { '_' })
        .collect();
    format!("{}~{:016x}", kept.replace('.', "_"), fingerprint(name))
}

/// FNV-1a: enough to keep apart what the characters left out made alike.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_row_keeps_its_name() {
        for name in ["filesystem@node24", "echo", "a.b-c_d@python"] {
            assert_eq!(of(&RowId(name.to_owned())), name);
        }
    }

    #[test]
    fn rows_that_look_alike_have_files_of_their_own() {
        assert_ne!(of(&RowId("a/b".to_owned())), of(&RowId("a_b".to_owned())));
        assert_ne!(of(&RowId("a/b".to_owned())), of(&RowId("a\\b".to_owned())));
        assert_ne!(of(&RowId("..".to_owned())), of(&RowId(".".to_owned())));
    }

    proptest! {
        #[test]
        fn no_name_leads_out_or_hides(name in any::<String>()) {
            let file = of(&RowId(name));
            prop_assert!(!file.is_empty() && !file.starts_with('.') && file.len() < 220, "{file}");
            prop_assert!(!file.contains(['/', '\\', '\0', ':']), "{file}");
        }
    }
}
