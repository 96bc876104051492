//! Live progress on stderr, for a person at a terminal and nobody else. It only looks at events that
//! have happened; it draws at most ten times a second, so that it cannot change a figure.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::{can_show_progress, say};
use crate::event::{Event, EventKind, RowId, SessionKind};
use crate::text::{clean_for_terminal, cut};

/// Drawings in a second.
const DRAWINGS: u8 = 10;
/// Calls of one row are not shown more often than this.
const CALLS_SHOWN_EVERY: Duration = Duration::from_millis(100);
/// The time that has passed is drawn anew this often, so that a long wait does not look like a stop.
const TICK: Duration = Duration::from_secs(1);
/// No part of a line is wider than this; the terminal's edge cuts the rest.
const WIDEST_PART: usize = 60;

/// The display of one run.
pub struct Progress {
    /// Null where there is nobody to look.
    display: Option<Display>,
}

struct Display {
    all: MultiProgress,
    total: ProgressBar,
    rows: BTreeMap<RowId, RowLine>,
}

struct RowLine {
    bar: ProgressBar,
    shown: Instant,
}

impl Progress {
    /// A display of so many rows; it shows nothing unless stderr is a terminal.
    pub fn new(total_rows: usize) -> Self {
        let visible = can_show_progress(|name| std::env::var(name).ok(), io::stderr().is_terminal());
        let display = visible.then(|| Display::new(total_rows, ProgressDrawTarget::stderr_with_hz(DRAWINGS)));
        if let Some(display) = &display {
            display.total.enable_steady_tick(TICK);
        }
        Self { display }
    }

    /// Takes in what happened. Cheap; most events are nothing to look at.
    pub fn event(&mut self, event: &Event) {
        if let Some(display) = &mut self.display {
            display.event(event);
        }
    }

    /// Says something on stderr without disturbing the display.
    pub fn say(&self, text: &str) {
        match &self.display {
            Some(display) => display.all.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Takes the display away.
    pub fn finish(&mut self) {
        if let Some(display) = self.display.take() {
            display.clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Display {
    fn new(total_rows: usize, target: ProgressDrawTarget) -> Self {
        let all = MultiProgress::with_draw_target(target);
        let total = all.add(ProgressBar::new(total_rows as u64));
        total.set_style(style("{bar:24} {pos}/{len} rows  {elapsed}"));
        Self {
            all,
            total,
            rows: BTreeMap::new(),
        }
    }

    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Doing(what) => self.show(&event.row, &clean_for_terminal(what)),
            EventKind::Installed(_) => self.show(&event.row, "installed"),
            EventKind::Measuring(_) => self.show(&event.row, "starting"),
            EventKind::CallDone { tool, done, of } => {
                let is_last = done == of;
                let due = |line: &RowLine| is_last || line.shown.elapsed() >= CALLS_SHOWN_EVERY;
                if self.rows.get(&event.row).is_none_or(due) {
                    let tool = clean_for_terminal(tool);
                    self.show(&event.row, &format!("{} {done}/{of}", cut(&tool, WIDEST_PART)));
                }
            }
            EventKind::Session(facts) => match facts.kind {
                SessionKind::FirstStart => self.show(&event.row, "started once after its installation"),
                SessionKind::Repeat(number) => self.show(&event.row, &format!("session {number} is over")),
                SessionKind::ColdStart => self.show(&event.row, &format!("start {} is over", facts.number)),
            },
            EventKind::RowDone => self.row_done(&event.row),
            EventKind::Log(_)
            | EventKind::Wire(_)
            | EventKind::PackageInPlace(_)
            | EventKind::Newest(_)
            | EventKind::Observed(_)
            | EventKind::Skipped(_) => {}
        }
    }

    fn show(&mut self, row: &RowId, what: &str) {
        let line = self.rows.entry(row.clone()).or_insert_with(|| {
            let bar = self.all.insert_before(&self.total, ProgressBar::new_spinner());
            bar.set_style(style("  {prefix:.bold}  {wide_msg}"));
            bar.set_prefix(cut(&clean_for_terminal(&row.0), WIDEST_PART).into_owned());
            RowLine {
                bar,
                shown: Instant::now(),
            }
        });
        line.shown = Instant::now();
        line.bar.set_message(cut(what, WIDEST_PART * 2).into_owned());
    }

    fn row_done(&mut self, row: &RowId) {
        if let Some(line) = self.rows.remove(row) {
            line.bar.finish_and_clear();
            self.all.remove(&line.bar);
        }
        self.total.inc(1);
    }

    fn clear(self) {
        for line in self.rows.values() {
            line.bar.finish_and_clear();
        }
        self.total.finish_and_clear();
        // Drawing may fail when the terminal has gone; then there is nothing to clear either.
        drop(self.all.clear());
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the templates above are well formed")
        .progress_chars("━━─")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps all that was ever written to it.
    #[derive(Clone, Debug, Default)]
    struct Written(Arc<Mutex<String>>);

    impl Written {
        fn text(&self) -> String {
            self.0.lock().expect("no writer panics").clone()
        }
    }

    impl TermLike for Written {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(&format!("{line}\n"))
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("no writer panics").push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn display(rows: usize) -> (Display, Written) {
        let written = Written::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(written.clone()), 255);
        (Display::new(rows, target), written)
    }

    fn event(row: &str, kind: EventKind) -> Event {
        Event {
            row: RowId(row.to_owned()),
            kind,
        }
    }

    #[test]
    fn a_running_row_says_what_it_does_in_clean_text() {
        let (mut display, written) = display(2);
        display.event(&event(
            "memory@node20",
            EventKind::Doing("installing \u{1b}[2Jnpm:x".to_owned()),
        ));
        display.total.force_draw();
        let shown = written.text();
        assert!(
            shown.contains("memory@node20") && shown.contains("installing \\u{1b}[2Jnpm:x"),
            "{shown}"
        );
    }

    #[test]
    fn a_row_that_is_over_is_counted_and_goes_away() {
        let (mut display, _) = display(2);
        display.event(&event("one", EventKind::Doing("starting".to_owned())));
        display.event(&event("one", EventKind::RowDone));
        display.event(&event("two", EventKind::RowDone));
        assert_eq!(display.total.position(), 2);
        assert!(display.rows.is_empty());
        display.clear();
    }

    #[test]
    fn calls_in_quick_succession_are_not_all_shown_but_the_last_is() {
        let (mut display, _) = display(1);
        for done in 1..=30 {
            let tool = "echo".to_owned();
            display.event(&event("one", EventKind::CallDone { tool, done, of: 30 }));
        }
        let line = display.rows.get(&RowId("one".to_owned())).expect("the row is shown");
        assert_eq!(line.bar.message(), "echo 30/30");
    }
}
