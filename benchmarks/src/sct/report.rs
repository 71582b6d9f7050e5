//! What a comparison of strategies shows, in tables, beside what others published.

use std::fmt::Write;

use super::catalog::{PUBLISHED, Program, Verdict};
use super::search::{Row, Settings, Trial};

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

/// The head of the table of bugs in Markdown: our strategies, then the published columns.
#[must_use]
pub fn head(settings: &Settings) -> String {
    let ours = settings.strategies.iter().map(String::as_str);
    let columns: Vec<&str> = ["program"].into_iter().chain(ours).chain(["soon"]).chain(PUBLISHED).collect();
    format!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()))
}

/// A row of it; `None` for a program without a bug.
#[must_use]
pub fn line(row: &Row, settings: &Settings) -> Option<String> {
    if row.program.verdict == Verdict::Passes {
        return None;
    }
    let mut text = format!("| {} |", row.program.name);
    // Writing to a string cannot fail.
    let _ = match &row.trials {
        Ok(trials) => {
            let soon = trials.first().and_then(|first| is_soon(&row.program, first));
            let cells: Vec<String> = trials.iter().map(|trials| cell_with_time(trials)).collect();
            write!(text, " {} | {} |", cells.join(" | "), soon.map_or("-", |soon| if soon { "yes" } else { "no" }))
        }
        Err(error) => write!(text, " {error:#} |{}", " |".repeat(settings.strategies.len())),
    };
    let published = if row.program.published.is_empty() { vec!["-".to_owned(); PUBLISHED.len()] } else { row.program.published.clone() };
    let _ = write!(text, " {} |", published.join(" | "));
    Some(text)
}

fn cell_with_time(trials: &[Trial]) -> String {
    match milliseconds(trials) {
        Some(time) => format!("{}, {time:.1} ms", cell(trials)),
        None => cell(trials),
    }
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
    use model::report::Coverage;

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
