//! The model of mutexes, spin locks and reader-writer locks.
//!
//! Readers pass waiting writers, as the C library's default reader-writer lock lets them, but for those that were made with the
//! attribute that prefers writers. A robust mutex whose owner ends tells the next one so.
//! Not handled: priority protocols.

use alloc::vec::Vec;

use model::ids::ThreadId;

/// How a lock treats its own holder, and others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LockKind {
    /// A mutex or spin lock.
    Mutex(Relock, Robustness),
    /// A reader-writer lock.
    ReadWrite,
    /// One whose readers wait while a writer does.
    WriterFirst,
}

/// What happens when the owner of a mutex locks it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relock {
    /// It deadlocks. Unlocking does not ask who holds it.
    Deadlocks,
    /// It counts.
    Counts,
    /// It is an error.
    Fails,
}

/// Whether a mutex outlives its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Robustness {
    /// It stays locked when its owner ends.
    Stalled,
    /// The next one to lock it learns of that.
    Robust,
}

/// What the end of an owner has done to a robust mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Health {
    /// Nothing.
    Sound,
    /// Its owner ended: what it protects may be inconsistent, until someone says that it is not.
    Orphaned,
    /// It was unlocked before that was said: nobody can lock it any more.
    Lost,
}

impl LockKind {
    /// A plain mutex or a spin lock.
    pub(crate) const NORMAL: Self = Self::Mutex(Relock::Deadlocks, Robustness::Stalled);

    /// Whether the owner may ask for it again, and gets an answer.
    fn answers_owner(self) -> bool {
        self != Self::Mutex(Relock::Deadlocks, Robustness::Stalled) && self != Self::Mutex(Relock::Deadlocks, Robustness::Robust)
    }

    fn counts(self) -> bool {
        matches!(self, Self::Mutex(Relock::Counts, _))
    }
}

/// The state of one lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lock {
    /// How it treats its holder.
    pub(crate) kind: LockKind,
    /// Who has it, or its write side.
    pub(crate) owner: Option<ThreadId>,
    /// How often. invariant: positive exactly when there is an owner.
    pub(crate) depth: u32,
    /// Who has its read side, once for each time. invariant: empty while there is an owner.
    pub(crate) readers: Vec<ThreadId>,
    /// Writers that have come and wait, where that keeps readers out.
    writers: Vec<ThreadId>,
    health: Health,
}

impl Lock {
    /// A free lock.
    pub(crate) fn new(kind: LockKind) -> Self {
        Self { kind, owner: None, depth: 0, readers: Vec::new(), writers: Vec::new(), health: Health::Sound }
    }

    /// The storage says that it is of this kind: of use where one lock has taken the place of another.
    pub(crate) fn set_kind(&mut self, kind: LockKind) {
        if self.owner.is_none() && self.readers.is_empty() {
            self.kind = kind;
        }
    }

    fn is_free(&self) -> bool {
        self.owner.is_none() && self.readers.is_empty()
    }

    /// Whether a blocking lock by this thread returns at once, be it with an error.
    pub(crate) fn can_lock(&self, thread: ThreadId) -> bool {
        match self.owner {
            Some(owner) => owner == thread && self.kind.answers_owner(),
            None => self.readers.is_empty(),
        }
    }

    /// Whether a blocking read lock returns at once, be it with an error.
    pub(crate) fn can_read(&self, thread: ThreadId) -> bool {
        self.owner.map_or_else(|| self.writers.is_empty(), |owner| owner == thread)
    }

    /// Locks, when `can_lock`. The C library's result.
    pub(crate) fn lock(&mut self, thread: ThreadId) -> i32 {
        self.leave(thread);
        if self.health == Health::Lost {
            return libc::ENOTRECOVERABLE;
        }
        let mut result = 0;
        if self.owner == Some(thread) {
            if !self.kind.counts() {
                return libc::EDEADLK;
            }
        } else {
            self.owner = Some(thread);
            if self.health == Health::Orphaned {
                result = libc::EOWNERDEAD;
            }
        }
        self.depth += 1;
        result
    }

    /// Locks if that is possible at once.
    pub(crate) fn try_lock(&mut self, thread: ThreadId) -> i32 {
        if self.is_free() || (self.owner == Some(thread) && self.kind.counts()) { self.lock(thread) } else { libc::EBUSY }
    }

    /// A writer comes to a lock whose readers wait for waiting writers: locks, or waits from now on, which the result says.
    pub(crate) fn arrive(&mut self, thread: ThreadId) -> i32 {
        if self.can_lock(thread) {
            return self.lock(thread);
        }
        self.writers.push(thread);
        libc::EBUSY
    }

    /// Waits no more.
    pub(crate) fn leave(&mut self, thread: ThreadId) {
        self.writers.retain(|&writer| writer != thread);
    }

    /// Locks the read side, when `can_read`.
    pub(crate) fn read(&mut self, thread: ThreadId) -> i32 {
        if self.owner == Some(thread) {
            return libc::EDEADLK;
        }
        self.readers.push(thread);
        0
    }

