//! Schedules a second of the suite's small C programs, driver by driver.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::Report;

use super::build;
use super::catalog::Program;
use crate::child::Child;

/// The folder whose programs are measured.
pub const FOLDER: &str = "concurrent-software-benchmarks/";

/// The drivers that are measured.
pub const DRIVERS: [&str; 2] = ["restore", "fork"];

/// Schedules a second and steps a run of a program, by the random walk, for each of [`DRIVERS`].
pub fn measure(atomfix: &Path, checkout: &Path, program: &Program, schedules: u64) -> Result<[f64; 2]> {
    const LIMIT: Duration = Duration::from_secs(60);
    let folder = tempfile::tempdir()?;
    let built = build::build(atomfix, checkout, program, folder.path())?;
    let mut speeds = [0.0; 2];
    for (speed, driver) in speeds.iter_mut().zip(DRIVERS) {
        let count = if driver == "fork" { (schedules / 20).max(1) } else { schedules };
        let check = Child::new(atomfix, LIMIT * 2).within(&built.folder);
        let check = check.args(["check", "./app", "--strategy", "random", "--driver", driver, "--json", "app.json"]);
        let end = check.args(["--max-schedules", &count.to_string(), "--timeout", "30", "--"]).args(&program.arguments).run()?;
        let text = fs::read_to_string(built.folder.join("app.json"));
        let text = text.with_context(|| format!("`{}` wrote no report: {}", end.shown, end.stderr))?;
        let report: Report = serde_json::from_str(&text)?;
        *speed = report.results.first().context("a report has a result")?.schedules_per_second;
    }
    Ok(speeds)
}
