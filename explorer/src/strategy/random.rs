//! The random walk: at every point each enabled thread is as likely as the others.
//!
//! Cheap and without assumptions; schedules with many switches are far more likely than those with few.

use super::sampler::{Draw, Sampler};
use super::{Choice, Point};
use crate::random::Random;

/// The random walk. It never ends by itself: give it a budget.
pub type RandomWalk = Sampler<Uniform>;

/// How the random walk draws.
#[derive(Debug)]
pub struct Uniform;

impl RandomWalk {
    /// The walk of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::drawing(seed, Uniform)
    }
}

impl Draw for Uniform {
    fn name(&self) -> &'static str {
        "random"
    }

    #[inline]
    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice {
        let rank = random.below(point.enabled.len());
        point.enabled.nth(rank).map_or(Choice::Abandon, Choice::Run)
    }
}
