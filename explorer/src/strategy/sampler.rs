//! Strategies that draw each schedule at random: what they have in common, around how each draws.
//!
//! A sampler never ends by itself, and says of what it covers only how many schedules it drew. All chance comes from one
//! generator, which options within steps are drawn from too.

use alloc::vec::Vec;

use model::report::{Coverage, Estimate};

use super::classes::Classes;
use super::sketch::Class;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};
use crate::random::Random;

/// How the threads of a schedule are drawn.
pub trait Draw {
    /// Its name, as options name it.
    fn name(&self) -> &'static str;

    /// A schedule begins.
    fn begin(&mut self, _random: &mut Random) {}

    /// Who goes on from this point: an enabled thread.
    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice;

    /// The step was performed.
    fn executed(&mut self, _step: &Step) {}

    /// The schedule is over.
    fn end(&mut self, _random: &mut Random) {}
}

/// A sampler. It never ends by itself: give it a budget.
#[derive(Debug)]
pub struct Sampler<D> {
    draw: D,
    random: Random,
    classes: Classes,
    counts: Counts,
}

impl<D: Draw> Sampler<D> {
    /// A sampler of this seed.
    pub(super) fn drawing(seed: u64, draw: D) -> Self {
        Self { draw, random: Random::new(seed), classes: Classes::default(), counts: Counts::default() }
    }

    /// How many classes of schedules were seen: those of one class differ only in the order of independent steps.
    #[must_use]
    pub fn classes(&self) -> u64 {
        self.classes.distinct()
    }
}

impl<D: Draw> Strategy for Sampler<D> {
    fn name(&self) -> &'static str {
        self.draw.name()
    }

    fn begin(&mut self) -> bool {
        self.draw.begin(&mut self.random);
        self.classes.begin();
        true
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.draw.draw(point, &mut self.random)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let option = self.random.below(pick.options());
        self.classes.picked(option);
        option
    }

    #[inline]
    fn executed(&mut self, step: &Step) {
        self.classes.executed(step.thread, &step.event);
        self.draw.executed(step);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.counts.add(ending.outcome);
        self.classes.end();
        self.draw.end(&mut self.random);
    }

    fn learnt(&mut self) -> bool {
        // Schedules with other points are of other classes.
        self.classes = Classes::default();
        true
    }

    fn estimate(&self) -> Option<Estimate> {
        self.classes.unseen().map(Estimate::Unseen)
    }

    fn sketch(&self) -> Vec<Class> {
        self.classes.sketch()
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        Coverage::Sampled(self.counts.schedules)
    }
}
