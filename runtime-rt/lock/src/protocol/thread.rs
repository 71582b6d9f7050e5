//! What each thread shows of itself: its held set, what it waits for, what it is blocked in.
//!
//! A record is written by its thread alone, with plain stores, and read by any thread; the exceptions are `revoked`, which
//! only *other* threads write, and `park`. So no remote operation can be lost under a local one:
//!
//! - A hold is an entry with a key. It is in force unless its `revoked` mark equals its ticket.
//! - All entries of one thread for one lock share a ticket: the thread's *tenure* of the lock. It is what a revocation ends.
//!
//! A thread with all entries in use acquires nothing more until one is free, which is counted: locks only forbid schedules, so
//! doing without one is always safe.

use super::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, array, compiler_fence, constructor};
use super::hold::{Bits, Frame, Here, Hold, Index, LOW, MODE, Origin, Place, QUICK, Share, Slot, Ticket, View, bit};
use super::lock::Lock;
use super::word::Word;

/// How many holds a thread can have at once; more are left out.
pub const MAX_HOLDS: usize = if cfg!(feature = "loom") { 2 } else { 16 };
const ALL_USED: u32 = (1 << MAX_HOLDS) - 1;

/// A thread that parks, or looks once more before it does: nobody has told it to look again.
pub const LOOKING: u32 = 0;
/// It was told to, and has not done so yet: no need to tell it again.
pub const TOLD: u32 = 1;

/// What a thread shows of itself.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Thread {
    /// Bit i: entry i is in use.
    used: AtomicU32,
    /// The last ticket given.
    ticket: AtomicU32,
    /// The lock that a hook is at work on, 0 between hooks: what a signal handler or a longjmp out of one must know.
    pub busy: AtomicUsize,
    /// The record's own index, once it is in use.
    pub slot: AtomicU32,
    /// What the lower half of a word biased to this thread has in its bias, switch and owner bits.
    pub mark: AtomicU32,
    /// Reader acquisitions that needed a fence.
    pub fenced: AtomicU32,
    /// The first of them shares a line with the fields above: what a thread with one hold writes, and others look at, is that line.
    holds: [Hold; MAX_HOLDS],
    /// Its number in the kernel; 0: the record is free.
    pub tid: AtomicU32,
    /// The futex that it parks on: `LOOKING` or `TOLD`.
    pub park: AtomicU32,
    /// Its `pthread_t`.
    pub handle: AtomicUsize,
    /// What it is blocked in, as `graph::Blocked` packs it; 0: nothing.
    pub blocked: AtomicU64,
    /// Reader-writer locks of the program that it has for reading, as far as there is room; 0: none.
    reading: [AtomicUsize; 4],
}

const _: () = assert!(cfg!(feature = "loom") || core::mem::offset_of!(Thread, holds) + size_of::<Hold>() == 64);

impl Thread {
    constructor! {
        /// A record in use by nobody.
        #[must_use]
        pub fn new() -> Self {
            Self {
                used: AtomicU32::new(0),
                ticket: AtomicU32::new(0),
                busy: AtomicUsize::new(0),
                slot: AtomicU32::new(0),
                mark: AtomicU32::new(0),
                fenced: AtomicU32::new(0),
                holds: array![Hold::new(); MAX_HOLDS],
                tid: AtomicU32::new(0),
                park: AtomicU32::new(0),
                handle: AtomicUsize::new(0),
                blocked: AtomicU64::new(0),
                reading: array![AtomicUsize::new(0); 4],
            }
        }
    }

    /// Whether it has no entry at all.
    #[inline(always)]
    #[must_use]
    pub fn holds_nothing(&self) -> bool {
        self.used.load(Ordering::Relaxed) == 0
    }

    /// Gives the record to a thread: its index, by which words name it.
    pub fn settle_in(&self, slot: Slot) {
        self.slot.store(u32::from(slot.0), Ordering::Relaxed);
        self.ticket.store(self.ticket.load(Ordering::Relaxed) | 1, Ordering::Relaxed);
        self.mark.store(Word(0).biased(slot).lower(), Ordering::Relaxed);
    }

    /// Own thread: whether a word is biased to it, and not switched off.
    #[inline(always)]
    #[must_use]
    pub fn is_favored_by(&self, word: Word) -> bool {
        word.lower() & Word::MARK == self.mark.load(Ordering::Relaxed)
    }

