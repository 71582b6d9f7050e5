//! The path of a depth-first search: the steps of the current execution, first those to repeat, then those that were added.
//!
//! It is all that such a search keeps: each execution repeats the path up to the deepest level that has an alternative left and
//! takes that. What the alternatives are, and which steps are added, the searches say; this is what they have in common:
//! following the path, noticing that an execution leaves it, going through all options within steps, and going back.
//! Levels that were cut off are used again, so nothing is allocated once the path has had its greatest length.

use alloc::vec::Vec;

use model::event::Event;
use model::ids::ThreadId;
use model::report::Estimate;

use super::replay::{Divergence, What};
use super::subtree::{Repeat, Subtree};
use super::{Choice, Counts, Ending, Outcome, Pick, Point};
use crate::threads::ThreadSet;

/// A choice within a step: all options are taken, beginning with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Picked {
    pub(super) first: u32,
    pub(super) taken: u32,
    pub(super) options: u32,
}

/// A point of the current execution.
#[derive(Debug)]
pub(super) struct Level<N> {
    /// The thread that goes on from here.
    pub(super) chosen: ThreadId,
    /// What it is about to do; `None` while that is not known, because it is a new alternative.
    pub(super) what: Option<What>,
    /// Choices within the step.
    pub(super) picks: Vec<Picked>,
    /// What the search keeps here.
    pub(super) node: N,
}

/// Where the path leads from a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// Nowhere: it ends here.
    Beyond,
    /// On with the step at this level.
    On(usize),
    /// On with a step that a subtree begins with.
    Again(Repeat),
    /// The execution has left it.
    Astray,
}

/// The deepest alternative that was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn<R> {
    /// Another option within the last step.
    Pick,
    /// Another step, as the search says.
    Step(R),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    Running,
    Exhausted,
}

/// The path of the current execution.
#[derive(Debug)]
pub(super) struct Path<N> {
    /// The first `length` of them are the path. Those after them were cut off, and are used again.
    levels: Vec<Level<N>>,
    length: usize,
    /// What the first execution begins with.
    start: Vec<Repeat>,
    /// Levels below this one are not gone back to.
    floor: usize,
    /// How many levels the current execution has gone through.
    at: usize,
    /// How many choices the current step has had.
    picked: usize,
    astray: Option<Divergence>,
    phase: Phase,
    counts: Counts,
}

impl<N> Default for Path<N> {
    fn default() -> Self {
        let (levels, start) = (Vec::new(), Vec::new());
        Self { levels, length: 0, start, floor: 0, at: 0, picked: 0, astray: None, phase: Phase::Ready, counts: Counts::default() }
    }
}

impl<N> Path<N> {
    /// A path that begins as a subtree does, and turns to what is left to try in it.
    pub(super) fn within(subtree: Subtree) -> Self {
        Self { start: subtree.steps, ..Self::default() }
    }

    /// A path that begins as a subtree does, and turns to nothing else on the way.
    pub(super) fn below(subtree: Subtree) -> Self {
        Self::above(subtree.steps.len(), subtree)
    }

    /// A path that begins as a subtree does, and turns to something else from this level on.
    pub(super) fn above(floor: usize, subtree: Subtree) -> Self {
        Self { floor, ..Self::within(subtree) }
    }

    /// An execution begins; `false` when none is left.
    pub(super) fn begin(&mut self) -> bool {
        if self.phase != Phase::Ready {
            return false;
        }
        self.phase = Phase::Running;
        self.at = 0;
        self.picked = 0;
        self.astray = None;
        true
    }

    /// Where the path leads from this point.
    #[inline]
    pub(super) fn follow(&mut self, point: &Point<'_>) -> Follow {
        if self.astray.is_some() {
            return Follow::Astray;
        }
        let (thread, expected) = match (self.levels().get(self.at), self.start.get(self.at)) {
            (Some(level), _) => (level.chosen, level.what),
            (None, Some(step)) => (step.thread, step.what),
            (None, None) => return Follow::Beyond,
        };
        let event = point.event(thread).filter(|_| point.enabled.contains(thread));
        if event.is_none_or(|event| expected.is_some_and(|what| what != What::of(event))) {
            self.astray = Some(Divergence::at(self.at as u64, thread, expected, point));
            return Follow::Astray;
        }
        match self.start.get(self.at) {
            Some(step) if self.at == self.length => Follow::Again(step.clone()),
            _ => Follow::On(self.at),
        }
    }

    /// What was kept at the level that the next step gets, if that was cut off: its memory is used again.
    pub(super) fn recycle(&mut self) -> Option<&mut N> {
        self.levels.get_mut(self.length).map(|level| &mut level.node)
    }

    /// Adds a step at the end.
    #[inline]
    pub(super) fn push(&mut self, chosen: ThreadId, event: &Event, node: N) {
        let what = Some(What::of(event));
        match self.levels.get_mut(self.length) {
            Some(level) => {
                level.picks.clear();
                (level.chosen, level.what, level.node) = (chosen, what, node);
            }
            None => self.levels.push(Level { chosen, what, picks: Vec::new(), node }),
        }
        self.length += 1;
    }

    /// Adds a step that a subtree begins with.
    pub(super) fn push_again(&mut self, step: Repeat, event: &Event, node: N) {
        self.push(step.thread, event, node);
        self.levels[self.length - 1].picks = step.picks;
    }

    /// So many first steps were taken, which were not asked for.
    pub(super) fn skip(&mut self, steps: usize) {
        (self.at, self.picked) = (steps, 0);
    }

