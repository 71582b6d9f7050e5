//! The search itself: the path of the current execution, with what sleeps and what is planned at each point.

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Mode;
use model::report::Coverage;

use super::history::{History, Race, Remedy, Second};
use super::holds::wanted;
use super::wakeup::{Branch, Insertion, Picked, Planned, Seen, insert, is_weak_initial};
use crate::dependence::dependent;
use crate::strategy::replay::{Divergence, What};
use crate::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};
use crate::threads::ThreadSet;

/// Optimal dynamic partial order reduction.
#[derive(Debug, Default)]
pub struct Dpor {
    /// The path of the current execution, a node a step. The history has the same steps.
    nodes: Vec<Node>,
    /// Nodes that were cut off: their memory is used again.
    spare: Vec<Node>,
    history: History,
    /// Races of the current execution that the one before did not have.
    races: Vec<Race>,
    /// Memory for the steps of a sequence.
    kept: Vec<usize>,
    /// How many nodes the current execution has gone through.
    at: usize,
    /// What is planned after the deepest node.
    guide: Vec<Branch>,
    /// The options planned for the step at the deepest node.
    guided_picks: Vec<u32>,
    /// How many choices the current step has had.
    picked: usize,
    /// Those who waited on a condition before the current step, when that is a signal.
    waiting: ThreadSet,
    astray: Option<Divergence>,
    phase: Phase,
    /// Whether the engine left out what orders steps: then nothing is claimed.
    uncertain: bool,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Ready,
    Running,
    Exhausted,
}

/// A point of the current execution.
#[derive(Debug)]
struct Node {
    /// The thread that goes on from here.
    chosen: ThreadId,
    /// What it is about to do.
    event: Event,
    /// Threads that were explored from here, or whose next step is covered elsewhere.
    asleep: ThreadSet,
    /// Of these: those whose step ends the execution, so that nothing was explored after it.
    deadly: ThreadSet,
    /// What each enabled thread is about to do.
    events: Vec<(ThreadId, Event)>,
    /// What is planned from here, after what is being explored.
    planned: Vec<Branch>,
    /// Choices within the step.
    picks: Vec<Picked>,
}

impl Node {
    fn event_of(&self, thread: ThreadId) -> Option<&Event> {
        self.events.iter().find(|(other, _)| *other == thread).map(|(_, event)| event)
    }

    /// Plans a thread's step, whatever comes after it.
    fn plan_alone(&mut self, thread: ThreadId, event: Event) {
        let known = thread == self.chosen || self.asleep.contains(thread) || self.planned.iter().any(|branch| branch.step.thread == thread);
        if !known {
            self.planned.push(Branch { step: Planned { thread, event, picks: Vec::new(), released: Vec::new() }, children: Vec::new() });
        }
    }

    /// Plans every order.
    fn expand(&mut self) {
        for at in 0..self.events.len() {
            let (thread, event) = self.events[at];
            self.plan_alone(thread, event);
        }
    }

    /// The next planned step, which becomes the one that is explored, and what is planned after it.
    fn next_planned(&mut self) -> Option<Branch> {
        self.asleep.insert(self.chosen);
        while !self.planned.is_empty() {
            let branch = self.planned.remove(0);
            if self.asleep.contains(branch.step.thread) {
                continue;
            }
            if let Some(&event) = self.event_of(branch.step.thread) {
                self.chosen = branch.step.thread;
                self.event = event;
                self.picks.clear();
                return Some(branch);
            }
        }
        None
    }
}

