//! One word of memory: the last access of each thread to each of its bytes, and whether a remote read or write came since.
//!
//! Two forms. While one thread owns the page (see `shadow`), a word has two slots of 8 bytes:
//!
//! | bits | 0-7 | 8-29 | 30-63 |
//! |---|---|---|---|
//! | content | bytes of the word | site | serial |
//!
//! Then it has up to eight slots in blocks of two, each slot 8 + 4 bytes:
//!
//! | bits | 0-7 | 8-19 | 20-53 | 54-63 | 64-85 | 86-87 | 88-95 |
//! |---|---|---|---|---|---|---|---|
//! | content | bytes of the word | thread | serial | locks held, lower bits | site | remote read, write since | locks held, upper bits |
//!
//! A slot without bytes is free. Invariant: among one thread's slots each byte is in at most one, so neighboring fields in
//! one word stay apart. When slots run out the oldest is forgotten, and counted by the caller.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use model::pair::Atomicity;

use crate::frame::Serial;
use crate::held::HeldSet;
use crate::table::SiteIndex;

/// Some of the eight bytes of a word, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask(pub(crate) u8);

impl Mask {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A thread of this process, as cells name it; fits 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadNumber(pub(crate) u16);

impl ThreadNumber {
    /// How many threads can be told apart.
    pub(crate) const COUNT: usize = 1 << 12;
}

/// An access as a cell remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) site: SiteIndex,
    pub(crate) at: Serial,
}

/// Whether every access found room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// An older access was forgotten.
    Full,
}

const SITE_BITS: u32 = SiteIndex::BITS;
const SITE: u64 = (1 << SITE_BITS) - 1;
const SERIAL: u64 = (1 << Serial::BITS) - 1;
/// Bits of the locks held that stand in the first word.
const LOW_LOCKS: u32 = 10;
const _: () = assert!(8 + SITE_BITS + Serial::BITS == 64 && SITE_BITS + 2 + HeldSet::BITS - LOW_LOCKS == 32);

fn site(bits: u64) -> SiteIndex {
    SiteIndex((bits & SITE) as u32)
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is meant")]
fn mask(bits: u64) -> Mask {
    Mask(bits as u8)
}

fn pack_owned(mask: Mask, access: Access) -> u64 {
    u64::from(mask.0) | u64::from(access.site.0) << 8 | access.at.number() << (8 + SITE_BITS)
}

fn unpack_owned(bits: u64) -> (Mask, Access) {
    (mask(bits), Access { site: site(bits >> 8), at: Serial::new(bits >> (8 + SITE_BITS)) })
}

/// A word of a page that one thread owns.
pub(crate) type OwnedWord = [AtomicU64; 2];

/// Accesses a word that only this thread has touched. `earlier` gets each last access that overlaps.
#[inline]
pub(crate) fn access_owned(word: &OwnedWord, bytes: Mask, now: Access, mut earlier: impl FnMut(Access)) -> Room {
    let new = pack_owned(bytes, now);
    let slots = [word[0].load(Ordering::Relaxed), word[1].load(Ordering::Relaxed)];
    let mut rest = slots;
    for slot in &mut rest {
        let (covered, access) = unpack_owned(*slot);
        if covered.and(bytes).is_empty() {
            continue;
        }
        earlier(access);
        *slot = if covered.without(bytes).is_empty() { 0 } else { pack_owned(covered.without(bytes), access) };
    }
    let same = |slot: u64| slot != 0 && slot >> 8 == new >> 8;
    let (place, room) = match rest {
        [a, _] if same(a) => (0, Room::Enough),
        [_, b] if same(b) => (1, Room::Enough),
        [0, _] => (0, Room::Enough),
        [_, 0] => (1, Room::Enough),
        [a, b] => (usize::from(a >> (8 + SITE_BITS) > b >> (8 + SITE_BITS)), Room::Full),
    };
    rest[place] = if same(rest[place]) { rest[place] | u64::from(bytes.0) } else { new };
    for n in 0..2 {
        if rest[n] != slots[n] {
            word[n].store(rest[n], Ordering::Relaxed);
        }
    }
    room
}

/// The accesses that an owned word remembers.
pub(crate) fn owned_accesses(word: &OwnedWord) -> impl Iterator<Item = (Mask, Access)> {
    word.iter().map(|slot| unpack_owned(slot.load(Ordering::Relaxed))).filter(|(mask, _)| !mask.is_empty())
}

/// One slot of a shared word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) bytes: Mask,
    pub(crate) thread: ThreadNumber,
    pub(crate) access: Access,
    pub(crate) locks: HeldSet,
    /// The weakest that a pair from here can still be.
    pub(crate) since: Atomicity,
}

impl Slot {
    /// Its two words.
    pub(crate) fn pack(self) -> (u64, u32) {
        let locks = self.locks.number();
        let access = u64::from(self.thread.0) << 8 | self.access.at.number() << 20;
        let since = match self.since {
            Atomicity::Exclusive => 0,
            Atomicity::Read => 1,
            Atomicity::None => 2,
        };
        let low = u64::from(self.bytes.0) | access | u64::from(locks) << 54;
        (low, self.access.site.0 | since << SITE_BITS | locks >> LOW_LOCKS << (SITE_BITS + 2))
    }

