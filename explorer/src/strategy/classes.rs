//! How much a sampler has not seen: schedules that differ only in the order of independent steps are one class, and the chance that the
//! next schedule is of a class not yet seen is about the share of classes seen once (Good, Biometrika 1953, after Turing).
//!
//! A class is known by a hash that does not depend on the order of independent steps: the sum of a hash of each step, which is made of
//! those before it that it depends on: the last one of its thread, and the last ones in conflict on its memory. Classes with equal hashes
//! are taken for one. Memory is bounded: when the table is half full, counting ends, and the estimate stays.
//!
//! Not looked at more closely: memory that two accesses share only in part.

use alloc::vec;
use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Rw;

use super::sketch::{Class, Seen, sketch};
use crate::threads::MAX_THREADS;

/// Slots of the table of classes.
const SLOTS: usize = 1 << 15;
/// Slots for memory of one schedule; what does not fit orders nothing.
const MEMORY: usize = 1 << 10;

/// What was seen.
#[derive(Debug)]
pub(super) struct Classes {
    /// Class and how often it was seen, at most twice; 0: free. Empty until the first schedule.
    table: Vec<(u64, u8)>,
    distinct: u64,
    once: u64,
    schedules: u64,
    /// Indexed by thread: a hash of its last step.
    last: [u64; MAX_THREADS],
    /// By eight bytes of memory: hashes of the last step that wrote, and of those that read since.
    memory: Vec<Place>,
    schedule: u32,
    sum: u64,
    /// Whether there is room for more classes.
    counts: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    granule: u64,
    /// Of which schedule it is.
    schedule: u32,
    written: u64,
    read: u64,
}

impl Default for Classes {
    fn default() -> Self {
        let (table, memory) = (Vec::new(), Vec::new());
        Self { table, distinct: 0, once: 0, schedules: 0, last: [0; MAX_THREADS], memory, schedule: 0, sum: 0, counts: true }
    }
}

fn mix(a: u64, b: u64) -> u64 {
    let product = (a ^ b.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    product ^ (product >> 29)
}

impl Classes {
    /// A schedule begins.
    pub(super) fn begin(&mut self) {
        if self.table.is_empty() {
            self.table = vec![(0, 0); SLOTS];
            self.memory = vec![Place::default(); MEMORY];
        }
        self.counts = self.distinct * 2 < SLOTS as u64;
        self.schedule = self.schedule.wrapping_add(1);
        self.sum = 0;
        // Those of other threads begin where they are created.
        self.last[0] = 0;
    }

    /// An option was taken within the step that comes.
    pub(super) fn picked(&mut self, option: u32) {
        self.sum = self.sum.wrapping_add(mix(u64::from(option) + 1, self.sum));
    }

    /// A step was performed.
    #[inline]
    pub(super) fn executed(&mut self, thread: ThreadId, event: &Event) {
        if !self.counts {
            return;
        }
        let me = thread.index() % MAX_THREADS;
        let mut hash = mix(self.last[me], u64::from(event.kind.code().number()));
        match event.kind {
            EventKind::Create { child } => self.last[child.index() % MAX_THREADS] = mix(hash, 1),
            EventKind::Join { child } => hash = mix(hash, self.last[child.index() % MAX_THREADS]),
            _ => {}
        }
        let reads = matches!(event.kind, EventKind::Access { rw: Rw::Read, .. });
        if let Some(place) = event.range.and_then(|range| self.place(range.address >> 3)) {
            hash = mix(hash, place.written);
            if reads {
                place.read = place.read.wrapping_add(hash);
            } else {
                hash = mix(hash, place.read);
                (place.written, place.read) = (hash, 0);
            }
        }
        self.last[me] = hash;
        self.sum = self.sum.wrapping_add(hash);
    }

    #[inline]
    fn place(&mut self, granule: u64) -> Option<&mut Place> {
        let (schedule, start) = (self.schedule, slot(granule, MEMORY));
        let first = &self.memory[start];
        if first.schedule == schedule && first.granule == granule { Some(&mut self.memory[start]) } else { self.find_place(granule, start) }
    }

    #[inline(never)]
    fn find_place(&mut self, granule: u64, start: usize) -> Option<&mut Place> {
        let schedule = self.schedule;
        let at = (0..8).map(|step| (start + step) % MEMORY).find(|&at| {
            let place = &self.memory[at];
            place.schedule != schedule || place.granule == granule
        })?;
        let place = &mut self.memory[at];
        if place.schedule != schedule {
            *place = Place { granule, schedule, written: 0, read: 0 };
        }
        Some(place)
    }

    /// The schedule is over.
    pub(super) fn end(&mut self) {
        if !self.counts {
            return;
        }
        self.schedules += 1;
        let class = self.sum.max(1);
        let mut at = slot(class, SLOTS);
        while self.table[at].0 != 0 && self.table[at].0 != class {
            at = (at + 1) % SLOTS;
        }
        match self.table[at].1 {
            0 => {
                self.table[at] = (class, 1);
                self.distinct += 1;
                self.once += 1;
            }
            1 => {
                self.table[at].1 = 2;
                self.once -= 1;
            }
            _ => {}
        }
    }

    /// Some of the classes, chosen by their hashes.
    pub(super) fn sketch(&self) -> Vec<Class> {
        let seen = |times: u8| if times == 1 { Seen::Once } else { Seen::Again };
        let known = self.table.iter().filter(|(_, times)| *times > 0);
        sketch(known.map(|&(class, times)| Class { key: mix(mix(class, 1), class), seen: seen(times) }).collect())
    }

    /// How many classes were seen.
    pub(super) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// The chance that the next schedule is of a class not yet seen; `None` before the first one.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn unseen(&self) -> Option<f64> {
        (self.schedules > 0).then(|| self.once as f64 / self.schedules as f64)
    }
}

