//! Progress on anything longer than a second, on stderr, on a terminal only.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use explorer::target::watch::Progress;
use indicatif::ProgressBar;
use model::report::Estimate;

use crate::wording::counted;

/// Shows how an exploration is getting on.
pub(crate) struct Spinner {
    begin: Instant,
    name: String,
    bar: Option<ProgressBar>,
}

impl Spinner {
    /// Shows nothing yet.
    pub(crate) fn new(name: &str) -> Self {
        Self { begin: Instant::now(), name: name.to_owned(), bar: None }
    }

    /// Shows the counts, once a second has passed.
    pub(crate) fn show(&mut self, progress: Progress) {
        if self.begin.elapsed() < Duration::from_secs(1) || !stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_insert_with(ProgressBar::new_spinner);
        let of = match progress.estimate {
            Some(Estimate::Schedules(schedules)) => format!(" of about {schedules}"),
            Some(Estimate::Unseen(unseen)) => format!(", {:.0} of 100 new", 100.0 * unseen),
            None => String::new(),
        };
        bar.set_message(format!("{}: {}{of}, {} failed", self.name, counted(progress.schedules, "schedule"), progress.failed));
        bar.tick();
    }

    /// Takes it away.
    pub(crate) fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
