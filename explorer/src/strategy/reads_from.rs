//! Any strategy, with a count of the classes of executions by *reads-from*: two are of one class if each thread takes the same steps, and
//! each read finds what the same write left (Chalupa et al., POPL 2018; Abdulla et al., OOPSLA 2019). Unlike in the classes that partial
//! order reduction explores, the order of writes that nobody reads makes no difference.
//!
//! What takes, releases or signals an object reads from whatever was done to it before, and so keeps its order; readers of a lock do not
//! among each other. Calls with effects outside keep their order too. Yielding and sleeping say nothing.
//!
//! A class is known by a hash, so two with equal ones count as one; memory grows with the number of classes. Abandoned executions, which
//! others cover, are not counted.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use model::event::{Comparison, EventKind, Range};
use model::pair::{Mode, Rw};

use super::around::{Around, Change};
use super::{Ending, Outcome, Pick, Step, Strategy};

/// A strategy whose executions are counted so.
pub type ReadsFrom = Around<Box<dyn Strategy>, Classes>;

/// The classes that were seen.
#[derive(Debug, Default)]
pub struct Classes {
    seen: BTreeSet<u64>,
    /// Indexed by thread: a hash of its steps, with what each of them read from.
    threads: Vec<u64>,
    memory: Memory,
    /// The last call with an effect outside.
    outside: u64,
    /// Options taken in the step that comes.
    picked: u64,
}

/// Who wrote what last: the hashes of steps, by the first address of a piece, with its end. invariant: pieces do not overlap.
#[derive(Debug, Default)]
struct Memory(BTreeMap<u64, (u64, u64)>);

impl ReadsFrom {
    /// `inner`, whose executions are counted.
    #[must_use]
    pub fn new(inner: Box<dyn Strategy>) -> Self {
        Self::changing(inner, Classes::default())
    }
}

impl Change for Classes {
    fn begin(&mut self, inner: &mut dyn Strategy) -> bool {
        self.threads.clear();
        self.memory.0.clear();
        (self.outside, self.picked) = (0, 0);
        inner.begin()
    }

    /// None: what each step reads from is told by all steps before it.
    fn repeats(&self, _: &dyn Strategy) -> usize {
        0
    }

    fn pick(&mut self, inner: &mut dyn Strategy, pick: &Pick<'_>) -> u32 {
        let option = inner.pick(pick);
        self.picked = mix(self.picked, u64::from(option) + 1);
        option
    }

    fn executed(&mut self, inner: &mut dyn Strategy, step: &Step) {
        self.note(step);
        inner.executed(step);
    }

    fn end(&mut self, inner: &mut dyn Strategy, ending: &Ending<'_>) {
        if matches!(ending.outcome, Outcome::Passed | Outcome::Failed | Outcome::Cut) {
            self.seen.insert(self.threads.iter().fold(0, |all, &thread| mix(all, thread)));
        }
        inner.end(ending);
    }

    fn reads_from(&self, _: &dyn Strategy) -> Option<u64> {
        Some(self.seen.len() as u64)
    }
}

impl Classes {
    fn note(&mut self, Step { thread, event }: &Step) {
        if event.kind.is_yield() {
            return;
        }
        while self.threads.len() <= thread.index() {
            self.threads.push(self.threads.len() as u64 + 1);
        }
        let mut hash = mix(self.threads[thread.index()], u64::from(event.kind.code().number()));
        hash = mix(hash, core::mem::take(&mut self.picked));
        let touched = || event.range.into_iter().chain(event.kind.beside());
        if reads(event.kind) {
            hash = touched().fold(hash, |hash, range| mix(hash, self.memory.sources(range)));
        }
        if writes(event.kind) {
            touched().for_each(|range| self.memory.write(range, hash));
        }
        if event.is_call() {
            hash = mix(hash, self.outside);
            self.outside = hash;
        }
        self.threads[thread.index()] = hash;
    }
}

/// Whether what was there before makes a difference to the step.
fn reads(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access { rw: Rw::Write, .. } | EventKind::Create { .. })
}

/// Whether it makes a difference to steps that come later.
fn writes(kind: EventKind) -> bool {
    use EventKind as K;
    !matches!(
        kind,
        K::Access { rw: Rw::Read, .. }
            | K::CompareAndSwap { finds: Comparison::Unequal, .. }
            | K::ReadLock
            | K::TryReadLock
            | K::Acquire { mode: Mode::R }
            | K::BarrierLeave
    )
}

