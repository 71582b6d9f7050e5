//! Accesses that are remembered although the same thread came to the word again: witnesses of what else another thread could have met.
//!
//! A word remembers each thread's *last* access only. Where a thread checks, changes and then reads a field again, another thread that comes
//! late meets the reading alone, in every run, and the two accesses before look as if nobody could have come between. So of a thread's
//! accesses to a word one more is kept, chosen by chance. Whoever meets the last access meets the witness, too.
//!
//! The table is small and lossy: buckets by word, in which new witnesses replace others by chance. Entries are written and read without a
//! lock; a torn one shows in its key. Freed memory is not cleared: a witness counts only beside an access that the word still
//! remembers of its thread, and it is older, so where that one was handed over in order, so was the witness.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::cell::{Slot, ThreadNumber};
use crate::shadow::Address;
use crate::sys::{self, Zeroed};
use crate::table::mix;

const BUCKETS: usize = 1 << 13;
const WAYS: usize = 4;

/// A zeroed one is free.
#[derive(Debug)]
struct Entry {
    /// The word's address, mixed with the rest.
    key: AtomicU64,
    low: AtomicU64,
    high: AtomicU32,
}

// SAFETY: atomic integers.
unsafe impl Zeroed for Entry {}

impl Entry {
    fn load(&self) -> (u64, Slot) {
        let (low, high) = (self.low.load(Ordering::Relaxed), self.high.load(Ordering::Relaxed));
        (self.key.load(Ordering::Relaxed) ^ low ^ u64::from(high), Slot::unpack(low, high))
    }

    fn store(&self, word: u64, slot: Slot) {
        let (low, high) = slot.pack();
        self.low.store(low, Ordering::Relaxed);
        self.high.store(high, Ordering::Relaxed);
        self.key.store(word ^ low ^ u64::from(high), Ordering::Relaxed);
    }
}

/// All witnesses.
#[derive(Debug)]
pub(crate) struct Witnesses(&'static [Entry]);

impl Witnesses {
    pub(crate) fn new() -> Option<Self> {
        sys::leak(BUCKETS * WAYS).map(Self)
    }

    fn bucket(&self, word: u64) -> &[Entry] {
        #[expect(clippy::cast_possible_truncation, reason = "taken modulo the number of buckets")]
        let number = mix(word) as usize % BUCKETS;
        &self.0[number * WAYS..(number + 1) * WAYS]
    }

    /// An access to a word happens: it may become the witness of its thread.
    pub(crate) fn consider(&self, address: Address, slot: Slot) {
        let word = number_of(address);
        let chance = mix(slot.access.at.number() ^ u64::from(slot.access.site.0) << 40 ^ word << 20);
        let bucket = self.bucket(word);
        let known = bucket.iter().find(|entry| {
            let (of, known) = entry.load();
            of == word && known.thread == slot.thread
        });
        let free = || bucket.iter().find(|entry| entry.key.load(Ordering::Relaxed) == 0);
        let entry = match known {
            // The longer the thread goes on, the older its witness: each earlier access keeps a share.
            Some(_) if !chance.is_multiple_of(4) => return,
            Some(entry) => entry,
            None => free().unwrap_or(&bucket[usize::try_from(chance >> 8).unwrap_or_default() % WAYS]),
        };
        entry.store(word, slot);
    }

    /// The witness of a thread's accesses to a word.
    pub(crate) fn of(&self, address: Address, thread: ThreadNumber) -> Option<Slot> {
        let word = number_of(address);
        let mut found = self.bucket(word).iter().map(Entry::load);
        found.find(|(of, slot)| *of == word && slot.thread == thread).map(|(_, slot)| slot)
    }
}

/// Words have numbers from 1, so that a zeroed entry is no word's.
fn number_of(address: Address) -> u64 {
    (address.0 / 8) as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Access, Mask};
    use crate::frame::Serial;
    use crate::held::HeldSet;
    use crate::table::SiteIndex;
    use model::pair::Atomicity;

    #[test]
    fn each_of_a_threads_accesses_is_the_witness_at_times() {
        let witnesses = Witnesses::new().expect("memory");
        let mut chosen = [0; 3];
        for turn in 0..400_u64 {
            let address = Address(0x1000 + usize::try_from(turn).expect("small") * 8);
            for site in 0..3 {
                let access = Access { site: SiteIndex(site), at: Serial::new(turn * 3 + u64::from(site) + 1) };
                let slot = Slot { bytes: Mask(0xff), thread: ThreadNumber(1), access, locks: HeldSet::new(5), since: Atomicity::Exclusive };
                witnesses.consider(address, slot);
            }
            let witness = witnesses.of(address, ThreadNumber(1)).expect("there is one");
            assert_eq!(witness.locks, HeldSet::new(5));
            chosen[witness.access.site.0 as usize] += 1;
            assert!(witnesses.of(address, ThreadNumber(2)).is_none());
        }
        assert!(chosen.iter().all(|&count| count > 40), "{chosen:?}");
    }
}
