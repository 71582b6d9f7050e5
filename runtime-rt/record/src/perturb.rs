//! Random delays that widen the schedules seen: at synchronization, after the creation of threads, and at sampled accesses. Seeded.
//!
//! Chances shrink as a thread goes on, so that short threads are disturbed often and long ones are not slowed down.

use crate::sys;

/// How long to hold a thread back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    Yield,
    Nanoseconds(u32),
}

impl Delay {
    pub(crate) fn wait(self) {
        match self {
            Self::Yield => sys::yield_now(),
            Self::Nanoseconds(time) => sys::sleep(time),
        }
    }
}

/// One thread's source of delays. Zeroed, it gives none.
#[derive(Debug)]
pub(crate) struct Perturbation {
    state: u64,
    accesses: Interval,
    synchronizations: Interval,
    creations: Interval,
}

/// Events until the next delay, and how many on average.
#[derive(Debug)]
struct Interval {
    left: u32,
    mean: u32,
    longest: u32,
}

impl Perturbation {
    pub(crate) fn new(seed: u64) -> Self {
        let mut new = Self {
            state: crate::table::mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) | 1,
            accesses: Interval { left: 0, mean: 2, longest: 1 << 18 },
            synchronizations: Interval { left: 0, mean: 2, longest: 1 << 8 },
            creations: Interval { left: 0, mean: 2, longest: 1 << 8 },
        };
        new.accesses.left = new.below(3);
        new.synchronizations.left = new.below(3);
        new.creations.left = new.below(2);
        new
    }

    /// Marsaglia's xorshift.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 32) as u32 % limit.max(1)
    }

    /// Before an access.
    #[inline]
    pub(crate) fn at_access(&mut self) -> Option<Delay> {
        if self.accesses.left > 0 {
            self.accesses.left -= 1;
            return None;
        }
        self.due(|all| &mut all.accesses)
    }

    /// Before a synchronization operation.
    pub(crate) fn at_synchronization(&mut self) -> Option<Delay> {
        if self.synchronizations.left > 0 {
            self.synchronizations.left -= 1;
            return None;
        }
        self.due(|all| &mut all.synchronizations)
    }

    /// After a thread was created, which takes 0.1 to 3 ms to come to its first access, as memory is at hand or not: now and then time of any
    /// magnitude, from nothing to what lets it do all of a short task first.
    pub(crate) fn at_creation(&mut self) -> Option<Delay> {
        if self.creations.left > 0 {
            self.creations.left -= 1;
            return self.at_synchronization();
        }
        self.due(|all| &mut all.creations)?;
        let magnitude = 8_000 << self.below(10);
        Some(Delay::Nanoseconds(magnitude + self.below(magnitude)))
    }

    #[cold]
    fn due(&mut self, of: impl Fn(&mut Self) -> &mut Interval) -> Option<Delay> {
        if self.state == 0 {
            of(self).left = u32::MAX;
            return None;
        }
        let interval = of(self);
        interval.mean = (interval.mean + interval.mean / 4 + 1).min(interval.longest);
        let mean = interval.mean;
        of(self).left = self.below(2 * mean);
        Some(match self.below(16) {
            0..6 => Delay::Yield,
            6..11 => Delay::Nanoseconds(1_000 + self.below(60_000)),
            _ => Delay::Nanoseconds(100_000 + self.below(900_000)),
        })
    }
}
