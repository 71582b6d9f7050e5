//! How soon each strategy finds the bug of each program.
//!
//! A sampler has some trials, each with a seed of its own; a strategy without a seed has one. What counts is the execution in
//! which the failure came, of all that were begun: those of passes that began anew when more memory was found shared, and abandoned
//! ones, count too. Executions cut at the step limit are no failures.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::report::{Coverage, FailureKind};
use serde::{Deserialize, Serialize};

use super::build::{self, Built};
use super::catalog::{Program, Verdict};
use super::results::{Name, Results};
use crate::child::Child;

/// How thoroughly to search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Trials of strategies that have a seed.
    pub trials: u32,
    /// How long each may take.
    pub limit: Duration,
    /// After how many trials in a row that found nothing a strategy is given up on a program.
    pub misses: u32,
    /// The strategies, by the names that `check` has for them.
    pub strategies: Vec<String>,
}

/// The strategy that `check` is judged by.
pub const PORTFOLIO: &str = "portfolio";

/// Strategies whose trials are all alike.
const WITHOUT_SEED: [&str; 7] = ["dfs", "delay", "sleep", "unpruned", "dpor", "pairs", "exitblock"];

/// One exploration, up to its first failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// Searches one program of the checkout, as far as that was not done.
#[must_use]
pub fn search(atomfix: &Path, checkout: &Path, program: Program, settings: &Settings, results: &mut Results) -> Row {
    let trials = (|| {
        if let Some(obstacle) = &program.obstacle {
            bail!("not run: {obstacle}");
        }
        let folder = tempfile::tempdir()?;
        let mut built = None;
        let mut trials = Vec::new();
        for strategy in &settings.strategies {
            let mut made = Vec::new();
            while wants_more(&program, strategy, settings, &made) {
                let seed = u32::try_from(made.len()).unwrap_or(u32::MAX);
                let name = Name::new(settings.limit, &program.name, strategy, seed);
                let known = results.get(&name);
                made.push(match known {
                    Some(known) => known,
                    None => {
                        let app = match &built {
                            Some(built) => built,
                            None => built.insert(build::build(atomfix, checkout, &program, folder.path())?),
                        };
                        let made = trial(atomfix, app, &program, strategy, seed, settings.limit)?;
                        results.put(name, made.clone())?;
                        made
                    }
                });
            }
            trials.push(made);
        }
        Ok(trials)
    })();
    Row { program, trials }
}

/// Whether a strategy has trials left on a program.
fn wants_more(program: &Program, strategy: &str, settings: &Settings, made: &[Trial]) -> bool {
    let has_seed = !WITHOUT_SEED.contains(&strategy) && program.verdict == Verdict::Fails;
    let count = if has_seed { settings.trials } else { 1 };
    let missed = made.iter().rev().take_while(|trial| trial.found.is_none()).count();
    made.len() < count as usize && missed < settings.misses as usize
}

fn trial(atomfix: &Path, built: &Built, program: &Program, strategy: &str, seed: u32, limit: Duration) -> Result<Trial> {
    const GRACE: Duration = Duration::from_secs(90);
    let report = built.folder.join("app.json");
    let _ = fs::remove_file(&report);
    let check = Child::new(atomfix, limit + GRACE).within(&built.folder).args(["check", "./app", "--until-failure", "--json", "app.json"]);
    let seconds = limit.as_secs_f64().to_string();
    let check = check.args(["--strategy", strategy, "--seed", &seed.to_string(), "--timeout", &seconds, "--"]);
    let end = check.args(&program.arguments).run()?;
    let report = end.report(&report)?;
    let result = report.results.into_iter().next().context("a report has a result")?;
    let failure = result.failures.iter().find(|failure| failure.kind != FailureKind::StepLimit);
    let found = failure.and_then(|failure| failure.first).map(|first| (first, result.seconds));
    Ok(Trial { found, schedules: result.schedules, coverage: result.coverage, complete: result.complete })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_given_up_after_some_misses_in_a_row() {
        let settings = Settings { trials: 6, limit: Duration::from_secs(1), misses: 2, strategies: Vec::new() };
        let program = super::super::catalog::programs(&["qsort_mt".to_owned()]).expect("a table").remove(0);
        let check = |strategy: &str, made: &[bool], expected: bool| {
            let trial = |found: &bool| {
                let found = found.then_some((1, 0.5));
                Trial { found, schedules: 1, coverage: Coverage::Sampled(1), complete: false }
            };
            let made: Vec<Trial> = made.iter().map(trial).collect();
            assert_eq!(wants_more(&program, strategy, &settings, &made), expected, "{strategy} {}", made.len());
        };
        check("pos", &[], true);
        check("pos", &[false, true, false], true);
        check("pos", &[true, false, false], false);
        check("pos", &[true; 6], false);
        check("dpor", &[], true);
        check("dpor", &[true], false);
    }
}
