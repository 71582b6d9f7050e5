//! The protocol: how one thread enters, strengthens, weakens and leaves one lock. Nothing here blocks or makes a system call
//! other than the domain's barrier; `Attempt::Wait` says that waiting is needed, and `wait` does it.
//!
//! Main invariant: of two threads whose holds of one lock are in force, the modes are compatible (`Mode::compatible`).
//!
//! - U and X: the word is changed from open to owned by compare-and-swap, and back by the owner or by a revoker; the ticket in it
//!   makes sure that each gives up only the very tenure it means.
//! - R: publish the entry, then read the word; X: own the word, then read all entries. The fence between is a full one on both
//!   sides, or with `LIGHT` none for the reader and the domain's barrier for the writer. The reader judges by a word that it
//!   read *after* publishing: a `LIGHT` seen there makes every later claim do the barrier.
//! - Making room and then looking for waiters is ordered the same way: a waiter that found readers inside does the barrier before
//!   it parks, so leaving needs no fence.
//!
//! Not here: which thread is to be taken a lock from (`graph`), and that (`revoke`).

use model::pair::Mode;

use super::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};
use super::thread::{Domain, Index, Origin, Slot, Thread, Ticket, View};
use super::wait::{self, Turn};
use super::word::{Exclusive, FAIR, LIGHT, OFF, READERS, UPGRADING, WAITERS, Word};

/// An injected lock: its 64 bytes in the table. All zero is a free one.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lock {
    word: AtomicU64,
    /// The next arrival's number.
    pub stamp: AtomicU32,
    /// How long spinning has lately been worth while.
    pub spin: AtomicU32,
    /// Before this time (nanoseconds) no reader makes the lock `LIGHT`.
    pub inhibit: AtomicU64,
    /// Events by `Cause`; each stops at its greatest value.
    counts: [AtomicU16; CAUSES],
}

const _: () =
    assert!(cfg!(feature = "loom") || (size_of::<Lock>() == model::abi::LOCK_BYTES && align_of::<Lock>() == model::abi::LOCK_BYTES));

/// Why a hold ended before its region, or never began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// Given up: the thread was about to wait for a condition.
    Condition,
    /// Given up: for another thread's end.
    Join,
    /// Given up: for a semaphore or barrier.
    Meet,
    /// Given up: it was about to sleep.
    Sleep,
    /// Given up: for events on descriptors, or a peer.
    Poll,
    /// Given up: for input or output on a pipe, socket or terminal.
    Stream,
    /// Given up: for a lock of the program whose owner waits for this thread.
    ProgramLock,
    /// Given up: it wanted X with only R in its hands, and could not have it at once.
    Strengthened,
    /// Given up: its frame was gone.
    DeadFrame,
    /// Revoked: the holder waited, directly or not, for the waiter.
    Cycle,
    /// Revoked: the holder was blocked, or waited for a thread that was.
    Blocked,
    /// Revoked: the holder used the processor for as long as the inspection interval while others waited.
    Spinning,
    /// Revoked: nothing was wrong with the holder, but time was up.
    Timeout,
    /// Revoked: the holder's thread had ended.
    DeadThread,
    /// Never began: the thread's held set, or the table of threads, was full.
    Full,
    /// Never began: a signal handler had interrupted a hook.
    Nested,
}

/// How many causes there are.
pub const CAUSES: usize = 16;

/// The name of each cause in statistics, by its number.
pub const CAUSE_NAMES: [&str; CAUSES] = [
    "condition",
    "join",
    "meet",
    "sleep",
    "poll",
    "stream",
    "program-lock",
    "strengthened",
    "dead-frame",
    "cycle",
    "blocked",
    "spinning",
    "timeout",
    "dead-thread",
    "full",
    "nested",
];

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
    /// The record's index.
    pub slot: Slot,
}

impl Lock {
    /// A free lock.
    #[cfg(not(feature = "loom"))]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            stamp: AtomicU32::new(0),
            spin: AtomicU32::new(0),
            inhibit: AtomicU64::new(0),
            counts: [const { AtomicU16::new(0) }; CAUSES],
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
    pub fn replace(&self, from: Word, to: Word) -> bool {
        self.swap(from, to)
    }

    #[inline(always)]
    fn swap(&self, from: Word, to: Word) -> bool {
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

#[cfg(not(feature = "loom"))]
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
            me.thread.withdraw(view.index);
        }
    }
    found
}

fn mine(me: Me, lock: &Lock) -> impl Iterator<Item = View> {
    let address = lock.address();
    me.thread.entries().filter(move |view| view.lock == address)
}

/// Tries to make this thread hold the lock as requested: enters, re-enters or strengthens.
pub fn attempt(me: Me, lock: &Lock, request: Request) -> Attempt {
    if lock.word().has(OFF) {
        return Attempt::Done;
    }
    let Some(held) = tenure(me, lock) else {
        let Some(index) = me.thread.vacancy() else {
            lock.count(Cause::Full);
            return Attempt::Done;
        };
        return enter(me, lock, request, index);
    };
    if request.mode > held.mode {
        match strengthen(me, lock, held, request.mode) {
            Strengthened::Done => {}
            Strengthened::Wait => return Attempt::Wait(Obstacle::Holders),
            Strengthened::Impossible => {
                lock.count(Cause::Strengthened);
                drop_tenure(me, lock);
                return attempt(me, lock, request);
            }
        }
    }
    note(me, lock, held.ticket, request);
    Attempt::Done
}

