//! The lock itself, and what can be read off it: its 64 bytes, why holds end early, who holds it.
//!
//! Main invariant: of two threads whose holds of one lock are in force, the modes are compatible (`Mode::compatible`).
//!
//! Not here: entering (`enter`), leaving (`leave`), making it cheap (`bias`).

use model::pair::Mode;

use super::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, array, constructor};
use super::domain::Domain;
use super::hold::{Origin, Slot, Ticket, View};
use super::thread::Thread;
use super::wait::Turn;
use super::word::Word;

/// An injected lock: its 64 bytes in the table. All zero is a free one.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lock {
    word: AtomicU64,
    /// The next arrival's number.
    pub stamp: AtomicU32,
    /// How long spinning has lately been worth while.
    pub spin: AtomicU16,
    /// How often a bias was revoked.
    pub unbiased: AtomicU16,
    /// When the lock became `LIGHT`, or until when it must not, and how dear that has been (`bias::Season`).
    pub season: AtomicU64,
    /// Whose tenure had the exclusive part last, and how often in a row (`last`). Written by the owner alone.
    pub last: AtomicU64,
    /// Events by `Cause`; each stops at its greatest value.
    counts: [AtomicU16; CAUSES],
}

const _: () =
    assert!(cfg!(feature = "loom") || (size_of::<Lock>() == model::abi::LOCK_BYTES && align_of::<Lock>() == model::abi::LOCK_BYTES));
const _: () = assert!(cfg!(feature = "loom") || core::mem::offset_of!(Lock, last) == model::abi::LOCK_LAST);

pub use model::cause::{CAUSES, Cause};

/// What one attempt to enter came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Entered, or nothing to do (switched off, held set full).
    Done,
    /// Others are in the way.
    Wait(Obstacle),
}

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Holds that are not compatible.
    Holders,
    /// Only threads that came before.
    Queue,
}

/// A wish to enter.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// In this mode.
    pub mode: Mode,
    /// From here.
    pub origin: Origin,
    /// Whether earlier waiters go first.
    pub turn: Turn,
}

/// The calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Me {
    /// Where all threads are.
    pub domain: &'static Domain,
    /// Its record.
    pub thread: &'static Thread,
}

impl Me {
    /// The record's index.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> Slot {
        Slot(u16::try_from(self.thread.slot.load(Ordering::Relaxed) & 0xffff).unwrap_or(u16::MAX))
    }
}

impl Lock {
    constructor! {
        /// A free lock.
        #[must_use]
        pub fn new() -> Self {
            Self {
                word: AtomicU64::new(0),
                stamp: AtomicU32::new(0),
                spin: AtomicU16::new(0),
                unbiased: AtomicU16::new(0),
                season: AtomicU64::new(0),
                last: AtomicU64::new(0),
                counts: array![AtomicU16::new(0); CAUSES],
            }
        }
    }

    /// The lock that a key names.
    #[must_use]
    pub fn at(address: usize) -> &'static Self {
        let lock = core::ptr::with_exposed_provenance::<Self>(address);
        // SAFETY: keys and waiting words are made from references to locks only, and locks are never moved or freed: they live
        // in the program's table (or are leaked by a test).
        unsafe { &*lock }
    }

    /// What names it in keys.
    #[inline(always)]
    #[must_use]
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self).expose_provenance()
    }

    /// The state word now.
    #[inline(always)]
    #[must_use]
    pub fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    /// Replaces a word that is still as it was read.
    #[inline(always)]
    pub fn swap(&self, from: Word, to: Word) -> bool {
        self.word.compare_exchange(from.0, to.0, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    /// Sets flags; the word before.
    #[inline(always)]
    pub fn set(&self, flags: u64) -> Word {
        Word(self.word.fetch_or(flags, Ordering::SeqCst))
    }

    /// Clears flags; the word before.
    #[inline(always)]
    pub fn unset(&self, flags: u64) -> Word {
        Word(self.word.fetch_and(!flags, Ordering::SeqCst))
    }

    /// Replaces the word, when no other thread is there to look: in a forked child, or before `main`.
    pub fn reset(&self, word: Word) {
        self.word.store(word.0, Ordering::SeqCst);
    }

    /// Counts an event.
    pub fn count(&self, cause: Cause) {
        let count = &self.counts[cause as usize];
        let now = count.load(Ordering::Relaxed);
        count.store(now.saturating_add(1), Ordering::Relaxed);
    }

    /// How often each cause was counted.
    pub fn counts(&self) -> impl Iterator<Item = u16> {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed))
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

/// What a thread has of one lock.
#[derive(Clone, Copy, Debug)]
pub struct Tenure {
    /// Its ticket.
    pub ticket: Ticket,
    /// The strongest mode of its entries.
    pub mode: Mode,
}

/// What this thread has of this lock; revoked entries are cleared away.
pub fn tenure(me: Me, lock: &Lock) -> Option<Tenure> {
    let mut found: Option<Tenure> = None;
    for view in mine(me, lock) {
        if view.in_force {
            let mode = found.map_or(view.mode, |tenure| tenure.mode.max(view.mode));
            found = Some(Tenure { ticket: view.ticket, mode });
        } else {
            me.thread.withdraw(view.place);
        }
    }
    found
}

/// Every entry that this thread has of this lock, in force or not.
#[inline(always)]
pub fn mine(me: Me, lock: &Lock) -> impl Iterator<Item = View> {
    me.thread.entries_of(lock.address())
}

/// Whether another thread has an entry in force.
pub fn others_inside(me: Me, lock: &Lock) -> bool {
    me.domain.slots().any(|slot| slot != me.slot() && me.domain.thread(slot).is_inside(lock))
}

/// Every entry in force of this lock.
pub fn holders(domain: &'static Domain, lock: &Lock) -> impl Iterator<Item = (Slot, View)> {
    let address = lock.address();
    domain.slots().flat_map(move |slot| domain.thread(slot).entries_of(address).filter(|view| view.in_force).map(move |view| (slot, view)))
}

/// A tenure that keeps another thread out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obstructor {
    /// Whose.
    pub slot: Slot,
    /// Which.
    pub ticket: Ticket,
    /// Where its newest entry that is known comes from.
    pub label: Option<u32>,
}

/// Every tenure that keeps the thread in this slot from having this mode.
pub fn obstructors(domain: &'static Domain, lock: &Lock, slot: Slot, mode: Mode) -> impl Iterator<Item = Obstructor> {
    let word = lock.word();
    let owner = word.owner().filter(|&owner| word.exclusive().is_some() && owner != slot && (mode != Mode::R || word.bars_readers()));
    let owning = owner.map(|owner| Obstructor { slot: owner, ticket: word.ticket(), label: None });
    let known = holders(domain, lock)
        .filter(move |(other, view)| *other != slot && !view.mode.compatible(mode) && Some(*other) != owner)
        .map(|(other, view)| Obstructor { slot: other, ticket: view.ticket, label: Some(view.origin.label) });
    owning.into_iter().chain(known)
}
