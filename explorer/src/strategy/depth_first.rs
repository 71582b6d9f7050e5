//! Depth-first search over all schedules, optionally up to a number of preemptions or delays, optionally pruned by sleep
//! sets.
//!
//! The only state is the path to the current execution, one level a step, so memory is bounded by the length of an
//! execution and nothing is allocated once the path has had its greatest length. Each execution repeats the path up to the
//! deepest level that has an alternative left and takes that.
//!
//! *Sleep sets* (Godefroid): an alternative that was explored before its siblings stays asleep below them until a step
//! that depends on it; an execution in which every enabled thread is asleep is equivalent to one that was seen, and is
//! abandoned. They are sound only without a bound: below a bound the equivalent execution may have more preemptions and so
//! not have been explored. The types allow no combination of the two.
//!
//! Not here: raising the bound (`iterative`), and fewer executions than sleep sets give (`dpor`).

use alloc::vec::Vec;

use model::event::Event;
use model::ids::ThreadId;
use model::report::Coverage;

use super::replay::{Divergence, What};
use super::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};
use crate::dependence::dependent;
use crate::threads::ThreadSet;

/// How much of the space a search covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every schedule with at most this many preemptions, each once.
    Preemptions(u32),
    /// Every schedule with at most this many delays of the default one, each once.
    Delays(u32),
    /// Every schedule, each once.
    Unpruned,
    /// Every schedule up to the order of independent steps, by sleep sets.
    SleepSets,
}

impl Extent {
    /// The bound, if there is one.
    fn bound(self) -> Option<u32> {
        match self {
            Self::Preemptions(bound) | Self::Delays(bound) => Some(bound),
            Self::Unpruned | Self::SleepSets => None,
        }
    }

    /// What running a thread costs of the bound. There is always a thread that costs nothing.
    #[inline]
    fn price(self, point: &Point<'_>, thread: ThreadId) -> u32 {
        match self {
            Self::Preemptions(_) => u32::from(point.preempts(thread)),
            Self::Delays(_) => point.delays(thread),
            Self::Unpruned | Self::SleepSets => 0,
        }
    }
}

/// Depth-first search.
#[derive(Debug)]
pub struct DepthFirst {
    extent: Extent,
    /// The path of the current execution: first what is to be repeated, then what was added.
    levels: Vec<Level>,
    /// How many levels the current execution has gone through.
    at: usize,
    /// The level of the last choice of a thread. invariant: a `Level::Run` when not `None`.
    last: Option<usize>,
    /// What the current execution has used of the bound so far.
    spent: u32,
    /// Where the current execution has left the path it was to repeat.
    astray: Option<Divergence>,
    /// Whether the bound has kept any thread from being chosen.
    limited: bool,
    phase: Phase,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    Running,
    Exhausted,
}

#[derive(Debug)]
enum Level {
    Run(Node),
    Pick { taken: u32, options: u32 },
}

#[derive(Debug)]
struct Node {
    chosen: ThreadId,
    /// What the chosen thread did: its pending event, then the event as it happened.
    event: Event,
    /// What it was about to do.
    what: What,
    /// Alternatives not yet explored.
    todo: ThreadSet,
    /// Threads whose next step is covered elsewhere; grows by each explored alternative.
    asleep: ThreadSet,
    /// What was used of the bound up to and with this step.
    spent: u32,
}

impl DepthFirst {
    /// A search of this extent.
    #[must_use]
    pub fn new(extent: Extent) -> Self {
        Self {
            extent,
            levels: Vec::new(),
            at: 0,
            last: None,
            spent: 0,
            astray: None,
            limited: false,
            phase: Phase::Ready,
            counts: Counts::default(),
        }
    }

