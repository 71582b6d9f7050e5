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
//! gave way. After many steps without such signs it is noted which thread did what with memory as it was, and states are looked at when some
//! of that comes again, until memory changes in a way that is not followed. Such a round is seen in its third turn at the latest, others in their second.
//!
//! Not handled: rounds in which memory is written to that only one thread uses, such as a count of tries (they end at the step limit).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::hash::{Hash, Hasher};

use explorer::strategy::Step;
use explorer::threads::{MAX_THREADS, ThreadSet};
use model::event::{Comparison, EventKind, Range};
use model::ids::ThreadId;
use model::pair::Rw;

use crate::gate::compare::word;

/// After how many signs states are looked at.
const SIGNS: u32 = 2;
/// After how many steps it is noted what comes again, without any signs.
const MANY_STEPS: u64 = 200;
/// How many steps have to have come again.
const AGAIN: u32 = 4;
/// How many steps are noted; one that falls on another's place takes it.
const NOTED: usize = 1 << 12;
/// The most states that are kept.
const MOST_STATES: usize = 10_000;

/// How closely an execution is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    /// Signs are counted.
    Signs,
    /// It is noted what comes again.
    Steps,
    /// States are looked at because steps have come again.
    Suspect,
    /// States are looked at because there were signs.
    States,
}

/// Steps that were noted, each by a hash of who did what with memory as it was.
#[derive(Default)]
struct Noted {
    /// By place: hash, and when it was noted. Empty until the first.
    table: Vec<(u64, u32)>,
    /// Since when nothing has changed that is not followed: a number.
    since: u32,
    /// How many have come again since.
    again: u32,
}

impl Noted {
    fn forget(&mut self) {
        self.since = self.since.wrapping_add(1);
        self.again = 0;
    }

    /// Notes a step; whether so many have come again that it is suspect.
    fn note(&mut self, step: u64) -> bool {
        if self.table.is_empty() {
            self.table = alloc::vec![(0, u32::MAX); NOTED];
        }
        let place = usize::try_from(step >> 40).unwrap_or(0) % NOTED;
        let known = core::mem::replace(&mut self.table[place], (step, self.since)) == (step, self.since);
        self.again += u32::from(known);
        self.again >= AGAIN
    }
}

/// What is known of an execution's states.
pub(crate) struct Rounds {
    watch: Cell<Watch>,
    noted: RefCell<Noted>,
    signs: Cell<u32>,
    steps: Cell<u64>,
    /// A hash of what the memory written to by steps has come to, since states are looked at.
    memory: Cell<u64>,
    /// Looks at the clock, and random numbers drawn.
    looks: Cell<u64>,
    /// By state: after how many steps it was first met.
    met: RefCell<BTreeMap<u64, u64>>,
    /// Which executions that go round go on all the same.
    ignored: Cell<Ignored>,
    /// By thread: the number of the last step, from 1, that it took, of the last in which it did more than look, and of the last that it could
    /// have taken.
    last: RefCell<[Last; MAX_THREADS]>,
}

#[derive(Clone, Copy, Default)]
struct Last {
    taken: u64,
    changing: u64,
    enabled: u64,
}

/// A state came again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// After how many steps it was there first.
    pub(crate) first: u64,
    /// Who has gone on since.
    pub(crate) took: ThreadSet,
    /// Of these: who did more than look at memory, try in vain and give way.
    pub(crate) changed: ThreadSet,
    /// Whether all have gone on who could.
    pub(crate) is_fair: bool,
}

/// Which executions that go round go on all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// None.
    None,
    /// Those whose rounds are the library's (`several`).
    Library,
    /// All.
    All,
}

/// What a step may have done.
#[derive(Clone, Copy)]
struct Taken<'a> {
    /// Who took it, and what it was.
    step: &'a Step,
    /// The C library's result.
    result: i32,
    /// What its memory held before, if it is known to have written.
    before: Option<u64>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            watch: Cell::new(Watch::Signs),
            noted: RefCell::default(),
            signs: Cell::default(),
            steps: Cell::default(),
            memory: Cell::default(),
            looks: Cell::default(),
            met: RefCell::default(),
            ignored: Cell::new(Ignored::None),
            last: RefCell::new([Last::default(); MAX_THREADS]),
        }
    }
}

