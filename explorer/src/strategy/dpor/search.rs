//! The search itself: the path of the current execution, with what sleeps and what is planned at each point.

use alloc::boxed::Box;
use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::history::History;
use super::late::{came_late, had_to_wait, stopped};
use super::node::Node;
use super::race::{Race, Remedy, Second, Standing};
use super::reversal::{Reversed, reversed};
use super::trunk::{Asked, TOLD};
use super::wakeup::{Insertion, Plan, Plans, Seen, is_weak_initial};
use super::waking::{Changed, Interrupted, waiting, waits_in_competition, woken};
use crate::dependence::{Footprint, dependent, wakes};
use crate::strategy::path::{Follow, Level, Path, Turn};
use crate::strategy::replay::{Divergence, What};
use crate::strategy::subtree::{Repeat, Subtree};
use crate::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy, Supply};
use crate::threads::ThreadSet;

/// Optimal dynamic partial order reduction.
#[derive(Debug, Default)]
pub struct Dpor {
    /// The path of the current execution. The history has the same steps.
    path: Path<Node>,
    /// What it was given.
    begins: Subtree,
    history: History,
    /// Races of the current execution that the one before did not have, or that may ask for more.
    races: Vec<Race>,
    /// Memory for the steps of a sequence.
    kept: Vec<usize>,
    /// What is planned, at all levels.
    plans: Plans,
    /// What is planned after the deepest level.
    guide: Option<Plan>,
    /// The options planned for the step at the deepest level.
    guided_picks: Box<[u32]>,
    /// Those who waited on a condition before the current step, when that is a signal.
    waiting: ThreadSet,
    interrupted: Interrupted,
    /// At so many of the first levels, others try other threads: what is planned there they are asked for.
    closed: usize,
    /// What was planned at such levels that the search has gone back from.
    asked: Vec<Asked>,
    /// Whether what it does not come to is left to others.
    leaves: bool,
    /// Who has come, in the last step, to a system call that has to wait, and for what.
    lacking: Vec<(ThreadId, u32)>,
    /// The level at which the current execution has begun to end the process: its thread alone goes on, with what `exit` runs.
    exit: Option<usize>,
    /// Whether the engine left out what orders steps: then nothing is claimed.
    uncertain: bool,
}

impl Dpor {
    /// A search from the start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A search that goes on where others are, with what a search left or a [`Trunk`](super::Trunk) gave away: it leaves what it does not come to, and asks
    /// for what is to be explored by others.
    #[must_use]
    pub fn within(subtree: Subtree) -> Self {
        let mut search = Self { closed: subtree.closed, leaves: true, guided_picks: subtree.options.clone(), ..Self::default() };
        search.guide = search.plans.add_forest(&subtree.guide);
        search.path = Path::above(subtree.floor, subtree.clone());
        search.begins = subtree;
        search
    }

    /// Goes on with a step that the subtree begins with.
    fn repeat(&mut self, point: &Point<'_>, step: Repeat) -> Choice {
        let Some(&event) = point.event(step.thread) else { return Choice::Diverged };
        let with_events = |threads: ThreadSet| {
            let threads = threads.intersection(point.enabled);
            threads.iter().filter_map(|thread| Some((thread, *point.event(thread)?))).collect()
        };
        let node = Node {
            enabled: *point.enabled,
            asleep: with_events(step.asleep),
            elsewhere: with_events(step.todo),
            narrow: step.narrow,
            alone: step.alone,
            planned: self.plans.add_forest(&step.planned),
            tried: 0,
        };
        self.path.push_again(step, &event, node);
        self.go(point)
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let asleep = self.inherited_sleep(point);
        self.guided_picks = Box::default();
        let mut planned = None;
        // Whether the last step of a plan is enabled was not always known. If not, what begins with the others is explored all the same.
        let next = self.guide.take().and_then(|guide| {
            planned = self.plans.possible(Some(guide), point.enabled);
            self.plans.take_first(&mut planned)
        });
        let chosen = if let Some(next) = next {
            self.guide = next.children;
            self.guided_picks = next.picks;
            next.thread
        } else {
            let sleeps = |thread: &ThreadId| asleep.iter().any(|(asleep, _)| asleep == thread);
            let awake = || point.enabled.iter().find(|thread| !sleeps(thread));
            let Some(chosen) = point.default_thread().filter(|thread| !sleeps(thread)).or_else(awake) else {
                return Choice::Abandon;
            };
            chosen
        };
        let Some(&event) = point.event(chosen) else { return Choice::Diverged };
        let narrow = self.path.deepest().map_or(ThreadSet::EMPTY, |parent| {
            let narrow = if self.is_given() { ThreadSet::ALL } else { parent.node.narrow() };
            asleep.iter().map(|&(thread, _)| thread).filter(|&thread| narrow.contains(thread)).collect()
        });
        self.path.push(
            chosen,
            &event,
            Node { enabled: *point.enabled, asleep, elsewhere: Vec::new(), narrow, alone: ThreadSet::EMPTY, planned, tried: 0 },
        );
        self.go(point)
    }

