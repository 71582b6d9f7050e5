//! All threads of a process, and what the protocol needs of the world around them.

use super::atomic::{AtomicU32, AtomicU64, Ordering};
use super::graph::{Blocked, Needed};
use super::hold::Slot;
use super::thread::Thread;

/// How many threads can hold injected locks at once; more run without.
pub const MAX_THREADS: usize = if cfg!(feature = "loom") {
    3
} else if cfg!(miri) {
    8
} else {
    2048
};

/// All threads. One per process; tests make their own.
#[derive(Debug)]
pub struct Domain {
    /// The records, by `Slot`.
    pub threads: &'static [Thread; MAX_THREADS],
    /// What each thread waits for, by `Slot`, as `wait::Waiting` packs it; 0: nothing.
    pub waiting: &'static [AtomicU64; MAX_THREADS],
    /// One more than the highest slot ever used.
    pub high: AtomicU32,
    /// Makes the memory operations of all running threads before it visible to this one, and the reverse.
    pub barrier: fn(),
    /// Whether the barrier really reaches other threads.
    pub asymmetric: fn() -> bool,
    /// Nanoseconds since some time.
    pub now: fn() -> u64,
    /// Makes a parked thread, or one about to park, look again.
    pub unpark: fn(&Thread),
    /// Who must act before a thread that is blocked in this goes on.
    pub needed: fn(&'static Self, Blocked, &mut dyn FnMut(Slot)) -> Needed,
}

impl Domain {
    /// The record in this slot.
    #[inline(always)]
    #[must_use]
    pub fn thread(&self, slot: Slot) -> &'static Thread {
        &self.threads[slot.0 as usize % MAX_THREADS]
    }

    /// What the thread in this slot waits for.
    #[inline(always)]
    #[must_use]
    pub fn waiting(&self, slot: Slot) -> &'static AtomicU64 {
        &self.waiting[slot.0 as usize % MAX_THREADS]
    }

    /// Every slot that was ever in use.
    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        let high = self.high.load(Ordering::Acquire);
        (0..high).map_while(|slot| u16::try_from(slot).ok().map(Slot))
    }
}
