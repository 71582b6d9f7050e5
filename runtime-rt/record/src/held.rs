//! Which lock instances were held at an access, as a number that fits a cell, and what each thread held when: enough to say whether two
//! accesses had one instance in common.
//!
//! Sets of instances are interned by address. Cells of pages that one thread owns have no room even for the number, but they have the
//! serial of the access: the thread's `History` says what it held then.
//!
//! Whatever is not known exactly (more locks than a set has room for, more sets than the table, a serial older than the history) is `ANY`: a
//! lock in common with every access under a lock. A lock that is made anew at the address of a dead one counts as the same.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::frame::Serial;
use crate::shadow::Address;
use crate::sys::{self, Zeroed};
use crate::table::{Table, mix};

/// The instances held at an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldSet(u32);

impl HeldSet {
    /// Its number is below 2 to this power.
    pub(crate) const BITS: u32 = 18;
    /// No lock.
    pub(crate) const NONE: Self = Self(0);
    /// Not known: any.
    pub(crate) const ANY: Self = Self((1 << Self::BITS) - 1);

    pub(crate) const fn new(number: u32) -> Self {
        Self(number & Self::ANY.0)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

/// Instances in one set.
const ROOM: usize = 7;
/// Sets that are told apart.
const SETS: usize = 1 << 17;
const _: () = assert!(SETS < HeldSet::ANY.0 as usize);

#[derive(Debug)]
struct Entry {
    count: AtomicUsize,
    locks: [AtomicUsize; ROOM],
}

// SAFETY: atomic integers.
unsafe impl Zeroed for Entry {}

impl Entry {
    fn locks(&self) -> impl Iterator<Item = usize> {
        self.locks.iter().take(self.count.load(Ordering::Relaxed)).map(|lock| lock.load(Ordering::Relaxed))
    }

    fn has(&self, lock: usize) -> bool {
        self.locks().any(|own| own == lock)
    }
}

/// All sets.
#[derive(Debug)]
pub(crate) struct HeldSets(Table<Entry>);

impl HeldSets {
    pub(crate) fn new() -> Option<Self> {
        let count = &sys::leak::<AtomicU32>(1)?[0];
        Table::new(sys::leak(SETS)?, count).map(Self)
    }

    /// The set of these locks, each named once.
    pub(crate) fn set(&self, locks: impl Iterator<Item = Address> + Clone) -> HeldSet {
        let count = locks.clone().count();
        if count == 0 {
            return HeldSet::NONE;
        }
        if count > ROOM {
            return HeldSet::ANY;
        }
        let hash = locks.clone().fold(0_u64, |hash, lock| hash.wrapping_add(mix(lock.0 as u64)));
        let is = |entry: &Entry| entry.count.load(Ordering::Relaxed) == count && locks.clone().all(|lock| entry.has(lock.0));
        let fill = |entry: &Entry| {
            entry.count.store(count, Ordering::Relaxed);
            entry.locks.iter().zip(locks.clone()).for_each(|(place, lock)| place.store(lock.0, Ordering::Relaxed));
        };
        self.0.intern(hash, is, fill).map_or(HeldSet::ANY, |number| HeldSet::new(number + 1))
    }

    /// Whether one instance may be in both.
    pub(crate) fn meet(&self, a: HeldSet, b: HeldSet) -> bool {
        if a == HeldSet::NONE || b == HeldSet::NONE {
            return false;
        }
        let entry = |set: HeldSet| set.0.checked_sub(1).and_then(|number| self.0.get(number)).filter(|_| set != HeldSet::ANY);
        match (entry(a), entry(b)) {
            (Some(a), Some(b)) => a.locks().any(|lock| b.has(lock)),
            _ => true,
        }
    }

    /// In a forked child: another thread may have been adding one.
    pub(crate) fn after_fork(&self) {
        self.0.after_fork();
    }
}

/// Changes that are remembered of each thread.
const CHANGES: usize = 1 << 14;

/// What one thread held when, from its latest changes. Written by the thread, read by any.
#[derive(Debug)]
pub(crate) struct History {
    count: AtomicUsize,
    /// `serial << BITS | set`, ascending.
    changes: [AtomicU64; CHANGES],
}

impl History {
    /// Of a thread that has held nothing.
    pub(crate) const fn new() -> Self {
        Self { count: AtomicUsize::new(0), changes: [const { AtomicU64::new(0) }; CHANGES] }
    }

    /// From this serial on the thread holds this.
    pub(crate) fn note(&self, from: Serial, set: HeldSet) {
        let count = self.count.load(Ordering::Relaxed);
        self.changes[count % CHANGES].store(from.number() << HeldSet::BITS | u64::from(set.0), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
    }

    /// What it held at a serial.
    pub(crate) fn at(&self, serial: Serial) -> HeldSet {
        let count = self.count.load(Ordering::Acquire);
        let oldest = count.saturating_sub(CHANGES);
        let (mut low, mut high) = (oldest, count);
        // invariant: changes below `low` came at or before the serial, those from `high` on after it.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.change(middle).0 <= serial.number() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = match low.checked_sub(1) {
            None => HeldSet::NONE,
            Some(_) if low == oldest => HeldSet::ANY,
            Some(last) => self.change(last).1,
        };
        // What was overwritten meanwhile was not there to be searched.
        let now = self.count.load(Ordering::Acquire);
        if now > CHANGES && now != count { HeldSet::ANY } else { found }
    }

    fn change(&self, number: usize) -> (u64, HeldSet) {
        let change = self.changes[number % CHANGES].load(Ordering::Relaxed);
        #[expect(clippy::cast_possible_truncation, reason = "the lower bits are meant")]
        (change >> HeldSet::BITS, HeldSet::new(change as u32))
    }

    /// Serials begin anew: what was before is not known.
    pub(crate) fn restart(&self) {
        self.changes.iter().for_each(|change| change.store(u64::from(HeldSet::ANY.0), Ordering::Relaxed));
        self.count.store(CHANGES, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_held_what_it_took_last_before() {
        let history = std::boxed::Box::new(History::new());
        assert_eq!(history.at(Serial::new(5)), HeldSet::NONE);
        history.note(Serial::new(10), HeldSet::new(1));
        history.note(Serial::new(20), HeldSet::new(2));
        let held = [9, 10, 19, 20, 21].map(|serial| history.at(Serial::new(serial)).number());
        assert_eq!(held, [0, 1, 1, 2, 2]);
    }

    #[test]
    fn what_lies_too_far_back_may_be_any_lock() {
        let history = std::boxed::Box::new(History::new());
        for serial in 1..=CHANGES as u64 + 2 {
            history.note(Serial::new(serial), HeldSet::new(7));
        }
        assert_eq!(history.at(Serial::new(2)), HeldSet::ANY);
        assert_eq!(history.at(Serial::new(3)).number(), 7);
        history.restart();
        assert_eq!(history.at(Serial::new(4)), HeldSet::ANY);
    }

    #[test]
    fn sets_meet_by_instance_whatever_the_order() {
        let sets = HeldSets::new().expect("memory");
        let set = |locks: &[usize]| sets.set(locks.iter().map(|&lock| Address(lock)));
        assert_eq!(set(&[8, 16]), set(&[16, 8]));
        assert!(sets.meet(set(&[8, 16]), set(&[16, 24])));
        assert!(!sets.meet(set(&[8, 16]), set(&[24, 32])));
        assert!(!sets.meet(set(&[]), HeldSet::ANY));
        assert!(sets.meet(set(&[8]), HeldSet::ANY));
        assert_eq!(set(&[1, 2, 3, 4, 5, 6, 7, 8]), HeldSet::ANY);
    }
}
