//! Who holds which locks, what each thread released last, and the reverse lock chains that lead from a thread that cannot
//! get a lock back to itself.
//!
//! A thread that has just left an inner region holds the outer lock still, and could as well have stopped before the inner
//! one. So the chain goes from the wanted lock to its holder, on to the lock that this one released last, to its holder, and so
//! on. The step is taken only when the holder held the wanted lock as it took its last one: locks need not be nested.

use alloc::vec::Vec;

use model::event::{Event, EventKind, Range};
use model::ids::ThreadId;

use super::block::is_locking;

/// A lock, by the address of its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lock(pub(super) u64);

/// The lock that an event takes.
pub(super) fn taken(event: &Event) -> Option<Lock> {
    let takes = is_locking(event.kind) && !matches!(event.kind, EventKind::Unlock | EventKind::Release | EventKind::Degrade);
    let takes = takes || matches!(event.kind, EventKind::TryLock | EventKind::TryReadLock | EventKind::TimedLock);
    event.range.filter(|_| takes).map(lock)
}

fn lock(range: Range) -> Lock {
    Lock(range.address)
}

/// A lock in somebody's hands.
#[derive(Clone, Debug)]
struct Hold {
    lock: Lock,
    /// How often it was taken.
    depth: u32,
    taken: Taken,
}

/// Where a lock was taken.
#[derive(Clone, Debug)]
struct Taken {
    /// The number of the step.
    step: usize,
    /// What its thread held then.
    under: Vec<Lock>,
}

/// A thread and its locks.
#[derive(Clone, Debug, Default)]
struct Thread {
    holds: Vec<Hold>,
    /// The lock it released last.
    last: Option<(Lock, Taken)>,
}

/// All locks of an execution.
#[derive(Debug, Default)]
pub(super) struct Locks {
    threads: Vec<Thread>,
}

/// A thread of a lock cycle, and where it must be stopped for the cycle to close: before this step of the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) thread: ThreadId,
    pub(super) before: usize,
    /// What it would wait for there.
    pub(super) wants: Lock,
}

impl Locks {
    pub(super) fn clear(&mut self) {
        self.threads.clear();
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Thread::default);
        }
        &mut self.threads[thread.index()]
    }

    /// Performs a step; whether a lock was released for good.
    pub(super) fn perform(&mut self, thread: ThreadId, event: &Event, step: usize) -> Option<Lock> {
        if let Some(lock) = taken(event) {
            self.take(thread, lock, step);
        }
        match event.kind {
            EventKind::Unlock | EventKind::Release => event.range.and_then(|range| self.release(thread, lock(range), 1)),
            EventKind::WaitRelease { mutex } => self.release(thread, lock(mutex), u32::MAX),
            _ => None,
        }
    }

    fn take(&mut self, thread: ThreadId, lock: Lock, step: usize) {
        let own = self.thread(thread);
        match own.holds.iter_mut().find(|hold| hold.lock == lock) {
            Some(hold) => hold.depth += 1,
            None => {
                let under = own.holds.iter().map(|hold| hold.lock).collect();
                own.holds.push(Hold { lock, depth: 1, taken: Taken { step, under } });
            }
        }
    }

    /// Releases a lock so many times; it, when that was for good.
    pub(super) fn release(&mut self, thread: ThreadId, lock: Lock, times: u32) -> Option<Lock> {
        let own = self.thread(thread);
        let at = own.holds.iter().position(|hold| hold.lock == lock)?;
        if own.holds[at].depth > times {
            own.holds[at].depth -= times;
            return None;
        }
        let hold = own.holds.remove(at);
        own.last = Some((lock, hold.taken));
        Some(lock)
    }

    /// What a thread holds.
    pub(super) fn held(&self, thread: ThreadId) -> impl Iterator<Item = Lock> {
        self.threads.get(thread.index()).into_iter().flat_map(|own| own.holds.iter().map(|hold| hold.lock))
    }

    fn holds(&self, thread: ThreadId, lock: Lock) -> bool {
        self.held(thread).any(|held| held == lock)
    }

    fn others(&self, lock: Lock, except: ThreadId) -> impl Iterator<Item = ThreadId> {
        (0..self.threads.len()).map(ThreadId::new).filter(move |&thread| thread != except && self.holds(thread, lock))
    }

    /// Whether somebody else holds a lock.
    pub(super) fn is_taken(&self, lock: Lock, by_others_than: ThreadId) -> bool {
        self.others(lock, by_others_than).next().is_some()
    }

    /// The cycle that a thread would close if it took these locks, in order, as far as it can: who else is in it, and where.
    pub(super) fn cycle(&self, thread: ThreadId, takes: &[Lock]) -> Option<(Lock, Vec<Link>)> {
        let at = takes.iter().position(|&lock| self.is_taken(lock, thread))?;
        let has = |lock: Lock| self.holds(thread, lock) || takes[..at].contains(&lock);
        let mut links = Vec::new();
        self.close(thread, takes[at], &has, &mut links).then_some((takes[at], links))
    }

    fn close(&self, first: ThreadId, wanted: Lock, has: &dyn Fn(Lock) -> bool, links: &mut Vec<Link>) -> bool {
        for owner in self.others(wanted, first) {
            let Some((lock, taken)) = self.threads[owner.index()].last.as_ref() else { continue };
            if !taken.under.contains(&wanted) || links.iter().any(|link| link.thread == owner) {
                continue;
            }
            links.push(Link { thread: owner, before: taken.step, wants: *lock });
            if has(*lock) || self.close(first, *lock, has, links) {
                return true;
            }
            links.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1+a` thread 1 takes a, `1-a` releases it; then thread 0, holding nothing, wants the locks in `takes`.
    fn check(steps: &str, takes: &str, expected: Option<&[(u32, usize)]>) {
        let lock = |letter: u8| Range { address: u64::from(letter) * 8, length: 8 };
        let mut locks = Locks::default();
        for (at, word) in steps.split_whitespace().enumerate() {
            let bytes = word.as_bytes();
            let kind = if bytes[1] == b'+' { EventKind::Lock } else { EventKind::Unlock };
            let event = Event { kind, range: Some(lock(bytes[2])), object: None, site: None };
            locks.perform(ThreadId(u32::from(bytes[0] - b'0')), &event, at);
        }
        let takes: Vec<Lock> = takes.bytes().map(|letter| Lock(lock(letter).address)).collect();
        let found = locks.cycle(ThreadId(0), &takes).map(|(_, links)| links);
        let found: Option<Vec<(u32, usize)>> = found.map(|links| links.iter().map(|link| (link.thread.0, link.before)).collect());
        assert_eq!(found.as_deref(), expected, "{steps} / {takes:?}");
    }

    #[test]
    fn a_chain_goes_back_over_the_locks_that_were_released_last() {
        check("1+a 1+b 1-b", "ba", Some(&[(1, 1)]));
        check("1+a 1+b", "ba", None);
        check("1+a 1+b 1-b", "ca", None);
        check("1+a 1+b 1-b 2+b 2+c 2-c", "ca", Some(&[(1, 1), (2, 4)]));
        // It did not hold a when it took b.
        check("1+b 1+a 1-b", "ba", None);
        // Taken twice, released once: held still.
        check("1+a 1+b 1+b 1-b", "ba", None);
    }
}
