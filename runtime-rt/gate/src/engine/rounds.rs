//! Livelocks of several threads: an execution that comes back to a state has gone round, and may do so for ever.
//!
//! The state is that of the model (locks, conditions, semaphores, who is about to do what), the threads' own (stack and the registers
//! that calls preserve, at the last scheduling point or call that each came to) and that of memory, as far as hooks see it written: of writes that are
//! scheduling points what they change is kept, any other one makes all earlier states count as different. So does a look at the
//! clock, a random number, a system call that others may see, and a call of a function that keeps state where no hook sees it.
//!
//! Going round is a failure when it is *fair*: every thread that could go on at some point of the round did go on in it. Otherwise it is the
//! schedule that keeps threads from going on, and no fault of theirs.
//!
//! To keep executions fast that do not go round, states are looked at only after some signs of it: steps in which a thread tried in vain or
//! gave way, or very many steps. Not handled: rounds in which memory is written to that only one thread uses, such as a count of tries (they end at the step limit).

use alloc::collections::BTreeMap;
use core::cell::{Cell, RefCell};
use core::hash::{Hash, Hasher};

use explorer::threads::{MAX_THREADS, ThreadSet};
use model::event::{Comparison, Event, EventKind, Range};
use model::ids::ThreadId;

use crate::gate::compare::word;

/// After how many signs states are looked at.
const SIGNS: u32 = 2;
/// After how many steps they are looked at without any.
const MANY_STEPS: u64 = 200;
/// The most states that are kept.
const MOST_STATES: usize = 10_000;

/// What is known of an execution's states.
pub(crate) struct Rounds {
    signs: Cell<u32>,
    steps: Cell<u64>,
    /// A hash of what the memory written to by steps has come to, since states are looked at.
    memory: Cell<u64>,
    /// Looks at the clock, and random numbers drawn.
    looks: Cell<u64>,
    /// By state: after how many steps it was first met.
    met: RefCell<BTreeMap<u64, u64>>,
    /// By thread: the number of the last step, from 1, that it took, and of the last that it could have taken.
    last: RefCell<[Last; MAX_THREADS]>,
}

#[derive(Clone, Copy, Default)]
struct Last {
    taken: u64,
    enabled: u64,
}

/// What a step may have done.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    /// Who.
    pub(crate) thread: ThreadId,
    /// What.
    pub(crate) event: Event,
    /// The C library's result.
    pub(crate) result: i32,
    /// What its memory held before, if it is known to have written.
    pub(crate) before: Option<u64>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            signs: Cell::default(),
            steps: Cell::default(),
            memory: Cell::default(),
            looks: Cell::default(),
            met: RefCell::default(),
            last: RefCell::new([Last::default(); MAX_THREADS]),
        }
    }
}

impl Rounds {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.signs.set(0);
        self.steps.set(0);
        self.looks.set(0);
        self.memory.set(0);
        self.met.borrow_mut().clear();
    }

    /// Whether states are looked at.
    #[inline]
    pub(crate) fn is_watching(&self) -> bool {
        self.signs.get() >= SIGNS
    }

    /// Something has changed that is not part of the state.
    #[inline]
    pub(crate) fn disturb(&self) {
        if self.is_watching() {
            self.met.borrow_mut().clear();
        }
    }

    /// A thread has looked at the clock, or drawn a number: another look will not show the same.
    pub(crate) fn look(&self) {
        self.looks.set(self.looks.get() + 1);
    }

    /// A step was taken. `enabled` are those who could have taken it.
    #[inline]
    pub(crate) fn step(&self, taken: &Taken, enabled: &ThreadSet) {
        let number = self.steps.get() + 1;
        self.steps.set(number);
        if !self.is_watching() {
            if number == MANY_STEPS {
                self.watch();
            } else if is_sign(taken) {
                self.signs.set(self.signs.get() + 1);
                if self.is_watching() {
                    self.watch();
                }
            }
            return;
        }
        let mut last = self.last.borrow_mut();
        for thread in enabled.iter() {
            last[thread.index() % MAX_THREADS].enabled = number;
        }
        last[taken.thread.index() % MAX_THREADS].taken = number;
        drop(last);
        self.follow_memory(taken);
    }

    fn watch(&self) {
        self.signs.set(SIGNS);
        *self.last.borrow_mut() = [Last::default(); MAX_THREADS];
    }

    fn follow_memory(&self, Taken { event, before, .. }: &Taken) {
        let writes = match event.kind {
            EventKind::Access { rw, .. } => rw.writes(),
            EventKind::CompareAndSwap { finds, .. } => finds == Comparison::Equal,
            EventKind::External | EventKind::Create { .. } | EventKind::Exit | EventKind::Join { .. } => return self.disturb(),
            _ => false,
        };
        if !writes {
            return;
        }
        match (event.range, before, event.range.and_then(word)) {
            (Some(range), &Some(before), Some(after)) => self.memory.set(self.memory.get() ^ change(range, before, after)),
            _ => self.disturb(),
        }
    }

    /// Whether the execution has gone round: after how many steps it first was in this state, and who went on since. `state` hashes it.
    pub(crate) fn come_round(&self, state: impl FnOnce(&mut Digest)) -> Option<(u64, ThreadSet)> {
        let mut digest = Digest::default();
        (self.memory.get(), self.looks.get()).hash(&mut digest);
        state(&mut digest);
        let now = self.steps.get();
        let mut met = self.met.borrow_mut();
        if met.len() >= MOST_STATES {
            met.clear();
        }
        let first = *met.entry(digest.finish()).or_insert(now);
        if first == now {
            return None;
        }
        let last = self.last.borrow();
        let in_round = |number: fn(&Last) -> u64| (0..MAX_THREADS).filter(|&at| number(&last[at]) > first).map(ThreadId::new).collect();
        let (took, could): (ThreadSet, ThreadSet) = (in_round(|last| last.taken), in_round(|last| last.enabled));
        could.difference(&took).is_empty().then_some((first, took))
    }
}