impl Memory {
    /// A hash of the writes that a range holds, each with where it begins in it.
    fn sources(&self, range: Range) -> u64 {
        let end = end(range);
        let first = self.0.range(..range.address).next_back().filter(|(_, (until, _))| *until > range.address);
        let pieces = first.into_iter().chain(self.0.range(range.address..end));
        pieces.fold(0, |hash, (&from, &(until, write))| {
            let (from, until) = (from.max(range.address), until.min(end));
            mix(mix(mix(hash, from - range.address), until - range.address), write)
        })
    }

    fn write(&mut self, range: Range, write: u64) {
        let end = end(range);
        let first = self.0.range(..range.address).next_back().map(|(&from, &piece)| (from, piece));
        if let Some((from, (until, old))) = first.filter(|(_, (until, _))| *until > range.address) {
            self.0.insert(from, (range.address, old));
            if until > end {
                self.0.insert(end, (until, old));
            }
        }
        while let Some((&from, &(until, old))) = self.0.range(range.address..end).next_back() {
            self.0.remove(&from);
            if until > end {
                self.0.insert(end, (until, old));
            }
        }
        self.0.insert(range.address, (end, write));
    }
}

fn end(range: Range) -> u64 {
    range.address.saturating_add(u64::from(range.length.max(1)))
}

fn mix(a: u64, b: u64) -> u64 {
    let product = (a ^ b.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    product ^ (product >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::program::parse;
    use crate::strategy::depth_first::{DepthFirst, Extent};
    use crate::strategy::dpor::Dpor;

    fn check(program: &str, executions: u64, classes: u64) {
        let program = parse(program);
        let mut optimal = ReadsFrom::new(Box::new(Dpor::new()));
        explore(&program, &mut optimal);
        assert_eq!((optimal.counts().schedules, optimal.reads_from()), (executions, Some(classes)));
        let mut plain = ReadsFrom::new(Box::new(DepthFirst::new(Extent::Unpruned)));
        explore(&program, &mut plain);
        assert_eq!(plain.reads_from(), Some(classes), "whichever schedules stand for the classes");
    }

    #[test]
    fn the_order_of_writes_that_nobody_reads_makes_no_difference() {
        // Nidhugg, n_writers_a_reader: N + 1 classes; n_writes_a_read_two_threads: 2 N + 1.
        check("main: create a, create b, create c\n a: store x 1\n b: store x 2\n c: load x r", 6, 3);
        check("main: create a, create b\n a: store x 1, store x 1, load x r\n b: store x 2, store x 2, load x r", 14, 5);
        check("main: create a, create b\n a: store x 1\n b: store x 2", 2, 1);
    }

    #[test]
    fn updates_and_locks_keep_their_order() {
        check("main: create a, create b, create c\n a: add x 1\n b: add x 1\n c: load x r", 6, 6);
        check("main: create a, create b\n a: lock m, unlock m\n b: lock m, unlock m", 2, 2);
        check("main: create a, create b\n a: lock m, write x 1, unlock m\n b: lock m, read x r, unlock m", 2, 2);
    }

    #[test]
    fn a_read_finds_each_byte_where_it_was_written_last() {
        let range = |address, length| Range { address, length };
        let mut memory = Memory::default();
        let empty = memory.sources(range(0, 16));
        memory.write(range(0, 8), 1);
        memory.write(range(8, 8), 2);
        let whole = memory.sources(range(0, 8));
        memory.write(range(2, 2), 3);
        let pieces = memory.0.iter().map(|(&from, &(until, write))| (from, until, write)).collect::<Vec<_>>();
        assert_eq!(pieces, [(0, 2, 1), (2, 4, 3), (4, 8, 1), (8, 16, 2)]);
        assert_eq!(memory.sources(range(8, 8)), {
            let mut other = Memory::default();
            other.write(range(8, 8), 2);
            other.sources(range(8, 8))
        });
        assert!(memory.sources(range(0, 8)) != whole && whole != empty);
        memory.write(range(1, 10), 4);
        let pieces = memory.0.iter().map(|(&from, &(until, write))| (from, until, write)).collect::<Vec<_>>();
        assert_eq!(pieces, [(0, 1, 1), (1, 11, 4), (11, 16, 2)]);
    }
}
