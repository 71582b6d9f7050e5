//! Which parts there are, and what follows from one that is done.
//!
//! Whoever runs parts asks for one (`take`), hands back what came of it (`finish`), and gives up those that are no longer wanted
//! (`is_wanted`). What a part leaves becomes parts of the next generation. Three things can end it early, and each is decided by the
//! order of parts, not by time: as soon as all parts before it are done,
//!
//! - a part that found more shared memory makes all parts begin anew with it (if it is the first part, only the others);
//! - a part that failed is the last one, when the first failure was asked for;
//! - a part with which there are more executions than were asked for is done again with what was left, and is the last one.
//!
//! In the same order parts are heard that ask others for more (`strategy::dpor::Trunk`), so that what follows from that does not depend on time either.
//!
//! With shards, parts are dealt out in a generation of which there are many; those before it are done by every shard. What parts ask for at steps before those
//! that were dealt out is done when the shards are joined.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::string::String;
use std::vec::Vec;

use model::event::Range;
use model::report::{Coverage, Estimate};

use super::estimate;
use super::id::PartId;
use super::task::{BLOCK, Division, Rest, Task, division, first, seed, with_samples};
use super::total::{Class, class, total};
use crate::strategy::Counts;
use crate::strategy::config::{Config, Name};
use crate::strategy::dpor::Trunk;
use crate::strategy::part::{Part, Work};
use crate::target::found::TakenStep;
use crate::target::setup::{End, MostSteps, Sequel, Setup};
use crate::target::watch::{Explored, Progress};

/// The generation in which parts of searches are dealt out to shards.
const DEALT: usize = 3;

/// Which of how many shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

/// The one shard of an exploration that is not divided among machines.
pub const WHOLE: Shard = Shard { index: 1, of: 1 };

/// What an exploration is of. Parts of two explorations may be joined only when these are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The build.
    pub build: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// What is asked for.
    pub setup: Setup,
}

/// A part that is done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Done {
    pub(super) explored: Explored,
    pub(super) what: What,
    /// Kept when it may have to be done again.
    pub(super) task: Option<Task>,
}

/// What a part that is done was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Its executions count, and others do what it left, if anything.
    Counted,
    /// They count, but it is not said that they are all: a scout that left something, or a search that is not sure.
    Unfinished,
    /// Its executions are done again by others.
    Void,
}

/// A part that is to be done: what, and after how many executions it ends, if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Todo {
    pub(super) task: Task,
    pub(super) executions: Option<u64>,
}

/// An exploration in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    pub(super) subject: Subject,
    pub(super) shard: Shard,
    /// Memory that is known to be shared.
    pub(super) shared: Vec<Range>,
    pub(super) waiting: BTreeMap<PartId, Todo>,
    pub(super) running: BTreeMap<PartId, Todo>,
    pub(super) done: BTreeMap<PartId, Done>,
    /// Parts that found more shared memory, until those before them are done. invariant: they are done, and tell of all of it.
    grown: BTreeSet<PartId>,
    /// Where parts were divided that may be asked for more, and how many parts each has left so far.
    pub(super) trunks: BTreeMap<PartId, (Trunk, u32)>,
    /// The last part that is done as all before it are.
    settled: Option<PartId>,
    /// How many executions count, up to that part.
    executions: u64,
    /// By class of failures: the part whose schedule of it is kept.
    pub(super) holders: BTreeMap<Class, PartId>,
    /// Parts that were broken off because time was over: what they show is shown, but they are not done.
    broken_off: Vec<Explored>,
    /// The block of samples after those that have been begun.
    pub(super) next_block: u64,
    pub(super) end: Ended,
}

/// Whether parts that are not done are no longer wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// They are.
    No,
    /// Others have covered what they would.
    Covered,
    /// A failure, or a number of executions, was all that was asked for.
    Early,
}

impl Campaign {
    /// An exploration of which nothing is done.
    #[must_use]
    pub fn new(subject: Subject, shard: Shard) -> Self {
        let mut campaign = Self {
            subject,
            shard,
            shared: Vec::new(),
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            done: BTreeMap::new(),
            grown: BTreeSet::new(),
            trunks: BTreeMap::new(),
            settled: None,
            executions: 0,
            holders: BTreeMap::new(),
            broken_off: Vec::new(),
            next_block: 0,
            end: Ended::No,
        };
        campaign.restart();
        campaign
    }

    pub(super) fn config(&self) -> &Config {
        &self.subject.setup.strategy
    }