    /// Takes the step of the current level.
    #[inline]
    pub(super) fn advance(&mut self) -> Choice {
        let chosen = self.levels[self.at].chosen;
        self.at += 1;
        self.picked = 0;
        Choice::Run(chosen)
    }

    /// Which option the path has here; a choice that is new begins with `first`.
    pub(super) fn pick(&mut self, pick: &Pick<'_>, first: u32) -> u32 {
        let options = pick.options().max(1);
        let Some(level) = self.at.checked_sub(1).and_then(|at| self.levels[..self.length].get_mut(at)) else { return 0 };
        if self.picked == level.picks.len() {
            let first = first.min(options - 1);
            level.picks.push(Picked { first, taken: first, options });
        }
        let picked = level.picks[self.picked];
        self.picked += 1;
        if picked.options != options {
            let (thread, expected) = (level.chosen, level.what);
            self.astray = Some(Divergence { step: self.at as u64 - 1, thread, expected, found: expected, enabled: true });
        }
        picked.taken.min(options - 1)
    }

    /// Counts the execution, and cuts off what it did not reach, as can only be when it left the path.
    pub(super) fn end(&mut self, ending: &Ending<'_>) -> Outcome {
        // An execution that ended before the subtree began is none of it.
        let early = self.length < core::mem::take(&mut self.start).len();
        let outcome = if self.astray.is_some() || early { Outcome::Diverged } else { ending.outcome };
        self.counts.add(outcome);
        self.length = self.length.min(self.at);
        outcome
    }

    /// Goes back to the deepest level that has an alternative left and takes that. `next` makes another thread the chosen one of a
    /// level, of this number; `None` when no other is left there. `None` when no level has any: the search is over.
    pub(super) fn backtrack<R>(&mut self, mut next: impl FnMut(usize, &mut Level<N>) -> Option<R>) -> Option<Turn<R>> {
        self.phase = Phase::Ready;
        while self.length > self.floor {
            let at = self.length - 1;
            let level = &mut self.levels[at];
            while let Some(pick) = level.picks.last_mut() {
                pick.taken = (pick.taken + 1) % pick.options;
                if pick.taken != pick.first {
                    return Some(Turn::Pick);
                }
                level.picks.pop();
            }
            if let Some(turn) = next(at, level) {
                return Some(Turn::Step(turn));
            }
            self.length = at;
        }
        self.phase = Phase::Exhausted;
        None
    }

    /// The level with this number.
    #[inline]
    pub(super) fn level(&self, at: usize) -> &Level<N> {
        &self.levels()[at]
    }

    /// The level with this number, to change.
    #[inline]
    pub(super) fn level_mut(&mut self, at: usize) -> &mut Level<N> {
        &mut self.levels[..self.length][at]
    }

    /// Whether this level is one that is gone back to.
    pub(super) fn is_open(&self, at: usize) -> bool {
        at >= self.floor
    }

    /// All levels.
    pub(super) fn levels(&self) -> &[Level<N>] {
        &self.levels[..self.length]
    }

    /// The deepest level.
    #[inline]
    pub(super) fn deepest(&self) -> Option<&Level<N>> {
        self.levels().last()
    }

    /// How many levels the current execution has gone through.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many choices the current step has had.
    pub(super) fn picked(&self) -> usize {
        self.picked
    }

    /// The subtree that is left: the path, with what a search keeps at each level; before the first execution, all that it was given.
    pub(super) fn left(&self, mut kept: impl FnMut(&N) -> [ThreadSet; 2]) -> Subtree {
        let step = |level: &Level<N>| {
            let [todo, asleep] = kept(&level.node);
            Repeat { todo, asleep, picks: level.picks.clone(), ..Repeat::of(level.chosen, level.what) }
        };
        let given = self.start.iter().skip(self.length).cloned();
        Subtree { steps: self.levels().iter().map(step).chain(given).collect(), ..Subtree::default() }
    }

    /// How many schedules there are in all, if those before the path are like those after it (the weighted backtrack estimator of
    /// Kilby, Slaney, Thiébaux and Walsh, AAAI 2006): as many as there were, by the share of the tree that they are when at each level
    /// all alternatives count the same. `alternatives` of a level: how many threads were tried before the current one, and how many are
    /// left. Exact at the end, and all the time where all subtrees of a level are alike. `None` at the beginning.
    pub(super) fn estimate(&self, alternatives: impl Fn(&N) -> (u32, u32)) -> Option<Estimate> {
        let (mut explored, mut here) = (0.0, 1.0);
        let mut turn = |before: u32, all: u32| {
            explored += here * f64::from(before) / f64::from(all);
            here /= f64::from(all);
        };
        for level in self.levels() {
            let (before, left) = alternatives(&level.node);
            turn(before, before + 1 + left);
            for pick in &level.picks {
                turn((pick.taken + pick.options - pick.first) % pick.options, pick.options);
            }
        }
        let share = if self.is_exhausted() { 1.0 } else { explored };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let schedules = self.counts.schedules as f64;
        (share > 0.0).then(|| Estimate::of_schedules(schedules / share))
    }

    /// Where the current execution has left the path.
    pub(super) fn divergence(&self) -> Option<Divergence> {
        self.astray
    }

    /// Levels below this one are not gone back to.
    pub(super) fn floor(&self) -> usize {
        self.floor
    }

    /// Whether no execution is left.
    pub(super) fn is_exhausted(&self) -> bool {
        self.phase == Phase::Exhausted
    }

    /// The executions so far.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether every execution that was wanted was run to an end of its own.
    pub(super) fn is_whole(&self) -> bool {
        self.is_exhausted() && self.counts.cut == 0 && self.counts.diverged == 0
    }
}
