//! Partial order sampling (Yuan, Yang, Gu, CAV 2018): a random priority for each pending event, and a new one for every
//! pending event that conflicts with the one performed. Partial orders are drawn more evenly than by the random walk.

use model::event::{Event, EventKind};

use super::sampler::{Draw, Sampler};
use super::{Choice, Point};
use crate::dependence::dependent;
use crate::random::Random;
use crate::threads::{MAX_THREADS, ThreadSet};

/// Partial order sampling. It never ends by itself: give it a budget.
pub type Pos = Sampler<Priorities>;

/// The priorities of pending events.
#[derive(Debug)]
pub struct Priorities {
    /// Indexed by thread: the priority of its pending event.
    priorities: [u64; MAX_THREADS],
    /// The threads whose pending event has a priority.
    drawn: ThreadSet,
}

impl Pos {
    /// The sampling of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::drawing(seed, Priorities { priorities: [0; MAX_THREADS], drawn: ThreadSet::EMPTY })
    }
}

/// Whether the pending event of another thread gets a new priority after this one. The end of the process conflicts with all
/// events, and would come early in all schedules if each of them had it drawn anew: it keeps its first draw.
fn redraws(event: &Event, other: &Event) -> bool {
    event.kind.is_yield() || (other.kind != EventKind::ExitProcess && dependent(event, other))
}

impl Draw for Priorities {
    fn name(&self) -> &'static str {
        "pos"
    }

    fn begin(&mut self, _random: &mut Random) {
        self.drawn = ThreadSet::EMPTY;
    }

    #[inline]
    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice {
        let mut best = None;
        for thread in point.enabled.iter() {
            let priority = &mut self.priorities[thread.index() % MAX_THREADS];
            if !self.drawn.contains(thread) {
                *priority = random.next_u64();
                self.drawn.insert(thread);
            }
            if best.is_none_or(|(highest, _)| *priority > highest) {
                best = Some((*priority, thread));
            }
        }
        let Some((_, chosen)) = best else { return Choice::Abandon };
        self.drawn.remove(chosen);
        let Some(event) = point.event(chosen) else { return Choice::Run(chosen) };
        for thread in self.drawn.iter() {
            if point.event(thread).is_none_or(|other| redraws(event, other)) {
                self.drawn.remove(thread);
            }
        }
        Choice::Run(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::machine::Outcome;
    use crate::fake::program::parse;
    use crate::strategy::budget::Budget;
    use alloc::boxed::Box;

    #[test]
    fn the_end_of_the_process_comes_late_often_enough() {
        let program = "main: create a, create b, exit
             a: lock m, write x 1, write x 2, write x 3, write x 4, write y 1, unlock m
             b: lock m, read y r, read x s, read x s, read x s, read x s, unlock m, assert r == 0";
        let mut sampling = Budget::new(Box::new(Pos::new(1)), 100);
        let seen = explore(&parse(program), &mut sampling);
        let failed = seen.outcomes.keys().filter(|outcome| matches!(outcome, Outcome::Failed(..))).count();
        assert!(failed > 0, "the exit came first in 100 of 100 samples");
    }
}
