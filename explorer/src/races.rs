//! Data races by vector clocks: two accesses to common memory, one of them writing and one not atomic, that no chain of
//! synchronization orders.
//!
//! Orders come from creation and joins, and from whatever releases and acquires one object: locks of all kinds (injected
//! ones too), conditions, semaphores, barriers, `once`, futexes, atomic accesses. Every atomic access counts as acquiring
//! and releasing, whatever its memory order, and readers of a lock order each other: a race that only hides behind these is
//! not reported here, but in another schedule. What is reported is a race in the sense of C11.
//!
//! Memory that is allocated anew has no past.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use model::event::{Comparison, Event, EventKind, Range};
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;

/// An access, as a race names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Whose.
    pub thread: ThreadId,
    /// Where in the code.
    pub site: SiteKey,
    /// What it does.
    pub rw: Rw,
    /// Whether it is an atomic instruction.
    pub atomic: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The one that came first in this execution.
    pub first: Party,
    /// The other.
    pub second: Party,
}

/// The clocks of one execution.
#[derive(Debug, Default)]
pub struct Races {
    threads: Vec<Clock>,
    /// By the address of their storage.
    objects: BTreeMap<u64, Clock>,
    /// By eight bytes of memory: the last accesses of each thread.
    memory: BTreeMap<u64, Vec<Past>>,
}

/// How much of each thread comes before.
#[derive(Clone, Debug, Default)]
struct Clock(Vec<u32>);

#[derive(Clone, Copy, Debug)]
struct Past {
    party: Party,
    /// Its thread's own time.
    time: u32,
    /// Bits: which of the eight bytes.
    bytes: u8,
}

impl Clock {
    fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    fn tick(&mut self, thread: ThreadId) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        self.0[thread.index()] += 1;
    }

    fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

impl Races {
    /// An execution begins.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    fn clock(&mut self, thread: ThreadId) -> &mut Clock {
        while self.threads.len() <= thread.index() {
            let mut clock = Clock::default();
            clock.tick(ThreadId::new(self.threads.len()));
            self.threads.push(clock);
        }
        &mut self.threads[thread.index()]
    }

    /// A step was performed.
    pub fn perform(&mut self, thread: ThreadId, event: &Event) {
        use EventKind as K;
        let object = event.range.map(|range| range.address);
        match event.kind {
            K::Create { child } => {
                let creator = self.clock(thread).clone();
                self.clock(child).join(&creator);
                self.clock(thread).tick(thread);
            }
            K::Join { child } => {
                let ended = self.clock(child).clone();
                self.clock(thread).join(&ended);
            }
            K::WaitRelease { mutex } => self.release(thread, mutex.address),
            K::Interrupted { by } => self.acquire(thread, Some(by.address)),
            K::Lock
            | K::TryLock
            | K::TimedLock
            | K::ReadLock
            | K::TryReadLock
            | K::WaitReacquire
            | K::Acquire { .. }
            | K::SemWait
            | K::SemTryWait
            | K::BarrierLeave
            | K::OnceEnter
            | K::FutexReturn
            | K::Access { atomic: true, rw: Rw::Read }
            | K::CompareAndSwap { finds: Comparison::Unequal, .. } => self.acquire(thread, object),
            K::Unlock
            | K::SemPost
            | K::BarrierArrive
            | K::OnceLeave
            | K::FutexWake
            | K::Signal
            | K::Broadcast
            | K::Release
            | K::Degrade => {
                object.into_iter().for_each(|object| self.release(thread, object));
            }
            K::Access { atomic: true, .. } | K::CompareAndSwap { finds: Comparison::Equal, .. } => {
                self.acquire(thread, object);
                object.into_iter().for_each(|object| self.release(thread, object));
            }
            _ => {}
        }
    }

    /// Within the last step, the thread also gave up or weakened the injected lock at this address.
    pub fn released(&mut self, thread: ThreadId, lock: u64) {
        self.release(thread, lock);
    }

    fn acquire(&mut self, thread: ThreadId, object: Option<u64>) {
        self.clock(thread);
        if let Some(clock) = object.and_then(|object| self.objects.get(&object)) {
            self.threads[thread.index()].join(clock);
        }
    }

    fn release(&mut self, thread: ThreadId, object: u64) {
        let own = self.clock(thread).clone();
        self.objects.entry(object).or_default().join(&own);
        self.clock(thread).tick(thread);
    }

    /// Memory was allocated.
    pub fn renew(&mut self, range: Range) {
        let (first, last) = granules(range);
        let stale: Vec<u64> = self.memory.range(first..=last).map(|(&granule, _)| granule).collect();
        for granule in stale {
            self.memory.remove(&granule);
        }
    }

    /// A block is given back, which is a write to all of it: with which earlier access that races. What comes later uses freed memory.
    pub fn gives_back(&mut self, party: Party, block: Range) -> Option<Race> {
        let clock = self.clock(party.thread).clone();
        let (first, last) = granules(block);
        self.memory.range(first..=last).find_map(|(&granule, past)| clash(past, covered(block, granule), party, &clock))
    }

    /// Notes an access, and says with which earlier one it races.
    pub fn access(&mut self, party: Party, range: Range) -> Option<Race> {
        let clock = self.clock(party.thread).clone();
        let time = clock.get(party.thread);
        let (first, last) = granules(range);
        let mut race = None;
        for granule in first..=last {
            let bytes = covered(range, granule);
            let past = self.memory.entry(granule).or_default();
            race = race.or_else(|| clash(past, bytes, party, &clock));
            let replaced = |past: &Past| {
                let same =
                    past.party.thread == party.thread && past.party.atomic == party.atomic && past.party.rw.writes() == party.rw.writes();
                same && past.bytes & !bytes == 0
            };
            past.retain(|past| !replaced(past));
            past.push(Past { party, time, bytes });
        }
        race
    }
}

