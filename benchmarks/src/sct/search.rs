//! How soon each strategy finds the bug of each program, beside what others published.
//!
//! A sampler has some trials, each with a seed of its own; a strategy without a seed has one. What counts is the execution in
//! which the failure came, of all that were begun: those of passes that began anew when more memory was found shared, and abandoned
//! ones, count too. Executions cut at the step limit are no failures.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::{Coverage, FailureKind, Report};

use super::build::{self, Built};
use super::catalog::{PUBLISHED, Program, Verdict};
use crate::child::Child;

/// How thoroughly to search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Trials of strategies that have a seed.
    pub trials: u32,
    /// How long each may take.
    pub limit: Duration,
    /// The strategies, by the names that `check` has for them.
    pub strategies: Vec<String>,
}

/// The strategy that `check` is judged by.
pub const PORTFOLIO: &str = "portfolio";

/// Strategies whose trials are all alike.
const WITHOUT_SEED: [&str; 6] = ["dfs", "delay", "sleep", "dpor", "pairs", "exitblock"];

/// One exploration, up to its first failure.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The execution in which the failure came, and after how many seconds of exploring.
    pub found: Option<(u64, f64)>,
    /// Schedules that were run.
    pub schedules: u64,
    /// What they cover.
    pub coverage: Coverage,
    /// Whether that is all.
    pub complete: bool,
}

/// What came of a program, strategy by strategy.
#[derive(Debug)]
pub struct Row {
    /// Which one.
    pub program: Program,
    /// The trials of each strategy, in the order of the settings; or why there are none.
    pub trials: Result<Vec<Vec<Trial>>>,
}

/// Searches one program of the checkout.
#[must_use]
pub fn search(atomfix: &Path, checkout: &Path, program: Program, settings: &Settings) -> Row {
    let trials = (|| {
        let folder = tempfile::tempdir()?;
        let built = build::build(atomfix, checkout, &program, folder.path())?;
        settings.strategies.iter().map(|strategy| trials(atomfix, &built, &program, strategy, settings)).collect()
    })();
    Row { program, trials }
}

fn trials(atomfix: &Path, built: &Built, program: &Program, strategy: &str, settings: &Settings) -> Result<Vec<Trial>> {
    let has_seed = !WITHOUT_SEED.contains(&strategy) && program.verdict == Verdict::Fails;
    let count = if has_seed { settings.trials } else { 1 };
    (0..count).map(|seed| trial(atomfix, built, program, strategy, seed, settings.limit)).collect()
}

fn trial(atomfix: &Path, built: &Built, program: &Program, strategy: &str, seed: u32, limit: Duration) -> Result<Trial> {
    const GRACE: Duration = Duration::from_secs(90);
    let report = built.folder.join("app.json");
    let _ = fs::remove_file(&report);
    let check = Child::new(atomfix, limit + GRACE).within(&built.folder).args(["check", "./app", "--until-failure", "--json", "app.json"]);
    let seconds = limit.as_secs_f64().to_string();
    let check = check.args(["--strategy", strategy, "--seed", &seed.to_string(), "--timeout", &seconds, "--"]);
    let end = check.args(&program.arguments).run()?;
    let text = fs::read_to_string(&report).with_context(|| format!("`{}` wrote no report: {}", end.shown, end.stderr))?;
    let report: Report = serde_json::from_str(&text)?;
    let result = report.results.into_iter().next().context("a report has a result")?;
    let failure = result.failures.iter().find(|failure| failure.kind != FailureKind::StepLimit);
    let found = failure.and_then(|failure| failure.first).map(|first| (first, result.seconds));
    Ok(Trial { found, schedules: result.schedules, coverage: result.coverage, complete: result.complete })
}

/// `mean±deviation (found/trials)` of the executions to the first failure, or how many were run in vain.
#[must_use]
pub fn cell(trials: &[Trial]) -> String {
    let found: Vec<u64> = trials.iter().filter_map(|trial| trial.found).map(|(first, _)| first).collect();
    if found.is_empty() {
        let run = trials.iter().map(|trial| trial.schedules).sum::<u64>() / trials.len().max(1) as u64;
        let all = if trials.iter().any(|trial| trial.complete) { ", complete" } else { "" };
        return format!("0/{} ({run} tried{all})", trials.len());
    }
    let (mean, deviation) = moments(&found);
    let mut cell = if found.len() == 1 { format!("{mean:.0}") } else { format!("{mean:.0}±{deviation:.0}") };
    if found.len() < trials.len() {
        // Writing to a string cannot fail.
        let _ = write!(cell, " ({}/{})", found.len(), trials.len());
    }
    cell
}

#[expect(clippy::cast_precision_loss, reason = "means for people")]
fn moments(values: &[u64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().map(|&value| value as f64).sum::<f64>() / count;
    let spread = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / count;
    (mean, spread.sqrt())
}

/// The mean time to the first failure, in milliseconds of exploring.
fn milliseconds(trials: &[Trial]) -> Option<f64> {
    let times: Vec<f64> = trials.iter().filter_map(|trial| trial.found).map(|(_, seconds)| seconds * 1e3).collect();
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    let count = times.len() as f64;
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / count)
}

/// Whether the mean is within the larger of 20 executions and twice the best published mean.
fn is_soon(program: &Program, trials: &[Trial]) -> Option<bool> {
    let best = program.best?;
    let found: Vec<u64> = trials.iter().filter_map(|trial| trial.found).map(|(first, _)| first).collect();
    Some(found.len() == trials.len() && moments(&found).0 <= f64::from((2 * best).max(20)))
}