    /// The slot that was packed so.
    pub(crate) fn unpack(low: u64, high: u32) -> Self {
        let since = match high >> SITE_BITS & 3 {
            0 => Atomicity::Exclusive,
            1 => Atomicity::Read,
            _ => Atomicity::None,
        };
        let thread = ThreadNumber((low >> 8 & 0xfff) as u16);
        let locks = HeldSet::new((low >> 54) as u32 | high >> (SITE_BITS + 2) << LOW_LOCKS);
        let access = Access { site: site(u64::from(high)), at: Serial::new(low >> 20 & SERIAL) };
        Self { bytes: mask(low), thread, access, locks, since }
    }
}

/// Where a slot is kept.
#[derive(Debug)]
pub(crate) struct SlotCell<'a>(pub(crate) &'a AtomicU64, pub(crate) &'a AtomicU32);

impl SlotCell<'_> {
    pub(crate) fn load(&self) -> Slot {
        Slot::unpack(self.0.load(Ordering::Relaxed), self.1.load(Ordering::Relaxed))
    }

    pub(crate) fn store(&self, slot: Slot) {
        let (low, high) = slot.pack();
        self.0.store(low, Ordering::Relaxed);
        self.1.store(high, Ordering::Relaxed);
    }
}

/// The slots of one shared word; the caller holds its stripe.
pub(crate) trait Slots {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them.
    fn slot(&self, number: usize) -> SlotCell<'_>;
    /// Makes more, if it can.
    fn grow(&mut self) -> bool;
    /// Bytes that more than one thread has touched, after adding these.
    fn add_shared(&self, bytes: Mask) -> Mask;
}

/// What an access to a shared word found, one call each; other threads' accesses first.
pub(crate) trait Findings {
    /// This thread's last access to some of the bytes. `shared`: more than one thread has touched them.
    fn own(&mut self, earlier: Access, since: Atomicity, shared: bool);
    /// Another thread's.
    fn remote(&mut self, slot: &Slot);
}

/// An access that happens now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) bytes: Mask,
    pub(crate) thread: ThreadNumber,
    pub(crate) access: Access,
    pub(crate) locks: HeldSet,
    /// What it leaves of another thread's pair around it, as far as it is known before it has happened.
    pub(crate) leaves: Atomicity,
}

/// Accesses a word that several threads may touch (seed 002, Fig. 5). Returns which of the bytes they did, and whether
/// there was room.
pub(crate) fn access_shared(slots: &mut impl Slots, now: Now, findings: &mut impl Findings) -> (Mask, Room) {
    let mut room = Room::Enough;
    let mut touched_by_others = Mask::NONE;
    for n in 0..slots.count() {
        let slot = slots.slot(n).load();
        if slot.thread != now.thread && !slot.bytes.and(now.bytes).is_empty() {
            touched_by_others = touched_by_others.or(slot.bytes.and(now.bytes));
            findings.remote(&slot);
        }
    }
    let shared = slots.add_shared(touched_by_others).and(now.bytes);
    let mut n = 0;
    while n < slots.count() {
        let slot = slots.slot(n).load();
        let common = slot.bytes.and(now.bytes);
        let others = slot.bytes.without(now.bytes);
        if !common.is_empty() && slot.thread == now.thread {
            findings.own(slot.access, slot.since, !shared.and(common).is_empty());
            slots.slot(n).store(Slot { bytes: others, ..slot });
        }
        n += 1;
    }
    room = room.max(weaken(slots, now.bytes, now.thread, now.leaves));
    let new = Slot { bytes: now.bytes, thread: now.thread, access: now.access, locks: now.locks, since: Atomicity::Exclusive };
    room = room.max(put(slots, new));
    (shared, room)
}

/// What an access by a thread leaves of the pairs of other threads around it.
pub(crate) fn weaken(slots: &mut impl Slots, bytes: Mask, by: ThreadNumber, leaves: Atomicity) -> Room {
    let mut room = Room::Enough;
    let mut n = 0;
    while n < slots.count() {
        let slot = slots.slot(n).load();
        let common = slot.bytes.and(bytes);
        let others = slot.bytes.without(bytes);
        let since = slot.since.meet(leaves);
        if slot.thread != by && !common.is_empty() && since != slot.since {
            if others.is_empty() {
                slots.slot(n).store(Slot { since, ..slot });
            } else {
                // Only some of its bytes were touched: they part from the others.
                slots.slot(n).store(Slot { bytes: others, ..slot });
                room = room.max(put(slots, Slot { bytes: common, since, ..slot }));
            }
        }
        n += 1;
    }
    room
}

/// Stores a slot: with one that differs in its bytes only, in a free one, in a new one, or in place of the oldest.
pub(crate) fn put(slots: &mut impl Slots, new: Slot) -> Room {
    let mut free = None;
    let mut oldest = (0, u64::MAX);
    for n in 0..slots.count() {
        let slot = slots.slot(n).load();
        if slot.bytes.is_empty() {
            free = free.or(Some(n));
        } else if (Slot { bytes: new.bytes, ..slot }) == new {
            slots.slot(n).store(Slot { bytes: slot.bytes.or(new.bytes), ..new });
            return Room::Enough;
        } else if slot.access.at.number() < oldest.1 {
            oldest = (n, slot.access.at.number());
        }
    }
    let count = slots.count();
    let (place, room) = match free {
        Some(n) => (n, Room::Enough),
        None if slots.grow() => (count, Room::Enough),
        None => (oldest.0, Room::Full),
    };
    slots.slot(place).store(new);
    room
}

impl Room {
    pub(crate) fn max(self, other: Self) -> Self {
        if self == Self::Full { self } else { other }
    }
}
