//! Reading one thing without entering: as a seqlock's readers do (Lameter, 2005; `tryOptimisticRead` of Java's `StampedLock`).
//!
//! A region in R that is one load has nothing to keep after it, so it need not be shown to writers: it is enough that no exclusive
//! tenure was at work between a moment before the load and one after it. Nothing is written, and no fence is needed.
//!
//! 1. Glance: read `last`, then the word. Nobody has the exclusive part.
//! 2. Load.
//! 3. The glance holds if `last` is as it was; else the load is done again under the lock.
//!
//! Why that is enough. A tenure writes `last` after it got the word (in U or X) and before any access under it, and gives the word up after
//! them. Let a load see what a tenure T wrote, or come between two accesses of T.
//!
//! - T wrote `last` before the first read of it. Then the word, read after that, showed T; or T had left, and the load came after it.
//! - T wrote `last` in between: the second read finds another value (`last`: no value comes back).
//! - T wrote `last` after the second read: its accesses come after that, so the load saw none of them.
//!
//! Tenures under a bias write no `last`. But a bias begins when a tenure ends, which is seen in the same way; or it was there before,
//! and then the word keeps everybody from glancing but the thread that has the bias.
//!
//! A thread that has an entry of the lock does not glance: what an acquire and a release would do to the entry would not be done.

use super::atomic::{Ordering, fence};
use super::lock::{Lock, Me};

/// What a glance found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance(u64);

impl Glance {
    /// As the hook returns it, where 0 is none: the complement of `last`, so that a lock that nobody ever had exclusively gives one too.
    /// (Should `last` ever have all bits set, the lock is acquired.)
    #[inline(always)]
    #[must_use]
    pub const fn token(self) -> u64 {
        !self.0
    }
}

/// Looks whether this thread may read one thing without entering.
#[inline(always)]
#[must_use]
pub fn glance(me: Me, lock: &Lock) -> Option<Glance> {
    let last = lock.last.load(Ordering::Acquire);
    let word = lock.word();
    let open = word.is_open_to_glances() || me.thread.is_favored_by(word);
    (open && me.thread.is_at_ease(lock)).then_some(Glance(last))
}

/// Whether what was loaded since then is what a read hold would have let see. Hardened code has this inline.
#[inline(always)]
#[must_use]
pub fn holds(lock: &Lock, glance: Glance) -> bool {
    fence(Ordering::Acquire);
    lock.last.load(Ordering::Relaxed) == glance.0
}
