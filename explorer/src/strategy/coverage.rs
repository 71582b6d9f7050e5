//! Coverage-guided sampling: what is covered are pairs of a read and the write that it reads from, and executions are drawn near
//! those that showed new pairs (after Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox fuzzing for concurrency testing", ASPLOS
//! 2024).
//!
//! An execution is asked to satisfy a few *wishes*, each that what happens at one place is read at another one. A thread that is
//! about to read is held back until the wished write came, and one that is about to overwrite it until it was read; when all are
//! held back, all may go on. What wishes leave open is decided by random priorities of pending steps, drawn anew after a conflict,
//! as in partial order sampling. Wishes that showed a new pair are kept and varied.
//!
//! Synchronization counts too: every step on an object writes it, save what commutes. Memory is bounded.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use model::event::Event;
use model::ids::{SiteKey, ThreadId};

use super::sampler::{Draw, Sampler};
use super::{Choice, Point, Step};
use crate::dependence::dependent;
use crate::random::Random;
use crate::threads::{MAX_THREADS, ThreadSet};

/// The most sets of wishes that are kept.
const KEPT: usize = 256;
/// The most pairs that are known of.
const PAIRS: usize = 65_536;
/// The most wishes of one execution.
const WISHES: u32 = 4;

/// That the step at one place is followed, on some memory, by the one at another.
type ReadsFrom = (SiteKey, SiteKey);

/// Coverage-guided sampling. It never ends by itself: give it a budget.
pub type Coverage = Sampler<Wishes>;

/// What is covered, and what is wished for.
#[derive(Debug)]
pub struct Wishes {
    /// Pairs that some execution showed.
    covered: BTreeSet<ReadsFrom>,
    /// Pairs that could be: of places that met on common memory in different threads, in either order.
    possible: Vec<ReadsFrom>,
    known: BTreeSet<ReadsFrom>,
    /// Sets of wishes that showed something new.
    kept: Vec<Vec<ReadsFrom>>,
    wishes: Vec<ReadsFrom>,
    /// By eight bytes of memory: who wrote last, and where.
    writers: BTreeMap<u64, (ThreadId, SiteKey)>,
    /// Indexed by thread: the priority of its pending step.
    priorities: [u64; MAX_THREADS],
    drawn: ThreadSet,
    /// Whether the current execution showed a new pair.
    new: bool,
}

impl Coverage {
    /// The sampling of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::drawing(
            seed,
            Wishes {
                covered: BTreeSet::new(),
                possible: Vec::new(),
                known: BTreeSet::new(),
                kept: Vec::new(),
                wishes: Vec::new(),
                writers: BTreeMap::new(),
                priorities: [0; MAX_THREADS],
                drawn: ThreadSet::EMPTY,
                new: false,
            },
        )
    }
}

impl Wishes {
    /// Wishes for the next execution: kept ones, with one added, replaced or left out; every fourth execution has none.
    fn wish(&mut self, random: &mut Random) {
        self.wishes.clear();
        if self.possible.is_empty() || random.below(4) == 0 {
            return;
        }
        if !self.kept.is_empty() {
            let count = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
            self.wishes.clone_from(&self.kept[random.below(count) as usize]);
        }
        let count = u32::try_from(self.wishes.len()).unwrap_or(0);
        let fresh = random.below(u32::try_from(self.possible.len()).unwrap_or(u32::MAX));
        let fresh = self.possible[fresh as usize];
        match random.below(4) {
            0 if count > 0 => drop(self.wishes.swap_remove(random.below(count) as usize)),
            1 if count > 0 => self.wishes[random.below(count) as usize] = fresh,
            _ if count < WISHES => self.wishes.push(fresh),
            _ => self.wishes[random.below(count) as usize] = fresh,
        }
    }

    /// Whether a wish speaks against this step now.
    fn is_held(&self, event: &Event) -> bool {
        let Some((site, range)) = event.site.zip(event.range) else { return false };
        let last = self.writers.get(&(range.address >> 3)).map(|&(_, site)| site);
        self.wishes.iter().any(|&(write, read)| {
            let early = site == read && last != Some(write);
            let overwrites = writes(event) && site != read && last == Some(write);
            early || overwrites
        })
    }

    /// The enabled thread of the highest priority among these.
    fn highest(&mut self, threads: ThreadSet, random: &mut Random) -> Option<ThreadId> {
        for thread in threads.difference(&self.drawn).iter() {
            self.priorities[thread.index() % MAX_THREADS] = random.next_u64();
            self.drawn.insert(thread);
        }
        threads.iter().max_by_key(|thread| self.priorities[thread.index() % MAX_THREADS])
    }

    fn note(&mut self, thread: ThreadId, event: &Event) {
        let Some((site, range)) = event.site.zip(event.range) else { return };
        let granule = range.address >> 3;
        if let Some(&(writer, write)) = self.writers.get(&granule) {
            if writer != thread {
                self.new |= self.covered.len() < PAIRS && self.covered.insert((write, site));
            }
            for pair in [(write, site), (site, write)] {
                let first_writes = pair.0 == write || writes(event);
                if first_writes && writer != thread && self.known.len() < PAIRS && self.known.insert(pair) {
                    self.possible.push(pair);
                }
            }
        }
        if writes(event) {
            self.writers.insert(granule, (thread, site));
        }
    }
}

fn writes(event: &Event) -> bool {
    event.kind.access().is_none_or(|(rw, _)| rw.writes())
}

impl Draw for Wishes {
    fn name(&self) -> &'static str {
        "coverage"
    }

    fn begin(&mut self, random: &mut Random) {
        self.writers.clear();
        self.drawn = ThreadSet::EMPTY;
        self.new = false;
        self.wish(random);
    }

    fn draw(&mut self, point: &Point<'_>, random: &mut Random) -> Choice {
        let held = |thread: &ThreadId| point.event(*thread).is_some_and(|event| self.is_held(event));
        let free: ThreadSet = if self.wishes.is_empty() { *point.enabled } else { point.enabled.iter().filter(|t| !held(t)).collect() };
        let candidates = if free.is_empty() { *point.enabled } else { free };
        let Some(chosen) = self.highest(candidates, random) else { return Choice::Abandon };
        self.drawn.remove(chosen);
        let Some(event) = point.event(chosen) else { return Choice::Run(chosen) };
        for thread in self.drawn.iter() {
            if point.event(thread).is_none_or(|other| event.kind.is_yield() || dependent(event, other)) {
                self.drawn.remove(thread);
            }
        }
        Choice::Run(chosen)
    }

    fn executed(&mut self, step: &Step) {
        self.note(step.thread, &step.event);
    }

    fn end(&mut self, random: &mut Random) {
        if self.new && !self.wishes.is_empty() {
            if self.kept.len() == KEPT {
                let oldest = random.below(u32::try_from(KEPT).unwrap_or(1)) as usize;
                self.kept.swap_remove(oldest);
            }
            self.kept.push(self.wishes.clone());
        }
    }
}
