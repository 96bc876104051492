//! The host's load just before a row is measured, so that a reader can tell a slow server from a busy
//! machine. It must never fail: what the system does not tell stays unknown.

use std::fs;

use crate::event::HostLoad;

/// Where Linux tells how long tasks waited for a processor.
const CPU_PRESSURE: &str = "/proc/pressure/cpu";

/// The load at this moment.
pub(super) fn read() -> HostLoad {
    HostLoad {
        load_average_1m: sysinfo::System::load_average().ok().map(|load| load.one),
        cpu_pressure_avg10: fs::read_to_string(CPU_PRESSURE).ok().and_then(|text| some_avg10(&text)),
    }
}

/// The `avg10` of the line `some avg10=3.36 avg60=2.56 avg300=1.73 total=21432756`.
fn some_avg10(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace()
        .find_map(|word| word.strip_prefix("avg10="))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pressure_is_that_of_some_tasks_over_ten_seconds() {
        let text = "some avg10=3.36 avg60=2.56 avg300=1.73 total=21432756\nfull avg10=0.00 avg60=0.00 total=0\n";
        assert_eq!(some_avg10(text), Some(3.36));
        assert_eq!(some_avg10("full avg10=1.00\n"), None);
        assert_eq!(some_avg10("some avg10=much\n"), None);
    }

    #[test]
    fn reading_the_load_gives_no_nonsense() {
        let load = read();
        for value in [load.load_average_1m, load.cpu_pressure_avg10].into_iter().flatten() {
            assert!(value.is_finite() && value >= 0.0, "{value}");
        }
    }
}
