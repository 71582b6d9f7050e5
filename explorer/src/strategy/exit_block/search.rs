//! The search over orders of blocks: depth first, by a stack of branches, each of which begins with some of the blocks of the
//! execution before.
//!
//! Exact counts depend on who is chosen: the thread of the block before while it can go on, else whoever became able to first.
//! So the enabled threads are a list, not a set.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use model::event::{Event, EventKind, Range};
use model::ids::ThreadId;
use model::pair::Mode;
use model::report::Coverage;

use super::Variant;
use super::block::{self, Touched};
use super::discipline::Discipline;
use super::locks::{self, Link, Lock, Locks};
use super::state::{Attempt, Block, Branch, Directed, Job, Running};
use crate::dependence::dependent;
use crate::strategy::replay::Divergence;
use crate::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};

/// How often a lock cycle that did not show is tried again in another execution.
const TRIES: u32 = 16;

/// The search.
#[derive(Debug)]
pub struct ExitBlock {
    variant: Variant,
    /// The blocks of the current execution that are over.
    path: Vec<Block>,
    /// How many of them are repeated.
    base: usize,
    /// How many of these are over, and with how many steps.
    repeated: (usize, usize),
    /// Branches to take, the next one last.
    stack: Vec<Branch>,
    /// The branch to go on with, after an execution ran into a taken lock: the same path still.
    again: Option<Branch>,
    /// Lock cycles to be led into.
    cycles: VecDeque<Directed>,
    /// By who waits for what: how often a cycle was tried. Not tried again when it has shown.
    tried: BTreeMap<Vec<(ThreadId, Lock)>, u32>,
    /// What the current execution follows.
    job: Job,
    /// Who can go on from here.
    state: Branch,
    /// The same, where the current block began.
    start: Branch,
    current: Option<Running>,
    /// Steps of the current execution, with the options taken.
    steps: Vec<(ThreadId, Vec<u32>)>,
    /// Options taken in the step that is being performed.
    picked: Vec<u32>,
    locks: Locks,
    discipline: Discipline,
    begun: bool,
    astray: Option<Divergence>,
    /// Whether something happened that orders of blocks do not cover.
    outside: bool,
    paths: u64,
    counts: Counts,
}

impl ExitBlock {
    /// A search from the start.
    #[must_use]
    pub fn new(variant: Variant) -> Self {
        Self {
            variant,
            path: Vec::new(),
            base: 0,
            repeated: (0, 0),
            stack: alloc::vec![Branch { enabled: alloc::vec![ThreadId(0)], ..Branch::default() }],
            again: None,
            cycles: VecDeque::new(),
            tried: BTreeMap::new(),
            job: Job::Orders,
            state: Branch::default(),
            start: Branch::default(),
            current: None,
            steps: Vec::new(),
            picked: Vec::new(),
            locks: Locks::default(),
            discipline: Discipline::default(),
            begun: false,
            astray: None,
            outside: false,
            paths: 0,
            counts: Counts::default(),
        }
    }

    /// How many orders of blocks were run, those that were cut short as covered by others included.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// Whether shared memory was accessed under locks so far, and nothing else orders threads.
    #[must_use]
    pub fn is_disciplined(&self) -> bool {
        !self.outside && !self.discipline.is_broken()
    }

    /// Who goes on at the border of two blocks.
    fn select(&mut self, point: &Point<'_>) -> Choice {
        loop {
            let state = &mut self.state;
            let preferred = state.preferred.filter(|thread| state.enabled.contains(thread));
            let Some(thread) = preferred.or_else(|| state.enabled.first().copied()) else {
                // Those who are known to be stuck go on as far as they can: that is a deadlock, and is to be seen.
                let stuck = state.delayed.is_empty().then(|| point.default_thread()).flatten();
                return stuck.map_or(Choice::Abandon, Choice::Run);
            };
            state.preferred = Some(thread);
            if point.enabled.contains(thread) {
                self.start = Branch { base: self.path.len(), ..state.clone() };
                self.current = Some(Running::new(thread, self.locks.held(thread).collect()));
                return Choice::Run(thread);
            }
            let Some(&event) = point.event(thread) else { return Choice::Diverged };
            let takes = locks::taken(&event).into_iter().collect();
            self.block(Attempt { thread, takes, events: alloc::vec![event], steps: 0 });
        }
    }

