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

/// An estimated number in words; one that is longer than anybody would read it has two digits and a power of ten.
pub(crate) fn about(number: u64) -> String {
    const LONG: u64 = 1_000_000_000;
    #[expect(clippy::cast_precision_loss, reason = "two digits of it are shown")]
    let short = number as f64;
    match number {
        u64::MAX => format!("more than {short:.1e}"),
        LONG.. => format!("about {short:.1e}"),
        _ => format!("about {number}"),
    }
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
            Some(Estimate::Schedules(schedules)) => format!(" of {}", about(schedules)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_short() {
        let cases = [(7, "about 7"), (999_999_999, "about 999999999"), (1_250_000_000, "about 1.2e9"), (u64::MAX, "more than 1.8e19")];
        for (number, expected) in cases {
            assert_eq!(about(number), expected);
        }
    }
}
