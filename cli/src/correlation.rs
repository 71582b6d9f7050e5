//! The two steps in which `profile` looks for correlated sets, and the options about them that it shares with `infer` and `harden`.
//!
//! Step one is a third of the runs, which count what is accessed together; those that the profile has already count for it. Then the
//! sets are chosen, and the other runs watch them. With a single run nothing is watched until the next command.

use std::fs;
use std::path::Path;

use inference::Thresholds;
use inference::correlate::{self, Candidates, Subject};
use model::correlation::encode_watched;
use model::profile::Evidence;
use profiler::ProfileError;
use profiler::perturb::{Watching, watch_list};

use crate::wording::counted;

/// When variables count as correlated.
#[derive(clap::Args)]
pub(crate) struct SetChoices {
    /// Take variables for a correlated set if they were accessed together so often
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().support)]
    set_support: u64,
    /// Take variables for a correlated set if so many per cent of the accesses to each are near one to the other
    #[arg(long, value_name = "PERCENT", default_value_t = Thresholds::default().confidence, value_parser = clap::value_parser!(u64).range(..=100))]
    set_confidence: u64,
}

impl SetChoices {
    /// The same, for inference.
    pub(crate) fn thresholds(&self) -> Thresholds {
        Thresholds { support: self.set_support, confidence: self.set_confidence, ..Thresholds::default() }
    }
}

/// How many runs each step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Runs of this command that only count.
    pub(crate) counting: u32,
    /// Runs that watch.
    pub(crate) watching: u32,
}

impl Steps {
    /// Divides the runs of one command, where the profile has some already.
    pub(crate) fn of(runs: u32, known: usize) -> Self {
        let known = u32::try_from(known).unwrap_or(u32::MAX);
        let counting = runs.div_ceil(3).saturating_sub(known);
        Self { counting, watching: runs - counting }
    }

    /// What became of them, for people.
    pub(crate) fn summary(self, candidates: &Candidates) -> String {
        let counting = counted(self.counting, "run");
        match (self.watching, candidates.sets.len()) {
            (0, _) => format!("correlated sets: looked for in {counting}; run this again to watch what was found"),
            (watching, 0) => format!("correlated sets: looked for in {counting}, none found; {watching} more watched none"),
            (watching, sets) => format!(
                "correlated sets: looked for in {counting}; {} found and watched in {}",
                counted(sets, "set"),
                counted(watching, "run")
            ),
        }
    }
}

/// Chooses the sets to watch, and writes the watch list for processes that record into `folder`.
pub(crate) fn choose(
    subject: &Subject,
    evidence: &Evidence,
    thresholds: &Thresholds,
    folder: &Path,
) -> Result<(Candidates, Watching), ProfileError> {
    let candidates = correlate::candidates(subject, evidence, thresholds);
    if candidates.sets.is_empty() {
        return Ok((candidates, Watching::Nothing));
    }
    let path = watch_list(folder);
    fs::write(&path, encode_watched(&candidates.watched)).map_err(|error| ProfileError::Write { path, error })?;
    Ok((candidates, Watching::Sets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_runs_counts_unless_earlier_ones_have() {
        for (runs, known, counting) in [(20, 0, 7), (20, 2, 5), (20, 40, 0), (1, 0, 1), (1, 1, 0), (2, 0, 1), (5, 0, 2)] {
            assert_eq!(Steps::of(runs, known), Steps { counting, watching: runs - counting }, "{runs} runs, {known} known");
        }
    }
}