    /// A thread does not get to its next exit.
    fn block(&mut self, attempt: Attempt) {
        self.outside |= attempt.events.iter().any(|event| !block::is_covered(event.kind));
        self.look_for_cycle(&attempt);
        self.state.enabled.retain(|&thread| thread != attempt.thread);
        self.state.preferred = None;
        self.state.blocked.push(attempt);
    }

    /// The current block has run into something that is not possible: the execution is given up and the block undone.
    fn undo(&mut self, running: Running, event: Event) -> Choice {
        let Running { thread, mut events, mut takes, steps, .. } = running;
        block::add(&mut events, event);
        // Others find the locks of an undone block free. If it waits for what no lock gives, it holds them for as long as that takes.
        self.outside |= locks::taken(&event).is_none() && !takes.is_empty();
        takes.extend(locks::taken(&event));
        self.steps.truncate(self.steps.len() - steps);
        self.state = self.start.clone();
        self.state.picks.clear();
        self.block(Attempt { thread, takes, events, steps });
        self.again = Some(Branch { base: self.path.len(), ..self.state.clone() });
        Choice::Abandon
    }

    /// The current block is over: what else could have been done in its place is noted, and who can go on after it.
    fn finish(&mut self, running: Running, pending: &[Option<Event>]) {
        let Running { thread, held, steps, mut events, picks, options, created, exit, last, .. } = running;
        if self.variant.prunes() {
            let outer: Vec<Lock> = held.into_iter().chain(self.locks.held(thread)).collect();
            block::soften(&mut events, &outer);
        }
        let released = exit.unwrap_or_default();
        let repeated = !self.start.picks.is_empty();
        self.push_other_picks(thread, &picks, &options);
        self.path.push(Block { thread, steps, picks });
        let state = &mut self.state;
        state.picks.clear();
        state.enabled.extend(created);
        let waits = |thread: ThreadId| pending.get(thread.index()).and_then(Option::as_ref);
        let gone = waits(thread).is_none_or(|event| event.kind == EventKind::Waiting);
        // The end of the initial thread is no exit: nobody waits for it.
        if last == Some(EventKind::Exit) && thread == ThreadId(0) {
            state.enabled.retain(|&other| other != thread);
            state.preferred = None;
            return;
        }
        if !repeated {
            self.push_delayed(thread, Touched::Events(events.clone()));
        }
        let state = &mut self.state;
        if gone {
            state.enabled.retain(|&other| other != thread);
            state.preferred = None;
        }
        let variant = self.variant;
        let (awake, asleep) =
            core::mem::take(&mut state.delayed).into_iter().partition(|(_, touched)| !variant.prunes() || block::meet(touched, &events));
        state.delayed = asleep;
        let awake: Vec<(ThreadId, Touched)> = awake;
        state.enabled.extend(awake.into_iter().map(|(thread, _)| thread));
        self.wake(pending);
        self.unblock(&released, &events);
        for attempt in self.state.blocked.clone() {
            self.look_for_cycle(&attempt);
        }
    }

    /// The other options of the last pick that has any left.
    fn push_other_picks(&mut self, thread: ThreadId, picks: &[u32], options: &[u32]) {
        let first = self.start.picks.len().saturating_sub(1);
        for at in first..picks.len() {
            if picks[at] + 1 < options[at] {
                let mut picks = picks[..=at].to_vec();
                picks[at] += 1;
                self.stack.push(Branch { picks, preferred: Some(thread), ..self.start.clone() });
            }
        }
    }

    /// The branch in which others go first.
    fn push_delayed(&mut self, thread: ThreadId, touched: Touched) {
        let mut branch = self.start.clone();
        branch.enabled.retain(|&other| other != thread);
        if !branch.enabled.is_empty() {
            branch.delayed.push((thread, touched));
            branch.preferred = None;
            branch.picks.clear();
            self.stack.push(branch);
        }
    }

