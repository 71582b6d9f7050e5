//! How many schedules a second `check` explores, kernel by kernel.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::child::Child;
use crate::expect::Kernel;

/// The explorations of one kernel's original build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Schedules of the median run.
    pub schedules: u64,
    /// Schedules a second, by the report: time spent exploring, building not included.
    pub per_second: f64,
}

/// The median over some explorations of a kernel without preemption bound.
pub fn measure(atomfix: &Path, kernel: &Kernel, folder: &Path, rounds: usize) -> Result<Speed> {
    const LIMIT: Duration = Duration::from_secs(120);
    let name = kernel.source.file_name().context("a source has a name")?;
    fs::copy(&kernel.source, folder.join(name))?;
    let compile = Child::new(atomfix, LIMIT).within(folder).args(["cc", "-g", "-O2", "-pthread"]).arg(name).args(["-o", "app"]);
    compile.run()?.succeeded()?;
    let mut speeds = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let check = Child::new(atomfix, LIMIT).within(folder).args([
            "check",
            "./app",
            "--strategy",
            "dfs",
            "--preemptions",
            "none",
            "--json",
            "app.json",
            "--",
        ]);
        let end = check.args(&kernel.expectation.arguments.check).run()?;
        let report = end.report(&folder.join("app.json"))?;
        let result = report.results.first().context("the report is empty")?;
        speeds.push(Speed { schedules: result.schedules, per_second: result.schedules_per_second });
    }
    speeds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    speeds.get(rounds / 2).copied().context("no round was asked for")
}