    /// Whether the deepest level is the step that was given away to this search. What others find from those asleep there does not come into
    /// our plans, so they cover only what they take part in.
    fn is_given(&self) -> bool {
        let steps = self.path.levels().len();
        steps <= self.closed && steps == self.path.floor() + 1
    }

    /// Goes on from the current level.
    fn go(&mut self, point: &Point<'_>) -> Choice {
        let at = self.path.at();
        let chosen = self.path.level(at).chosen;
        let Some(event) = point.event(chosen) else { return Choice::Diverged };
        if self.history.len() == at {
            self.path.level_mut(at).what.get_or_insert_with(|| What::of(event));
            self.uncertain |= self.history.contradicts(chosen, event);
            self.history.append(chosen, event, &mut self.races);
        }
        if wakes(event) {
            self.waiting = waiting(point.pending);
        }
        self.interrupted.step(event, point.pending);
        if event.kind == EventKind::ExitProcess {
            self.exit.get_or_insert(at);
        }
        self.path.advance()
    }

    /// Those who sleep on after the last step, in memory that is used again.
    fn inherited_sleep(&mut self, point: &Point<'_>) -> Vec<(ThreadId, Event)> {
        let mut asleep = self.path.recycle().map(|node| core::mem::take(&mut node.asleep)).unwrap_or_default();
        asleep.clear();
        if let Some(parent) = self.path.deepest() {
            let last = self.history.footprint(self.path.at() - 1);
            let sleeps_on = |(thread, event): &&(ThreadId, Event)| point.enabled.contains(*thread) && !Footprint::of(event).meets(&last);
            asleep.extend(parent.node.asleep.iter().filter(sleeps_on));
        }
        asleep
    }

    /// Tells the history whom the last step woke, if it is new.
    fn note_woken(&mut self, pending: &[Option<Event>]) {
        let Some(last) = self.history.last_if_new(self.path.at()).filter(|&last| wakes(self.history.step(last).1)) else { return };
        let woken = woken(&self.waiting, pending);
        self.history.set_woken(woken);
        // A waiter that could have timed out instead cannot any more: no later step tells of it.
        let level = self.path.level_mut(last);
        for thread in woken.intersection(&level.node.enabled).iter() {
            level.plan_alone(&mut self.plans, thread);
        }
    }

    /// Plans those who could have seen to an interruption, had the last step not come, if that is new. Who was interrupted might have come
    /// before those who kept it waiting.
    fn note_interrupted(&mut self, pending: &[Option<Event>]) {
        let Some(Changed { freed, given_up }) = self.interrupted.changed(pending) else { return };
        let Some(last) = self.history.last_if_new(self.path.at()) else { return };
        for (thread, event) in given_up {
            self.history.pending(thread, event, &mut self.races);
        }
        let level = self.path.level_mut(last);
        for thread in freed.intersection(&level.node.enabled).iter() {
            level.plan_alone(&mut self.plans, thread);
        }
    }

    /// Plans what the new races of the current execution ask for.
    fn plan(&mut self, ending: &Ending<'_>) {
        for (thread, event) in (0..).map(ThreadId).zip(ending.pending) {
            let Some(event) = event else { continue };
            if waits_in_competition(event) {
                self.history.pending(thread, *event, &mut self.races);
            }
        }
        // Not of a deadlock: its last step might have had others after it.
        let ended = self.history.len().checked_sub(1).filter(|&last| self.history.step(last).1.kind == EventKind::Fail);
        let mut races = core::mem::take(&mut self.races);
        races.retain(|race| self.plan_race(race, ended) == Standing::Open);
        self.races = races;
        if ending.outcome == Outcome::Abandoned {
            return;
        }
        // Threads that could have gone on when the execution ended: the last step stopped them, or the one that began to end the process.
        let stopped = self.exit.or(self.path.levels().len().checked_sub(1));
        if let Some(at) = stopped {
            let (history, last) = (&self.history, self.path.level_mut(at));
            for thread in last.node.enabled.iter() {
                if thread != last.chosen && ending.pending.get(thread.index()).is_some_and(Option::is_some) {
                    last.plan_alone(&mut self.plans, thread);
                    last.node.narrow.insert(last.chosen);
                    // Others take it for a step that they may go on after, unless it says that it is the last one.
                    let (event, other) = (history.step(at).1, ending.pending[thread.index()].as_ref());
                    let told = matches!(event.kind, EventKind::Fail | EventKind::ExitProcess)
                        || other.is_some_and(|other| dependent(event, other));
                    self.uncertain |= at < self.closed && !told;
                }
            }
        }
    }