    /// Threads that waited and were woken want their mutex again.
    fn wake(&mut self, pending: &[Option<Event>]) {
        for (thread, event) in (0..).map(ThreadId).zip(pending) {
            let state = &mut self.state;
            let known = state.enabled.contains(&thread)
                || state.delayed.iter().any(|(other, _)| *other == thread)
                || state.blocked.iter().any(|attempt| attempt.thread == thread);
            let Some(event) = event.filter(|event| !known && event.kind != EventKind::Waiting) else { continue };
            let Some(lock) = locks::taken(&event) else {
                state.enabled.push(thread);
                continue;
            };
            state.blocked.push(Attempt { thread, takes: alloc::vec![lock], events: alloc::vec![event], steps: 0 });
        }
    }

    /// Threads that could not go on can after a block that released what they lacked, or touched what they did before.
    fn unblock(&mut self, released: &[Lock], events: &[Event]) {
        let locks = &self.locks;
        let free = |attempt: &Attempt| {
            let lacked = attempt.takes.iter().find(|&&lock| locks.is_taken(lock, attempt.thread));
            let of_lock = attempt.events.last().is_some_and(|event| locks::taken(event).is_some());
            let released = attempt.takes.last().is_some_and(|lock| released.contains(lock));
            let touched = attempt.events.iter().any(|one| {
                let after = |other: &Event| matches!((one.kind, other.kind), (EventKind::Join { .. }, EventKind::Exit));
                events.iter().any(|other| after(other) || (!block::is_locking(one.kind) && dependent(one, other)))
            });
            touched || (of_lock && (released || lacked.is_none()))
        };
        let (free, stuck): (Vec<_>, Vec<_>) = core::mem::take(&mut self.state.blocked).into_iter().partition(free);
        self.state.blocked = stuck;
        self.state.enabled.extend(free.into_iter().map(|attempt| attempt.thread));
    }

    fn look_for_cycle(&mut self, attempt: &Attempt) {
        if !self.variant.analyzes() {
            return;
        }
        let Some((wanted, links)) = self.locks.cycle(attempt.thread, &attempt.takes) else { return };
        let mut key: Vec<(ThreadId, Lock)> = links.iter().map(|link| (link.thread, link.wants)).collect();
        key.push((attempt.thread, wanted));
        key.sort_unstable();
        let tries = self.tried.entry(key.clone()).or_default();
        if *tries < TRIES {
            *tries += 1;
            let held = |step: usize, thread: ThreadId| links.iter().any(|link: &Link| link.thread == thread && step >= link.before);
            let steps = self.steps.iter().enumerate().filter(|(at, step)| !held(*at, step.0)).map(|(_, step)| step.clone());
            self.cycles.push_back(Directed { steps: steps.collect(), at: 0, last: attempt.thread, left: attempt.steps, key });
        }
    }

    /// The block of the path that the next step repeats.
    fn repeating(&mut self) -> Option<usize> {
        let (at, end) = &mut self.repeated;
        while *at < self.base && self.steps.len() >= *end + self.path[*at].steps {
            *end += self.path[*at].steps;
            *at += 1;
        }
        (*at < self.base).then_some(*at)
    }

    fn repeat(&mut self, point: &Point<'_>) -> Option<Choice> {
        let thread = self.repeating().map(|at| self.path[at].thread)?;
        if point.enabled.contains(thread) {
            return Some(Choice::Run(thread));
        }
        self.astray = Some(Divergence::at(self.steps.len() as u64, thread, None, point));
        Some(Choice::Diverged)
    }

    /// The option that a repeated step took here.
    fn repeated_pick(&mut self) -> Option<u32> {
        let at = self.repeating()?;
        let before: usize = self.steps[self.repeated.1..].iter().map(|(_, picks)| picks.len()).sum();
        self.path[at].picks.get(before + self.picked.len()).copied()
    }
}

