//! Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities, and a few random points at which
//! the running thread's priority drops. A failure of depth d shows in each execution with probability at least 1/(n·k^(d-1)).
//!
//! The length k is learnt: the longest execution so far, so the first one has no drops. A thread that yields falls below
//! all others, or a thread that spins for a slower one would starve it for ever.

use model::ids::ThreadId;

use super::sampler::{Draw, Sampler};
use super::{Choice, Point};
use crate::random::Random;
use crate::threads::MAX_THREADS;

/// The greatest depth.
pub const DEEPEST: u32 = 16;

/// Priorities drawn for threads lie above all that drops give.
const DRAWN: u64 = 1 << 63;

/// Probabilistic concurrency testing. It never ends by itself: give it a budget.
pub type Pct = Sampler<Drops>;

/// The priorities of threads, and where they drop.
#[derive(Debug)]
pub struct Drops {
    depth: u32,
    /// Indexed by thread; the enabled thread with the highest goes on.
    priorities: [u64; MAX_THREADS],
    /// How many threads have a priority.
    known: usize,
    /// At which steps the running thread's priority drops, in no order; `depth - 1` of them.
    drops: [u64; DEEPEST as usize],
    /// The priority that the next drop gives: each lower than the ones before.
    lowest: u64,
    steps: u64,
    longest: u64,
}

impl Pct {
    /// PCT for failures of this depth, at most [`DEEPEST`].
    #[must_use]
    pub fn new(seed: u64, depth: u32) -> Self {
        Self::drawing(
            seed,
            Drops {
                depth: depth.clamp(1, DEEPEST),
                priorities: [0; MAX_THREADS],
                known: 0,
                drops: [0; DEEPEST as usize],
                lowest: DRAWN - 1,
                steps: 0,
                longest: 0,
            },
        )
    }
}

impl Drops {
    fn drop_priority(&mut self, thread: ThreadId) {
        if let Some(priority) = self.priorities.get_mut(thread.index()) {
            *priority = self.lowest;
        }
        self.lowest -= 1;
    }

    fn highest(&self, point: &Point<'_>) -> Option<ThreadId> {
        point.enabled.iter().max_by_key(|thread| self.priorities.get(thread.index()))
    }
}

impl Draw for Drops {
    fn name(&self) -> &'static str {
        "pct"
    }

    fn begin(&mut self, random: &mut Random) {
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        self.known = 0;
        self.lowest = DRAWN - 1;
        let length = u32::try_from(self.longest).unwrap_or(u32::MAX);
        for drop in self.drops.iter_mut().take(self.depth as usize - 1) {
            // Without a length yet, 0: no step has that number.
            *drop = if length == 0 { 0 } else { 1 + u64::from(random.below(length)) };
        }
    }

    #[inline]
    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice {
        while self.known < point.pending.len().min(MAX_THREADS) {
            self.priorities[self.known] = DRAWN | random.next_u64();
            self.known += 1;
        }
        let Some(mut thread) = self.highest(point) else { return Choice::Abandon };
        if point.event(thread).is_some_and(|event| event.kind.is_yield() || event.kind.is_timeout()) {
            self.drop_priority(thread);
            thread = self.highest(point).unwrap_or(thread);
        }
        self.steps += 1;
        let drops = self.depth as usize - 1;
        if self.drops[..drops].contains(&self.steps) {
            self.drop_priority(thread);
            thread = self.highest(point).unwrap_or(thread);
        }
        Choice::Run(thread)
    }
}
