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
use model::report::Coverage;

use super::history::History;
use super::search::{waiting, wakes};
use crate::strategy::replay::{Divergence, What};
use crate::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};
use crate::threads::ThreadSet;

/// Partial order reduction within a bound.
#[derive(Debug)]
pub struct Bounded {
    bound: u32,
    nodes: Vec<Node>,
    history: History,
    /// How many nodes the current execution has gone through.
    at: usize,
    /// How many choices the current step has had.
    picked: usize,
    /// Those who waited on a condition before the current step, when that is a signal.
    waiting: ThreadSet,
    /// Conflicting steps of one step.
    rivals: Vec<usize>,
    astray: Option<Divergence>,
    limited: bool,
    /// Whether the engine left out what orders steps: then nothing is claimed.
    uncertain: bool,
    phase: Phase,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    Running,
    Exhausted,
}

/// A point of the current execution.
#[derive(Debug)]
struct Node {
    chosen: ThreadId,
    what: What,
    enabled: ThreadSet,
    /// Threads to try from here.
    todo: ThreadSet,
    /// Threads that were tried.
    done: ThreadSet,
    /// Threads whose step here is a preemption.
    costly: ThreadSet,
    /// What the steps before have used of the bound.
    spent: u32,
    /// Whether another thread could have gone on here for no more than the chosen one.
    switch: bool,
    /// Options taken in the step, and how many there were.
    picks: Vec<(u32, u32)>,
}

impl Node {
    fn plan(&mut self, thread: ThreadId) {
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
        Self {
            bound,
            nodes: Vec::new(),
            history: History::default(),
            at: 0,
            picked: 0,
            waiting: ThreadSet::EMPTY,
            rivals: Vec::new(),
            astray: None,
            limited: false,
            uncertain: false,
            phase: Phase::Ready,
            counts: Counts::default(),
        }
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let Some(chosen) = point.default_thread() else { return Choice::Abandon };
        let spent = self.nodes.last().map_or(0, |node| node.cost(node.chosen));
        let costly: ThreadSet = point.enabled.iter().filter(|&thread| point.preempts(thread)).collect();
        let what = point.event(chosen).map_or(What { kind: EventKind::Start.code(), site: None }, What::of);
        self.nodes.push(Node {
            chosen,
            what,
            enabled: *point.enabled,
            todo: ThreadSet::EMPTY,
            done: ThreadSet::one(chosen),
            costly,
            spent,
            switch: false,
            picks: Vec::new(),
        });
        self.go(point)
    }

    /// Goes on from the node at `at`.
    fn go(&mut self, point: &Point<'_>) -> Choice {
        let node = &mut self.nodes[self.at];
        let Some(&event) = point.event(node.chosen) else { return Choice::Diverged };
        if self.history.len() == self.at {
            node.what = What::of(&event);
            node.switch =
                point.current != Some(node.chosen) || !point.enabled.iter().any(|other| other != node.chosen && point.preempts(other));
            let thread = node.chosen;
            self.uncertain |= self.history.contradicts(thread, &event);
            self.history.rivals(thread, &event, &mut self.rivals);
            self.plan_at_rivals(thread);
            self.history.append(thread, event, &mut Vec::new());
        }
        if wakes(&event) {
            self.waiting = waiting(point.pending);
        }
        self.at += 1;
        self.picked = 0;
        Choice::Run(self.nodes[self.at - 1].chosen)
    }

    fn plan_at_rivals(&mut self, thread: ThreadId) {
        for rival in core::mem::take(&mut self.rivals) {
            self.plan(rival, thread);
        }
    }

    /// Plans a thread at a point, and at the conservative one before it.
    fn plan(&mut self, at: usize, thread: ThreadId) {
        self.nodes[at].plan(thread);
        if let Some(conservative) = self.nodes[..=at].iter().rposition(|node| node.switch) {
            self.nodes[conservative].plan(thread);
        }
    }

