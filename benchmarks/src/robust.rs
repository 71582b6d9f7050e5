//! The programs that test every wait and every way out (`runtime-rt/lock/tests/programs`), as often as wanted: what `cargo test` does
//! twenty times.

#[path = "../../runtime-rt/lock/tests/runner/mod.rs"]
mod runner;

use std::path::Path;

use anyhow::Result;

use crate::archive;
use crate::table::Table;
use runner::{Extent, Outcome, Place};

/// What came out.
#[derive(Debug)]
pub struct Outcomes(Vec<Outcome>);

/// Runs each program so often, `parallel` programs at a time. Only those whose name contains `only`.
pub fn run(work: &Path, runs: usize, parallel: usize, only: &str) -> Result<Outcomes> {
    let scratch = tempfile::tempdir()?;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-rt/lock/tests/programs");
    let place = Place { programs, scratch: scratch.path().to_owned(), archive: archive::lock(&work.join("robust"))? };
    Ok(Outcomes(runner::run_all(&place, &Extent { runs, parallel, only: only.to_owned() })))
}

impl Outcomes {
    /// One line a program.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(["program", "runs", "seconds a run", "outcome"]);
        for outcome in &self.0 {
            let each = outcome.took.as_secs_f64() / f64::from(u32::try_from(outcome.runs).unwrap_or(u32::MAX)).max(1.0);
            let word = if outcome.wrong.is_some() { "WRONG" } else { "right" };
            table.row([outcome.name.clone(), outcome.runs.to_string(), format!("{each:.3}"), word.to_owned()]);
        }
        table
    }

    /// How many programs there are, and how many runs they made together.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().map(|outcome| outcome.runs).sum())
    }

    /// What was wrong.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let wrong = |outcome: &Outcome| outcome.wrong.as_ref().map(|wrong| format!("{}, run {}: {wrong}", outcome.name, outcome.runs));
        self.0.iter().filter_map(wrong).collect()
    }
}
