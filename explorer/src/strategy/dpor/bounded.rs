//! Partial order reduction within a number of preemptions (BPOR: Coons, Musuvathi, McKinley, OOPSLA 2013).
//!
//! For every pair of steps in conflict that nothing else orders, the second one's thread is tried at the first one's point; and,
//! since that may be a preemption too many, also at the last point before it where a switch costs nothing more than the
//! execution spent: these are the *conservative points*. An equivalent schedule within the bound so stays within reach.
//! There are no sleep sets: below a bound they lose outcomes. Where a conflict's second step was not enabled, all threads
//! are tried.
//!
//! All conflicting steps count, not the last one of each thread: what is enabled where is not looked at more closely.
//! When the bound has kept nothing out, the search was complete without it.

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::history::History;
use super::waking::{Changed, Interrupted, waiting, woken};
use crate::dependence::wakes;
use crate::strategy::path::{Follow, Path};
use crate::strategy::replay::{Divergence, What};
use crate::strategy::subtree::{Repeat, Subtree};
use crate::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};
use crate::threads::ThreadSet;

/// Partial order reduction within a bound.
#[derive(Debug)]
pub struct Bounded {
    bound: u32,
    path: Path<Node>,
    /// What it was given.
    begins: Subtree,
    history: History,
    /// Those who waited on a condition before the current step, when that is a signal.
    waiting: ThreadSet,
    interrupted: Interrupted,
    /// Conflicting steps of one step.
    rivals: Vec<usize>,
    limited: bool,
    /// The level at which the current execution has begun to end the process: its thread alone goes on, with what `exit` runs.
    exit: Option<usize>,
    /// Whether the engine left out what orders steps: then nothing is claimed.
    uncertain: bool,
}

/// What is kept of a point of the current execution.
#[derive(Debug)]
struct Node {
    enabled: ThreadSet,
    /// Threads to try from here.
    todo: ThreadSet,
    /// Threads that were tried.
    done: ThreadSet,
    /// Threads whose step here is a preemption.
    costly: ThreadSet,
    /// Threads whose wait ends by itself here.
    timed: ThreadSet,
    /// What the steps before have used of the bound.
    spent: u32,
    /// Whether another thread could have gone on here for no more than the chosen one.
    switch: bool,
}

impl Node {
    /// Tries a thread here. Where that is a preemption, a wait that ends by itself may come in between: it costs as much by itself, so that two such switches
    /// in one place cost one, and leave the thread free to go on.
    fn plan(&mut self, thread: ThreadId) {
        if self.costly.contains(thread) {
            self.todo = self.todo.union(&self.timed);
        }
        if self.enabled.contains(thread) {
            self.todo.insert(thread);
        } else {
            self.todo = self.todo.union(&self.enabled);
        }
    }

    fn cost(&self, thread: ThreadId) -> u32 {
        self.spent + u32::from(self.costly.contains(thread))
    }

    /// The next thread to try within the bound.
    fn next(&mut self, bound: u32, limited: &mut bool) -> Option<ThreadId> {
        while let Some(thread) = self.todo.difference(&self.done).first() {
            self.done.insert(thread);
            if self.cost(thread) <= bound {
                return Some(thread);
            }
            *limited = true;
        }
        None
    }
}

impl Bounded {
    /// A search of all schedules with at most so many preemptions.
    #[must_use]
    pub fn new(bound: u32) -> Self {
        Self::below(bound, Subtree::default())
    }

    /// A search of what begins with a subtree's steps. Every thread that is within the bound at one of them must be explored by others.
    #[must_use]
    pub fn below(bound: u32, subtree: Subtree) -> Self {
        let (path, history) = (Path::below(subtree.clone()), History::default());
        Self {
            bound,
            path,
            begins: subtree,
            history,
            waiting: ThreadSet::EMPTY,
            interrupted: Interrupted::default(),
            rivals: Vec::new(),
            limited: false,
            exit: None,
            uncertain: false,
        }
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let Some(chosen) = point.default_thread() else { return Choice::Abandon };
        let Some(event) = point.event(chosen) else { return Choice::Diverged };
        self.path.push(chosen, event, self.node(point, chosen));
        self.go(point)
    }

    /// Goes on with a step that the subtree begins with.
    fn repeat(&mut self, point: &Point<'_>, step: Repeat) -> Choice {
        let Some(event) = point.event(step.thread) else { return Choice::Diverged };
        let node = self.node(point, step.thread);
        self.path.push_again(step, event, node);
        self.go(point)
    }

    fn node(&self, point: &Point<'_>, chosen: ThreadId) -> Node {
        let spent = self.path.deepest().map_or(0, |level| level.node.cost(level.chosen));
        let costly: ThreadSet = point.enabled.iter().filter(|&thread| point.preempts(thread)).collect();
        let ends = |thread: &ThreadId| point.event(*thread).is_some_and(|event| event.kind.is_timeout());
        let timed = point.enabled.iter().filter(ends).collect();
        let (todo, done) = (ThreadSet::EMPTY, ThreadSet::one(chosen));
        Node { enabled: *point.enabled, todo, done, costly, timed, spent, switch: false }
    }

