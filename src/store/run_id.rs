//! The name of a run: its start in UTC, with a suffix where two began in one second. Only a folder with
//! such a name is taken for a run, whatever else lies beside it.

use std::fmt;

use jiff::Timestamp;

/// `20261130T021500Z`, or `20261130T021500Z-2`; in order of time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    start: String,
    /// 1 is not written.
    take: u32,
}

impl RunId {
    /// The first id of that second.
    pub fn of(started: Timestamp) -> Self {
        Self {
            start: started.strftime("%Y%m%dT%H%M%SZ").to_string(),
            take: 1,
        }
    }

    /// The id of that name, if it is one.
    pub fn parse(name: &str) -> Option<Self> {
        let (start, take) = match name.split_once('-') {
            Some((start, take)) => (start, take.parse().ok().filter(|take| *take > 1)?),
            None => (name, 1),
        };
        let id = Self {
            start: start.to_owned(),
            take,
        };
        // Names of another spelling (`-02`) are not ours.
        (is_start(start) && id.name() == name).then_some(id)
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.to_string()
    }

    /// The next id of the same second.
    pub(super) fn next(&self) -> Self {
        Self {
            start: self.start.clone(),
            take: self.take + 1,
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.take {
            1 => formatter.write_str(&self.start),
            take => write!(formatter, "{}-{take}", self.start),
        }
    }
}

fn is_start(text: &str) -> bool {
    text.len() == "20261130T021500Z".len()
        && text.bytes().enumerate().all(|(place, byte)| match place {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back_and_stand_in_order_of_time() {
        let first = RunId::of("2026-11-30T02:15:00.9Z".parse().expect("a moment"));
        assert_eq!(first.name(), "20261130T021500Z");
        let names: Vec<_> = std::iter::successors(Some(first), |id| Some(id.next()))
            .take(11)
            .collect();
        assert_eq!(names[10].name(), "20261130T021500Z-11");
        assert!(names.is_sorted(), "by number, not by letter");
        for id in names {
            assert_eq!(RunId::parse(&id.name()), Some(id));
        }
    }

    #[test]
    fn what_is_named_otherwise_is_no_run() {
        for name in [
            "README.md",
            "latest",
            "",
            "20261130T021500Z-1",
            "20261130T021500Z-02",
            "20261130T021500Z-",
            "20261130T021500Z-x",
            "20261130T021500Z.bak",
            "2026113OT021500Z",
            "20261130 021500Z",
        ] {
            assert_eq!(RunId::parse(name), None, "{name}");
        }
    }
}
