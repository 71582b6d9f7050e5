//! Locks that a loop makes: an array of locks, or one for each object of a pool. They stand for each other, so they share one name.
//!
//! Two locks that are initialized at one call, in one activation, belong to one class, named by the call; a helper that initializes
//! unrelated locks is another activation each time, and keeps them apart. Not handled: arrays that are initialized statically;
//! they keep one name for each element. A full table leaves locks with the names of their addresses.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::frame::Serial;
use crate::shadow::Address;
use crate::sys::{self, Zeroed};
use crate::table::SiteIndex;

/// One lock that was made. Free while the address is 0.
#[derive(Debug)]
struct Entry {
    address: AtomicUsize,
    /// 1 + the site of its class, or 0.
    class: AtomicU32,
}

// SAFETY: atomic integers.
unsafe impl Zeroed for Entry {}

const ENTRIES: usize = 1 << 16;
const PROBES: usize = 64;

/// The class of each lock that was made.
#[derive(Debug)]
pub(crate) struct Made(&'static [Entry]);

/// The last lock that a thread made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Making {
    pub(crate) lock: Address,
    pub(crate) call: model::ids::SiteKey,
    pub(crate) activation: Serial,
}

impl Making {
    /// Whether the loop that made `earlier` made this one too.
    pub(crate) fn continues(self, earlier: Self) -> bool {
        (self.call, self.activation) == (earlier.call, earlier.activation) && self.lock != earlier.lock
    }
}

impl Made {
    pub(crate) fn new() -> Option<Self> {
        sys::leak(ENTRIES).map(Self)
    }

    /// A lock was made anew.
    pub(crate) fn set(&self, lock: Address, class: Option<SiteIndex>) {
        for entry in self.probe(lock) {
            let known = entry.address.load(Ordering::Relaxed);
            let mine =
                known == lock.0 || known == 0 && entry.address.compare_exchange(0, lock.0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            if mine {
                entry.class.store(class.map_or(0, |class| class.0 + 1), Ordering::Relaxed);
                return;
            }
        }
    }

    /// The class of a lock.
    pub(crate) fn class(&self, lock: Address) -> Option<SiteIndex> {
        let mut entries = self.probe(lock).take_while(|entry| entry.address.load(Ordering::Relaxed) != 0);
        let entry = entries.find(|entry| entry.address.load(Ordering::Relaxed) == lock.0)?;
        entry.class.load(Ordering::Relaxed).checked_sub(1).map(SiteIndex)
    }

    fn probe(&self, lock: Address) -> impl Iterator<Item = &'static Entry> {
        let first = (lock.0 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - ENTRIES.ilog2());
        let entries = self.0;
        (0..PROBES).map(move |n| &entries[(first + n) % ENTRIES])
    }
}
