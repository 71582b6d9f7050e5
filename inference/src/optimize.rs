//! The optimizations of placed locks, each of which can be turned off, and what each saved.
//!
//! The first two are those of seed 002, section 7, the others are ours (`lift`, `sequence`). None changes what is kept; a plan without them is
//! accepted by the checker all the same. Not here: what is no optimization but part of the rules, such as that an access within a
//! region takes no lock of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use model::ids::{FunctionId, NodeId, SiteKey};
use model::plan::Saving;
use model::profile::Evidence;
use model::program::Program;

use crate::placement::Placements;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Optimization {
    /// Leaves out releases of holds that cannot be there.
    Releases,
    /// Leaves out acquisitions where the lock is certainly held strongly enough.
    Acquisitions,
    /// Moves acquisitions and releases out of loops. Needs `Acquisitions`, which leaves out those within.
    Loops,
    /// Holds a lock on from one region to the next that follows at once. Needs `Acquisitions`, which leaves out the one in between.
    Sequences,
}

impl Optimization {
    /// All, in the order in which reports name them.
    pub const ALL: [Self; 4] = [Self::Releases, Self::Acquisitions, Self::Loops, Self::Sequences];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Releases => "releases",
            Self::Acquisitions => "acquisitions",
            Self::Loops => "loops",
            Self::Sequences => "sequences",
        }
    }
}

impl fmt::Display for Optimization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no optimization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOptimization(pub String);

impl fmt::Display for UnknownOptimization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is none of {}", self.0, Optimization::ALL.map(Optimization::name).join(", "))
    }
}

impl core::error::Error for UnknownOptimization {}

impl FromStr for Optimization {
    type Err = UnknownOptimization;

    fn from_str(text: &str) -> Result<Self, UnknownOptimization> {
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| UnknownOptimization(text.to_owned()))
    }
}

/// Which are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optimizations {
    /// By place in `Optimization::ALL`.
    off: [bool; 4],
}

impl Default for Optimizations {
    /// All.
    fn default() -> Self {
        Self { off: [false; 4] }
    }
}

impl Optimizations {
    /// The same without some.
    #[must_use]
    pub fn without(mut self, some: impl IntoIterator<Item = Optimization>) -> Self {
        for one in some {
            self.off[one as usize] = true;
        }
        self
    }

    /// Whether one is to be made.
    #[must_use]
    pub fn has(self, one: Optimization) -> bool {
        let needs = match one {
            Optimization::Loops | Optimization::Sequences => !self.off[Optimization::Acquisitions as usize],
            Optimization::Releases | Optimization::Acquisitions => true,
        };
        needs && !self.off[one as usize]
    }
}

/// How often nodes ran in all profiled runs, as far as accesses and the ends of pairs tell.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    by_site: BTreeMap<SiteKey, u64>,
    /// How many runs.
    pub runs: u64,
}

impl Counts {
    /// Collects them.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let mut by_site: BTreeMap<SiteKey, u64> = evidence.sites.iter().map(|(&site, known)| (site, known.seen)).collect();
        for (pair, (known, _)) in &evidence.pairs {
            for end in [pair.head, pair.tail] {
                let count = by_site.entry(end).or_default();
                *count = (*count).max(known.seen);
            }
        }
        Self { by_site, runs: u64::from(evidence.runs.max(1)) }
    }

    /// How often a node ran; `None` if nothing tells.
    #[must_use]
    pub fn of_node(&self, program: &Program, function: FunctionId, node: NodeId) -> Option<u64> {
        program.function(function).node(node).site.and_then(|site| self.by_site.get(&site)).copied()
    }
}

/// What the first two saved in the placements as they are.
#[must_use]
pub fn savings(program: &Program, counts: &Counts, placements: &Placements) -> Vec<Saving> {
    let mut releases = Saving { optimization: Optimization::Releases.to_string(), operations: 0, executions: 0 };
    let mut acquisitions = Saving { optimization: Optimization::Acquisitions.to_string(), operations: 0, executions: 0 };
    for (&(_, function), placement) in &placements.spots {
        let ran = |node: NodeId| counts.of_node(program, function, node).unwrap_or_default() / counts.runs;
        releases.operations += placement.left_out.len() as u64;
        releases.executions += placement.left_out.iter().map(|&(from, ..)| ran(from)).sum::<u64>();
        acquisitions.operations += placement.joined.len() as u64;
        acquisitions.executions += placement.joined.iter().map(|&node| ran(node)).sum::<u64>();
    }
    vec![releases, acquisitions]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_loops_need_acquisitions() {
        for one in Optimization::ALL {
            assert_eq!(one.to_string().parse(), Ok(one));
            assert!(Optimizations::default().has(one));
            assert!(!Optimizations::default().without([one]).has(one));
        }
        assert!("unroll".parse::<Optimization>().is_err());
        assert!(!Optimizations::default().without([Optimization::Acquisitions]).has(Optimization::Loops));
        assert!(Optimizations::default().without([Optimization::Loops]).has(Optimization::Acquisitions));
    }
}
