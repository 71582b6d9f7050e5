//! Whether shared memory is accessed under locks, over all executions: any two accesses to common memory of which one
//! writes have a lock in common, unless the creation or the end of a thread orders them.
//!
//! Finer than Eraser's state machine (Savage et al., TOCS 1997) in what it allows: initialization and what follows a join need
//! no lock, and locks need to be common to two accesses, not to all. That is what exchanging blocks needs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Rw;

use super::locks::{Lock, Locks};

/// What is known of the discipline.
#[derive(Debug, Default)]
pub(super) struct Discipline {
    /// By thread: how many creations of each thread come before what it does now, by creations and joins alone.
    clocks: Vec<Vec<u32>>,
    /// By eight bytes of memory: accesses that are not like one another.
    memory: BTreeMap<u64, Vec<Access>>,
    broken: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Access {
    thread: ThreadId,
    /// Its thread's own clock.
    time: u32,
    offset: u64,
    length: u64,
    writes: bool,
    under: Vec<Lock>,
}

impl Discipline {
    /// An execution begins.
    pub(super) fn begin(&mut self) {
        self.clocks.clear();
        self.memory.clear();
    }

    /// Whether some execution broke it.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Notes a step.
    pub(super) fn perform(&mut self, thread: ThreadId, event: &Event, locks: &Locks) {
        match event.kind {
            EventKind::Create { child } => {
                let mut clock = self.clock(thread).clone();
                self.clock(thread)[thread.index()] += 1;
                clock.resize(clock.len().max(child.index() + 1), 0);
                clock[child.index()] = 1;
                *self.clock(child) = clock;
            }
            EventKind::Join { child } => {
                let ended = self.clock(child).clone();
                let own = self.clock(thread);
                own.resize(own.len().max(ended.len()), 0);
                for (mine, theirs) in own.iter_mut().zip(ended) {
                    *mine = (*mine).max(theirs);
                }
            }
            EventKind::Access { atomic: false, rw } => self.access(thread, event, rw, locks),
            _ => {}
        }
    }

    fn clock(&mut self, thread: ThreadId) -> &mut Vec<u32> {
        if self.clocks.len() <= thread.index() {
            self.clocks.resize_with(thread.index() + 1, Vec::new);
        }
        let clock = &mut self.clocks[thread.index()];
        if clock.len() <= thread.index() {
            clock.resize(thread.index() + 1, 0);
            clock[thread.index()] = 1;
        }
        clock
    }

    fn access(&mut self, thread: ThreadId, event: &Event, rw: Rw, locks: &Locks) {
        let Some(range) = event.range.filter(|_| !self.broken) else { return };
        let (begin, end) = (range.address, range.address.saturating_add(u64::from(range.length)));
        let time = self.clock(thread)[thread.index()];
        for granule in begin / 8..=(end - 1) / 8 {
            let (first, last) = (begin.max(granule * 8), end.min(granule.saturating_mul(8).saturating_add(8)));
            let under: Vec<Lock> = locks.held(thread).collect();
            let access = Access { thread, time, offset: first % 8, length: last - first, writes: rw.writes(), under };
            let clock = &self.clocks[thread.index()];
            let known = self.memory.entry(granule).or_default();
            self.broken |= known.iter().any(|other| clash(other, &access, clock));
            if !known.contains(&access) {
                known.push(access);
            }
        }
    }
}

/// Whether an earlier access and one made at this clock break the discipline.
fn clash(earlier: &Access, access: &Access, clock: &[u32]) -> bool {
    let ordered = clock.get(earlier.thread.index()).is_some_and(|&known| known >= earlier.time);
    let apart = earlier.offset + earlier.length <= access.offset || access.offset + access.length <= earlier.offset;
    let locked = earlier.under.iter().any(|lock| access.under.contains(lock));
    earlier.thread != access.thread && (earlier.writes || access.writes) && !ordered && !apart && !locked
}
