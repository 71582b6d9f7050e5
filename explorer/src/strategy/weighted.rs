//! The random walk weighted by what is left (Zhao et al., ASPLOS 2025): a thread goes on with a probability in proportion to
//! the steps that it, and the threads it has yet to create, still have to do. Schedules are drawn far more evenly than by
//! the plain walk, which runs short threads to their end first.
//!
//! How many steps threads have is learnt: the most that each had in any execution so far. The first one is a plain walk.

use model::event::EventKind;
use model::ids::ThreadId;

use super::sampler::{Draw, Sampler};
use super::{Choice, Point};
use crate::random::Random;
use crate::threads::MAX_THREADS;

/// The weighted random walk. It never ends by itself: give it a budget.
pub type Weighted = Sampler<Lengths>;

/// What is known of the lengths of threads.
#[derive(Debug)]
pub struct Lengths {
    /// Indexed by thread: the most steps that it had.
    lengths: [u32; MAX_THREADS],
    /// Indexed by thread: who created it, once known.
    creators: [Option<ThreadId>; MAX_THREADS],
    /// Indexed by thread: the steps of it and of all threads that it creates, directly or not.
    families: [u32; MAX_THREADS],
    /// Indexed by thread: the steps left to it and to the threads that it has yet to create.
    left: [u32; MAX_THREADS],
    /// Indexed by thread: its steps in the current execution.
    done: [u32; MAX_THREADS],
}

impl Weighted {
    /// The walk of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::drawing(
            seed,
            Lengths {
                lengths: [0; MAX_THREADS],
                creators: [None; MAX_THREADS],
                families: [0; MAX_THREADS],
                left: [0; MAX_THREADS],
                done: [0; MAX_THREADS],
            },
        )
    }
}

impl Lengths {
    /// A thread's share: never nothing, as it may do more than it did before.
    fn weight(&self, thread: ThreadId) -> u32 {
        self.left[thread.index() % MAX_THREADS].max(1)
    }
}

impl Draw for Lengths {
    fn name(&self) -> &'static str {
        "weighted"
    }

    fn begin(&mut self, _random: &mut Random) {
        self.families = self.lengths;
        // Creators have lower numbers than those they create.
        for thread in (1..MAX_THREADS).rev() {
            if let Some(creator) = self.creators[thread] {
                self.families[creator.index()] += self.families[thread];
            }
        }
        self.left = self.families;
        self.done = [0; MAX_THREADS];
    }

    #[inline]
    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice {
        let total = point.enabled.iter().map(|thread| self.weight(thread)).sum();
        let mut drawn = random.below(total);
        let chosen = point.enabled.iter().find(|&thread| {
            let weight = self.weight(thread);
            let here = drawn < weight;
            drawn = drawn.wrapping_sub(weight);
            here
        });
        let Some(thread) = chosen else { return Choice::Abandon };
        let at = thread.index() % MAX_THREADS;
        self.done[at] += 1;
        self.lengths[at] = self.lengths[at].max(self.done[at]);
        self.left[at] = self.left[at].saturating_sub(1);
        if let Some(EventKind::Create { child }) = point.event(thread).map(|event| event.kind) {
            let child = child.index() % MAX_THREADS;
            self.creators[child] = Some(thread).filter(|creator| creator.index() < child);
            self.left[at] = self.left[at].saturating_sub(self.families[child]);
        }
        Choice::Run(thread)
    }
}
