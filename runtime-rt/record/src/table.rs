//! Tables that only grow: entries lie in the mapping, in order of their making; an index beside them, in memory of the
//! process, finds them by content.
//!
//! Invariant: an entry is whole before the count covers it, and counted before the index shows it. Lookups take no lock.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::sys::{self, Spin};

/// Defines a position in a table.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u32);

        impl From<$name> for u32 {
            fn from(index: $name) -> Self {
                index.0
            }
        }
    };
}

index!(
    /// A site; fits 22 bits.
    SiteIndex
);
index!(
    /// A pair.
    PairIndex
);
index!(
    /// Two sites that ran near each other.
    JointIndex
);
index!(
    /// A lock, by name.
    LockIndex
);
index!(
    /// A set of locks.
    SetIndex
);

impl SiteIndex {
    pub(crate) const BITS: u32 = 22;
}

impl SetIndex {
    pub(crate) const EMPTY: Self = Self(0);
}

/// Entries of type `E`, found by hash.
#[derive(Debug)]
pub(crate) struct Table<E: 'static> {
    entries: &'static [E],
    count: &'static AtomicU32,
    slots: &'static [AtomicU32],
    insertion: Spin,
}

impl<E> Table<E> {
    /// Over entries whose number in use `count` holds.
    pub(crate) fn new(entries: &'static [E], count: &'static AtomicU32) -> Option<Self> {
        let slots = sys::leak((entries.len() * 2).next_power_of_two())?;
        Some(Self { entries, count, slots, insertion: Spin::new() })
    }

    /// The entry that was interned under this number.
    #[inline]
    pub(crate) fn at(&self, index: impl Into<u32>) -> &'static E {
        &self.entries[index.into() as usize]
    }

    /// The entry, if it is one in use.
    pub(crate) fn get(&self, index: u32) -> Option<&'static E> {
        self.entries.get(index as usize)
    }

    /// How many are in use.
    pub(crate) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    #[expect(clippy::cast_possible_truncation, reason = "addresses have 64 bits here")]
    fn probe(&self, hash: u64) -> impl Iterator<Item = &AtomicU32> {
        let start = hash as usize;
        (0..self.slots.len()).map(move |step| &self.slots[start.wrapping_add(step) & (self.slots.len() - 1)])
    }

    fn find(&self, hash: u64, is: &impl Fn(&E) -> bool) -> Option<u32> {
        self.probe(hash)
            .map(|slot| slot.load(Ordering::Acquire))
            .take_while(|&number| number != 0)
            .map(|number| number - 1)
            .find(|&number| self.get(number).is_some_and(is))
    }

    /// The entry that is so; made by `fill` on a zeroed one if there is none. `None` when the table is full.
    pub(crate) fn intern(&self, hash: u64, is: impl Fn(&E) -> bool, fill: impl FnOnce(&E)) -> Option<u32> {
        if let Some(found) = self.find(hash, &is) {
            return Some(found);
        }
        let _taken = self.insertion.take();
        if let Some(found) = self.find(hash, &is) {
            return Some(found);
        }
        let number = self.count.load(Ordering::Relaxed);
        let entry = self.get(number)?;
        if !crate::mapping::populated(core::ptr::from_ref(entry).addr(), size_of::<E>()) {
            return None;
        }
        fill(entry);
        self.count.store(number + 1, Ordering::Release);
        self.probe(hash).find(|slot| slot.load(Ordering::Relaxed) == 0)?.store(number + 1, Ordering::Release);
        Some(number)
    }

    /// In a forked child: another thread may have been inserting.
    pub(crate) fn after_fork(&self) {
        self.insertion.unlock();
    }

    /// Forgets the index.
    pub(crate) fn clear_index(&self) {
        sys::zero(self.slots);
    }
}

/// Mixes bits well enough for tables (the finalizer of SplitMix64).
#[inline]
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