    /// Goes on from the current level.
    fn go(&mut self, point: &Point<'_>) -> Choice {
        let at = self.path.at();
        let level = self.path.level_mut(at);
        let thread = level.chosen;
        let Some(&event) = point.event(thread) else { return Choice::Diverged };
        if self.history.len() == at {
            level.what = Some(What::of(&event));
            level.node.switch =
                point.current != Some(thread) || !point.enabled.iter().any(|other| other != thread && point.preempts(other));
            self.uncertain |= self.history.contradicts(thread, &event);
            self.history.rivals(thread, &event, &mut self.rivals);
            self.plan_at_rivals(thread);
            self.history.append(thread, &event, &mut Vec::new());
        }
        if wakes(&event) {
            self.waiting = waiting(point.pending);
        }
        self.interrupted.step(&event, point.pending);
        if event.kind == EventKind::ExitProcess {
            self.exit.get_or_insert(at);
        }
        self.path.advance()
    }

    fn plan_at_rivals(&mut self, thread: ThreadId) {
        for rival in core::mem::take(&mut self.rivals) {
            self.plan(rival, thread);
        }
    }

    /// Plans a thread at a point, and at the conservative one before it.
    fn plan(&mut self, at: usize, thread: ThreadId) {
        self.path.level_mut(at).node.plan(thread);
        if let Some(conservative) = self.path.levels()[..=at].iter().rposition(|level| level.node.switch) {
            self.path.level_mut(conservative).node.plan(thread);
        }
    }

    /// Tells the history whom the last step woke, if it is new; who could have timed out instead is tried there.
    fn note_woken(&mut self, pending: &[Option<Event>]) {
        let Some(last) = self.history.last_if_new(self.path.at()).filter(|&last| wakes(self.history.step(last).1)) else { return };
        let woken = woken(&self.waiting, pending);
        self.history.set_woken(woken);
        for thread in woken.iter() {
            if self.path.level(last).node.enabled.contains(thread) {
                self.plan(last, thread);
            }
        }
    }

    /// Plans those who could have seen to an interruption, had the last step not come, if that is new. Who was interrupted might have come
    /// before those who kept it waiting.
    fn note_interrupted(&mut self, pending: &[Option<Event>]) {
        let Some(Changed { freed, given_up }) = self.interrupted.changed(pending) else { return };
        let Some(last) = self.history.last_if_new(self.path.at()) else { return };
        for (thread, event) in given_up {
            self.history.rivals(thread, &event, &mut self.rivals);
            self.plan_at_rivals(thread);
        }
        for thread in freed.intersection(&self.path.level(last).node.enabled).iter() {
            self.plan(last, thread);
        }
    }

    /// What the end of an execution asks for.
    fn plan_at_end(&mut self, ending: &Ending<'_>) {
        for (thread, event) in (0..).map(ThreadId).zip(ending.pending) {
            let Some(event) = event else { continue };
            self.history.rivals(thread, event, &mut self.rivals);
            self.plan_at_rivals(thread);
            // A thread that could have gone on: the last step stopped it, or the one that began to end the process.
            let stopped = self.exit.or(self.path.levels().len().checked_sub(1));
            if let Some(at) = stopped.filter(|&at| self.path.level(at).node.enabled.contains(thread)) {
                self.plan(at, thread);
            }
        }
    }

    /// Moves to the next path.
    fn backtrack(&mut self) {
        let (bound, limited) = (self.bound, &mut self.limited);
        let turn = self.path.backtrack(|_, level| {
            level.chosen = level.node.next(bound, limited)?;
            level.what = None;
            Some(())
        });
        self.history.go_back(self.path.levels().len(), turn.as_ref());
    }
}

impl Strategy for Bounded {
    fn name(&self) -> &'static str {
        "dpor"
    }

    fn begin(&mut self) -> bool {
        self.exit = None;
        self.path.begin()
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.note_woken(point.pending);
        self.note_interrupted(point.pending);
        match self.path.follow(point) {
            Follow::On(_) => self.go(point),
            Follow::Beyond => self.extend(point),
            Follow::Again(step) => self.repeat(point, step),
            Follow::Astray => Choice::Diverged,
        }
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.path.pick(pick, 0)
    }

    fn executed(&mut self, _step: &Step) {}

    fn released(&mut self, _thread: ThreadId, lock: u64, left: Option<Mode>) {
        if self.history.len() == self.path.at() {
            self.history.add_released(lock, left);
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        let outcome = self.path.end(ending);
        self.history.truncate(self.path.at());
        if outcome != Outcome::Diverged {
            self.note_woken(ending.pending);
            self.note_interrupted(ending.pending);
            self.plan_at_end(ending);
        }
        self.backtrack();
    }

    fn counts(&self) -> Counts {
        self.path.counts()
    }

    fn coverage(&self) -> Coverage {
        if !self.path.is_whole() || self.uncertain {
            Coverage::Partial(self.counts().schedules)
        } else if self.limited {
            Coverage::Preemptions(self.bound)
        } else {
            Coverage::All
        }
    }

    fn left(&self) -> Vec<Subtree> {
        let left = (!self.path.is_exhausted()).then(|| self.begins.clone());
        left.into_iter().collect()
    }

    /// Of what is planned: more will be.
    fn estimate(&self) -> Option<Estimate> {
        self.path.estimate(|node| (node.done.len().saturating_sub(1), node.todo.difference(&node.done).len()))
    }

    fn is_limited(&self) -> bool {
        self.limited
    }

    fn divergence(&self) -> Option<Divergence> {
        self.path.divergence()
    }
}
