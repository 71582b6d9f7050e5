//! Schedules a second of the suite's small C programs, driver by driver.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::CheckResult;

use super::build::{self, Built};
use super::catalog::Program;
use crate::child::Child;

/// The folder whose programs are measured.
pub const FOLDER: &str = "concurrent-software-benchmarks/";

/// The drivers that are measured.
pub const DRIVERS: [&str; 2] = ["restore", "fork"];

/// How fast one driver is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speed {
    /// Schedules a second of exploring.
    pub per_second: f64,
    /// Schedules a second of processor time, the command's start left out: on a busy machine the better measure.
    pub per_processor_second: f64,
}

/// The speed of a program under the random walk, for each of [`DRIVERS`].
pub fn measure(atomfix: &Path, checkout: &Path, program: &Program, schedules: u64) -> Result<[Speed; 2]> {
    let folder = tempfile::tempdir()?;
    let built = build::build(atomfix, checkout, program, folder.path())?;
    let mut speeds = [Speed::default(); 2];
    for (speed, driver) in speeds.iter_mut().zip(DRIVERS) {
        let count = if driver == "fork" { (schedules / 20).max(1) } else { schedules };
        // The first one builds what is explored.
        check(atomfix, &built, program, driver, 1)?;
        let (_, start) = check(atomfix, &built, program, driver, 1)?;
        let (result, whole) = check(atomfix, &built, program, driver, count)?;
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let schedules = result.schedules as f64;
        let processor = whole.saturating_sub(start).as_secs_f64().max(1e-6);
        *speed = Speed { per_second: result.schedules_per_second, per_processor_second: schedules / processor };
    }
    Ok(speeds)
}

/// One exploration, and its processor time.
fn check(atomfix: &Path, built: &Built, program: &Program, driver: &str, schedules: u64) -> Result<(CheckResult, Duration)> {
    const LIMIT: Duration = Duration::from_secs(60);
    let check = Child::new(atomfix, LIMIT * 2).within(&built.folder);
    let check = check.args(["check", "./app", "--strategy", "random", "--driver", driver, "--json", "app.json"]);
    let end = check.args(["--max-schedules", &schedules.to_string(), "--timeout", "30", "--"]).args(&program.arguments).run()?;
    let report = end.report(&built.folder.join("app.json"))?;
    Ok((report.results.into_iter().next().context("a report has a result")?, end.cpu))
}