    /// Begins anew, with this memory for shared too.
    pub(super) fn restart_with(&mut self, shared: Vec<Range>) {
        self.shared.extend(shared);
        self.shared.sort_unstable();
        // As parts tell of it: ranges that meet are one.
        self.shared.dedup_by(|next, last| {
            let until = |range: &Range| range.address.saturating_add(u64::from(range.length));
            let (meets, length) = (next.address <= until(last), until(next).max(until(last)) - last.address);
            meets && u32::try_from(length).map(|length| last.length = length).is_ok()
        });
        self.restart();
    }

    fn restart(&mut self) {
        let tasks = first(self.config());
        // What cannot be divided has all executions; of what can, they are counted as parts are done.
        let whole = self.config().executions;
        let executions = |task: &Task| match task {
            Task::Whole => whole,
            Task::Member { .. } => Some(BLOCK),
            Task::Block(_) | Task::Search(..) => None,
        };
        let todo = |task: Task| Todo { executions: executions(&task), task };
        self.waiting = (0..).map(PartId::first).zip(tasks.into_iter().map(todo)).collect();
        self.running.clear();
        self.done.clear();
        self.grown.clear();
        self.trunks.clear();
        self.holders.clear();
        self.settled = None;
        (self.next_block, self.executions, self.end) = (0, 0, Ended::No);
    }

    /// The next part to be done; `None` when there is none now.
    pub fn take(&mut self) -> Option<(PartId, Setup)> {
        self.make_block();
        let (id, _) = self.waiting.first_key_value()?;
        // The first part learns what memory is shared; nothing that comes after one that learnt more is of use.
        if self.is_at_first() || self.grown.first().is_some_and(|grown| grown < id) {
            return None;
        }
        let (id, todo) = self.waiting.pop_first()?;
        let setup = self.setup(&todo);
        self.running.insert(id.clone(), todo);
        Some((id, setup))
    }

    /// Whether the first part is being done, which is done alone.
    fn is_at_first(&self) -> bool {
        self.done.is_empty() && !self.running.is_empty()
    }

    /// Whether there may be many parts as soon as the one that is being done is done.
    #[must_use]
    pub fn is_about_to_divide(&self) -> bool {
        self.is_at_first() && division(self.config().name) != Division::None
    }

    fn make_block(&mut self) {
        let wanted = self.config().executions.is_none_or(|executions| self.next_block * BLOCK < executions);
        if division(self.config().name) != Division::Blocks || !self.waiting.is_empty() || self.end != Ended::No || !wanted {
            return;
        }
        let Ok(number) = u32::try_from(self.next_block) else { return };
        let left = self.config().executions.map_or(BLOCK, |executions| executions - self.next_block * BLOCK);
        let id = PartId::first(number);
        self.next_block += 1;
        if self.is_ours(&id, 1) {
            self.waiting.insert(id, Todo { task: Task::Block(u64::from(number)), executions: Some(left.min(BLOCK)) });
        } else {
            self.make_block();
        }
    }

    fn is_ours(&self, id: &PartId, dealt: usize) -> bool {
        id.generation() < dealt || id.lot(dealt) % self.shard.of == self.shard.index - 1
    }

    fn setup(&self, todo: &Todo) -> Setup {
        let mut setup = Setup { shared: self.shared.clone(), sequel: Sequel::Nothing, ..self.subject.setup.clone() };
        setup.strategy.executions = todo.executions;
        // The first part is done alone, so this does not depend on who is faster.
        setup.threads = self.done.get(&PartId::first(0)).map_or(0, |first| first.explored.threads);
        setup.steps = self.steps();
        match &todo.task {
            Task::Whole => {}
            Task::Block(block) => setup.strategy.seed = seed(setup.strategy.seed, *block),
            Task::Member { name, block } => {
                setup.strategy.name = *name;
                setup.strategy.seed = seed(setup.strategy.seed, *block);
            }
            Task::Search(part, _) => setup.part = Some(part.clone()),
        }
        setup
    }

    /// After how many steps executions are cut: what the first part measured, so that others need not.
    fn steps(&self) -> MostSteps {
        let measured = self.done.get(&PartId::first(0)).and_then(|first| first.explored.found.steps);
        measured.map_or(self.subject.setup.steps, MostSteps::Number)
    }

    /// Whether what comes of a running part is still wanted.
    #[must_use]
    pub fn is_wanted(&self, id: &PartId) -> bool {
        self.running.contains_key(id)
    }

