//! The steps that all real programs share: profile, harden, and timing one command.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::Environment;
use super::outcome::Outcome;
use crate::child::Child;
use crate::measure::Cost;

/// The longest that one step may take.
pub const LIMIT: Duration = Duration::from_secs(1800);

/// `atomfix` with a command, in a program's folder.
#[must_use]
pub fn atomfix(environment: &Environment, folder: &Path, command: &str) -> Child {
    Child::new(&environment.atomfix, LIMIT).within(folder).arg(command)
}

/// Profiles passing runs with these arguments.
pub fn profile(environment: &Environment, program: &Path, arguments: &[&str]) -> Result<()> {
    profile_with(environment, program, 1, arguments)
}

/// The same with the seed of the runs' perturbation.
pub fn profile_with(environment: &Environment, program: &Path, seed: u64, arguments: &[&str]) -> Result<()> {
    let (folder, name) = parts(program)?;
    atomfix(environment, folder, "profile").arg(name).args(["--seed", &seed.to_string()]).args(arguments).run()?.succeeded()?;
    Ok(())
}

/// Infers and hardens `PROGRAM` into `PROGRAM.hard`, and notes the plan's size and the time in the outcome.
pub fn harden(environment: &Environment, program: &Path, outcome: &mut Outcome) -> Result<PathBuf> {
    let (folder, name) = parts(program)?;
    let hardened = folder.join(format!("{}.hard", program.file_name().unwrap_or_default().to_string_lossy()));
    let end = atomfix(environment, folder, "harden").arg(&name).arg("-o").arg(&hardened).run()?.succeeded()?;
    outcome.hardened_in = end.wall;
    let mut plan = program.as_os_str().to_owned();
    plan.push(".atomfix/plan.toml");
    let text = fs::read_to_string(&plan).with_context(|| plan.display().to_string())?;
    let plan: model::plan::Plan = toml::from_str(&text)?;
    outcome.locks = plan.locks.len();
    outcome.pairs = plan.locks.iter().map(|lock| lock.pairs.len()).sum();
    Ok(hardened)
}

/// Runs a command that must succeed, and says what it cost.
pub fn cost(child: Child) -> Result<Cost> {
    let end = child.run()?.succeeded()?;
    Ok(Cost { wall: end.wall, cpu: end.cpu, memory: end.peak_memory })
}

/// Why two files differ, if they do.
pub fn difference(one: &Path, two: &Path) -> Result<Option<String>> {
    let end = Child::new("cmp", LIMIT).arg(one).arg(two).run()?;
    Ok((!end.status.success()).then(|| format!("{}{}", end.stdout, end.stderr).trim().to_owned()))
}

fn parts(program: &Path) -> Result<(&Path, PathBuf)> {
    let folder = program.parent().context("a program lies in a folder")?;
    Ok((folder, Path::new(".").join(program.file_name().context("a program has a name")?)))
}
