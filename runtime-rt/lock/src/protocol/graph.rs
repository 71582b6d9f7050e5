//! The wait-for graph: can a holder go on?
//!
//! A thread waits for the holders of an injected lock, for the owner of a lock of the program, for the end of a thread, or for
//! something unknown (a condition, a semaphore, a peer, time). The answer for one holder is found by following these from it.
//!
//! | what is found | fate |
//! |---|---|
//! | a path back to the asking thread, or to the holder itself | `Cycle` |
//! | a thread that waits for something unknown | `Blocked` |
//! | only threads that run, after some that wait | `Waits` |
//! | the holder itself runs | `Runs` |
//!
//! The graph is read while threads change it: an answer may be out of date. Acting on a wrong one costs a hold, never more.
//!
//! Not here: owners of locks that are not pthread's; they look like running threads.

use super::atomic::Ordering;
use super::domain::Domain;
use super::hold::Slot;
use super::lock::Lock;
use super::wait::Waiting;

/// What a thread is blocked in, other than an injected lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// A condition variable.
    Condition,
    /// A semaphore or barrier.
    Meet,
    /// Time.
    Sleep,
    /// Events on descriptors, or a peer.
    Poll,
    /// Input or output on a pipe, socket or terminal.
    Stream,
    /// The end of the thread with this `pthread_t`.
    Join(usize),
    /// The mutex at this address.
    Mutex(usize),
    /// The reader-writer lock at this address.
    Rwlock(usize),
}

impl Blocked {
    /// The word that shows it. Addresses and handles lie below 2^60.
    #[must_use]
    pub fn pack(self) -> u64 {
        let (kind, object) = match self {
            Self::Condition => (1, 0),
            Self::Meet => (2, 0),
            Self::Sleep => (3, 0),
            Self::Poll => (4, 0),
            Self::Stream => (5, 0),
            Self::Join(handle) => (6, handle),
            Self::Mutex(address) => (7, address),
            Self::Rwlock(address) => (8, address),
        };
        ((object as u64) << 4) | kind
    }

    /// What a word shows.
    #[must_use]
    pub fn unpack(word: u64) -> Option<Self> {
        let object = usize::try_from(word >> 4).ok()?;
        Some(match word & 0b1111 {
            1 => Self::Condition,
            2 => Self::Meet,
            3 => Self::Sleep,
            4 => Self::Poll,
            5 => Self::Stream,
            6 => Self::Join(object),
            7 => Self::Mutex(object),
            8 => Self::Rwlock(object),
            _ => return None,
        })
    }
}

/// Who must act before a blocked thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// The threads that were named; one that was not counts as running.
    Threads,
    /// Anybody, or nobody.
    Unknown,
}

/// Whether a holder can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It runs, or could.
    Runs,
    /// It waits for threads that run.
    Waits,
    /// It waits for something unknown.
    Blocked,
    /// It waits for the asking thread, or for itself.
    Cycle,
}

/// How many threads one question may lead to; further ones count as running.
const REACH: usize = 64;

/// The fate of `holder`, as the thread in `asking` sees it.
#[must_use]
pub fn fate(domain: &'static Domain, holder: Slot, asking: Slot) -> Fate {
    let mut reached = [None; REACH];
    let mut count = 0;
    let mut next = 0;
    let mut fate = Fate::Runs;
    let mut slot = holder;
    loop {
        let mut cycle = false;
        let found = follow(domain, slot, &mut |to: Slot| {
            cycle |= to == asking || to == holder;
            if !reached.contains(&Some(to))
                && let Some(place) = reached.get_mut(count)
            {
                *place = Some(to);
                count += 1;
            }
        });
        fate = fate.max(found);
        if cycle {
            return Fate::Cycle;
        }
        match reached.get(next).copied().flatten() {
            Some(reached) => slot = reached,
            None => return fate,
        }
        next += 1;
    }
}

/// Calls `go` for each thread that this one waits for, and says whether it waits.
fn follow(domain: &'static Domain, slot: Slot, go: &mut dyn FnMut(Slot)) -> Fate {
    if let Some(waiting) = Waiting::unpack(domain.waiting(slot).load(Ordering::Acquire)) {
        let lock = Lock::at(waiting.lock);
        for other in super::lock::obstructors(domain, lock, slot, waiting.mode) {
            go(other.slot);
        }
        return Fate::Waits;
    }
    let Some(blocked) = Blocked::unpack(domain.thread(slot).blocked.load(Ordering::Acquire)) else {
        return Fate::Runs;
    };
    match (domain.needed)(domain, blocked, go) {
        Needed::Threads => Fate::Waits,
        Needed::Unknown => Fate::Blocked,
    }
}