    /// Takes in what came of a part.
    pub fn finish(&mut self, id: &PartId, mut explored: Explored) {
        let Some(todo) = self.running.remove(id) else { return };
        let left = core::mem::take(&mut explored.found.left);
        let resumes = matches!(todo.task, Task::Search(Part { work: Work::Search(_) | Work::Reduce(None), .. }, Rest::Split));
        if explored.timed_out && !resumes {
            self.broken_off.push(explored);
            self.waiting.insert(id.clone(), todo);
            return;
        }
        // The first part has begun anew by itself.
        if self.done.is_empty() && self.running.is_empty() {
            self.shared = core::mem::take(&mut explored.found.shared);
        }
        if explored.found.shared == self.shared {
            explored.found.shared.clear();
        }
        let sure = !matches!(explored.found.coverage, Some(Coverage::Partial(_)) | None);
        let what = match &todo.task {
            // The last part, done again for as many executions as were left: nobody does the rest of it.
            task if todo.executions.is_none() && task.is_void(&left) => What::Void,
            Task::Search(_, Rest::Dropped) if !left.is_empty() => What::Unfinished,
            Task::Search(Part { work: Work::Reduce(_), .. }, _) if !sure => What::Unfinished,
            _ => What::Counted,
        };
        // Of a part it says nothing about the whole.
        explored.estimate = None;
        if what != What::Void {
            self.keep_schedules(id, &mut explored);
        }
        let (mut children, trunk) = if todo.executions.is_some() { (Vec::new(), None) } else { todo.task.following(id.generation(), left) };
        let divides = match &todo.task {
            Task::Search(Part { work: Work::Reduce(None), .. }, _) => id.generation() == 1,
            task => matches!(task, Task::Search(Part { work: Work::Divide(_), .. }, _)),
        };
        if self.config().name == Name::Portfolio && divides {
            children = with_samples(children);
        }
        if let Some(trunk) = trunk {
            self.trunks.insert(id.clone(), (trunk, u32::try_from(children.len()).unwrap_or(u32::MAX)));
        }
        for (number, task) in (0..).zip(children) {
            self.add_part(id.child(number), task);
        }
        let rest = if let Task::Search(_, rest) = &todo.task { Some(*rest) } else { None };
        let task = self.counts_executions().map(|_| todo.task);
        self.insert_done(id.clone(), Done { explored, what, task });
        self.end_early(id, rest);
        self.settle();
    }

    fn add_part(&mut self, id: PartId, task: Task) {
        if self.is_ours(&id, DEALT) {
            let executions = matches!(task, Task::Member { .. }).then_some(BLOCK);
            self.waiting.insert(id, Todo { task, executions });
        }
    }

    /// A part is done.
    pub(super) fn insert_done(&mut self, id: PartId, done: Done) {
        if !done.explored.found.shared.is_empty() {
            self.grown.insert(id.clone());
        }
        self.done.insert(id, done);
    }

    /// Of failures that an earlier part showed too, only that part's schedules are kept.
    fn keep_schedules(&mut self, id: &PartId, explored: &mut Explored) {
        for failure in &mut explored.found.failures {
            let holder = self.holders.entry(class(failure)).or_insert_with(|| id.clone());
            if *holder < *id {
                failure.steps.clear();
            } else {
                *holder = id.clone();
            }
        }
    }

    /// After how many executions a search that is divided ends.
    fn counts_executions(&self) -> Option<u64> {
        self.config().executions.filter(|_| division(self.config().name) == Division::Subtrees)
    }

    /// Ends where nothing after a part is wanted, whatever comes of those before it.
    fn end_early(&mut self, id: &PartId, rest: Option<Rest>) {
        if self.subject.setup.end == End::FirstFailure
            && let Some((failed, _)) = self.done.iter().find(|(_, done)| done.explored.counts.failed > 0)
        {
            let failed = failed.clone();
            self.end_after(&failed, Ended::Early);
        }
        // A scout that a bound kept nothing from has seen everything.
        if rest == Some(Rest::Dropped) && self.done.get(id).is_some_and(|done| done.what == What::Counted && !done.explored.found.limited) {
            self.end_after(id, Ended::Covered);
        }
    }

    /// Takes in all parts again, as there are more of them now.
    pub(super) fn settle_anew(&mut self) {
        (self.settled, self.executions) = (None, 0);
        self.settle();
    }

    /// Takes in the parts before which all are done, in their order: begins anew where one found more shared memory, and ends where
    /// there are as many executions as were asked for.
    pub(super) fn settle(&mut self) {
        while let Some(id) = self.next_settled() {
            self.settled = Some(id.clone());
            let Some(done) = self.done.get_mut(&id) else { return };
            let shared = core::mem::take(&mut done.explored.found.shared);
            if !shared.is_empty() {
                self.restart_with(shared);
                return;
            }
            self.count_executions(&id);
            self.hear(&id);
        }
    }