/// Whether a step is one of a thread that tries again, or gives way.
fn is_sign(Taken { event, result, .. }: &Taken) -> bool {
    use EventKind as K;
    match event.kind {
        K::Yield | K::Sleep | K::WaitTimeout | K::LockTimeout => true,
        K::CompareAndSwap { finds, .. } => finds == Comparison::Unequal,
        K::TryLock | K::TryReadLock | K::TimedLock | K::SemTryWait => *result != 0,
        _ => false,
    }
}

/// What a write changes: nothing when it writes what was there, and the same as the write that undoes it.
fn change(range: Range, before: u64, after: u64) -> u64 {
    let of = |at: u64, byte: u8| {
        let mut digest = Digest::default();
        (range.address.wrapping_add(at), byte).hash(&mut digest);
        digest.finish()
    };
    let bytes = (0u64..).zip(before.to_le_bytes().into_iter().zip(after.to_le_bytes()));
    bytes.fold(0, |sum, (at, (before, after))| sum ^ of(at, before) ^ of(at, after))
}

/// A hash that is the same in all processes.
#[derive(Default)]
pub(crate) struct Digest(u64);

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::pair::Rw;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    /// Takes steps, each by a thread with what others could do and the state that it leads to; the first round found.
    fn check(steps: &[(ThreadId, &[ThreadId], u64)]) -> Option<(u64, ThreadSet)> {
        let rounds = Rounds::default();
        rounds.begin();
        let event = Event { kind: EventKind::Yield, range: None, object: None, site: None };
        steps.iter().find_map(|&(thread, enabled, state)| {
            rounds.step(&Taken { thread, event, result: 0, before: None }, &enabled.iter().copied().collect());
            if rounds.is_watching() { rounds.come_round(|digest| state.hash(digest)) } else { None }
        })
    }

    #[test]
    fn a_round_in_which_all_go_on_who_can_is_found() {
        let both: &[ThreadId] = &[A, B];
        assert_eq!(check(&[(A, both, 1), (B, both, 2), (A, both, 3), (B, both, 2)]), Some((2, both.iter().copied().collect())));
        assert_eq!(check(&[(A, both, 1), (B, both, 2), (A, both, 3), (A, both, 2)]), None, "the second is kept from going on");
        let alone: &[ThreadId] = &[A];
        assert_eq!(check(&[(A, both, 1), (B, both, 2), (A, alone, 3), (A, alone, 2)]), Some((2, ThreadSet::one(A))));
        assert_eq!(check(&[(A, both, 1), (B, both, 2), (A, both, 3), (B, both, 4)]), None);
    }

    #[test]
    fn a_write_that_is_undone_leaves_the_state_as_it_was() {
        let rounds = Rounds::default();
        rounds.begin();
        rounds.watch();
        let value = Cell::new(0_u64);
        let range = Range { address: value.as_ptr().expose_provenance() as u64, length: 8 };
        let kind = EventKind::Access { rw: Rw::Write, atomic: true };
        let write = |new: u64| {
            let before = Some(value.replace(new));
            rounds.step(
                &Taken { thread: A, event: Event { kind, range: Some(range), object: None, site: None }, result: 0, before },
                &ThreadSet::one(A),
            );
            rounds.come_round(|_| {}).is_some()
        };
        assert_eq!([write(1), write(0), write(2), write(1), write(0)], [false, false, false, true, true]);
        rounds.disturb();
        assert!(!write(2));
    }
}
