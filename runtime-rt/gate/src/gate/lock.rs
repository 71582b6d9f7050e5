//! The model of mutexes, spin locks and reader-writer locks.
//!
//! Readers pass waiting writers, as the C library's default reader-writer lock lets them.
//! Not handled: priority protocols, and robust mutexes whose owner dies (a waiter deadlocks, which is reported).

use alloc::vec::Vec;

use model::ids::ThreadId;

/// How a lock treats its own holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    /// Locking again deadlocks. Unlocking does not ask who holds it.
    Normal,
    /// Locking again counts.
    Recursive,
    /// Locking again is an error.
    ErrorCheck,
    /// A reader-writer lock.
    ReadWrite,
}

/// The state of one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    /// How it treats its holder.
    pub(crate) kind: LockKind,
    /// Who has it, or its write side.
    pub(crate) owner: Option<ThreadId>,
    /// How often. invariant: positive exactly when there is an owner.
    pub(crate) depth: u32,
    /// Who has its read side, once for each time. invariant: empty while there is an owner.
    pub(crate) readers: Vec<ThreadId>,
}

impl Lock {
    /// A free lock.
    pub(crate) fn new(kind: LockKind) -> Self {
        Self { kind, owner: None, depth: 0, readers: Vec::new() }
    }

    /// The storage says that it is of this kind: of use where one lock has taken the place of another.
    pub(crate) fn set_kind(&mut self, kind: LockKind) {
        if self.owner.is_none() && self.readers.is_empty() {
            self.kind = kind;
        }
    }

    /// Whether a blocking lock by this thread returns at once, be it with an error.
    pub(crate) fn can_lock(&self, thread: ThreadId) -> bool {
        match self.owner {
            Some(owner) => owner == thread && self.kind != LockKind::Normal,
            None => self.readers.is_empty(),
        }
    }

    /// Whether a blocking read lock returns at once, be it with an error.
    pub(crate) fn can_read(&self, thread: ThreadId) -> bool {
        self.owner.is_none_or(|owner| owner == thread)
    }

    /// Locks, when `can_lock`. The C library's result.
    pub(crate) fn lock(&mut self, thread: ThreadId) -> i32 {
        if self.owner == Some(thread) {
            if self.kind != LockKind::Recursive {
                return libc::EDEADLK;
            }
        } else {
            self.owner = Some(thread);
        }
        self.depth += 1;
        0
    }

    /// Locks if that is possible at once.
    pub(crate) fn try_lock(&mut self, thread: ThreadId) -> i32 {
        let free = self.owner.is_none() && self.readers.is_empty();
        if free || (self.owner == Some(thread) && self.kind == LockKind::Recursive) { self.lock(thread) } else { libc::EBUSY }
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
        if self.owner.is_none() { self.read(thread) } else { libc::EBUSY }
    }

    /// Unlocks what this thread holds.
    pub(crate) fn unlock(&mut self, thread: ThreadId) -> i32 {
        if let Some(at) = self.readers.iter().position(|&reader| reader == thread) {
            self.readers.swap_remove(at);
            return 0;
        }
        let foreign = self.owner != Some(thread);
        match self.kind {
            LockKind::Recursive | LockKind::ErrorCheck if foreign => return libc::EPERM,
            _ => {}
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.owner = None;
        }
        0
    }

    /// Who has to act before this thread can have it.
    pub(crate) fn holders(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.owner.iter().chain(&self.readers).copied()
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
            (LockKind::Normal, false, None, libc::EBUSY),
            (LockKind::Recursive, true, Some(0), 0),
            (LockKind::ErrorCheck, true, Some(libc::EDEADLK), libc::EBUSY),
        ] {
            let mut lock = Lock::new(kind);
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
        let mut lock = Lock::new(LockKind::Recursive);
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
}
