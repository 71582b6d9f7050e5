//! The searches that are compared, in a compiled program.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use explorer::strategy::config::{Config, Name};
use explorer::strategy::depth_first::Extent;
use explorer::strategy::iterative::Preemptions;
use explorer::strategy::part::{Part, Work};
use explorer::strategy::subtree::Subtree;
use explorer::target::process::Program;
use explorer::target::setup::{MostSteps, Sequel, Setup};
use explorer::target::watch::{self, Ending, Limits};

use super::outcome::{self, Words};

/// A search of all schedules, or of those up to a number of preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Which.
    pub work: Work,
    /// Its bound, if it has one.
    pub bound: Option<u32>,
    /// Its name.
    pub name: &'static str,
}

/// The most preemptions of bounded searches; each program has one of the bounds.
pub const MOST_PREEMPTIONS: u32 = 2;

/// The searches without a bound, and those within one.
#[must_use]
pub fn searches(bound: u32) -> [Search; 5] {
    [
        Search { work: Work::Search(Extent::Unpruned), bound: None, name: "depth first" },
        Search { work: Work::Search(Extent::SleepSets), bound: None, name: "sleep sets" },
        Search { work: Work::Reduce(None), bound: None, name: "dpor" },
        Search { work: Work::Search(Extent::Preemptions(bound)), bound: Some(bound), name: "depth first" },
        Search { work: Work::Reduce(Some(bound)), bound: Some(bound), name: "dpor" },
    ]
}

/// What a search of a program found, with how many schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Outcomes in words.
    pub outcomes: Words,
    /// Classes of failures as the engine tells them apart: finer than outcomes where threads wait for each other.
    pub failures: Words,
    /// Schedules.
    pub schedules: u64,
}

/// After how many steps an execution is cut: none of these programs has as many.
const MOST_STEPS: u64 = 10_000;

const LIMIT: Duration = Duration::from_secs(180);

/// Explores a gated program with this argument, where waits may end without a cause or not.
///
/// # Errors
/// When it does not start, or was not explored to its end, or does not repeat itself.
pub fn explore(gated: &Path, argument: &str, spurious: bool, search: Search) -> Result<Explored> {
    let program = Program { path: gated.to_owned(), name: OsString::from("app"), arguments: vec![argument.into()] };
    let config = Config { name: Name::DepthFirst, preemptions: Preemptions::Unlimited, executions: None, seed: 0 };
    let part = Part { work: search.work, subtree: Subtree::default(), steps: u64::MAX };
    let setup = Setup {
        steps: MostSteps::Number(MOST_STEPS),
        outcomes: true,
        spurious,
        part: Some(part),
        sequel: Sequel::Nothing,
        ..Setup::exploring(config)
    };
    let limits = Limits { whole: Some(LIMIT), step: LIMIT, stop: || false };
    let explored = watch::run(&program, &setup, limits, &mut |_| {}).with_context(|| gated.display().to_string())?;
    if explored.ending != Ending::Ended || explored.timed_out || explored.counts.cut > 0 || explored.counts.diverged > 0 {
        bail!("{} was not explored to its end: {:?}, {:?}", search.name, explored.ending, explored.counts);
    }
    let failures = explored.found.failures.iter().map(|failure| format!("{} {:?} {}", failure.kind, failure.site, failure.message));
    Ok(Explored { outcomes: outcome::of_run(&explored.found), failures: failures.collect(), schedules: explored.counts.schedules })
}
