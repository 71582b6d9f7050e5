//! The search itself: the path of the current execution, with what sleeps and what is planned at each point.

use alloc::boxed::Box;
use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::history::{History, Race, Remedy, Second};
use super::holds::wanted;
use super::reversal::{Reversed, reversed};
use super::wakeup::{Insertion, Next, Plan, Plans, Seen, is_weak_initial};
use super::waking::{waiting, wakes, woken};
use crate::dependence::dependent;
use crate::strategy::path::{Follow, Level, Path, Turn};
use crate::strategy::replay::{Divergence, What};
use crate::strategy::subtree::{Repeat, Subtree};
use crate::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};
use crate::threads::ThreadSet;

/// Optimal dynamic partial order reduction.
#[derive(Debug, Default)]
pub struct Dpor {
    /// The path of the current execution. The history has the same steps.
    path: Path<Node>,
    /// What it was given.
    begins: Subtree,
    history: History,
    /// Races of the current execution that the one before did not have.
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
    /// The level at which the current execution has begun to end the process: its thread alone goes on, with what `exit` runs.
    exit: Option<usize>,
    /// Whether the engine left out what orders steps: then nothing is claimed.
    uncertain: bool,
}

/// What is kept of a point of the current execution.
#[derive(Debug)]
struct Node {
    enabled: ThreadSet,
    /// Threads that were explored from here, or whose next step is covered elsewhere, and what each is about to do.
    asleep: Vec<(ThreadId, Event)>,
    /// Of these: those that cover only what they take part in. Their step ends the execution, so that nothing was explored after it;
    /// or it is explored by others, who tell us nothing of the races that they find.
    narrow: ThreadSet,
    /// Threads that were planned here whatever comes after them.
    alone: ThreadSet,
    /// What is planned from here, after what is being explored.
    planned: Option<Plan>,
    /// How many threads were tried here before the chosen one.
    tried: u32,
}

impl Node {
    fn sleeps(&self, thread: ThreadId) -> bool {
        self.asleep.iter().any(|&(asleep, _)| asleep == thread)
    }

    /// Those among the sleeping ones that cover only what they take part in. Threads that were planned alone may be independent of each
    /// other, and each would be believed to cover what the other leaves out.
    fn narrow(&self) -> ThreadSet {
        if self.alone.is_empty() { self.narrow } else { self.asleep.iter().map(|&(thread, _)| thread).collect() }
    }
}

impl Level<Node> {
    /// Plans a thread's step, whatever comes after it.
    fn plan_alone(&mut self, plans: &mut Plans, thread: ThreadId) {
        let node = &mut self.node;
        let known = thread == self.chosen || node.sleeps(thread) || plans.siblings(node.planned).any(|plan| plans.thread(plan) == thread);
        if !known {
            node.alone.insert(thread);
            node.planned = plans.add_alone(node.planned, thread);
        }
    }

    /// Plans every order.
    fn expand(&mut self, plans: &mut Plans) {
        for thread in self.node.enabled.iter() {
            self.plan_alone(plans, thread);
        }
    }