    /// Tells the history whom the last step woke, if it is new; who could have timed out instead is tried there.
    fn note_woken(&mut self, pending: &[Option<Event>]) {
        if self.at == 0 || self.history.len() != self.at || !wakes(self.history.step(self.at - 1).1) {
            return;
        }
        let woken = |thread: &ThreadId| {
            let event = pending.get(thread.index()).and_then(Option::as_ref);
            event.is_some_and(|event| event.kind == EventKind::WaitReacquire)
        };
        let woken: ThreadSet = self.waiting.iter().filter(woken).collect();
        self.history.set_woken(woken);
        for thread in woken.iter() {
            if self.nodes[self.at - 1].enabled.contains(thread) {
                self.plan(self.at - 1, thread);
            }
        }
    }

    /// What the end of an execution asks for.
    fn plan_at_end(&mut self, ending: &Ending<'_>) {
        for (thread, event) in (0..).map(ThreadId).zip(ending.pending) {
            let Some(event) = event else { continue };
            self.history.rivals(thread, event, &mut self.rivals);
            self.plan_at_rivals(thread);
            // A thread that could have gone on: the last step stopped it.
            if self.nodes.last().is_some_and(|last| last.enabled.contains(thread)) {
                self.plan(self.nodes.len() - 1, thread);
            }
        }
    }

    /// Moves to the next path; `false` when there is none.
    fn backtrack(&mut self) -> bool {
        while let Some(node) = self.nodes.last_mut() {
            while let Some((taken, options)) = node.picks.last_mut() {
                if *taken + 1 < *options {
                    *taken += 1;
                    self.history.truncate(self.nodes.len());
                    self.history.reopen_last();
                    return true;
                }
                node.picks.pop();
            }
            if let Some(thread) = node.next(self.bound, &mut self.limited) {
                node.chosen = thread;
                self.history.truncate(self.nodes.len() - 1);
                return true;
            }
            self.nodes.pop();
        }
        false
    }
}

impl Strategy for Bounded {
    fn name(&self) -> &'static str {
        "dpor"
    }

    fn begin(&mut self) -> bool {
        if self.phase != Phase::Ready {
            return false;
        }
        self.phase = Phase::Running;
        self.at = 0;
        self.astray = None;
        true
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if self.astray.is_some() {
            return Choice::Diverged;
        }
        self.note_woken(point.pending);
        let Some(node) = self.nodes.get(self.at) else { return self.extend(point) };
        // The step at the deepest node is new: what it does is known only now.
        let known = self.history.len() > self.at;
        match point.event(node.chosen) {
            Some(event) if point.enabled.contains(node.chosen) && (!known || What::of(event) == node.what) => self.go(point),
            _ => {
                self.astray = Some(Divergence::at(self.at as u64, node.chosen, known.then_some(node.what), point));
                Choice::Diverged
            }
        }
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let options = pick.options().max(1);
        let Some(node) = self.at.checked_sub(1).and_then(|at| self.nodes.get_mut(at)) else { return 0 };
        if self.picked == node.picks.len() {
            node.picks.push((0, options));
        }
        let (taken, before) = node.picks[self.picked];
        self.picked += 1;
        if before != options {
            let expected = Some(node.what);
            self.astray = Some(Divergence { step: self.at as u64 - 1, thread: node.chosen, expected, found: expected, enabled: true });
        }
        taken.min(options - 1)
    }

    fn executed(&mut self, _step: &Step) {}

    fn released(&mut self, _thread: ThreadId, lock: u64, left: Option<Mode>) {
        if self.history.len() == self.at {
            self.history.add_released(lock, left);
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        let outcome = if self.astray.is_some() { Outcome::Diverged } else { ending.outcome };
        self.counts.add(outcome);
        self.nodes.truncate(self.at);
        self.history.truncate(self.at);
        if outcome != Outcome::Diverged {
            self.note_woken(ending.pending);
            self.plan_at_end(ending);
        }
        self.phase = if self.backtrack() { Phase::Ready } else { Phase::Exhausted };
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        if self.phase != Phase::Exhausted || self.uncertain || self.counts.cut > 0 || self.counts.diverged > 0 {
            Coverage::Partial(self.counts.schedules)
        } else if self.limited {
            Coverage::Preemptions(self.bound)
        } else {
            Coverage::All
        }
    }

    fn divergence(&self) -> Option<Divergence> {
        self.astray
    }
}