impl Strategy for ExitBlock {
    fn name(&self) -> &'static str {
        "exitblock"
    }

    fn begin(&mut self) -> bool {
        self.steps.clear();
        self.picked.clear();
        self.locks.clear();
        self.discipline.begin();
        self.current = None;
        self.astray = None;
        self.begun = true;
        let branch = match (self.again.take(), self.cycles.pop_front()) {
            (again, Some(cycle)) => {
                self.again = again;
                self.job = Job::Cycle(cycle);
                return true;
            }
            (Some(branch), None) => branch,
            (None, None) => {
                let Some(branch) = self.stack.pop() else { return false };
                self.paths += 1;
                branch
            }
        };
        self.job = Job::Orders;
        self.base = branch.base;
        self.repeated = (0, 0);
        self.path.truncate(branch.base);
        self.state = branch;
        true
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if let Job::Cycle(directed) = &mut self.job {
            return directed.choose(point);
        }
        if self.astray.is_some() {
            return Choice::Diverged;
        }
        if let Some(choice) = self.repeat(point) {
            return choice;
        }
        if let Some(running) = self.current.take_if(|running| running.exit.is_some()) {
            self.finish(running, point.pending);
        }
        if let Some(thread) = self.current.as_ref().map(|running| running.thread).filter(|&thread| point.enabled.contains(thread)) {
            return Choice::Run(thread);
        }
        match self.current.take() {
            None => self.select(point),
            Some(running) => point.event(running.thread).map_or(Choice::Diverged, |&event| self.undo(running, event)),
        }
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let options = pick.options().max(1);
        let taken = match &self.job {
            Job::Cycle(directed) => directed.at.checked_sub(1).and_then(|at| directed.steps.get(at)?.1.get(self.picked.len()).copied()),
            Job::Orders => match &self.current {
                Some(running) => self.start.picks.get(running.picks.len()).copied(),
                None => self.repeated_pick(),
            },
        };
        let taken = taken.unwrap_or(0).min(options - 1);
        if let Some(running) = &mut self.current {
            running.picks.push(taken);
            running.options.push(options);
        }
        self.picked.push(taken);
        taken
    }

    fn executed(&mut self, step: &Step) {
        let Step { thread, event } = *step;
        let at = self.steps.len();
        self.outside |= !block::is_covered(event.kind);
        self.discipline.perform(thread, &event, &self.locks);
        let released = self.locks.perform(thread, &event, at);
        self.steps.push((thread, core::mem::take(&mut self.picked)));
        let Some(running) = &mut self.current else { return };
        running.steps += 1;
        running.last = Some(event.kind);
        running.takes.extend(locks::taken(&event));
        block::add(&mut running.events, event);
        if let EventKind::Create { child } = event.kind {
            running.created.push(child);
        }
        if released.is_some() || block::is_exit(&event) {
            running.exit.get_or_insert_default().extend(released);
        }
    }

    fn released(&mut self, thread: ThreadId, lock: u64, left: Option<Mode>) {
        if left.is_none() {
            self.locks.release(thread, Lock(lock), u32::MAX);
        }
        if let Some(running) = &mut self.current {
            block::add(&mut running.events, block::unlock(Range { address: lock, length: 1 }));
            running.exit.get_or_insert_default().push(Lock(lock));
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        let outcome = if self.astray.is_some() { Outcome::Diverged } else { ending.outcome };
        // An execution that was undone is repeated without the thread that stood in the way: they are one path.
        if outcome != Outcome::Abandoned || self.again.is_none() {
            self.counts.add(outcome);
        }
        let others = |me: ThreadId| ending.pending.iter().enumerate().any(|(at, event)| at != me.index() && event.is_some());
        match (core::mem::replace(&mut self.job, Job::Orders), self.current.take()) {
            (Job::Cycle(directed), _) => {
                if outcome == Outcome::Failed {
                    self.tried.insert(directed.key, TRIES);
                }
            }
            (Job::Orders, Some(running)) if matches!(outcome, Outcome::Passed | Outcome::Failed | Outcome::Cut | Outcome::LeftOut) => {
                // Over in good order: nobody else is left, or nobody can go on.
                let stuck =
                    running.last == Some(EventKind::Exit) || ending.pending.get(running.thread.index()).is_some_and(Option::is_some);
                if running.exit.is_some() && (stuck || !others(running.thread)) {
                    self.finish(running, ending.pending);
                } else {
                    self.push_other_picks(running.thread, &running.picks, &running.options);
                    self.push_delayed(running.thread, Touched::Everything);
                }
            }
            (Job::Orders, _) => {}
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        let over = self.begun && self.stack.is_empty() && self.again.is_none() && self.cycles.is_empty();
        if over && self.is_disciplined() && self.counts.cut == 0 && self.counts.diverged == 0 {
            Coverage::Blocks
        } else {
            Coverage::Partial(self.counts.schedules)
        }
    }

    fn divergence(&self) -> Option<Divergence> {
        self.astray
    }
}