    /// Plans what a race asks for.
    fn plan_race(&mut self, race: &Race, ended: Option<usize>) -> Standing {
        if had_to_wait(&self.history, |thread, at| self.path.level(at).node.enabled.contains(thread), race) {
            return Standing::Settled;
        }
        let planned = if race.remedy == Remedy::Expand { None } else { self.plan_sequence(race, ended) };
        planned.unwrap_or_else(|| {
            self.path.level_mut(race.first).expand(&mut self.plans);
            Standing::Settled
        })
    }

    /// Plans the sequence that a race asks for; `None` when it cannot be planned.
    fn plan_sequence(&mut self, race: &Race, ended: Option<usize>) -> Option<Standing> {
        let becomes = match reversed(&self.history, race) {
            Reversed::Same => None,
            Reversed::Becomes(event) => Some(event),
            Reversed::Unknown => return None,
        };
        let mut kept = core::mem::take(&mut self.kept);
        self.history.independent_of(race, ended, &mut kept);
        let step = |at: usize| {
            let (thread, event) = self.history.step(at);
            let (footprint, picks) = (self.history.footprint(at), &self.path.level(at).picks);
            Seen { thread, event, footprint, picks, released: self.history.released(at), planned: Some(self.history.planned(at)) }
        };
        let second = match &race.second {
            Second::At(at) => match &becomes {
                Some(event) => Seen { event, footprint: Footprint::of(event), planned: None, ..step(*at) },
                None => step(*at),
            },
            Second::Pending(thread, event, _) => Seen::new(*thread, event),
        };
        let before = kept.iter().filter(|&&at| at < race.second.place()).map(|&at| self.history.step(at).0);
        let bound: ThreadSet = before.chain(becomes.is_none().then_some(second.thread)).collect();
        let standing_of = |thread| if bound.contains(thread) { Standing::Settled } else { Standing::Open };
        let mut sequence: Vec<Seen<'_>> = kept.iter().map(|&at| step(at)).chain([second]).collect();
        let node = &self.path.level(race.first).node;
        let absent = |thread| sequence.iter().all(|step| step.thread != thread);
        let narrow = node.narrow();
        let barren = |thread| narrow.contains(thread) && absent(thread);
        let covered = |&(thread, ref event): &(ThreadId, Event)| !barren(thread) && is_weak_initial(thread, || Some(event), &sequence);
        let covering = |standing: Standing| node.covered().filter(move |(thread, _)| standing_of(*thread) == standing).any(covered);
        let planned = if covering(Standing::Settled) {
            Some(Standing::Settled)
        } else if covering(Standing::Open) {
            Some(Standing::Open)
        } else {
            let mut planned = node.planned;
            let apart = if node.alone.is_empty() { None } else { self.plans.take_out(&mut planned, absent) };
            let told = if race.first < self.closed { self.plans.crowded(planned, &sequence, TOLD) } else { None };
            let begins = match told {
                // Whoever is asked for that step explores this sequence too.
                Some(thread) if node.enabled.contains(thread) => Some(thread),
                _ => match self.plans.insert(&mut planned, &mut sequence) {
                    (Insertion::Unplannable, _) => None,
                    (Insertion::Planned | Insertion::Covered, begins) => begins,
                },
            };
            self.path.level_mut(race.first).node.planned = self.plans.append(planned, apart);
            begins.map(standing_of)
        };
        self.kept = kept;
        planned
    }

    /// Moves to the next path.
    fn backtrack(&mut self) {
        self.plans.forget(self.guide.take());
        let (history, plans, closed, asked) = (&self.history, &mut self.plans, self.closed, &mut self.asked);
        let turn = self.path.backtrack(|at, level| {
            if at >= closed {
                return level.next_planned(plans, history.step(at).1);
            }
            asked.extend(level.node.asks(at, plans));
            plans.forget(level.node.planned.take());
            None
        });
        // Steps after a turn are our own.
        self.closed = self.closed.min(self.path.levels().len());
        self.history.go_back(self.path.levels().len(), turn.as_ref());
        let length = self.history.len();
        self.races.retain(|race| race.is_within(length));
        if let Some(Turn::Step(next)) = turn {
            self.guide = next.children;
            self.guided_picks = next.picks;
        }
    }
}

