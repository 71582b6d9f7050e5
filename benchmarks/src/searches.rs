//! What partial order reduction saves: programs with a known number of classes of schedules, explored by `dpor`, by sleep sets, and with
//! nothing left out. Times are of the whole command, start included, when all is built.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::CheckResult;

use crate::child::Child;

/// A program, how many threads it has beside the initial one, and how many executions an optimal search takes.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// For people.
    pub name: &'static str,
    source: &'static str,
    /// Threads that lock, or that read.
    pub threads: u32,
    /// Classes of schedules.
    pub classes: u64,
    /// Seconds that the faster of GenMC 0.11 and Nidhugg 0.4 takes for the same on two cores, whole process, as published beside our targets.
    pub others: Option<f64>,
}

const LOCKS: &str = include_str!("../../cli/tests/litmus/lock_increments.c");
const READERS: &str = include_str!("../../cli/tests/litmus/readers.c");

const fn locks(threads: u32, classes: u64, others: Option<f64>) -> Program {
    Program { name: "lock increments", source: LOCKS, threads, classes, others }
}

const fn readers(threads: u32, classes: u64, others: Option<f64>) -> Program {
    Program { name: "readers", source: READERS, threads, classes, others }
}

/// The programs.
pub const PROGRAMS: [Program; 10] = [
    locks(2, 2, None),
    locks(3, 6, None),
    locks(4, 24, None),
    locks(5, 120, None),
    locks(6, 720, Some(0.078)),
    locks(7, 5040, Some(0.36)),
    readers(2, 4, None),
    readers(4, 16, None),
    readers(8, 256, None),
    readers(14, 16_384, Some(0.75)),
];

/// The searches, the one that is judged first.
pub const SEARCHES: [&str; 3] = ["dpor", "sleep", "unpruned"];

/// What a search took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explored {
    /// Executions, those included that were begun in vain.
    pub executions: u64,
    /// Whether they are all there are.
    pub complete: bool,
    /// Seconds of the whole command.
    pub seconds: f64,
}

/// Explores a program by each of [`SEARCHES`]: `dpor` so many times, of which the median counts, the others once and no longer than `limit`.
pub fn measure(atomfix: &Path, program: &Program, folder: &Path, rounds: usize, limit: Duration) -> Result<[Explored; 3]> {
    fs::write(folder.join("program.c"), program.source)?;
    let threads = format!("-DTHREADS={}", program.threads);
    let compile = Child::new(atomfix, PATIENCE).within(folder).args(["cc", "-g", "-O2", "-pthread", &threads, "program.c", "-o", "app"]);
    compile.run()?.succeeded()?;
    // The first one builds what is explored.
    explore(atomfix, folder, SEARCHES[0], limit)?;
    let mut found = Vec::new();
    for (at, search) in SEARCHES.into_iter().enumerate() {
        let mut explored = Vec::new();
        for _ in 0..if at == 0 { rounds.max(1) } else { 1 } {
            explored.push(explore(atomfix, folder, search, limit)?);
        }
        explored.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        found.push(explored[explored.len() / 2]);
    }
    found.try_into().ok().context("each search was made")
}

const PATIENCE: Duration = Duration::from_secs(120);

fn explore(atomfix: &Path, folder: &Path, search: &str, limit: Duration) -> Result<Explored> {
    let seconds = limit.as_secs_f64().to_string();
    let check = Child::new(atomfix, limit + PATIENCE).within(folder);
    let end = check.args(["check", "./app", "--strategy", search, "--timeout", &seconds, "--json", "app.json"]).run()?;
    let report = end.report(&folder.join("app.json"))?;
    let CheckResult { schedules, abandoned, complete, .. } = report.results.into_iter().next().context("a report has a result")?;
    Ok(Explored { executions: schedules + abandoned, complete, seconds: end.wall.as_secs_f64() })
}

/// A cell of a table.
#[must_use]
pub fn cell(explored: &Explored) -> String {
    let unfinished = if explored.complete { "" } else { ", unfinished" };
    format!("{} in {:.2} s{unfinished}", explored.executions, explored.seconds)
}

/// What is not as it should be: an optimal search takes one execution for each class.
#[must_use]
pub fn problem(program: &Program, dpor: &Explored) -> Option<String> {
    let Program { name, threads, classes, .. } = program;
    (!dpor.complete || dpor.executions != *classes)
        .then(|| format!("{name}, {threads} threads: {} executions, not {classes}", dpor.executions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_takes_too_many_or_does_not_end_is_a_problem() {
        let program = locks(3, 6, None);
        let explored = |executions, complete| Explored { executions, complete, seconds: 0.25 };
        assert_eq!(problem(&program, &explored(6, true)), None);
        for wrong in [explored(7, true), explored(6, false)] {
            assert!(problem(&program, &wrong).is_some());
        }
        assert_eq!(cell(&explored(6, false)), "6 in 0.25 s, unfinished");
    }
}