impl Dpor {
    /// A search from the start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let asleep = self.inherited_sleep(point);
        let mut planned = core::mem::take(&mut self.guide);
        self.guided_picks.clear();
        let chosen = if planned.is_empty() {
            let awake = point.enabled.difference(&asleep);
            let Some(chosen) = point.default_thread().filter(|&thread| awake.contains(thread)).or_else(|| awake.first()) else {
                return Choice::Abandon;
            };
            chosen
        } else {
            // A plan may turn out not to be possible: whether its last step is enabled was not always known.
            let Some(possible) = planned.iter().position(|branch| point.enabled.contains(branch.step.thread)) else {
                return Choice::Abandon;
            };
            let branch = planned.drain(..=possible).next_back();
            let Some(Branch { step, children }) = branch else { return Choice::Abandon };
            self.guide = children;
            self.guided_picks = step.picks;
            step.thread
        };
        let Some(&event) = point.event(chosen) else { return Choice::Diverged };
        let mut node = self.spare.pop().unwrap_or_else(|| Node {
            chosen,
            event,
            asleep,
            deadly: ThreadSet::EMPTY,
            events: Vec::new(),
            planned: Vec::new(),
            picks: Vec::new(),
        });
        node.chosen = chosen;
        node.event = event;
        node.asleep = asleep;
        node.deadly = self.nodes.last().map_or(ThreadSet::EMPTY, |parent| parent.deadly.intersection(&asleep));
        node.events.clear();
        node.events.extend(point.enabled.iter().filter_map(|thread| Some((thread, *point.event(thread)?))));
        node.planned = planned;
        node.picks.clear();
        self.nodes.push(node);
        self.go(point)
    }

    /// Goes on from the node at `at`.
    fn go(&mut self, point: &Point<'_>) -> Choice {
        let node = &self.nodes[self.at];
        if self.history.len() == self.at {
            self.uncertain |= self.history.contradicts(node.chosen, &node.event);
            self.history.append(node.chosen, node.event, &mut self.races);
        }
        if wakes(&node.event) {
            self.waiting = waiting(point.pending);
        }
        self.at += 1;
        self.picked = 0;
        Choice::Run(node.chosen)
    }

    fn inherited_sleep(&self, point: &Point<'_>) -> ThreadSet {
        let Some(parent) = self.nodes.last().filter(|parent| !parent.asleep.is_empty()) else { return ThreadSet::EMPTY };
        let sleeps_on = |thread: &ThreadId| {
            let independent = parent.event_of(*thread).is_some_and(|event| !dependent(event, &parent.event));
            independent && *thread != parent.chosen && point.enabled.contains(*thread)
        };
        parent.asleep.iter().filter(sleeps_on).collect()
    }

    /// Tells the history whom the last step woke, if it is new.
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
        // A waiter that could have timed out instead cannot any more: no later step tells of it.
        let node = &mut self.nodes[self.at - 1];
        for thread in woken.iter() {
            if let Some(&event) = node.event_of(thread) {
                node.plan_alone(thread, event);
            }
        }
    }

    /// Plans what the new races of the current execution ask for.
    fn plan(&mut self, ending: &Ending<'_>) {
        for (thread, event) in (0..).map(ThreadId).zip(ending.pending) {
            let Some(event) = event else { continue };
            if wanted(event).is_some() || matches!(event.kind, EventKind::SemWait | EventKind::OnceEnter) {
                self.history.pending(thread, *event, &mut self.races);
            }
        }
        for race in core::mem::take(&mut self.races) {
            let planned = race.remedy != Remedy::Expand && self.plan_sequence(&race) != Insertion::Unplannable;
            if !planned {
                self.nodes[race.first].expand();
            }
        }
        if ending.outcome == Outcome::Abandoned {
            return;
        }
        // Threads that could have gone on when the execution ended: the last step stopped them.
        if let Some(last) = self.nodes.last_mut() {
            for at in 0..last.events.len() {
                let (thread, event) = last.events[at];
                if thread != last.chosen && ending.pending.get(thread.index()).is_some_and(Option::is_some) {
                    last.plan_alone(thread, event);
                    last.deadly.insert(last.chosen);
                }
            }
        }
    }

    fn plan_sequence(&mut self, race: &Race) -> Insertion {
        let mut kept = core::mem::take(&mut self.kept);
        self.history.independent_of(race, &mut kept);
        // Apart from the nodes that the sequence is seen through.
        let mut planned = core::mem::take(&mut self.nodes[race.first].planned);
        let step = |at: usize| {
            let (thread, event) = self.history.step(at);
            Seen { thread, event, picks: &self.nodes[at].picks, released: self.history.released(at) }
        };
        let second = match &race.second {
            Second::At(at) => step(*at),
            Second::Pending(thread, event) => Seen { thread: *thread, event, picks: &[], released: &[] },
        };
        let mut sequence: Vec<Seen<'_>> = kept.iter().map(|&at| step(at)).chain([second]).collect();
        let node = &self.nodes[race.first];
        // What a sleeping thread's step ended was not explored after it, so it covers nothing that goes on without it.
        let barren = |thread| node.deadly.contains(thread) && sequence.iter().all(|step| step.thread != thread);
        let covered = |thread| !barren(thread) && node.event_of(thread).is_some_and(|event| is_weak_initial(thread, event, &sequence));
        let insertion = if node.asleep.iter().any(covered) { Insertion::Covered } else { insert(&mut planned, &mut sequence) };
        self.nodes[race.first].planned = planned;
        self.kept = kept;
        insertion
    }

    /// Moves to the next path; `false` when there is none.
    fn backtrack(&mut self) -> bool {
        while let Some(node) = self.nodes.last_mut() {
            while let Some(pick) = node.picks.last_mut() {
                let next = (pick.taken + 1) % pick.options;
                if next != pick.first {
                    pick.taken = next;
                    self.guide.clear();
                    self.history.truncate(self.nodes.len());
                    self.history.reopen_last();
                    return true;
                }
                node.picks.pop();
            }
            if let Some(branch) = node.next_planned() {
                self.guide = branch.children;
                self.guided_picks = branch.step.picks;
                self.history.truncate(self.nodes.len() - 1);
                return true;
            }
            self.spare.extend(self.nodes.pop());
        }
        false
    }
}

