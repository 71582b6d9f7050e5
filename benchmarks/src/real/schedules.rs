//! Whole programs under random schedules, held to one thing: that no execution fails to repeat itself.
//!
//! pbzip2 compresses a small file with two threads, memcached serves two clients with two workers, server and clients in one process.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use model::report::CheckResult;

use super::session::atomfix;
use super::{Environment, corpus, in_process, pbzip2};
use crate::kernel::words;
use crate::table::Table;

/// Bytes that pbzip2 compresses.
const INPUT: u64 = 300_000;

/// A name and what was explored.
pub type Row = (&'static str, Result<CheckResult>);

/// Explores each program by so many random schedules.
pub fn explore(environment: &Environment, schedules: u64) -> Vec<Row> {
    vec![("pbzip2 1.1.13", compressing(environment, schedules)), ("memcached 1.6.18", serving(environment, schedules))]
}

fn compressing(environment: &Environment, schedules: u64) -> Result<CheckResult> {
    pbzip2::build(environment)?;
    let folder = environment.work.join("pbzip2");
    let mut input = Vec::new();
    fs::File::open(corpus::file(&environment.work, 1)?)?.take(INPUT).read_to_end(&mut input)?;
    fs::write(folder.join("input.txt"), input)?;
    check(environment, &folder, "./pbzip2", schedules, &["-p2", "-k", "-f", "-1", "input.txt"])
}

fn serving(environment: &Environment, schedules: u64) -> Result<CheckResult> {
    let folder = environment.work.join("served-memcached");
    in_process::memcached(environment, &folder)?;
    in_process::with_memcached(environment, &folder, "memcached-served")?;
    check(environment, &folder, "./memcached-served", schedules, &[])
}

fn check(environment: &Environment, folder: &Path, program: &str, schedules: u64, arguments: &[&str]) -> Result<CheckResult> {
    // Start-up fills tables in loops: most of memcached's 150,000 steps.
    let bounds = ["--max-schedules", &schedules.to_string(), "--max-steps", "5000000"];
    let check = atomfix(environment, folder, "check").args([program, "--strategy", "random", "--json", "report.json"]).args(bounds);
    let end = check.arg("--").args(arguments).run()?;
    let report = end.report(&folder.join("report.json"))?;
    report.results.into_iter().next().context("a report has a result")
}

/// What was explored.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(["program", "schedules", "not repeated", "cut", "seconds", "failures"]);
    for (name, result) in rows {
        match result {
            Ok(result) => {
                let numbers = [result.schedules, result.diverged, result.cut].map(|number| number.to_string());
                let [schedules, diverged, cut] = numbers;
                table.row([(*name).to_owned(), schedules, diverged, cut, format!("{:.1}", result.seconds), words(result)]);
            }
            Err(error) => table.row([(*name).to_owned(), "-".into(), "-".into(), "-".into(), "-".into(), format!("{error:#}")]),
        }
    }
    table
}

/// What is not as it should be.
#[must_use]
pub fn problems(rows: &[Row]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, result) in rows {
        match result {
            Err(error) => problems.push(format!("{name}: {error:#}")),
            Ok(result) if result.diverged > 0 => problems.push(format!("{name}: {} executions did not repeat themselves", result.diverged)),
            Ok(result) if !result.failures.is_empty() => problems.push(format!("{name}: {}", words(result))),
            Ok(_) => {}
        }
    }
    problems
}
