//! Whose tenure had the exclusive part of a lock last, and how often in a row: what a bias is given for (`bias`), and what tells a
//! reader that glanced whether a writer has come since (`glance`).
//!
//! | bits | content |
//! |---|---|
//! | 0-20 | how often in a row, less one |
//! | 21-52 | the tenure's ticket |
//! | 53-63 | the thread's slot |
//!
//! The owner alone writes it, once it owns the word and before any access under it. No value comes back within 2^31 tenures of a
//! thread: the tickets of two tenures differ, and a tenure that gives the exclusive part up and gets it again is counted again.

use super::atomic::{Ordering, fence};
use super::domain::MAX_THREADS;
use super::hold::{Slot, Ticket};
use super::lock::{Lock, Me};

const LENGTH_BITS: u32 = 21;
const LENGTH: u64 = (1 << LENGTH_BITS) - 1;
const SLOT_SHIFT: u32 = LENGTH_BITS + u32::BITS;

const _: () = assert!(MAX_THREADS <= 1 << (u64::BITS - SLOT_SHIFT));

/// A value of `Lock::last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last(u64);

impl Last {
    /// As it is now, if nobody else may write it.
    #[inline(always)]
    fn of(lock: &Lock) -> Self {
        Self(lock.last.load(Ordering::Relaxed))
    }

    /// The value that follows when this tenure gets the exclusive part. A length that has no room to grow starts from half of it,
    /// which is beyond all that is asked of it.
    #[inline(always)]
    fn next(self, slot: Slot, ticket: Ticket) -> Self {
        let same = self.0 >> SLOT_SHIFT == u64::from(slot.0);
        let length = self.0 & LENGTH;
        let longer = if length == LENGTH { LENGTH / 2 } else { length + 1 };
        Self(u64::from(slot.0) << SLOT_SHIFT | u64::from(ticket.0) << LENGTH_BITS | if same { longer } else { 0 })
    }
}

/// Own thread, as owner of the exclusive part: one more tenure in a row. What it writes under the lock is seen after this.
#[inline(always)]
pub fn count(me: Me, lock: &Lock, ticket: Ticket) {
    lock.last.store(Last::of(lock).next(me.slot(), ticket).0, Ordering::Release);
    fence(Ordering::Release);
}

/// Own thread, as owner: how often in a row.
#[inline(always)]
pub fn in_a_row(lock: &Lock) -> u32 {
    (Last::of(lock).0 & LENGTH) as u32
}

/// Own thread, as owner: begins to count anew.
pub fn forget(lock: &Lock) {
    lock.last.store(Last::of(lock).0 & !LENGTH, Ordering::Release);
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn every_tenure_gives_another_value_and_rows_are_counted_by_thread() {
        let (one, other) = (Slot(0), Slot(2047));
        let first = Last(0).next(other, Ticket(1));
        assert_eq!(first.0 & LENGTH, 0);
        let second = first.next(other, Ticket(3));
        assert_eq!(second.0 & LENGTH, 1);
        assert_ne!(second, second.next(other, Ticket(3)), "the same tenure once more");
        assert_eq!(second.next(one, Ticket(3)).0 & LENGTH, 0, "another thread");
        let full = Last(first.0 | LENGTH);
        assert_eq!(full.next(other, Ticket(1)).0 & LENGTH, LENGTH / 2);
        assert_ne!(full.next(other, Ticket(1)), full);
    }
}