    /// Own thread: whether it has no entry, and no hook is at work.
    #[inline(always)]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.used.load(Ordering::Relaxed) as usize | self.busy.load(Ordering::Relaxed) == 0
    }

    /// Own thread: whether it has no entry of this lock, and no hook is at work.
    #[inline(always)]
    #[must_use]
    pub fn is_at_ease(&self, lock: &Lock) -> bool {
        let is_of_lock = |index| self.hold(index).key.load(Ordering::Relaxed) ^ lock.address() <= LOW;
        self.is_idle() || !self.is_busy() && !self.indices().any(is_of_lock)
    }

    /// Own thread: whether a hook is at work.
    #[inline(always)]
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) != 0
    }

    /// Own thread: the mode of its only entry, if that is the first, has this lock and origin, and was `publish_only`.
    #[inline(always)]
    #[must_use]
    pub fn quick(&self, lock: &Lock, origin: Origin) -> Option<Bits> {
        let [hold, ..] = &self.holds;
        let low = hold.key.load(Ordering::Relaxed) ^ (lock.address() | QUICK);
        let matches = low <= MODE
            && self.used.load(Ordering::Relaxed) == 1
            && hold.label.load(Ordering::Relaxed) == origin.label
            && hold.frame.load(Ordering::Relaxed) == origin.frame.0;
        matches.then_some(Bits(low))
    }

    /// Own thread: the same, however it was entered.
    #[inline(always)]
    #[must_use]
    pub fn only(&self, lock: &Lock, origin: Origin) -> Option<Bits> {
        let [hold, ..] = &self.holds;
        let low = hold.key.load(Ordering::Relaxed) ^ lock.address();
        let matches = self.used.load(Ordering::Relaxed) == 1
            && low <= LOW
            && hold.label.load(Ordering::Relaxed) == origin.label
            && hold.frame.load(Ordering::Relaxed) == origin.frame.0;
        matches.then_some(Bits(low & MODE))
    }

    /// Own thread: a free entry for a lock of which it has none, as long as no entry's frame lies between these addresses.
    #[inline(always)]
    #[must_use]
    pub fn room(&self, lock: &Lock, low: usize, high: usize) -> Option<Place> {
        let is_in_the_way = |index| {
            let hold = self.hold(index);
            let of_lock = hold.key.load(Ordering::Relaxed) ^ lock.address() <= LOW;
            of_lock || hold.frame.load(Ordering::Relaxed).wrapping_sub(low) < high - low
        };
        if self.indices().any(is_in_the_way) { None } else { self.vacancy() }
    }

    /// Own thread: what it has of this lock, as long as all of it is in force.
    #[inline(always)]
    #[must_use]
    pub fn share(&self, lock: &Lock, frame: Frame) -> Option<Share> {
        self.share_without(lock, frame, 0, 0)
    }

    /// Own thread: the same, as long as no entry's frame lies between these addresses, either.
    #[inline(always)]
    #[must_use]
    pub fn share_without(&self, lock: &Lock, frame: Frame, low: usize, high: usize) -> Option<Share> {
        let span = high - low;
        let mut share = Share { ticket: Ticket(0), here: None, rest: Bits::NONE };
        for index in self.indices() {
            let hold = self.hold(index);
            if hold.frame.load(Ordering::Relaxed).wrapping_sub(low) < span {
                return None;
            }
            let low = hold.key.load(Ordering::Relaxed) ^ lock.address();
            if low > LOW {
                continue;
            }
            if !hold.in_force() {
                return None;
            }
            share.ticket = Ticket(hold.ticket.load(Ordering::Relaxed));
            let mode = Bits(low & MODE);
            if hold.frame.load(Ordering::Relaxed) == frame.0 {
                share.here = Some(Here { place: Place::Among(index), label: hold.label.load(Ordering::Relaxed), mode });
            } else {
                share.rest = share.rest.or(mode);
            }
        }
        Some(share)
    }

    /// Own thread: the strongest mode of a tenure's entries but for this one.
    #[must_use]
    pub fn rest(&self, lock: usize, ticket: Ticket, besides: Option<Place>) -> Bits {
        let others = self.entries_of(lock).filter(|view| view.ticket == ticket && Some(view.place) != besides);
        others.map(|view| Bits::of(view.mode)).fold(Bits::NONE, Bits::or)
    }

    /// Whether an entry of this lock is in force; also for another thread.
    #[inline(always)]
    #[must_use]
    pub fn is_inside(&self, lock: &Lock) -> bool {
        // Acquire also where the entry turns out to be gone, as in `entries_of`.
        let of_lock = |hold: &Hold| hold.key.load(Ordering::Acquire) ^ lock.address() <= LOW;
        self.indices().any(|index| of_lock(self.hold(index)) && self.hold(index).in_force())
    }

    /// Own thread: shows a hold as its only one, which is all there is to it.
    #[inline(always)]
    pub fn publish_only(&self, lock: &Lock, mode: Bits, origin: Origin) {
        self.publish_first(lock.address() | QUICK | mode.0, origin, self.next_ticket());
    }

    /// Own thread: shows a hold as its only one, whose tenure owns the word.
    #[inline(always)]
    pub fn publish_owned(&self, lock: &Lock, mode: Bits, origin: Origin, ticket: Ticket) {
        self.publish_first(lock.address() | mode.0, origin, ticket);
    }

    #[inline(always)]
    fn publish_first(&self, key: usize, origin: Origin, ticket: Ticket) {
        let [hold, ..] = &self.holds;
        self.used.store(1, Ordering::Relaxed);
        // From here on the entry is taken, also for a signal handler of this thread.
        compiler_fence(Ordering::Release);
        hold.ticket.store(ticket.0, Ordering::Relaxed);
        hold.label.store(origin.label, Ordering::Relaxed);
        hold.frame.store(origin.frame.0, Ordering::Relaxed);
        hold.key.store(key, Ordering::Release);
    }

    /// Own thread: the ticket of its only entry, which is the first.
    #[inline(always)]
    #[must_use]
    pub fn only_ticket(&self) -> Ticket {
        let [hold, ..] = &self.holds;
        Ticket(hold.ticket.load(Ordering::Relaxed))
    }

    /// Its entries, also for another thread: what it sees then may be gone already.
    #[inline(always)]
    pub fn entries(&self) -> impl Iterator<Item = View> {
        self.indices().filter_map(|index| self.view(index))
    }

    /// Those of one lock, by its address.
    #[inline(always)]
    pub fn entries_of(&self, lock: usize) -> impl Iterator<Item = View> {
        // Acquire also where the entry turns out to be gone: what its thread did under it comes before what the reader of this does.
        let of_lock = move |index: &Index| self.hold(*index).key.load(Ordering::Acquire) & !LOW == lock;
        self.indices().filter(of_lock).filter_map(|index| self.view(index))
    }

    /// Own thread: whether an entry's frame lies between these addresses.
    #[inline(always)]
    #[must_use]
    pub fn has_frame_between(&self, low: usize, high: usize) -> bool {
        self.indices().any(|index| (low..high).contains(&self.hold(index).frame.load(Ordering::Relaxed)))
    }

    #[inline(always)]
    fn indices(&self) -> impl Iterator<Item = Index> {
        let mut used = self.used.load(Ordering::Acquire);
        core::iter::from_fn(move || {
            let index = used.trailing_zeros();
            used &= used.wrapping_sub(1);
            (index < u32::BITS).then_some(Index(index))
        })
    }

    #[inline(always)]
    fn view(&self, index: Index) -> Option<View> {
        let hold = self.hold(index);
        let (lock, mode) = hold.key()?;
        let origin = Origin { label: hold.label.load(Ordering::Relaxed), frame: Frame(hold.frame.load(Ordering::Relaxed)) };
        Some(View {
            place: Place::Among(index),
            lock,
            mode,
            origin,
            ticket: Ticket(hold.ticket.load(Ordering::Relaxed)),
            in_force: hold.in_force(),
        })
    }

    #[inline(always)]
    fn hold(&self, index: Index) -> &Hold {
        &self.holds[index.0 as usize % MAX_HOLDS]
    }

    /// Own thread: a ticket for a new tenure.
    #[inline(always)]
    pub fn next_ticket(&self) -> Ticket {
        // Odd ones, so that none is ever 0, the mark of an entry that was never revoked.
        let next = self.ticket.load(Ordering::Relaxed).wrapping_add(2);
        self.ticket.store(next, Ordering::Relaxed);
        Ticket(next)
    }

    /// Own thread: an entry that is free, if one is.
    #[inline(always)]
    #[must_use]
    pub fn vacancy(&self) -> Option<Place> {
        let free = !self.used.load(Ordering::Relaxed) & ALL_USED;
        (free != 0).then(|| Place::Among(Index(free.trailing_zeros())))
    }

    /// Own thread: shows a hold in a vacant entry. The caller still has to look whether it may.
    #[inline(always)]
    pub fn publish(&self, place: Place, lock: &Lock, mode: Bits, origin: Origin, ticket: Ticket) {
        let hold = self.at(place);
        self.used.store(self.others(place) | bit(place), Ordering::Relaxed);
        // From here on the entry is taken, also for a signal handler of this thread.
        compiler_fence(Ordering::Release);
        hold.ticket.store(ticket.0, Ordering::Relaxed);
        hold.label.store(origin.label, Ordering::Relaxed);
        hold.frame.store(origin.frame.0, Ordering::Relaxed);
        hold.key.store(lock.address() | mode.0, Ordering::Release);
    }

    /// Own thread: the newest label in a frame replaces the older, and the stronger mode stays.
    #[inline(always)]
    pub fn relabel(&self, place: Place, label: u32) {
        self.at(place).label.store(label, Ordering::Relaxed);
    }

    /// Own thread: changes the mode of an entry. What has become R ends like what was entered so.
    #[inline(always)]
    pub fn set_mode(&self, place: Place, mode: Bits) {
        let hold = self.at(place);
        let hint = if mode.is_read() { QUICK } else { 0 };
        hold.key.store(hold.key.load(Ordering::Relaxed) & !MODE | mode.0 | hint, Ordering::Release);
    }

    /// Own thread: ends an entry. Its accesses stay before it.
    #[inline(always)]
    pub fn withdraw(&self, place: Place) {
        self.at(place).key.store(0, Ordering::Release);
        self.used.store(self.others(place), Ordering::Release);
    }

    #[inline(always)]
    fn at(&self, place: Place) -> &Hold {
        match place {
            Place::Only => {
                let [first, ..] = &self.holds;
                first
            }
            Place::Among(index) => self.hold(index),
        }
    }

    /// The other entries in use.
    #[inline(always)]
    fn others(&self, place: Place) -> u32 {
        match place {
            Place::Only => 0,
            Place::Among(_) => self.used.load(Ordering::Relaxed) & !bit(place),
        }
    }

    /// Own thread: finds out anew which entries are in use, after a jump out of the middle of a change.
    pub fn recount(&self) {
        let used = (0..).zip(&self.holds).filter(|(_, hold)| hold.key().is_some()).fold(0, |used, (index, _)| used | 1_u32 << index);
        self.used.store(used, Ordering::Release);
    }

    /// Own thread: it has one more lock of the program for reading.
    pub fn begin_reading(&self, lock: usize) {
        if let Some(place) = self.reading.iter().find(|place| place.load(Ordering::Relaxed) == 0) {
            place.store(lock, Ordering::Relaxed);
        }
    }

    /// Own thread: it gave one back.
    pub fn end_reading(&self, lock: usize) {
        if let Some(place) = self.reading.iter().find(|place| place.load(Ordering::Relaxed) == lock) {
            place.store(0, Ordering::Relaxed);
        }
    }

    /// Any thread: whether it has this lock of the program for reading.
    pub fn is_reading(&self, lock: usize) -> bool {
        self.reading.iter().any(|place| place.load(Ordering::Relaxed) == lock)
    }

    /// Another thread: ends a tenure; whether any of it was left. The record's own thread finds out when it next looks.
    pub fn revoke(&self, lock: usize, ticket: Ticket) -> bool {
        let mut any = false;
        for hold in &self.holds {
            if hold.key().is_some_and(|(held, _)| held == lock) && hold.ticket.load(Ordering::Relaxed) == ticket.0 {
                any |= hold.in_force();
                hold.revoked.store(ticket.0, Ordering::SeqCst);
            }
        }
        any
    }

    /// Any thread, when the record's thread is gone or is the caller: forgets everything.
    pub fn clear(&self) {
        for hold in &self.holds {
            hold.key.store(0, Ordering::Release);
        }
        self.used.store(0, Ordering::Release);
        self.busy.store(0, Ordering::Relaxed);
        self.blocked.store(0, Ordering::Relaxed);
        for place in &self.reading {
            place.store(0, Ordering::Relaxed);
        }
    }
}

impl Default for Thread {
    fn default() -> Self {
        Self::new()
    }
}