/// Records the origin of a hold that is in force: one entry a frame, the newest label, the stronger mode.
fn note(me: Me, lock: &Lock, ticket: Ticket, request: Request) {
    if let Some(view) = mine(me, lock).find(|view| view.origin.frame == request.origin.frame) {
        me.thread.relabel(view.index, request.origin.label);
        if request.mode > view.mode {
            me.thread.set_mode(view.index, request.mode);
        }
        return;
    }
    match me.thread.vacancy() {
        Some(index) => me.thread.publish(index, lock, request.mode, request.origin, ticket),
        // The outer frame's hold stays as strong as it is; only this frame's own share goes unrecorded. The exclusive part, if
        // this request took it, must not stay behind without an entry.
        None => {
            lock.count(Cause::Full);
            settle(me, lock, ticket);
        }
    }
}

/// Enters a lock of which this thread has nothing.
#[inline(always)]
pub fn enter(me: Me, lock: &Lock, request: Request, index: Index) -> Attempt {
    match request.mode {
        Mode::R => enter_reading(me, lock, request, index),
        Mode::U => enter_exclusive(me, lock, request, index, Exclusive::U),
        Mode::X => enter_exclusive(me, lock, request, index, Exclusive::X),
    }
}

#[inline(always)]
fn enter_reading(me: Me, lock: &Lock, request: Request, index: Index) -> Attempt {
    let word = lock.word();
    if word.bars_readers() {
        return Attempt::Wait(Obstacle::Holders);
    }
    if word.has(FAIR) && !wait::is_first(me, lock, request) {
        return Attempt::Wait(Obstacle::Queue);
    }
    me.thread.publish(index, lock, Mode::R, request.origin, me.thread.next_ticket());
    if reader_may_stay(lock) {
        return Attempt::Done;
    }
    leave_reading(me, lock, index);
    Attempt::Wait(Obstacle::Holders)
}

/// Whether an entry that was just published is a read hold.
#[inline(always)]
fn reader_may_stay(lock: &Lock) -> bool {
    compiler_fence(Ordering::SeqCst);
    let mut word = lock.word();
    if !word.has(LIGHT) {
        fence(Ordering::SeqCst);
        word = lock.word();
    }
    if !word.has(READERS) {
        word = lock.set(READERS);
    }
    !word.bars_readers()
}

/// Ends a reader's entry, and wakes whom that makes room for.
#[inline(always)]
fn leave_reading(me: Me, lock: &Lock, index: Index) {
    me.thread.withdraw(index);
    compiler_fence(Ordering::SeqCst);
    if lock.word().has(WAITERS) {
        wait::wake(me.domain, lock);
    }
}

#[inline(always)]
fn enter_exclusive(me: Me, lock: &Lock, request: Request, index: Index, exclusive: Exclusive) -> Attempt {
    let ticket = me.thread.next_ticket();
    if let Some(obstacle) = claim(me, lock, exclusive, ticket, Some(request)) {
        return Attempt::Wait(obstacle);
    }
    me.thread.publish(index, lock, request.mode, request.origin, ticket);
    Attempt::Done
}

/// Makes this tenure own the open word; for X, only when no other thread reads. `None`: done.
#[inline(always)]
fn claim(me: Me, lock: &Lock, exclusive: Exclusive, ticket: Ticket, queued: Option<Request>) -> Option<Obstacle> {
    loop {
        let word = lock.word();
        if !word.is_open() {
            return Some(Obstacle::Holders);
        }
        let readers_matter = exclusive == Exclusive::X && word.has(READERS);
        if readers_matter && others_inside(me, lock) {
            return Some(Obstacle::Holders);
        }
        if word.has(FAIR) && queued.is_some_and(|request| !wait::is_first(me, lock, request)) {
            return Some(Obstacle::Queue);
        }
        let mut claimed = word.owned(exclusive, me.slot, ticket);
        if exclusive == Exclusive::X {
            claimed = Word(claimed.0 & !LIGHT);
        }
        if !lock.swap(word, claimed) {
            continue;
        }
        if readers_matter && !readers_are_gone(me, lock, word) {
            disown(me, lock, ticket, None);
            return Some(Obstacle::Holders);
        }
        return None;
    }
}

/// Whether no other thread's entry is left, now that none can be added. `before` is the word before readers were barred.
#[cold]
fn readers_are_gone(me: Me, lock: &Lock, before: Word) -> bool {
    if before.has(LIGHT) {
        (me.domain.barrier)();
    } else {
        fence(Ordering::SeqCst);
    }
    if others_inside(me, lock) {
        return false;
    }
    lock.unset(READERS);
    true
}