/// A table in Markdown: our strategies, then the published columns.
#[must_use]
pub fn table(rows: &[Row], settings: &Settings) -> String {
    let mut text = String::from("| program |");
    for head in &settings.strategies {
        let _ = write!(text, " {head} |");
    }
    text.push_str(" ms | soon |");
    for head in PUBLISHED {
        let _ = write!(text, " {head} |");
    }
    let columns = settings.strategies.len() + PUBLISHED.len() + 3;
    let _ = writeln!(text, "\n|{}", "---|".repeat(columns));
    for row in rows.iter().filter(|row| row.program.verdict == Verdict::Fails) {
        let _ = write!(text, "| {} |", row.program.name);
        match &row.trials {
            Ok(trials) => {
                for trials in trials {
                    let _ = write!(text, " {} |", cell(trials));
                }
                let first = trials.first().map_or(&[][..], Vec::as_slice);
                let time = milliseconds(first).map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
                let soon = is_soon(&row.program, first).map_or("-", |soon| if soon { "yes" } else { "no" });
                let _ = write!(text, " {time} | {soon} |");
            }
            Err(error) => {
                let _ = write!(text, " {error:#} |{}", " |".repeat(settings.strategies.len() + 1));
            }
        }
        let published =
            if row.program.published.is_empty() { vec!["-".to_owned(); PUBLISHED.len()] } else { row.program.published.clone() };
        let _ = writeln!(text, " {} |", published.join(" | "));
    }
    text
}

/// A table in Markdown of the programs without a bug.
#[must_use]
pub fn correct(rows: &[Row]) -> String {
    let mut text = String::from("| program | outcome | schedules | covering |\n|---|---|---|---|\n");
    for row in rows.iter().filter(|row| row.program.verdict == Verdict::Passes) {
        let name = &row.program.name;
        let _ = match row.trials.as_ref().map(|trials| trials.first().and_then(|trials| trials.first())) {
            Ok(Some(trial)) => {
                let outcome = if trial.found.is_some() { "FAILS" } else { "passes" };
                writeln!(text, "| {name} | {outcome} | {} | {} |", trial.schedules, trial.coverage)
            }
            Ok(None) => Ok(()),
            Err(error) => writeln!(text, "| {name} | {error:#} | | |"),
        };
    }
    text
}

/// One line: how many programs the first strategy finds, and how many soon enough.
#[must_use]
pub fn summary(rows: &[Row], settings: &Settings) -> String {
    let first = |row: &Row| row.trials.as_ref().ok().and_then(|trials| trials.first().cloned());
    let compared: Vec<&Row> = rows.iter().filter(|row| !row.program.published.is_empty()).collect();
    let published = compared.iter().filter(|row| row.program.best.is_some()).count();
    let found = |row: &&&Row| first(row).is_some_and(|trials| trials.iter().all(|trial| trial.found.is_some()));
    let soon = compared.iter().filter(|row| first(row).is_some_and(|trials| is_soon(&row.program, &trials) == Some(true))).count();
    format!(
        "{}: finds {} of the {} programs with published figures, in every trial; others find {published}; {soon} within the larger of 20 \
         executions and twice the best published mean",
        settings.strategies.first().map_or("nothing", String::as_str),
        compared.iter().filter(found).count(),
        compared.len(),
    )
}

/// What is not as it should be.
#[must_use]
pub fn problems(rows: &[Row]) -> Vec<String> {
    let mut problems = Vec::new();
    for row in rows {
        let name = &row.program.name;
        match &row.trials {
            Err(error) if row.program.obstacle.is_none() => problems.push(format!("{name}: {error:#}")),
            Err(_) => {}
            Ok(trials) => {
                let found = trials.iter().flatten().any(|trial| trial.found.is_some());
                let first = trials.first().is_some_and(|trials| trials.iter().any(|trial| trial.found.is_some()));
                match row.program.verdict {
                    Verdict::Passes if found => problems.push(format!("{name}: fails, and is correct")),
                    Verdict::Fails if row.program.best.is_some() && !first => problems.push(format!("{name}: its bug was not found")),
                    _ => {}
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(first: Option<u64>) -> Trial {
        Trial { found: first.map(|first| (first, 0.5)), schedules: 30, coverage: Coverage::Sampled(30), complete: false }
    }

    #[test]
    fn cells_say_mean_deviation_and_how_many_trials_found_it() {
        assert_eq!(cell(&[trial(Some(3))]), "3");
        assert_eq!(cell(&[trial(Some(2)), trial(Some(4))]), "3±1");
        assert_eq!(cell(&[trial(Some(2)), trial(Some(4)), trial(None)]), "3±1 (2/3)");
        assert_eq!(cell(&[trial(None), trial(None)]), "0/2 (30 tried)");
    }

    #[test]
    fn soon_is_within_20_or_twice_the_best() {
        let mut program = super::super::catalog::programs(&["qsort_mt".to_owned()]).expect("a table").remove(0);
        assert_eq!(program.best, Some(27));
        assert_eq!(is_soon(&program, &[trial(Some(54))]), Some(true));
        assert_eq!(is_soon(&program, &[trial(Some(55))]), Some(false));
        assert_eq!(is_soon(&program, &[trial(Some(1)), trial(None)]), Some(false));
        program.best = Some(1);
        assert_eq!(is_soon(&program, &[trial(Some(20))]), Some(true));
    }
}
