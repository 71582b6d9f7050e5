//! Making a lock cheap for those that use it most: `BIASED` towards one thread, or `LIGHT` for readers.
//!
//! Both leave out the full fence between publishing an entry and reading the word; who ends them does the domain's barrier, which
//! fences all threads, before it reads entries. So they begin only after many uses of one kind, and less readily each time they
//! end. Without process-wide barriers they never begin.
//!
//! Ending a bias towards T, by O:
//!
//! 1. The word becomes X, owned by O: from here on nobody enters, T included. Barrier.
//! 2. O reads T's entries. None in force: O frees the word. R: O frees the word, with `READERS`. U or X: the word becomes T's, as
//!    if T had entered without a bias. Barrier, and a second look: if T's tenure is gone, O takes the word back.
//!
//! T publishes or withdraws first and reads the word afterwards, so for each change of its entries one of two holds: T read
//! `BIASED`, and O's barrier makes the change visible to step 2; or T read something else. Then an entering T withdraws and starts
//! afresh, and a leaving T gives the word up if it finds it its own; if O makes it T's only after T read it, the second look finds
//! the tenure gone. A tenure that only shrank meanwhile may leave T with more of the word than it needs until it leaves.

use model::pair::Mode;

use super::atomic::Ordering;
use super::hold::{Slot, Ticket};
use super::last;
use super::lock::{Lock, Me, holders};
use super::wait;
use super::word::{Exclusive, FAIR, LIGHT, OFF, READERS, WAITERS, Word};

/// A reader considers making a lock `LIGHT` once in so many fenced acquisitions.
const FENCED: u32 = 64;
/// After a writer's barrier no reader does for so many times its length (as in BRAVO), doubled for each time that the lock was not
/// `LIGHT` for long enough to be worth a barrier.
const REST: u64 = 16;
/// Worth it: a fence costs a reader some hundredths of a barrier, so a lock has to be `LIGHT` for so many times a barrier's length.
const WORTH: u64 = 1024;
/// How often the rest is doubled at most: from some tens of microseconds to seconds.
const DOUBLED_MOST: u64 = 16;
/// A lock becomes biased after so many exclusive tenures of one thread in a row; sixteen times as many each time the bias ends.
const STREAK: u32 = 256;
/// A bias that ended so often does not come back.
const TRIES: u16 = 3;
/// What the word of a lock that is given back becomes: free, or biased towards its owner.
#[inline(always)]
pub fn left(me: Me, lock: &Lock, word: Word) -> Word {
    if last::in_a_row(lock) < STREAK || word.has(WAITERS | READERS | FAIR | LIGHT | OFF) {
        return word.freed();
    }
    consider(me, lock, word)
}

#[cold]
#[inline(never)]
fn consider(me: Me, lock: &Lock, word: Word) -> Word {
    let tries = lock.unbiased.load(Ordering::Relaxed);
    if tries >= TRIES {
        // Not to be asked at every release.
        last::forget(lock);
    }
    let enough = tries < TRIES && last::in_a_row(lock) >= STREAK << (4 * tries);
    if enough && (me.domain.asymmetric)() { word.biased(me.slot()) } else { word.freed() }
}

/// Ends the bias of another thread. The caller looks at the word again.
#[cold]
pub fn end(me: Me, lock: &Lock) {
    let word = lock.word();
    let Some(favored) = word.biased_to().filter(|&favored| favored != me.slot()) else { return };
    let ticket = me.thread.next_ticket();
    let claimed = Word(word.owned(Exclusive::X, me.slot(), ticket).0 | READERS);
    if !lock.swap(word, claimed) {
        return;
    }
    lock.unbiased.fetch_add(1, Ordering::Relaxed);
    last::forget(lock);
    (me.domain.barrier)();
    let found = strongest(me, lock, favored);
    let given = hand_over(lock, (me.slot(), ticket), found.map(|(exclusive, ticket)| (exclusive, favored, ticket)));
    if let Some((_, ticket)) = found {
        (me.domain.barrier)();
        if !holders(me.domain, lock).any(|(slot, view)| slot == favored && view.ticket == ticket) {
            hand_over(lock, (favored, ticket), None);
        }
    }
    if given.has(WAITERS) {
        wait::wake(me.domain, lock);
    }
}

