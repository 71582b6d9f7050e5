//! Divides the tree of schedules near its root: depth-first search up to a number of points with anything to choose, where it
//! gives up each execution and notes the subtree that begins there.
//!
//! Every thread is tried at each point on the way (but those asleep, or beyond the bound), so what is found in one subtree never asks
//! for another thread at a point above it: any search may explore the subtrees, each by itself.

use alloc::vec::Vec;

use model::report::Coverage;

use super::depth_first::{DepthFirst, Extent};
use super::replay::Divergence;
use super::subtree::Subtree;
use super::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};

/// Divides the tree of schedules.
#[derive(Debug)]
pub struct Frontier {
    search: DepthFirst,
    branchings: usize,
    found: Vec<Subtree>,
    /// How many were found before the current execution.
    before: usize,
    /// Without executions that were given up at a subtree.
    counts: Counts,
}

impl Frontier {
    /// Divides what begins with a subtree's steps, after so many points with anything to choose.
    #[must_use]
    pub fn new(extent: Extent, subtree: Subtree, branchings: usize) -> Self {
        let search = DepthFirst::below(extent, subtree);
        Self { search, branchings, found: Vec::new(), before: 0, counts: Counts::default() }
    }
}

impl Strategy for Frontier {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn begin(&mut self) -> bool {
        self.before = self.found.len();
        self.search.begin()
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        // The last branch is complete when its step is known, that is at the next new point.
        if self.search.branchings() == Some(self.branchings) {
            self.found.push(self.search.here());
            return Choice::Abandon;
        }
        self.search.choose(point)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.search.pick(pick)
    }

    fn executed(&mut self, step: &Step) {
        self.search.executed(step);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.search.end(ending);
        if self.found.len() == self.before {
            self.counts.add(if self.search.divergence().is_some() { Outcome::Diverged } else { ending.outcome });
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        Coverage::Partial(self.counts.schedules)
    }

    fn left(&self) -> Vec<Subtree> {
        self.found.clone()
    }

    fn is_limited(&self) -> bool {
        self.search.is_limited()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.search.divergence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::generate::{Flavor, program};
    use crate::fake::oracle::{self, Within};
    use crate::strategy::dpor::Bounded;
    use alloc::collections::BTreeSet;

    #[test]
    fn bounded_reduction_of_the_parts_finds_what_is_within_the_bound() {
        for (seed, bound) in (100..140).flat_map(|seed| [(seed, 0), (seed, 1), (seed, 2)]) {
            let program = program(seed, Flavor::Everything);
            let (expected, _) = oracle::outcomes(&program, Within::Preemptions(bound));
            let mut frontier = Frontier::new(Extent::Preemptions(bound), Subtree::default(), 3);
            let mut outcomes: BTreeSet<_> = explore(&program, &mut frontier).outcomes.into_keys().collect();
            for subtree in frontier.left() {
                outcomes.extend(explore(&program, &mut Bounded::below(bound, subtree)).outcomes.into_keys());
            }
            assert_eq!(outcomes, expected, "seed {seed}, bound {bound}");
        }
    }
}