fn slot(key: u64, slots: usize) -> usize {
    let mask = slots as u64 - 1;
    usize::try_from((key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & mask).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::{execute, explore};
    use crate::fake::program::parse;
    use crate::strategy::Strategy;
    use crate::strategy::budget::Budget;
    use crate::strategy::dpor::Dpor;
    use crate::strategy::random::RandomWalk;
    use alloc::boxed::Box;
    use model::report::Estimate;

    #[test]
    fn there_are_as_many_classes_as_an_optimal_search_has_executions() {
        for program in [
            "main: create a, create b\n a: write x 1, read y r\n b: write y 1, read x r",
            "main: create a, create b, create c\n a: add x 1\n b: add x 1\n c: read x r",
            "main: create a, create b, create c\n a: read x r\n b: write x 1\n c: read x r",
            "main: create a, create b\n a: load x r, store x r+1\n b: load x r, store x r+1",
            "main: create a, create b\n a: lock m, write x 1, unlock m\n b: lock m, read x r, unlock m",
            "main: create a, write x 1, join a, read x r\n a: read x r, write x r+1",
            "main: create a, create b\n a: write x 1, write x 2\n b: write y 1, read y r",
        ] {
            let parsed = parse(program);
            let mut walk = RandomWalk::new(1);
            for _ in 0..5000 {
                assert!(walk.begin());
                execute(&parsed, &mut walk, &mut Vec::new());
            }
            let mut optimal = Dpor::new();
            explore(&parsed, &mut optimal);
            assert_eq!(walk.classes(), optimal.counts().schedules, "{program}");
            assert_eq!(walk.estimate(), Some(Estimate::Unseen(0.0)), "{program}");
        }
    }

    #[test]
    fn what_is_large_is_mostly_unseen() {
        let body = "load x r, store x r+1, load y r, store y r+1, load z r, store z r+1, ".repeat(3);
        let program = parse(&alloc::format!("main: create a, create b, create c\n a: {body}\n b: {body}\n c: {body}"));
        let mut walk = Budget::new(Box::new(RandomWalk::new(1)), 300);
        explore(&program, &mut walk);
        assert!(matches!(walk.estimate(), Some(Estimate::Unseen(unseen)) if unseen > 0.95), "{:?}", walk.estimate());
    }
}
