//! Who waits for which lock, who goes first, and whom to wake.
//!
//! Each thread shows what it waits for in one word; there is no queue to lock, so a signal handler, a longjmp out of one, or a
//! killed thread cannot leave it broken. Order is by arrival number.
//!
//! | bits of the word | content |
//! |---|---|
//! | 0-17 | arrival number, compared modulo 2^18 |
//! | 18 | overdue: it waits for longer than a moment, so those that may queue do |
//! | 19 | bound: it holds nothing, so it keeps to the order |
//! | 20-21 | the `Mode` that it wants |
//! | 22-63 | address of the lock, divided by 64; 0: the thread does not wait |
//!
//! The order binds only threads that hold no injected lock, only once a waiter is overdue (`FAIR` in the word: until then a
//! newcomer may overtake, which spares a context switch for each hand-over), and never for longer than an inspection interval:
//! a thread that waits for nothing but the queue may own a lock of the program that a holder waits for.
//!
//! Not here: parking itself (`block`).

use model::pair::Mode;

use super::atomic::{Ordering, fence};
use super::domain::Domain;
use super::hold::Slot;
use super::lock::{Lock, Me, Request, obstructors};
use super::word::{FAIR, WAITERS};

/// A number in the order of arrival at one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub u32);

const STAMP: u64 = (1 << 18) - 1;
const OVERDUE: u64 = 1 << 18;
const BOUND: u64 = 1 << 19;
const MODE_SHIFT: u32 = 20;
const LOCK_SHIFT: u32 = 22;

/// Whether earlier waiters go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// They do not: the thread holds something, or has queued for long enough.
    Passes,
    /// Every waiter does: the thread has just come.
    Last,
    /// Those with a smaller number do.
    After(Stamp),
}

/// What one thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The address of the lock.
    pub lock: usize,
    /// Wanted.
    pub mode: Mode,
    /// Whether it keeps to the order.
    pub order: Order,
    /// When it came.
    pub stamp: Stamp,
    /// For how long.
    pub patience: Patience,
}

/// Whether a waiter keeps to the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It does.
    Bound,
    /// It enters as soon as the holders allow.
    Free,
}

/// Whether a waiter has waited for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Not yet.
    Fresh,
    /// It has.
    Overdue,
}

impl Waiting {
    /// The word that shows it.
    #[must_use]
    pub fn pack(self) -> u64 {
        let order = if self.order == Order::Bound { BOUND } else { 0 };
        let patience = if self.patience == Patience::Overdue { OVERDUE } else { 0 };
        ((self.lock as u64 >> 6) << LOCK_SHIFT) | ((self.mode as u64) << MODE_SHIFT) | order | patience | (u64::from(self.stamp.0) & STAMP)
    }

    /// What a word shows.
    #[must_use]
    pub fn unpack(word: u64) -> Option<Self> {
        let lock = usize::try_from((word >> LOCK_SHIFT) << 6).ok().filter(|&lock| lock != 0)?;
        Some(Self {
            lock,
            mode: Mode::from_abi(u8::try_from((word >> MODE_SHIFT) & 0b11).ok()?)?,
            order: if word & BOUND == 0 { Order::Free } else { Order::Bound },
            stamp: Stamp(u32::try_from(word & STAMP).ok()?),
            patience: if word & OVERDUE == 0 { Patience::Fresh } else { Patience::Overdue },
        })
    }
}

impl Stamp {
    /// Whether it came before another one.
    #[must_use]
    pub fn precedes(self, other: Self) -> bool {
        let distance = u64::from(other.0.wrapping_sub(self.0)) & STAMP;
        distance != 0 && distance <= STAMP / 2
    }
}

/// Every thread that waits for this lock.
pub fn waiters(domain: &'static Domain, lock: &Lock) -> impl Iterator<Item = (Slot, Waiting)> {
    let address = lock.address();
    domain.slots().filter_map(move |slot| {
        let waiting = Waiting::unpack(domain.waiting(slot).load(Ordering::Acquire))?;
        (waiting.lock == address).then_some((slot, waiting))
    })
}

