//! Depth-first search over all schedules, optionally up to a number of preemptions or delays, optionally pruned by sleep
//! sets.
//!
//! The only state is the path of the current execution (`path`), so memory is bounded by the length of an execution.
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
use model::report::{Coverage, Estimate};

use super::path::{Follow, Path};
use super::replay::{Divergence, What};
use super::subtree::{Repeat, Subtree};
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};
use crate::dependence::{dependent, may_be_woken_by};
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
    path: Path<Node>,
    /// What the current execution has used of the bound so far.
    spent: u32,
    /// Whether the bound has kept any thread from being chosen.
    limited: bool,
}

#[derive(Debug)]
struct Node {
    /// What the chosen thread did: its pending event, then the event as it happened.
    event: Event,
    /// Alternatives not yet explored.
    todo: ThreadSet,
    /// Threads whose next step is covered elsewhere; grows by each explored alternative.
    asleep: ThreadSet,
    /// What was used of the bound up to and with this step.
    spent: u32,
    /// How many threads were tried here before the chosen one.
    tried: u32,
    /// Whether there was anything to choose.
    branches: Branches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Branches {
    No,
    Yes,
}

impl DepthFirst {
    /// A search of this extent.
    #[must_use]
    pub fn new(extent: Extent) -> Self {
        Self::within(extent, Subtree::default())
    }

    /// A search of this extent that explores a part of the tree.
    #[must_use]
    pub fn within(extent: Extent, subtree: Subtree) -> Self {
        Self { extent, path: Path::within(subtree), spent: 0, limited: false }
    }

    /// A search of this extent that explores what begins with a subtree's steps.
    #[must_use]
    pub(super) fn below(extent: Extent, subtree: Subtree) -> Self {
        Self { extent, path: Path::below(subtree), spent: 0, limited: false }
    }

    /// How many levels of the current execution had anything to choose, when the next step would be a new one.
    pub(super) fn branchings(&self) -> Option<usize> {
        let levels = self.path.levels();
        let branches = || (0..).zip(levels).filter(|(at, level)| self.path.is_open(*at) && level.node.branches == Branches::Yes);
        (self.path.at() == levels.len() && self.path.divergence().is_none()).then(|| branches().count())
    }

    /// What begins with the steps of the current execution.
    pub(super) fn here(&self) -> Subtree {
        self.path.left(|node| [ThreadSet::EMPTY, node.asleep]).fixed()
    }

    /// Whether everything within the extent has been explored.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.path.is_exhausted()
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let asleep = self.inherited_sleep(point);
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
        let branches = if candidates.is_empty() { Branches::No } else { Branches::Yes };
        self.path.push(chosen, &event, Node { event, todo: candidates, asleep, spent: self.spent, tried: 0, branches });
        self.path.advance()
    }

    /// Goes on with a step that the subtree begins with.
    fn repeat(&mut self, point: &Point<'_>, step: Repeat) -> Choice {
        let Some(&event) = point.event(step.thread) else { return Choice::Diverged };
        self.spent += self.extent.price(point, step.thread);
        let Repeat { todo, asleep, .. } = step;
        self.path.push_again(step, &event, Node { event, todo, asleep, spent: self.spent, tried: 0, branches: Branches::No });
        self.path.advance()
    }

    fn inherited_sleep(&self, point: &Point<'_>) -> ThreadSet {
        let Some(parent) = self.path.deepest().map(|level| &level.node) else { return ThreadSet::EMPTY };
        if self.extent != Extent::SleepSets || parent.asleep.is_empty() {
            return ThreadSet::EMPTY;
        }
        let sleeps_on = |&thread: &ThreadId| {
            point.event(thread).is_some_and(|event| !dependent(event, &parent.event) && !may_be_woken_by(event, &parent.event))
        };
        parent.asleep.iter().filter(sleeps_on).collect()
    }

    /// Moves to the next path.
    fn backtrack(&mut self) {
        self.path.backtrack(|_, level| {
            level.node.asleep.insert(level.chosen);
            let next = level.node.todo.first()?;
            level.node.todo.remove(next);
            level.node.tried += 1;
            level.chosen = next;
            level.what = None;
            Some(())
        });
    }
}

impl Strategy for DepthFirst {
    fn name(&self) -> &'static str {
        "dfs"
    }

    fn begin(&mut self) -> bool {
        self.spent = 0;
        self.path.begin()
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let at = match self.path.follow(point) {
            Follow::On(at) => at,
            Follow::Beyond => return self.extend(point),
            Follow::Again(step) => return self.repeat(point, step),
            Follow::Astray => return Choice::Diverged,
        };
        let level = self.path.level_mut(at);
        if level.what.is_none()
            && let Some(event) = point.event(level.chosen)
        {
            // A new alternative: its event, and its price, are known only now.
            level.what = Some(What::of(event));
            level.node.event = *event;
            level.node.spent = self.spent + self.extent.price(point, level.chosen);
        }
        self.spent = level.node.spent;
        self.path.advance()
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.path.pick(pick, 0)
    }

    #[inline]
    fn executed(&mut self, step: &Step) {
        if let Some(at) = self.path.at().checked_sub(1) {
            self.path.level_mut(at).node.event = step.event;
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.path.end(ending);
        self.backtrack();
    }

    fn counts(&self) -> Counts {
        self.path.counts()
    }

    fn coverage(&self) -> Coverage {
        let whole = self.path.is_whole();
        match self.extent {
            Extent::Preemptions(bound) if whole => Coverage::Preemptions(bound),
            Extent::Delays(bound) if whole => Coverage::Delays(bound),
            Extent::Unpruned | Extent::SleepSets if whole => Coverage::All,
            _ => Coverage::Partial(self.counts().schedules),
        }
    }

    fn left(&self) -> Vec<Subtree> {
        let left = (!self.path.is_exhausted()).then(|| self.path.left(|node| [node.todo, node.asleep]));
        left.into_iter().collect()
    }

    fn estimate(&self) -> Option<Estimate> {
        // Sleep sets leave ever less to later siblings: taking them for alike is wrong by orders of magnitude.
        let alike = self.extent != Extent::SleepSets || self.path.is_exhausted();
        alike.then(|| self.path.estimate(|node| (node.tried, node.todo.len()))).flatten()
    }

    fn is_limited(&self) -> bool {
        self.limited
    }

    fn divergence(&self) -> Option<Divergence> {
        self.path.divergence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::{EventKind, Range};
    use model::pair::Rw;

    /// Two threads that can both always go on, for so many steps: every execution is one of 2^steps.
    #[test]
    fn of_a_tree_whose_subtrees_are_alike_the_estimate_is_exact_all_the_time() {
        let write = EventKind::Access { rw: Rw::Write, atomic: false };
        let event = Event { kind: write, range: Some(Range { address: 8, length: 4 }), object: None, site: None };
        let (enabled, pending) = ([ThreadId(0), ThreadId(1)].into_iter().collect(), [Some(event); 2]);
        let mut search = DepthFirst::new(Extent::Unpruned);
        let mut executions = 0;
        while search.begin() {
            let mut current = None;
            for _ in 0..10 {
                let Choice::Run(thread) = search.choose(&Point { current, enabled: &enabled, pending: &pending }) else {
                    panic!("no thread")
                };
                search.executed(&Step { thread, event });
                current = Some(thread);
            }
            search.end(&Ending { outcome: super::super::Outcome::Passed, pending: &[] });
            executions += 1;
            assert_eq!(search.estimate(), Some(Estimate::Schedules(1024)), "after {executions}");
        }
        assert_eq!(executions, 1024);
    }
}