impl Strategy for Dpor {
    fn name(&self) -> &'static str {
        "dpor"
    }

    fn begin(&mut self) -> bool {
        self.lacking.clear();
        self.exit = self.exit.filter(|&at| at < self.repeats());
        self.path.begin()
    }

    /// Not the last step that is kept: there may be another choice in it.
    fn repeats(&self) -> usize {
        self.history.len().saturating_sub(1)
    }

    fn repeated(&mut self, steps: usize) {
        self.path.skip(steps);
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.note_woken(point.pending);
        self.note_interrupted(point.pending);
        if let Some(last) = self.history.last_if_new(self.path.at()) {
            stopped(&self.history, last, &self.path.level(last).node.enabled, point, &mut self.races);
        }
        came_late(&mut self.history, &mut self.lacking, point.pending, &mut self.races);
        match self.path.follow(point) {
            Follow::On(_) => self.go(point),
            Follow::Beyond => self.extend(point),
            Follow::Again(step) => self.repeat(point, step),
            Follow::Astray => Choice::Diverged,
        }
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let guided = self.guided_picks.get(self.path.picked()).copied();
        self.path.pick(pick, guided.unwrap_or(0))
    }

    fn executed(&mut self, _step: &Step) {}

    fn overwrote(&mut self, before: u64) {
        if self.history.len() == self.path.at() {
            self.history.set_overwritten(before);
        }
    }

    fn supplied(&mut self, thread: ThreadId, supply: Supply) {
        if self.history.len() == self.path.at() {
            match supply {
                Supply::Emptied(what) => self.history.add_emptied(what),
                Supply::Lacked(what) => self.lacking.push((thread, what)),
            }
        }
    }

    fn released(&mut self, _thread: ThreadId, lock: u64, left: Option<Mode>) {
        if self.history.len() == self.path.at() {
            self.history.add_released(lock, left);
        }
    }

    fn end(&mut self, ending: &Ending<'_>) {
        // What the execution did not come to, as it left the path.
        for at in self.path.at()..self.path.levels().len() {
            self.plans.forget(self.path.level_mut(at).node.planned.take());
        }
        let outcome = self.path.end(ending);
        self.history.truncate(self.path.at());
        if outcome != Outcome::Diverged {
            self.note_woken(ending.pending);
            self.note_interrupted(ending.pending);
            came_late(&mut self.history, &mut self.lacking, ending.pending, &mut self.races);
            self.plan(ending);
        }
        self.backtrack();
    }

    fn counts(&self) -> Counts {
        self.path.counts()
    }

    fn coverage(&self) -> Coverage {
        let counts = self.counts();
        // Of a part: all but what it leaves.
        let whole = if self.leaves { (counts.cut, counts.diverged) == (0, 0) } else { self.path.is_whole() };
        if whole && !self.uncertain { Coverage::All } else { Coverage::Partial(counts.schedules) }
    }

    /// Of what is planned: more will be.
    fn estimate(&self) -> Option<Estimate> {
        self.path.estimate(|node| (node.tried, u32::try_from(self.plans.siblings(node.planned).count()).unwrap_or(u32::MAX)))
    }

    fn left(&self) -> Vec<Subtree> {
        if self.path.is_exhausted() {
            return Vec::new();
        }
        let Some(last) = self.path.levels().len().checked_sub(1) else { return [self.begins.clone()].into() };
        let threads = |events: &[(ThreadId, Event)]| events.iter().map(|&(thread, _)| thread).collect();
        let step = |(at, level): (usize, &Level<Node>)| {
            let Node { asleep, elsewhere, narrow, alone, planned, enabled, .. } = &level.node;
            let planned = planned.filter(|_| at >= self.closed);
            Repeat {
                todo: threads(elsewhere),
                asleep: threads(asleep),
                picks: level.picks.clone(),
                narrow: *narrow,
                alone: *alone,
                planned: self.plans.forest(planned, enabled),
                ..Repeat::of(level.chosen, level.what)
            }
        };
        let steps: Vec<Repeat> = self.path.levels().iter().enumerate().map(step).collect();
        let guide = self.plans.forest(self.guide, &ThreadSet::ALL);
        let new = self.path.level(last).what.is_none();
        let options = if new { self.guided_picks.clone() } else { Box::default() };
        [Subtree { steps, closed: self.closed, floor: self.path.floor(), options, guide }].into()
    }

    fn asked(&self) -> Vec<Asked> {
        let here = self.path.levels().iter().enumerate().take(self.closed).filter_map(|(at, level)| level.node.asks(at, &self.plans));
        self.asked.iter().cloned().chain(here).collect()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.path.divergence()
    }
}