    /// Adds the parts that follow from what a part asks for.
    fn hear(&mut self, id: &PartId) {
        let Some(done) = self.done.get_mut(id).filter(|_| self.end == Ended::No) else { return };
        let asked = core::mem::take(&mut done.explored.found.asked);
        for one in asked {
            let mut above = core::iter::successors(id.parent(), PartId::parent);
            let meant = above.find(|part| self.trunks.get(part).is_some_and(|(trunk, _)| trunk.is_asked(&one)));
            let Some(meant) = meant else { continue };
            // What other shards ask for there comes into it too.
            if self.shard.of > 1 && meant.generation() < DEALT {
                if let Some(done) = self.done.get_mut(id) {
                    done.explored.found.asked.push(one);
                }
                continue;
            }
            let Some((trunk, parts)) = self.trunks.get_mut(&meant) else { continue };
            let first = *parts;
            let more = trunk.take_in(&one);
            *parts += u32::try_from(more.len()).unwrap_or(0);
            for (number, subtree) in (first..).zip(more) {
                self.add_part(meant.child(number), Task::of(Work::Reduce(None), meant.generation() + 1, subtree));
            }
        }
    }

    /// The next part that is done as all before it are.
    fn next_settled(&self) -> Option<PartId> {
        let from = self.settled.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let (id, _) = self.done.range((from, Bound::Unbounded)).next()?;
        let before = |parts: &BTreeMap<PartId, Todo>| parts.first_key_value().is_some_and(|(first, _)| first < id);
        (!before(&self.waiting) && !before(&self.running)).then(|| id.clone())
    }

    fn count_executions(&mut self, id: &PartId) {
        let Some(done) = self.done.get(id).filter(|done| done.what != What::Void) else { return };
        let (before, executions) = (self.executions, done.explored.counts.executions());
        self.executions += executions;
        let Some(left) = self.counts_executions().filter(|most| self.executions >= *most).map(|most| most - before) else { return };
        self.end_after(id, Ended::Early);
        if executions > left
            && let Some(task) = self.done.remove(id).and_then(|done| done.task)
        {
            // Done again, it is settled already.
            self.waiting.insert(id.clone(), Todo { task, executions: Some(left) });
        }
    }

    /// No part after this one is wanted.
    fn end_after(&mut self, last: &PartId, end: Ended) {
        self.waiting.retain(|id, _| id <= last);
        self.running.retain(|id, _| id <= last);
        self.done.retain(|id, _| id <= last);
        self.grown.retain(|id| id <= last);
        self.trunks.retain(|id, _| id <= last);
        self.holders.retain(|_, id| *id <= *last);
        self.end = end;
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let blocks = division(self.config().name) == Division::Blocks && self.end == Ended::No;
        let more = blocks && self.config().executions.is_none_or(|executions| self.next_block * BLOCK < executions);
        self.waiting.is_empty() && self.running.is_empty() && !more
    }

    /// How many parts are known to be left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.waiting.len() + self.running.len()
    }

    /// The schedules of parts that are done.
    #[must_use]
    pub fn counted(&self) -> Progress {
        let counted = self.done.values().filter(|done| done.what != What::Void).map(|done| done.explored.counts);
        let sum = counted.fold(Counts::default(), Counts::plus);
        Progress { schedules: sum.schedules, failed: sum.failed, estimate: self.estimate() }
    }

    /// How much there is, as far as can be told.
    fn estimate(&self) -> Option<Estimate> {
        match division(self.config().name) {
            Division::Blocks => estimate::of_samples(self.done.values()),
            Division::Subtrees if !self.is_over() => estimate::of_search(&self.done, self.waiting.iter().chain(&self.running)),
            Division::Subtrees | Division::None => None,
        }
    }

    /// What is asked for to make a failing schedule simple.
    #[must_use]
    pub fn setup_to_simplify(&self, schedule: &[TakenStep]) -> Setup {
        let replay = Some(schedule.to_vec());
        let steps = self.steps();
        Setup { shared: self.shared.clone(), sequel: Sequel::Simplify, replay, steps, ..self.subject.setup.clone() }
    }

    /// What it is an exploration of.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// What has come of it so far.
    #[must_use]
    pub fn total(&self) -> Explored {
        let counted = self.done.values().filter(|done| done.what != What::Void).map(|done| &done.explored);
        let mut total = total(counted.chain(&self.broken_off));
        total.found.coverage = Some(self.coverage(&total));
        total.estimate = self.estimate();
        total
    }
}