impl Rounds {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.watch.set(Watch::Signs);
        self.signs.set(0);
        self.steps.set(0);
        self.looks.set(0);
        self.memory.set(0);
        self.met.borrow_mut().clear();
        self.noted.borrow_mut().forget();
    }

    /// From the next execution on: which that go round go on all the same.
    pub(crate) fn ignore(&self, ignored: Ignored) {
        self.ignored.set(ignored);
    }

    /// Whether executions go on all the same whose rounds are the library's.
    pub(crate) fn ignores_library(&self) -> bool {
        self.ignored.get() != Ignored::None
    }

    /// The number of the step that is being taken, from 1.
    pub(crate) fn next_step(&self) -> u64 {
        self.steps.get() + 1
    }

    /// Whether states are looked at.
    #[inline]
    pub(crate) fn looks_at_states(&self) -> bool {
        matches!(self.watch.get(), Watch::Suspect | Watch::States)
    }

    /// Whether states are looked at, or may be soon: threads must not seem to stand where they stood before.
    #[inline]
    pub(crate) fn is_watching(&self) -> bool {
        self.watch.get() != Watch::Signs
    }

    /// Something has changed that is not part of the state.
    #[inline]
    pub(crate) fn disturb(&self) {
        match self.watch.get() {
            Watch::Signs => {}
            Watch::Steps => self.noted.borrow_mut().forget(),
            Watch::Suspect => {
                self.noted.borrow_mut().forget();
                self.met.borrow_mut().clear();
                self.watch.set(Watch::Steps);
            }
            Watch::States => self.met.borrow_mut().clear(),
        }
    }

    /// A thread has looked at the clock, or drawn a number: another look will not show the same.
    pub(crate) fn look(&self) {
        self.looks.set(self.looks.get() + 1);
    }

    /// A step is about to be taken: these could take it.
    #[inline]
    pub(crate) fn offer(&self, enabled: &ThreadSet) {
        if self.looks_at_states() {
            self.note_enabled(enabled);
        }
    }

    #[inline(never)]
    fn note_enabled(&self, enabled: &ThreadSet) {
        let (number, mut last) = (self.steps.get() + 1, self.last.borrow_mut());
        for thread in enabled.iter() {
            last[thread.index() % MAX_THREADS].enabled = number;
        }
    }

    /// The step that was offered last was taken: this one, with the C library's result, and what its memory held before if it is known to have
    /// written.
    #[inline]
    pub(crate) fn step(&self, step: &Step, result: i32, before: Option<u64>) {
        let number = self.steps.get() + 1;
        self.steps.set(number);
        let is_plain = matches!(step.event.kind, EventKind::Access { .. } | EventKind::Lock | EventKind::Unlock);
        if !is_plain || number == MANY_STEPS || self.watch.get() != Watch::Signs {
            self.look_at(&Taken { step, result, before }, number);
        }
    }

    #[inline(never)]
    fn look_at(&self, taken: &Taken<'_>, number: u64) {
        let watched = self.watch.get();
        if watched != Watch::States && is_sign(taken) {
            self.signs.set(self.signs.get() + 1);
            if self.signs.get() == SIGNS {
                self.look_at_states(Watch::States);
                return;
            }
        }
        match watched {
            Watch::Signs => {
                if number == MANY_STEPS {
                    self.watch.set(Watch::Steps);
                }
                return;
            }
            Watch::Steps => {}
            Watch::Suspect | Watch::States => {
                let last = &mut self.last.borrow_mut()[taken.step.thread.index() % MAX_THREADS];
                last.taken = number;
                if !is_look(taken) {
                    last.changing = number;
                }
            }
        }
        self.follow_memory(taken);
        if watched == Watch::Steps && self.noted.borrow_mut().note(self.digest_of(taken)) {
            self.look_at_states(Watch::Suspect);
        }
    }

    fn look_at_states(&self, why: Watch) {
        self.watch.set(why);
        self.met.borrow_mut().clear();
        *self.last.borrow_mut() = [Last::default(); MAX_THREADS];
    }

    /// Who did what, and memory as it is now.
    fn digest_of(&self, Taken { step: Step { thread, event }, .. }: &Taken<'_>) -> u64 {
        let mut digest = Digest::default();
        (thread.0, event.kind.code().number(), event.site, event.range.map(|range| range.address)).hash(&mut digest);
        (self.memory.get(), self.looks.get()).hash(&mut digest);
        digest.finish()
    }

    fn follow_memory(&self, Taken { step: Step { event, .. }, before, .. }: &Taken<'_>) {
        let writes = match event.kind {
            EventKind::Access { rw, .. } => rw.writes(),
            EventKind::CompareAndSwap { finds, .. } => finds == Comparison::Equal,
            EventKind::Create { .. } | EventKind::Exit | EventKind::Join { .. } => return self.disturb(),
            // What calls outside bring may come by the next turn.
            _ if event.is_call() => return self.disturb(),
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

    /// Whether the execution has come back to a state in which it was. `state` hashes it.
    pub(crate) fn come_round(&self, state: impl FnOnce(&mut Digest)) -> Option<Round> {
        if self.ignored.get() == Ignored::All {
            return None;
        }
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
        let in_round = |number: fn(&Last) -> u64| -> ThreadSet {
            (0..MAX_THREADS).filter(|&at| number(&last[at]) > first).map(ThreadId::new).collect()
        };
        let (took, could) = (in_round(|last| last.taken), in_round(|last| last.enabled));
        Some(Round { first, took, changed: in_round(|last| last.changing), is_fair: could.difference(&took).is_empty() })
    }
}

/// Whether a step is one of a thread that tries again, or gives way.
fn is_sign(Taken { step: Step { event, .. }, result, .. }: &Taken<'_>) -> bool {
    use EventKind as K;
    match event.kind {
        K::Yield | K::Sleep | K::WaitTimeout { .. } | K::LockTimeout { .. } => true,
        K::CompareAndSwap { finds, .. } => finds == Comparison::Unequal,
        K::TryLock | K::TryReadLock | K::TimedLock | K::SemTryWait => *result != 0,
        _ => false,
    }
}

/// Whether a step shows the thread something, and others nothing.
fn is_look(taken: &Taken<'_>) -> bool {
    matches!(taken.step.event.kind, EventKind::Access { rw: Rw::Read, .. }) || is_sign(taken)
}

/// What a write changes: nothing when it writes what was there, and the same as the write that undoes it.
fn change(range: Range, before: u64, after: u64) -> u64 {
    let of = |at: u64, byte: u8| {
        let mut digest = Digest::default();
        (range.address.wrapping_add(at), byte).hash(&mut digest);
        digest.finish()
    };
    let bytes = (0u64..).zip(before.to_le_bytes().into_iter().zip(after.to_le_bytes()));
    let changed = bytes.filter(|(_, (before, after))| before != after);
    changed.fold(0, |sum, (at, (before, after))| sum ^ of(at, before) ^ of(at, after))
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
    use model::event::Event;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    /// Takes steps, each by a thread with what others could do and the state that it leads to; the first fair round found.
    fn check(steps: &[(ThreadId, &[ThreadId], u64)]) -> Option<(u64, ThreadSet)> {
        let rounds = Rounds::default();
        rounds.begin();
        let event = Event { kind: EventKind::Yield, range: None, object: None, site: None };
        steps.iter().find_map(|&(thread, enabled, state)| {
            rounds.offer(&enabled.iter().copied().collect());
            rounds.step(&Step { thread, event }, 0, None);
            let round = if rounds.looks_at_states() { rounds.come_round(|digest| state.hash(digest)) } else { None };
            round.filter(|round| round.is_fair).map(|round| (round.first, round.took))
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
    fn a_round_without_signs_is_found_late_but_soon() {
        let found = |state: fn(u64) -> u64| {
            let rounds = Rounds::default();
            rounds.begin();
            (0..2 * MANY_STEPS).find(|&step| {
                let (thread, enabled) = (if step % 2 == 0 { A } else { B }, [A, B].into_iter().collect());
                let event = Event { kind: EventKind::Access { rw: Rw::Read, atomic: true }, range: None, object: None, site: None };
                rounds.offer(&enabled);
                rounds.step(&Step { thread, event }, 0, None);
                rounds.looks_at_states() && rounds.come_round(|digest| state(step).hash(digest)).is_some()
            })
        };
        let in_turn = found(|step| step % 2).expect("the threads take turns for ever");
        assert!((MANY_STEPS..MANY_STEPS + 12).contains(&in_turn), "{in_turn}");
        assert_eq!(found(|step| step), None, "something always is as it never was");
    }

    #[test]
    fn who_looks_on_is_told_from_who_changes_something() {
        let rounds = Rounds::default();
        rounds.begin();
        rounds.look_at_states(Watch::States);
        let read = EventKind::Access { rw: Rw::Read, atomic: true };
        let turn = [(A, EventKind::Lock, 0), (B, read, 0), (B, EventKind::TryLock, 16), (A, EventKind::Unlock, 0)];
        let mut found = None;
        for (thread, kind, result) in turn.into_iter().chain(turn) {
            let event = Event { kind, range: None, object: None, site: None };
            rounds.offer(&[A, B].into_iter().collect());
            rounds.step(&Step { thread, event }, result, None);
            found = rounds.come_round(|digest| kind.code().number().hash(digest));
        }
        let both = [A, B].into_iter().collect();
        assert_eq!(found, Some(Round { first: 4, took: both, changed: ThreadSet::one(A), is_fair: true }));
    }

    #[test]
    fn a_write_that_is_undone_leaves_the_state_as_it_was() {
        let rounds = Rounds::default();
        rounds.begin();
        rounds.look_at_states(Watch::States);
        let value = Cell::new(0_u64);
        let range = Range { address: value.as_ptr().expose_provenance() as u64, length: 8 };
        let kind = EventKind::Access { rw: Rw::Write, atomic: true };
        let write = |new: u64| {
            let before = Some(value.replace(new));
            let event = Event { kind, range: Some(range), object: None, site: None };
            rounds.offer(&ThreadSet::one(A));
            rounds.step(&Step { thread: A, event }, 0, before);
            rounds.come_round(|_| {}).is_some()
        };
        assert_eq!([write(1), write(0), write(2), write(1), write(0)], [false, false, false, true, true]);
        rounds.disturb();
        assert!(!write(2));
    }
}