    /// Locks the read side if that is possible at once.
    pub(crate) fn try_read(&mut self, thread: ThreadId) -> i32 {
        if self.owner.is_none() && self.writers.is_empty() { self.read(thread) } else { libc::EBUSY }
    }

    /// Unlocks what this thread holds.
    pub(crate) fn unlock(&mut self, thread: ThreadId) -> i32 {
        if let Some(at) = self.readers.iter().position(|&reader| reader == thread) {
            self.readers.swap_remove(at);
            return 0;
        }
        let foreign = self.owner != Some(thread);
        match self.kind {
            LockKind::Mutex(Relock::Counts | Relock::Fails, _) | LockKind::Mutex(_, Robustness::Robust) if foreign => return libc::EPERM,
            _ => {}
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.owner = None;
            if self.health == Health::Orphaned {
                self.health = Health::Lost;
            }
        }
        0
    }

    /// Whether it is for this thread, which ends, to leave it to others.
    pub(crate) fn is_left_by(&self, thread: ThreadId) -> bool {
        self.owner == Some(thread) && matches!(self.kind, LockKind::Mutex(_, Robustness::Robust))
    }

    /// Its owner ends.
    pub(crate) fn orphan(&mut self) {
        self.owner = None;
        self.depth = 0;
        self.health = Health::Orphaned;
    }

    /// Its owner says that what it protects is consistent again. The C library's result.
    pub(crate) fn make_consistent(&mut self, thread: ThreadId) -> i32 {
        if self.health != Health::Orphaned || self.owner != Some(thread) {
            return libc::EINVAL;
        }
        self.health = Health::Sound;
        0
    }

    /// Who has to act before another thread can have it.
    pub(crate) fn holders(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.owner.iter().chain(&self.readers).copied()
    }

    /// Who has to act before a thread can read.
    pub(crate) fn in_the_way_of_readers(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.owner.iter().chain(&self.writers).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    #[test]
    fn kinds_differ_in_what_the_holder_may_do() {
        for (kind, can, result, again) in [
            (Relock::Deadlocks, false, None, libc::EBUSY),
            (Relock::Counts, true, Some(0), 0),
            (Relock::Fails, true, Some(libc::EDEADLK), libc::EBUSY),
        ] {
            let mut lock = Lock::new(LockKind::Mutex(kind, Robustness::Stalled));
            assert_eq!(lock.lock(A), 0);
            assert_eq!(lock.can_lock(A), can);
            assert_eq!(lock.try_lock(A), again);
            if let Some(expected) = result {
                assert_eq!(lock.lock(A), expected);
            }
            assert!(!lock.can_lock(B));
        }
    }

    #[test]
    fn a_recursive_lock_is_free_after_as_many_unlocks() {
        let mut lock = Lock::new(LockKind::Mutex(Relock::Counts, Robustness::Stalled));
        lock.lock(A);
        lock.lock(A);
        assert_eq!(lock.unlock(B), libc::EPERM);
        assert_eq!(lock.unlock(A), 0);
        assert!(!lock.can_lock(B));
        assert_eq!(lock.unlock(A), 0);
        assert!(lock.can_lock(B));
    }

    #[test]
    fn readers_share_and_exclude_writers() {
        let mut lock = Lock::new(LockKind::ReadWrite);
        assert_eq!((lock.read(A), lock.read(B)), (0, 0));
        assert!(!lock.can_lock(A));
        assert_eq!(lock.try_lock(A), libc::EBUSY);
        lock.unlock(A);
        lock.unlock(B);
        assert!(lock.can_lock(A));
        lock.lock(A);
        assert!(!lock.can_read(B));
        assert_eq!(lock.try_read(B), libc::EBUSY);
        assert_eq!(lock.read(A), libc::EDEADLK);
    }

    #[test]
    fn a_robust_lock_tells_of_its_owners_end_until_it_is_said_to_be_consistent() {
        let mut lock = Lock::new(LockKind::Mutex(Relock::Deadlocks, Robustness::Robust));
        lock.lock(A);
        assert!(lock.is_left_by(A));
        lock.orphan();
        assert_eq!(lock.lock(B), libc::EOWNERDEAD);
        assert_eq!(lock.make_consistent(A), libc::EINVAL);
        assert_eq!(lock.make_consistent(B), 0);
        assert_eq!((lock.unlock(A), lock.unlock(B)), (libc::EPERM, 0));
        assert_eq!(lock.lock(A), 0);
        lock.orphan();
        assert_eq!((lock.try_lock(B), lock.unlock(B)), (libc::EOWNERDEAD, 0));
        assert_eq!((lock.lock(A), lock.try_lock(B)), (libc::ENOTRECOVERABLE, libc::ENOTRECOVERABLE));
    }

    #[test]
    fn readers_wait_for_waiting_writers_where_these_come_first() {
        let mut lock = Lock::new(LockKind::WriterFirst);
        lock.read(A);
        assert_eq!(lock.arrive(B), libc::EBUSY);
        assert!(!lock.can_read(A));
        assert_eq!(lock.try_read(A), libc::EBUSY);
        lock.unlock(A);
        assert_eq!(lock.lock(B), 0);
        lock.unlock(B);
        assert!(lock.can_read(A));
    }
}
