//! What hardening makes of the suite's programs: atomicity violations gone, everything else as it was.
//!
//! Each program is profiled with its own arguments, hardened, and explored beside its original within one budget. A program that never
//! passes gives no profile, and so gets no lock: that is `no profile`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::plan::Plan;
use model::report::{Build, CheckResult};

use super::build;
use super::catalog::{Hardening, Program};
use crate::child::Child;
use crate::kernel::words;

/// What came of one program.
#[derive(Clone, Debug)]
pub struct Hardened {
    /// The plan; nothing when no run passed.
    pub planned: Option<Planned>,
    /// The original's exploration.
    pub original: CheckResult,
    /// The hardened build's; the original's where there is none.
    pub hardened: CheckResult,
}

/// How much a plan does.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its locks.
    pub locks: usize,
    /// Its pairs, each a region.
    pub pairs: usize,
    /// How long regions are, in the words of `infer --stats`.
    pub lengths: String,
}

/// A program and what came of it.
pub type Row = (Program, Result<Hardened>);

/// Hardens one program of the checkout and explores both builds, each for at most `limit`.
pub fn harden(atomfix: &Path, checkout: &Path, program: &Program, limit: Duration) -> Result<Hardened> {
    const PROFILE: Duration = Duration::from_secs(300);
    let folder = tempfile::tempdir()?;
    let built = build::build(atomfix, checkout, program, folder.path())?;
    let command = |name: &str| Child::new(atomfix, PROFILE).within(&built.folder).arg(name);
    let profile = command("profile").args(["./app", "--runs", "50", "--seed", "1", "--timeout", "2", "--"]);
    let profiled = profile.args(&program.arguments).run()?.status.success();
    let planned = if profiled {
        command("harden").args(["./app", "-o", "app.hard"]).run()?.succeeded()?;
        let stats = command("infer").args(["./app", "--stats"]).run()?.succeeded()?.stdout;
        let plan: Plan = toml::from_str(&fs::read_to_string(built.folder.join("app.atomfix/plan.toml"))?)?;
        let pairs = plan.locks.iter().map(|lock| lock.pairs.len()).sum();
        Some(Planned { locks: plan.locks.len(), pairs, lengths: lengths(&stats) })
    } else {
        None
    };
    let name = if planned.is_some() { "./app.hard" } else { "./app" };
    let seconds = limit.as_secs().to_string();
    let check = Child::new(atomfix, limit * 4 + PROFILE).within(&built.folder);
    let check = check.args(["check", name, "--strategy", "portfolio", "--timeout", &seconds, "--json", "app.json", "--"]);
    let end = check.args(&program.arguments).run()?;
    let report = end.report(&built.folder.join("app.json"))?;
    let of = |build: Build| report.results.iter().find(|result| result.build == build).cloned();
    let original = of(Build::Original).context("a report has a result for the original")?;
    Ok(Hardened { planned, hardened: of(Build::Hardened).unwrap_or_else(|| original.clone()), original })
}

/// The mean lengths of admitted pairs, from the lines of `infer --stats`.
fn lengths(stats: &str) -> String {
    let mut parts = Vec::new();
    for (line, mode) in stats.lines().filter_map(|line| Some((line, line.split_once("pairs admitted, ")?.1))) {
        let mode = mode.split_whitespace().next().unwrap_or_default();
        if let Some((count, length)) = line.rsplit_once(" (mean length ") {
            let count = count.rsplit(' ').next().unwrap_or_default();
            let length = length.split(' ').next().unwrap_or_default();
            if count != "0" {
                parts.push(format!("{count} {mode} of {length}"));
            }
        }
    }
    parts.join(", ")
}

/// A table in Markdown.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from("| program | expected | locks | regions | original | hardened | covering | as expected |\n");
    let _ = writeln!(text, "|{}", "---|".repeat(8));
    for (program, hardened) in rows {
        let expected = match program.hardening {
            Some(Hardening::Suppressed) => "suppressed",
            Some(Hardening::Unclaimed) | None => "nothing claimed",
        };
        let _ = match hardened {
            Ok(hardened) => {
                let (locks, regions) = match &hardened.planned {
                    Some(planned) => (planned.locks.to_string(), format!("{} ({})", planned.pairs, planned.lengths)),
                    None => ("no profile".to_owned(), "-".to_owned()),
                };
                let verdict = problem(program, hardened).map_or_else(|| "yes".to_owned(), |problem| format!("no: {problem}"));
                let (before, after) = (words(&hardened.original), words(&hardened.hardened));
                let covering = &hardened.hardened.coverage;
                writeln!(text, "| {} | {expected} | {locks} | {regions} | {before} | {after} | {covering} | {verdict} |", program.name)
            }
            Err(error) => writeln!(text, "| {} | {expected} | | | | | | no: {error:#} |", program.name),
        };
    }
    text
}

/// What is not as it should be with one program.
fn problem(program: &Program, hardened: &Hardened) -> Option<String> {
    let kinds = |result: &CheckResult| result.failures.iter().map(|failure| failure.kind).collect::<std::collections::BTreeSet<_>>();
    let (before, after) = (kinds(&hardened.original), kinds(&hardened.hardened));
    match program.hardening {
        Some(Hardening::Suppressed) if !after.is_empty() => Some("it still fails".to_owned()),
        _ if !after.is_subset(&before) => Some("it fails in a new way".to_owned()),
        Some(Hardening::Unclaimed) if after != before => Some("a failure is gone that no lock repairs".to_owned()),
        _ => None,
    }
}

/// What is not as it should be.
#[must_use]
pub fn problems(rows: &[Row]) -> Vec<String> {
    let problem = |(program, hardened): &Row| match hardened {
        Ok(hardened) => problem(program, hardened).map(|problem| format!("{}: {problem}", program.name)),
        Err(error) => Some(format!("{}: {error:#}", program.name)),
    };
    rows.iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_from_the_statistics() {
        let stats = "locks  2\npairs admitted, READ       0 (mean length 0 nodes)\npairs admitted, EXCLUSIVE  3 (mean length 5 nodes)\n";
        assert_eq!(lengths(stats), "3 EXCLUSIVE of 5");
    }
}