/// The exclusive part that this thread's entries ask for.
fn strongest(me: Me, lock: &Lock, slot: Slot) -> Option<(Exclusive, Ticket)> {
    let (_, view) = holders(me.domain, lock).filter(|(holder, _)| *holder == slot).max_by_key(|(_, view)| view.mode)?;
    match view.mode {
        Mode::R => None,
        Mode::U => Some((Exclusive::U, view.ticket)),
        Mode::X => Some((Exclusive::X, view.ticket)),
    }
}

/// Takes the word from one tenure, if it still is its, and gives it to another one or to nobody. The word before.
fn hand_over(lock: &Lock, from: (Slot, Ticket), to: Option<(Exclusive, Slot, Ticket)>) -> Word {
    loop {
        let word = lock.word();
        if !word.is_owned_by(from.0, from.1) {
            return word;
        }
        let next = to.map_or(word.freed(), |(exclusive, slot, ticket)| word.owned(exclusive, slot, ticket));
        if lock.swap(word, next) {
            return word;
        }
    }
}

/// A reader had to fence: once in a while it makes the lock `LIGHT`.
#[inline(always)]
pub fn fenced(me: Me, lock: &Lock) {
    let fenced = me.thread.fenced.load(Ordering::Relaxed).wrapping_add(1);
    me.thread.fenced.store(fenced, Ordering::Relaxed);
    if fenced.is_multiple_of(FENCED) {
        lighten(me, lock);
    }
}

#[cold]
#[inline(never)]
fn lighten(me: Me, lock: &Lock) {
    let word = lock.word();
    let busy = word.bars_readers() || !word.is_open() || word.has(LIGHT | WAITERS | FAIR);
    if busy || !(me.domain.asymmetric)() {
        return;
    }
    let now = (me.domain.now)();
    let season = Season(lock.season.load(Ordering::Relaxed));
    if now >= season.time() {
        lock.season.store(Season::new(now, season.doubled()).0, Ordering::Relaxed);
        // Somebody else was faster: no matter.
        let _ = lock.swap(word, Word(word.0 | LIGHT | READERS));
    }
}

/// The barrier of a writer that ended `LIGHT`, which then stays away for a while: the longer, the less it was worth lately. A lock
/// that is written all the time pays for a barrier every few seconds.
pub fn barrier(me: Me, lock: &Lock) {
    let before = (me.domain.now)();
    (me.domain.barrier)();
    let after = (me.domain.now)();
    let season = Season(lock.season.load(Ordering::Relaxed));
    lock.season.store(season.ended(before, after).0, Ordering::Relaxed);
}

/// A time in nanoseconds (since when, while `LIGHT`; until when it rests, otherwise), in whose lowest bits stands how often the rest
/// is to be doubled. Threads may overwrite each other's: that costs time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Season(u64);

impl Season {
    const DOUBLED: u64 = 0b1_1111;

    fn new(time: u64, doubled: u64) -> Self {
        Self((time & !Self::DOUBLED) | doubled)
    }

    fn time(self) -> u64 {
        self.0 & !Self::DOUBLED
    }

    fn doubled(self) -> u64 {
        self.0 & Self::DOUBLED
    }

    /// After `LIGHT` was ended by a barrier between these times.
    fn ended(self, before: u64, after: u64) -> Self {
        let cost = after.saturating_sub(before);
        let was_worth_it = before.saturating_sub(self.time()) >= WORTH * cost;
        let doubled = if was_worth_it { self.doubled().saturating_sub(2) } else { DOUBLED_MOST.min(self.doubled() + 1) };
        Self::new(after + ((REST * cost) << doubled), doubled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_written_often_rests_longer_and_longer_and_recovers() {
        const BARRIER: u64 = 5_000;
        let mut season = Season::new(0, 0);
        let mut barriers = 0;
        // A writer a microsecond after each time that it became light, for a minute.
        while season.time() < 60_000_000_000 {
            season = Season::new(season.time(), season.doubled()).ended(season.time() + 1_000, season.time() + 1_000 + BARRIER);
            barriers += 1;
        }
        assert!((17..40).contains(&barriers), "{barriers} barriers");
        // A writer a minute: after some of them it rests no longer than at first.
        for _ in 0..9 {
            let ends = season.time() + 60_000_000_000;
            season = season.ended(ends, ends + BARRIER);
            assert!(season.time() >= ends + REST * BARRIER);
        }
        assert_eq!(season.doubled(), 0);
    }
}
