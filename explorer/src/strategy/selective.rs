//! The selectively uniform random walk (Zhao et al., ASPLOS 2025): the orders of the events on *one* object, drawn anew for each
//! execution, are as likely as each other, whatever else the threads do between them.
//!
//! A thread is intended to perform the next event on the object, drawn in proportion to how many such events it, and the threads
//! that it has yet to create, still have before them. The others wait when they come to the object; off it, all run at
//! random. How many events threads have on which object is learnt: the most in any execution so far. The first one is a plain walk.
//!
//! Not handled: sets of several objects, and counts that depend on the schedule: a thread that has more events than it ever had
//! is given one more at a time.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use model::event::{Event, EventKind, Range};
use model::ids::ThreadId;

use super::sampler::{Draw, Sampler};
use super::{Choice, Point};
use crate::random::Random;
use crate::threads::{MAX_THREADS, ThreadSet};

/// The most objects that are told apart.
const MOST_OBJECTS: usize = 4096;

/// The selectively uniform random walk. It never ends by itself: give it a budget.
pub type Selective = Sampler<Orders>;

/// What is known of objects, and the one of this schedule.
#[derive(Debug)]
pub struct Orders {
    /// By first address: how many events each thread had there, at most, in any execution.
    known: BTreeMap<u64, Object>,
    /// Indexed by thread: who created it, once known.
    creators: [Option<ThreadId>; MAX_THREADS],
    /// The object of this execution.
    chosen: Option<Range>,
    /// Indexed by thread: the events on it of the thread and of all threads that it creates.
    families: [u32; MAX_THREADS],
    /// Indexed by thread: how many of them are left.
    left: [u32; MAX_THREADS],
    /// Whose event on the object is to be next.
    intended: Option<ThreadId>,
}

#[derive(Debug)]
struct Object {
    length: u32,
    /// Indexed by thread.
    most: Vec<u32>,
    /// Indexed by thread, in the current execution.
    now: Vec<u32>,
}

impl Selective {
    /// The walk of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::drawing(
            seed,
            Orders {
                known: BTreeMap::new(),
                creators: [None; MAX_THREADS],
                chosen: None,
                families: [0; MAX_THREADS],
                left: [0; MAX_THREADS],
                intended: None,
            },
        )
    }
}

impl Orders {
    fn is_selected(&self, event: Option<&Event>) -> bool {
        matches!((event.and_then(|event| event.range), self.chosen), (Some(range), Some(chosen)) if range.overlaps(chosen))
    }

    /// An object that several threads touch, and what each has to do there.
    fn draw_object(&mut self, random: &mut Random) {
        let shared = || self.known.iter().filter(|(_, object)| object.most.iter().filter(|&&most| most > 0).count() > 1);
        let count = u32::try_from(shared().count()).unwrap_or(u32::MAX);
        self.families = [0; MAX_THREADS];
        self.chosen = None;
        if count > 0 {
            let rank = random.below(count) as usize;
            let drawn = self.known.iter().filter(|(_, object)| object.most.iter().filter(|&&most| most > 0).count() > 1).nth(rank);
            if let Some((&address, object)) = drawn {
                self.chosen = Some(Range { address, length: object.length });
                self.families[..object.most.len()].copy_from_slice(&object.most);
            }
        }
        // Creators have lower numbers than those they create.
        for thread in (1..MAX_THREADS).rev() {
            if let Some(creator) = self.creators[thread] {
                self.families[creator.index()] += self.families[thread];
            }
        }
        self.left = self.families;
    }

    /// Draws who is next on the object, of the threads that have not ended.
    fn draw_intended(&mut self, point: &Point<'_>, random: &mut Random) {
        let alive = || (0..point.pending.len().min(MAX_THREADS)).filter(|&thread| point.pending[thread].is_some());
        let total = alive().map(|thread| self.left[thread]).sum();
        if total == 0 {
            self.intended = None;
            return;
        }
        let mut drawn = random.below(total);
        self.intended = alive().map(ThreadId::new).find(|thread| {
            let weight = self.left[thread.index()];
            let here = drawn < weight;
            drawn = drawn.wrapping_sub(weight);
            here
        });
    }

    fn learn(&mut self, thread: ThreadId, event: &Event) {
        let Some(range) = event.range else { return };
        if self.known.len() >= MOST_OBJECTS && !self.known.contains_key(&range.address) {
            return;
        }
        let object = self.known.entry(range.address).or_insert_with(|| Object { length: 0, most: Vec::new(), now: Vec::new() });
        object.length = object.length.max(range.length);
        if object.now.len() <= thread.index() {
            object.now.resize(thread.index() + 1, 0);
            object.most.resize(thread.index() + 1, 0);
        }
        object.now[thread.index()] += 1;
    }
}

impl Draw for Orders {
    fn name(&self) -> &'static str {
        "surw"
    }

    fn begin(&mut self, random: &mut Random) {
        for object in self.known.values_mut() {
            for (most, now) in object.most.iter_mut().zip(&mut object.now) {
                *most = (*most).max(*now);
                *now = 0;
            }
        }
        self.draw_object(random);
        self.intended = None;
    }

    #[inline]
    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice {
        let ended = |thread: ThreadId| point.event(thread).is_none();
        if self.intended.is_none_or(ended) {
            self.draw_intended(point, random);
        }
        let may_run = |intended: Option<ThreadId>, thread: &ThreadId| {
            Some(*thread) == intended || intended.is_none() || !self.is_selected(point.event(*thread))
        };
        let mut candidates: ThreadSet = point.enabled.iter().filter(|thread| may_run(self.intended, thread)).collect();
        if candidates.is_empty() {
            // All wait at the object, and the intended one cannot go there.
            candidates = *point.enabled;
        }
        let rank = random.below(candidates.len());
        let Some(thread) = candidates.nth(rank) else { return Choice::Abandon };
        let Some(event) = point.event(thread) else { return Choice::Run(thread) };
        let at = thread.index() % MAX_THREADS;
        self.learn(thread, event);
        if self.is_selected(Some(event)) {
            self.left[at] = self.left[at].saturating_sub(1);
            self.intended = None;
        }
        if let EventKind::Create { child } = event.kind {
            let child = child.index() % MAX_THREADS;
            self.creators[child] = Some(thread).filter(|creator| creator.index() < child);
            self.left[at] = self.left[at].saturating_sub(self.families[child]);
            self.intended = None;
        }
        Choice::Run(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::machine::Outcome;
    use crate::fake::program::parse;
    use crate::strategy::Strategy;
    use crate::strategy::budget::Budget;
    use alloc::boxed::Box;

    #[test]
    fn orders_of_one_object_are_drawn_whatever_lies_between() {
        // Each of the five writes must come between two certain ones of the other thread, among steps on memory of its own.
        let program = "main: create a, create b
             a: write p 1, write p 2, write p 3, write p 4, write x 1, write p 5, write p 6, write x 3, write x 5
             b: write x 2, read x r, write x 4, read x s, skip 2 unless r == 1, skip 1 unless s == 3, assert r == 0";
        let failures = |strategy: Box<dyn Strategy>| {
            let mut sampling = Budget::new(strategy, 2000);
            let seen = explore(&parse(program), &mut sampling);
            let failed = seen.outcomes.keys().any(|outcome| matches!(outcome, Outcome::Failed(..)));
            (failed, sampling.counts().failed)
        };
        let (failed, selective) = failures(Box::new(Selective::new(1)));
        let (_, plain) = failures(Box::new(crate::strategy::random::RandomWalk::new(1)));
        assert!(failed && selective > plain, "{selective} failures, and {plain} of the plain walk");
    }
}
