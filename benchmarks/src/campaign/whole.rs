//! How many runs each program gets.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::journal::Journal;
use super::{Extent, Tally, kernels, real};
use crate::archive;
use crate::expect::Kernel;
use crate::real::{Environment, Length};

/// Runs of one plan: enough for different schedules, few enough for many plans.
const RUNS_OF_A_PLAN: usize = 20;
/// Runs at a time. They mostly wait, so more than a processor can run are useful.
const WORKERS: usize = 4;
/// The groups, and how many of a hundred runs each gets.
const SHARES: [(&str, usize); 3] = [("kernels", 80), ("pbzip2", 14), ("memcached", 6)];

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One for each program and variant.
    pub tallies: Vec<Tally>,
    /// Where programs and plans of what went wrong are.
    pub kept: Option<PathBuf>,
}

/// Takes the groups that are named, or all, to about so many runs in all, those of earlier campaigns with the same archive and seed
/// included; `tell` hears a line after each plan. The short form leaves real programs out, and begins anew.
pub fn campaign(
    environment: &Environment,
    kernels: &[Kernel],
    seed: u64,
    runs: usize,
    names: &[String],
    tell: &(dyn Fn(&str) + Sync),
) -> Result<Outcome> {
    if let Some(unknown) = names.iter().find(|name| SHARES.iter().all(|(known, _)| known != name)) {
        bail!("there is no '{unknown}' in the campaign; there are kernels, pbzip2, memcached");
    }
    let archive = archive::lock(&environment.work.join("campaign"))?;
    let scratch = tempfile::tempdir()?;
    let short = environment.length == Length::Short;
    let mut tallies = Vec::new();
    for (group, share) in SHARES {
        if short && group != "kernels" || !names.is_empty() && !names.iter().any(|name| name == group) {
            continue;
        }
        // Both variants of each kernel.
        let programs = if group == "kernels" { kernels.len() * 2 } else { 1 };
        let each = (runs * if short { 100 } else { share }).div_ceil(100 * programs);
        let of_a_plan = if short { each } else { RUNS_OF_A_PLAN };
        let extent = Extent { plans: each.div_ceil(of_a_plan), runs: of_a_plan, seed, workers: WORKERS };
        let kept = if short { scratch.path() } else { archive.parent().unwrap_or(scratch.path()) };
        let journal = Journal::open(&kept.join("results.tsv"), &archive, &extent, tell)?;
        match group {
            "kernels" => {
                for kernel in kernels {
                    tallies.extend(kernels::kernel(&environment.atomfix, kernel, &archive, scratch.path(), &extent, &journal)?);
                }
            }
            "pbzip2" => tallies.push(real::packer(environment, &archive, scratch.path(), &extent, &journal)?),
            _ => tallies.push(real::server(environment, &archive, scratch.path(), &extent, &journal)?),
        }
    }
    let wrong = tallies.iter().any(|tally| !tally.problems.is_empty());
    let kept = wrong.then(|| scratch.keep());
    Ok(Outcome { tallies, kept })
}