    /// The next planned step, which becomes the one that is explored, and what is planned after it. So far it was this event.
    fn next_planned(&mut self, plans: &mut Plans, event: &Event) -> Option<Next> {
        // Without one, nobody will ask who sleeps.
        self.node.planned?;
        self.node.asleep.push((self.chosen, *event));
        while let Some(next) = plans.take_first(&mut self.node.planned) {
            if self.node.sleeps(next.thread) {
                plans.forget(next.children);
                continue;
            }
            if !self.node.enabled.contains(next.thread) {
                // As in `Plans::possible`.
                self.node.planned = plans.append(next.children, self.node.planned);
                continue;
            }
            self.chosen = next.thread;
            self.what = None;
            self.node.tried += 1;
            return Some(next);
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

    /// A search of what begins with a subtree's steps. Every thread that was enabled at one of them and does not sleep there must be
    /// explored by others, so that no race needs to be reversed there.
    #[must_use]
    pub fn below(subtree: Subtree) -> Self {
        Self { path: Path::below(subtree.clone()), begins: subtree, ..Self::default() }
    }

    /// Goes on with a step that the subtree begins with.
    fn repeat(&mut self, point: &Point<'_>, step: Repeat) -> Choice {
        let Some(&event) = point.event(step.thread) else { return Choice::Diverged };
        let asleep = step.asleep.intersection(point.enabled).iter().filter_map(|thread| Some((thread, *point.event(thread)?)));
        let node = Node {
            enabled: *point.enabled,
            asleep: asleep.collect(),
            narrow: step.asleep,
            alone: ThreadSet::EMPTY,
            planned: None,
            tried: 0,
        };
        self.path.push_again(step, &event, node);
        self.go(point)
    }

    fn extend(&mut self, point: &Point<'_>) -> Choice {
        let asleep = self.inherited_sleep(point);
        self.guided_picks = Box::default();
        let mut planned = None;
        let chosen = if let Some(guide) = self.guide.take() {
            planned = self.plans.possible(Some(guide), point.enabled);
            // A plan may turn out not to be possible: whether its last step is enabled was not always known.
            let Some(next) = self.plans.take_first(&mut planned) else { return Choice::Abandon };
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
            let narrow = parent.node.narrow();
            asleep.iter().map(|&(thread, _)| thread).filter(|&thread| narrow.contains(thread)).collect()
        });
        self.path.push(chosen, &event, Node { enabled: *point.enabled, asleep, narrow, alone: ThreadSet::EMPTY, planned, tried: 0 });
        self.go(point)
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
            let (_, last) = self.history.step(self.path.at() - 1);
            let sleeps_on = |(thread, event): &&(ThreadId, Event)| point.enabled.contains(*thread) && !dependent(event, last);
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
        if !self.path.is_open(last) {
            return;
        }
        let level = self.path.level_mut(last);
        for thread in woken.intersection(&level.node.enabled).iter() {
            level.plan_alone(&mut self.plans, thread);
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
        let ended = if ending.outcome == Outcome::Failed { self.history.len().checked_sub(1) } else { None };
        let mut races = core::mem::take(&mut self.races);
        for race in races.drain(..) {
            // At the steps that a subtree begins with, others try every thread.
            if !self.path.is_open(race.first) {
                continue;
            }
            let planned = race.remedy != Remedy::Expand && self.plan_sequence(&race, ended) != Insertion::Unplannable;
            if !planned {
                self.path.level_mut(race.first).expand(&mut self.plans);
            }
        }
        self.races = races;
        if ending.outcome == Outcome::Abandoned {
            return;
        }
        // Threads that could have gone on when the execution ended: the last step stopped them, or the one that began to end the process.
        let stopped = self.exit.or(self.path.levels().len().checked_sub(1));
        if let Some(at) = stopped.filter(|&at| self.path.is_open(at)) {
            let last = self.path.level_mut(at);
            for thread in last.node.enabled.iter() {
                if thread != last.chosen && ending.pending.get(thread.index()).is_some_and(Option::is_some) {
                    last.plan_alone(&mut self.plans, thread);
                    last.node.narrow.insert(last.chosen);
                }
            }
        }
    }

    fn plan_sequence(&mut self, race: &Race, ended: Option<usize>) -> Insertion {
        let becomes = match reversed(&self.history, race) {
            Reversed::Same => None,
            Reversed::Becomes(event) => Some(event),
            Reversed::Unknown => return Insertion::Unplannable,
        };
        let mut kept = core::mem::take(&mut self.kept);
        self.history.independent_of(race, ended, &mut kept);
        let step = |at: usize| {
            let (thread, event) = self.history.step(at);
            Seen { thread, event, picks: &self.path.level(at).picks, released: self.history.released(at) }
        };
        let second = match &race.second {
            Second::At(at) => Seen { event: becomes.as_ref().unwrap_or(self.history.step(*at).1), ..step(*at) },
            Second::Pending(thread, event) => Seen { thread: *thread, event, picks: &[], released: &[] },
        };
        let mut sequence: Vec<Seen<'_>> = kept.iter().map(|&at| step(at)).chain([second]).collect();
        let node = &self.path.level(race.first).node;
        let absent = |thread| sequence.iter().all(|step| step.thread != thread);
        let narrow = node.narrow();
        let barren = |thread| narrow.contains(thread) && absent(thread);
        let covered = |&(thread, ref event): &(ThreadId, Event)| !barren(thread) && is_weak_initial(thread, || Some(event), &sequence);
        let insertion = if node.asleep.iter().any(covered) {
            Insertion::Covered
        } else {
            let mut planned = node.planned;
            let apart = if node.alone.is_empty() { None } else { self.plans.take_out(&mut planned, absent) };
            let insertion = self.plans.insert(&mut planned, &mut sequence);
            self.path.level_mut(race.first).node.planned = self.plans.append(planned, apart);
            insertion
        };
        self.kept = kept;
        insertion
    }

    /// Moves to the next path.
    fn backtrack(&mut self) {
        self.plans.forget(self.guide.take());
        let (history, plans) = (&self.history, &mut self.plans);
        let turn = self.path.backtrack(|at, level| level.next_planned(plans, history.step(at).1));
        self.history.go_back(self.path.levels().len(), turn.as_ref());
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
        self.races.clear();
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
            self.plan(ending);
        }
        self.backtrack();
    }

    fn counts(&self) -> Counts {
        self.path.counts()
    }

    fn coverage(&self) -> Coverage {
        if self.path.is_whole() && !self.uncertain { Coverage::All } else { Coverage::Partial(self.counts().schedules) }
    }

    /// Of what is planned: more will be.
    fn estimate(&self) -> Option<Estimate> {
        self.path.estimate(|node| (node.tried, u32::try_from(self.plans.siblings(node.planned).count()).unwrap_or(u32::MAX)))
    }

    fn left(&self) -> Vec<Subtree> {
        let left = (!self.path.is_exhausted()).then(|| self.begins.clone());
        left.into_iter().collect()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.path.divergence()
    }
}