    /// Whether everything within the extent has been explored.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.phase == Phase::Exhausted
    }

    /// Whether a bound has kept anything out so far.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let asleep = match self.last.map(|last| &self.levels[last]) {
            Some(Level::Run(parent)) => self.inherited_sleep(parent, point),
            Some(Level::Pick { .. }) | None => ThreadSet::EMPTY,
        };
        let (extent, spent) = (self.extent, self.spent);
        let cost = |thread| spent + extent.price(point, thread);
        let mut candidates = point.enabled.difference(&asleep);
        if let Some(bound) = self.extent.bound() {
            for thread in point.enabled.iter() {
                if cost(thread) > bound {
                    candidates.remove(thread);
                    self.limited = true;
                }
            }
        }
        let preferred = point.default_thread().filter(|&thread| candidates.contains(thread));
        let Some(chosen) = preferred.or_else(|| candidates.first()) else { return Choice::Abandon };
        let Some(&event) = point.event(chosen) else { return Choice::Diverged };
        candidates.remove(chosen);
        self.spent = cost(chosen);
        self.last = Some(self.at);
        self.at += 1;
        self.levels.push(Level::Run(Node { chosen, event, what: What::of(&event), todo: candidates, asleep, spent: self.spent }));
        Choice::Run(chosen)
    }

    fn inherited_sleep(&self, parent: &Node, point: &Point<'_>) -> ThreadSet {
        if self.extent != Extent::SleepSets || parent.asleep.is_empty() {
            return ThreadSet::EMPTY;
        }
        let sleeps_on = |&thread: &ThreadId| point.event(thread).is_some_and(|event| !dependent(event, &parent.event));
        parent.asleep.iter().filter(sleeps_on).collect()
    }

    /// Moves to the next path; `false` when there is none.
    fn backtrack(&mut self) -> bool {
        while let Some(level) = self.levels.last_mut() {
            match level {
                Level::Run(node) => {
                    node.asleep.insert(node.chosen);
                    if let Some(next) = node.todo.first() {
                        node.todo.remove(next);
                        node.chosen = next;
                        return true;
                    }
                }
                Level::Pick { taken, options } => {
                    if *taken + 1 < *options {
                        *taken += 1;
                        return true;
                    }
                }
            }
            self.levels.pop();
        }
        false
    }
}

impl Strategy for DepthFirst {
    fn name(&self) -> &'static str {
        "dfs"
    }

    fn begin(&mut self) -> bool {
        if self.phase != Phase::Ready {
            return false;
        }
        self.phase = Phase::Running;
        self.at = 0;
        self.last = None;
        self.spent = 0;
        self.astray = None;
        true
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if self.astray.is_some() {
            return Choice::Diverged;
        }
        let deepest = self.at + 1 == self.levels.len();
        let node = match self.levels.get_mut(self.at) {
            None => return self.extend(point),
            Some(Level::Run(node)) => node,
            Some(Level::Pick { .. }) => {
                // The path has a pick here, so the step before was another one then.
                let thread = point.current.unwrap_or(ThreadId(0));
                self.astray = Some(Divergence::at(self.at as u64, thread, None, point));
                return Choice::Diverged;
            }
        };
        let chosen = node.chosen;
        match point.event(chosen) {
            Some(event) if deepest && point.enabled.contains(chosen) => {
                // A new alternative: its event, and its price, are known only now.
                node.event = *event;
                node.what = What::of(event);
                node.spent = self.spent + self.extent.price(point, chosen);
            }
            Some(event) if point.enabled.contains(chosen) && node.what == What::of(event) => {}
            _ => {
                let expected = (!deepest).then_some(node.what);
                self.astray = Some(Divergence::at(self.at as u64, chosen, expected, point));
                return Choice::Diverged;
            }
        }
        self.spent = node.spent;
        self.last = Some(self.at);
        self.at += 1;
        Choice::Run(chosen)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let options = pick.options().max(1);
        let taken = match self.levels.get(self.at) {
            None => {
                self.levels.push(Level::Pick { taken: 0, options });
                0
            }
            Some(&Level::Pick { taken, options: before }) if before == options => taken,
            Some(_) => {
                let (thread, expected) = match self.last.map(|last| &self.levels[last]) {
                    Some(Level::Run(node)) => (node.chosen, Some(node.what)),
                    _ => (ThreadId(0), None),
                };
                self.astray = Some(Divergence { step: self.at as u64, thread, expected, found: None, enabled: true });
                return 0;
            }
        };
        self.at += 1;
        taken
    }

    #[inline]
    fn executed(&mut self, step: &Step) {
        if let Some(Level::Run(node)) = self.last.and_then(|last| self.levels.get_mut(last)) {
            node.event = step.event;
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        let outcome = if self.astray.is_some() { Outcome::Diverged } else { ending.outcome };
        self.counts.add(outcome);
        // Levels that this execution did not reach can only be there when it left the path: they are given up.
        self.levels.truncate(self.at);
        self.phase = if self.backtrack() { Phase::Ready } else { Phase::Exhausted };
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        let whole = self.is_exhausted() && self.counts.cut == 0 && self.counts.diverged == 0;
        match self.extent {
            Extent::Preemptions(bound) if whole => Coverage::Preemptions(bound),
            Extent::Delays(bound) if whole => Coverage::Delays(bound),
            Extent::Unpruned | Extent::SleepSets if whole => Coverage::All,
            _ => Coverage::Partial(self.counts.schedules),
        }
    }

    fn divergence(&self) -> Option<Divergence> {
        self.astray
    }
}