/// Whether another thread has an entry in force.
fn others_inside(me: Me, lock: &Lock) -> bool {
    holders(me.domain, lock).any(|(slot, _)| slot != me.slot)
}

/// Every entry in force of this lock.
pub fn holders(domain: &'static Domain, lock: &Lock) -> impl Iterator<Item = (Slot, View)> {
    let address = lock.address();
    domain.slots().flat_map(move |slot| {
        domain.thread(slot).entries().filter(move |view| view.lock == address && view.in_force).map(move |view| (slot, view))
    })
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
    let owner = word.owner().filter(|&owner| owner != slot && (mode != Mode::R || word.bars_readers()));
    let owning = owner.map(|owner| Obstructor { slot: owner, ticket: word.ticket(), label: None });
    let known = holders(domain, lock)
        .filter(move |(other, view)| *other != slot && !view.mode.compatible(mode) && Some(*other) != owner)
        .map(|(other, view)| Obstructor { slot: other, ticket: view.ticket, label: Some(view.origin.label) });
    owning.into_iter().chain(known)
}

enum Strengthened {
    Done,
    Wait,
    Impossible,
}

/// Takes more of a lock that this thread has.
#[cold]
fn strengthen(me: Me, lock: &Lock, held: Tenure, wanted: Mode) -> Strengthened {
    match (held.mode, wanted) {
        (Mode::U, Mode::X) => upgrade(me, lock, held.ticket),
        (Mode::R, Mode::U) => claimed(claim(me, lock, Exclusive::U, held.ticket, None)),
        (Mode::R, Mode::X) => claimed(claim(me, lock, Exclusive::X, held.ticket, None)),
        _ => Strengthened::Done,
    }
}

/// A reader never waits for the exclusive part: two that did would wait for each other.
fn claimed(obstacle: Option<Obstacle>) -> Strengthened {
    if obstacle.is_none() { Strengthened::Done } else { Strengthened::Impossible }
}

/// U to X: bars new readers, and is done when the last one has left.
fn upgrade(me: Me, lock: &Lock, ticket: Ticket) -> Strengthened {
    loop {
        let word = lock.word();
        if !word.is_owned_by(me.slot, ticket) {
            // Revoked since `tenure` looked; the next attempt starts afresh.
            return Strengthened::Wait;
        }
        let barred = Word((word.0 | UPGRADING) & !LIGHT);
        if word != barred && !lock.swap(word, barred) {
            continue;
        }
        if word.has(READERS) && !readers_are_gone(me, lock, word) {
            return Strengthened::Wait;
        }
        let word = lock.word();
        if word.is_owned_by(me.slot, ticket) && lock.swap(word, word.owned(Exclusive::X, me.slot, ticket)) {
            return Strengthened::Done;
        }
    }
}

/// Gives the exclusive part of this tenure up, or keeps U of it, and wakes whom that makes room for. Does nothing when the
/// word is not this tenure's (revoked).
#[inline(always)]
pub fn disown(me: Me, lock: &Lock, ticket: Ticket, keep: Option<Exclusive>) {
    loop {
        let word = lock.word();
        if !word.is_owned_by(me.slot, ticket) {
            return;
        }
        let left = match keep {
            None => word.freed(),
            Some(exclusive) => word.owned(exclusive, me.slot, ticket),
        };
        if lock.swap(word, left) {
            if word.has(WAITERS) {
                wait::wake(me.domain, lock);
            }
            return;
        }
    }
}

/// Brings the word down to what this tenure's entries still need.
pub fn settle(me: Me, lock: &Lock, ticket: Ticket) {
    let strongest = mine(me, lock).filter(|view| view.ticket == ticket).map(|view| view.mode).max();
    match strongest {
        Some(Mode::X) => {}
        Some(Mode::U) => disown(me, lock, ticket, Some(Exclusive::U)),
        Some(Mode::R) => {
            // The entry becomes a read hold before the word opens, and writers must come looking for it.
            lock.set(READERS);
            disown(me, lock, ticket, None);
        }
        None => disown(me, lock, ticket, None),
    }
}

/// Ends one entry of this thread.
#[inline(always)]
pub fn leave(me: Me, lock: &Lock, view: View) {
    if !view.in_force {
        me.thread.withdraw(view.index);
    } else if view.mode == Mode::R {
        // Another entry of the tenure, if there is one, goes on barring writers by itself.
        leave_reading(me, lock, view.index);
    } else {
        me.thread.withdraw(view.index);
        if me.thread.holds_nothing() {
            disown(me, lock, view.ticket, None);
        } else {
            settle(me, lock, view.ticket);
        }
    }
}

/// Weakens one entry of this thread to R.
pub fn weaken(me: Me, lock: &Lock, view: View) {
    if view.mode != Mode::R && view.in_force {
        me.thread.set_mode(view.index, Mode::R);
        settle(me, lock, view.ticket);
    }
}

/// Ends everything this thread has of a lock.
pub fn drop_tenure(me: Me, lock: &Lock) {
    for view in mine(me, lock) {
        leave(me, lock, view);
    }
}