/// Whether the order lets this request go next. Readers do not mind readers before them.
#[cold]
#[inline(never)]
pub fn is_first(me: Me, lock: &Lock, request: Request) -> bool {
    let before = |waiting: Waiting| match request.turn {
        Turn::Passes => false,
        Turn::Last => true,
        Turn::After(stamp) => waiting.stamp.precedes(stamp),
    };
    let mut others = waiters(me.domain, lock).filter(|(slot, _)| *slot != me.slot()).peekable();
    if others.peek().is_none() {
        lock.unset(FAIR);
    }
    !others.any(|(_, waiting)| before(waiting) && !(waiting.mode == Mode::R && request.mode == Mode::R))
}

/// Wakes whom the holders no longer keep out: every waiter that holds something, and of the others the first, or all readers before
/// the first that is none.
///
/// Who is left behind is the affair of those that were woken: they set `WAITERS` again when they look, and find it when they leave. Where
/// nobody was woken it is who is still inside that will: that thread finds `WAITERS`, unless it left just now, between this one's
/// looking and setting it. So this one looks again afterwards. Leaving has no fence of its own, and a thread whose store is still on its way
/// may be seen inside and not see the flag: then the waiter's own next look, a moment later, finds it gone.
#[cold]
#[inline(never)]
pub fn wake(domain: &'static Domain, lock: &Lock) {
    // Cleared before looking: who begins to wait after the look sets it again.
    lock.unset(WAITERS);
    fence(Ordering::SeqCst);
    if wake_some(domain, lock) == Woken::Nobody {
        lock.set(WAITERS);
        fence(Ordering::SeqCst);
        let _ = wake_some(domain, lock);
    }
}

/// Whom a look woke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    /// Somebody, or there was nobody to wake.
    Enough,
    /// Nobody, though there are waiters.
    Nobody,
}

/// One look.
fn wake_some(domain: &'static Domain, lock: &Lock) -> Woken {
    let first_writer = waiters(domain, lock)
        .filter(|(_, waiting)| waiting.order == Order::Bound && waiting.mode != Mode::R)
        .map(|(_, waiting)| waiting.stamp)
        .reduce(|first, stamp| if stamp.precedes(first) { stamp } else { first });
    let is_early_reader = |waiting: Waiting| waiting.mode == Mode::R && first_writer.is_none_or(|writer| waiting.stamp.precedes(writer));
    let readers_go = waiters(domain, lock).any(|(_, waiting)| waiting.order == Order::Bound && is_early_reader(waiting));
    let (mut some, mut all) = (false, true);
    for (slot, waiting) in waiters(domain, lock) {
        let goes = match waiting.order {
            Order::Free => true,
            Order::Bound if readers_go => is_early_reader(waiting),
            Order::Bound => Some(waiting.stamp) == first_writer,
        };
        if goes && obstructors(domain, lock, slot, waiting.mode).next().is_none() {
            (domain.unpark)(domain.thread(slot));
            some = true;
        } else {
            all = false;
        }
    }
    if some || all { Woken::Enough } else { Woken::Nobody }
}

/// After a waiter got in: it waits no more. To wake others is its affair now: who left meanwhile may have meant to wake this one, and so
/// nobody else. Newcomers may overtake again if nobody else is overdue.
pub fn end(me: Me, lock: &Lock) {
    me.domain.waiting(me.slot()).store(0, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    if !lock.word().has(WAITERS) && waiters(me.domain, lock).next().is_some() {
        lock.set(WAITERS);
    }
    if lock.word().has(FAIR) && !waiters(me.domain, lock).any(|(_, waiting)| waiting.patience == Patience::Overdue) {
        lock.unset(FAIR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_waits_for_reads_back() {
        for mode in [Mode::R, Mode::U, Mode::X] {
            for (order, patience) in [(Order::Bound, Patience::Fresh), (Order::Free, Patience::Overdue)] {
                let waiting = Waiting { lock: 0x7fff_ffff_ffc0, mode, order, stamp: Stamp(0x3ffff), patience };
                assert_eq!(Waiting::unpack(waiting.pack()), Some(waiting));
            }
        }
        assert_eq!(Waiting::unpack(0), None);
    }

    #[test]
    fn arrival_numbers_wrap() {
        assert!(Stamp(1).precedes(Stamp(2)) && !Stamp(2).precedes(Stamp(1)) && !Stamp(2).precedes(Stamp(2)));
        assert!(Stamp(0x3ffff).precedes(Stamp(0)) && Stamp(u32::MAX).precedes(Stamp(3)));
    }
}
