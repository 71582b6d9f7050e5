//! The random walk: at every point each enabled thread is as likely as the others.
//!
//! Cheap and without assumptions; schedules with many switches are far more likely than those with few.

use model::report::Coverage;

use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};
use crate::random::Random;

/// The random walk. It never ends by itself: give it a budget.
#[derive(Debug)]
pub struct RandomWalk {
    random: Random,
    counts: Counts,
}

impl RandomWalk {
    /// The walk of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), counts: Counts::default() }
    }
}

impl Strategy for RandomWalk {
    fn name(&self) -> &'static str {
        "random"
    }

    fn begin(&mut self) -> bool {
        true
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let rank = self.random.below(point.enabled.len());
        point.enabled.nth(rank).map_or(Choice::Abandon, Choice::Run)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.random.below(pick.options())
    }

    fn executed(&mut self, _step: &Step) {}

    fn end(&mut self, ending: &Ending<'_>) {
        self.counts.add(ending.outcome);
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        Coverage::Sampled(self.counts.schedules)
    }
}
