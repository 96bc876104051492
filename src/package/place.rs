//! A place where one thing is installed again and again: each time into a new numbered folder, which
//! counts only once it is finished. `current` names the one in use.
//!
//! ```text
//! <place>/current        "3"
//! <place>/2/             the one before; a run that started earlier may still use it
//! <place>/3/complete     its own path: a folder that was moved is not complete
//! <place>/4/             no `complete`: interrupted, removed by the next installation
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Written last.
const COMPLETE: &str = "complete";
/// The pointer.
const CURRENT: &str = "current";

/// The place.
#[derive(Clone, Debug)]
pub struct Place {
    folder: PathBuf,
}

/// A finished installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// Where it is.
    pub folder: PathBuf,
}

/// An installation in the making; removed when it is dropped unfinished.
#[derive(Debug)]
pub struct Draft {
    place: Place,
    number: u64,
    finished: bool,
}

impl Place {
    /// The place in this folder, which need not be there.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The finished installation in use.
    pub fn current(&self) -> Option<Installation> {
        let number = fs::read_to_string(self.folder.join(CURRENT))
            .ok()?
            .trim()
            .parse()
            .ok()?;
        self.is_complete(number).then(|| Installation {
            folder: self.numbered(number),
        })
    }

    /// A new empty folder. What was interrupted is removed, and finished ones but for the current one.
    /// The caller holds the folder's lock.
    pub fn begin(&self) -> io::Result<Draft> {
        fs::create_dir_all(&self.folder)?;
        let current = self.current();
        let mut highest = 0;
        for number in self.numbers()? {
            highest = highest.max(number);
            let folder = self.numbered(number);
            if current.as_ref().is_none_or(|current| current.folder != folder) {
                fs::remove_dir_all(folder)?;
            }
        }
        let number = highest + 1;
        fs::create_dir(self.numbered(number))?;
        Ok(Draft {
            place: self.clone(),
            number,
            finished: false,
        })
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            numbers.extend(name.to_string_lossy().parse::<u64>());
        }
        Ok(numbers)
    }

    fn numbered(&self, number: u64) -> PathBuf {
        self.folder.join(number.to_string())
    }

    fn is_complete(&self, number: u64) -> bool {
        let folder = self.numbered(number);
        fs::read_to_string(folder.join(COMPLETE)).is_ok_and(|path| Path::new(path.trim_end_matches('\n')) == folder)
    }
}

impl Draft {
    /// Where to install.
    pub fn folder(&self) -> PathBuf {
        self.place.numbered(self.number)
    }

    /// Says that it is complete, and makes it the current one.
    pub fn finish(mut self) -> io::Result<Installation> {
        let folder = self.folder();
        write_whole(&folder.join(COMPLETE), &format!("{}\n", folder.display()))?;
        write_whole(&self.place.folder.join(CURRENT), &format!("{}\n", self.number))?;
        self.finished = true;
        Ok(Installation { folder })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed now has no `complete`, and is removed by the next installation.
            drop(fs::remove_dir_all(self.folder()));
        }
    }
}

/// A reader sees the old text or the new one, never half of it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(folder.path().join("here"));
        (folder, place)
    }

    fn install(place: &Place, text: &str) -> Installation {
        let draft = place.begin().unwrap();
        fs::write(draft.folder().join("what"), text).unwrap();
        draft.finish().unwrap()
    }

    fn what(place: &Place) -> Option<String> {
        let current = place.current()?;
        Some(fs::read_to_string(current.folder.join("what")).unwrap())
    }

    #[test]
    fn an_installation_counts_only_when_it_is_finished() {
        let (_folder, place) = place();
        assert_eq!(place.current(), None);
        let draft = place.begin().unwrap();
        assert_eq!(place.current(), None);
        draft.finish().unwrap();
        assert!(place.current().is_some());
    }

    #[test]
    fn a_new_one_takes_over_when_finished_and_the_one_before_stays_until_the_next() {
        let (_folder, place) = place();
        let first = install(&place, "first");
        let draft = place.begin().unwrap();
        fs::write(draft.folder().join("what"), "second").unwrap();
        assert_eq!(what(&place).as_deref(), Some("first"));
        draft.finish().unwrap();
        assert_eq!(what(&place).as_deref(), Some("second"));
        assert!(first.folder.exists());
        install(&place, "third");
        assert!(!first.folder.exists());
        assert_eq!(what(&place).as_deref(), Some("third"));
    }

    #[test]
    fn one_that_was_given_up_leaves_nothing() {
        let (_folder, place) = place();
        install(&place, "first");
        let draft = place.begin().unwrap();
        let folder = draft.folder();
        drop(draft);
        assert!(!folder.exists());
        assert_eq!(what(&place).as_deref(), Some("first"));
    }

    #[test]
    fn one_that_was_killed_is_never_taken_for_finished_and_goes_with_the_next() {
        let (_folder, place) = place();
        let draft = place.begin().unwrap();
        fs::write(draft.folder().join("what"), "half").unwrap();
        let folder = draft.folder();
        std::mem::forget(draft);
        fs::write(place.folder.join(CURRENT), "1\n").unwrap();
        assert_eq!(place.current(), None);
        let next = install(&place, "whole");
        assert!(!folder.exists());
        assert_ne!(next.folder, folder);
        assert_eq!(what(&place).as_deref(), Some("whole"));
    }

    #[test]
    fn a_folder_that_was_moved_is_not_complete() {
        let (folder, place) = place();
        install(&place, "first");
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&place.folder, &elsewhere).unwrap();
        assert_eq!(Place::new(elsewhere).current(), None);
    }
}