/// The first earlier access to some of these bytes that no order puts before this one.
fn clash(past: &[Past], bytes: u8, party: Party, clock: &Clock) -> Option<Race> {
    let clashes = |past: &&Past| {
        let conflict = past.party.rw.writes() || party.rw.writes();
        let plain = !past.party.atomic || !party.atomic;
        let ordered = past.party.thread == party.thread || clock.get(past.party.thread) >= past.time;
        past.bytes & bytes != 0 && conflict && plain && !ordered
    };
    past.iter().find(clashes).map(|past| Race { first: past.party, second: party })
}

fn granules(range: Range) -> (u64, u64) {
    (range.address / 8, range.address.saturating_add(u64::from(range.length.max(1)) - 1) / 8)
}

/// Which bytes of a granule a range covers.
fn covered(range: Range, granule: u64) -> u8 {
    let begin = granule * 8;
    let end = range.address.saturating_add(u64::from(range.length));
    (0..8).filter(|byte| (range.address..end).contains(&(begin + byte))).fold(0, |bytes, byte| bytes | 1 << byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1w` thread 1 writes x, `2r` reads it, `1a` updates it atomically; `1+m` takes m, `1-m` releases it; `0c1` creates, `0j1` joins;
    /// `1f` gives a block back that x lies in.
    fn check(steps: &str, expected: bool) {
        let mut races = Races::default();
        let mut found = false;
        for word in steps.split_whitespace() {
            let bytes = word.as_bytes();
            let thread = ThreadId(u32::from(bytes[0] - b'0'));
            let object = |letter: u8| Range { address: 64 * u64::from(letter), length: 8 };
            let event = |kind, range| Event { kind, range, object: None, site: None };
            let child = || ThreadId(u32::from(bytes[2] - b'0'));
            let x = Range { address: 16, length: 4 };
            let mut touch = |rw, atomic| found |= races.access(Party { thread, site: SiteKey(1), rw, atomic }, x).is_some();
            match bytes[1] {
                b'w' => touch(Rw::Write, false),
                b'r' => touch(Rw::Read, false),
                b'a' => {
                    touch(Rw::Update, true);
                    races.perform(thread, &event(EventKind::Access { rw: Rw::Update, atomic: true }, Some(x)));
                }
                b'+' => races.perform(thread, &event(EventKind::Lock, Some(object(bytes[2])))),
                b'-' => races.perform(thread, &event(EventKind::Unlock, Some(object(bytes[2])))),
                b'f' => {
                    let party = Party { thread, site: SiteKey(1), rw: Rw::Write, atomic: false };
                    found |= races.gives_back(party, Range { address: 0, length: 100 }).is_some();
                }
                b'c' => races.perform(thread, &event(EventKind::Create { child: child() }, None)),
                b'j' => races.perform(thread, &event(EventKind::Join { child: child() }, None)),
                _ => races.renew(x),
            }
        }
        assert_eq!(found, expected, "{steps}");
    }

    #[test]
    fn accesses_race_unless_synchronization_orders_them() {
        check("0c1 0c2 1w 2r", true);
        check("0c1 0c2 1r 2r", false);
        check("0c1 0c2 1r 2w", true);
        check("0w 0c1 1w", false);
        check("0c1 0w 1w", true);
        check("0c1 1w 0j1 0r", false);
        check("0c1 0c2 1+m 1w 1-m 2+m 2r 2-m", false);
        check("0c1 0c2 1+m 1w 1-m 2+n 2r 2-n", true);
        check("0c1 0c2 1w 1+m 1-m 2+m 2-m 2w", false);
        check("0c1 0c2 1+m 1-m 1w 2+m 2-m 2w", true);
        check("0c1 0c2 1a 2a", false);
        check("0c1 0c2 1a 2r", true);
        check("0c1 0c2 1w new 2w", false);
        check("0c1 0c2 1r 2f", true);
        check("0c1 0c2 1a 2f", true);
        check("0c1 1w 0j1 0f", false);
    }
}