pub(super) fn wakes(event: &Event) -> bool {
    matches!(event.kind, EventKind::Signal | EventKind::Broadcast)
}

pub(super) fn waiting(pending: &[Option<Event>]) -> ThreadSet {
    let waits = |event: &Event| matches!(event.kind, EventKind::Waiting | EventKind::WaitTimeout | EventKind::WaitSpurious);
    (0..).map(ThreadId).zip(pending).filter(|(_, event)| event.as_ref().is_some_and(waits)).map(|(thread, _)| thread).collect()
}

impl Strategy for Dpor {
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
        self.races.clear();
        true
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if self.astray.is_some() {
            return Choice::Diverged;
        }
        self.note_woken(point.pending);
        let Some(node) = self.nodes.get_mut(self.at) else { return self.extend(point) };
        match point.event(node.chosen) {
            Some(event) if point.enabled.contains(node.chosen) && What::of(event) == What::of(&node.event) => self.go(point),
            _ => {
                self.astray = Some(Divergence::at(self.at as u64, node.chosen, Some(What::of(&node.event)), point));
                Choice::Diverged
            }
        }
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let options = pick.options().max(1);
        let Some(node) = self.at.checked_sub(1).and_then(|at| self.nodes.get_mut(at)) else { return 0 };
        let known = node.picks.get(self.picked).copied();
        let picked = known.unwrap_or_else(|| {
            let first = self.guided_picks.get(self.picked).copied().unwrap_or(0).min(options - 1);
            node.picks.push(Picked { first, taken: first, options });
            Picked { first, taken: first, options }
        });
        self.picked += 1;
        if picked.options != options {
            let expected = Some(What::of(&node.event));
            self.astray = Some(Divergence { step: self.at as u64 - 1, thread: node.chosen, expected, found: expected, enabled: true });
        }
        picked.taken.min(options - 1)
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
        while self.nodes.len() > self.at {
            self.spare.extend(self.nodes.pop());
        }
        self.history.truncate(self.at);
        if outcome != Outcome::Diverged {
            self.note_woken(ending.pending);
            self.plan(ending);
        }
        self.phase = if self.backtrack() { Phase::Ready } else { Phase::Exhausted };
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        if self.phase == Phase::Exhausted && !self.uncertain && self.counts.cut == 0 && self.counts.diverged == 0 {
            Coverage::All
        } else {
            Coverage::Partial(self.counts.schedules)
        }
    }

    fn divergence(&self) -> Option<Divergence> {
        self.astray
    }
}
