//! The program's own locks that are taken in more than one order: left as they are, and told with the places where one is taken while
//! another is held.
//!
//! Not here: which these are (`order`, `resolve`).

use std::collections::BTreeSet;

use model::program::Program;

use crate::name::source_name;
use crate::order::{Edge, LockKey, OrderGraph, Witness};
use crate::program_lock::{ProgramLockId, ProgramLocks};

/// Places that are told of one cycle, at most.
const SHOWN: usize = 6;

/// Locks that wait for each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramCycle {
    /// Which.
    pub locks: BTreeSet<ProgramLockId>,
    /// Each way in which one of them is waited for while another is held, with one place for it; none where nobody looked so closely.
    pub nestings: Vec<Nesting>,
}

/// One lock is waited for while another is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nesting {
    /// Held.
    pub held: ProgramLockId,
    /// Waited for.
    pub acquired: ProgramLockId,
    /// Where.
    pub at: Witness,
}

fn program(lock: LockKey) -> Option<ProgramLockId> {
    if let LockKey::Program(lock) = lock { Some(lock) } else { None }
}

impl ProgramCycle {
    /// A cycle of the full graph.
    #[must_use]
    pub fn of(graph: &OrderGraph, cycle: &[Edge]) -> Self {
        let nesting = |edge: &Edge| {
            let at = *graph.edges.get(edge)?.first()?;
            Some(Nesting { held: program(edge.held)?, acquired: program(edge.acquired)?, at })
        };
        let mut nestings: Vec<Nesting> = cycle.iter().filter_map(nesting).collect();
        nestings.sort_unstable();
        nestings.dedup_by_key(|nesting| (nesting.held, nesting.acquired));
        Self { locks: cycle.iter().filter_map(|edge| program(edge.held)).collect(), nestings }
    }

    /// As far as the skeleton of the order tells.
    #[must_use]
    pub fn of_tangle(locks: &[LockKey]) -> Self {
        Self { locks: locks.iter().filter_map(|&lock| program(lock)).collect(), nestings: Vec::new() }
    }

    /// What a user must know.
    #[must_use]
    pub fn finding(&self, names: &ProgramLocks, source: &Program) -> String {
        let sites = source.sites();
        let name = |lock: ProgramLockId| source_name(source, &sites, names.name(lock));
        let all: Vec<String> = self.locks.iter().map(|&lock| name(lock)).collect();
        let mut text = format!(
            "the program takes {} of its own locks in more than one order, as far as their classes tell: {}; left as they are",
            all.len(),
            all.join(", ")
        );
        for nesting in self.nestings.iter().take(SHOWN) {
            let Witness { function, from, at } = nesting.at;
            let (from, at) = (source.function(function).place_of(from), source.function(function).place_of(at));
            text.push_str(&format!("; {}, held from {from}, then {} at {at}", name(nesting.held), name(nesting.acquired)));
        }
        if let Some(more @ 1..) = self.nestings.len().checked_sub(SHOWN) {
            text.push_str(&format!("; and {more} more"));
        }
        text
    }
}
