//! The steps of the current execution: vector clocks, what each object went through, and the races between steps.
//!
//! Steps are appended as they are chosen and cut off when the search goes back, so that a common beginning of executions
//! is worked on once. Only the races of appended steps are reported: those of the common beginning were before. Which of them are to be looked at
//! again, the search knows.
//!
//! Steps that may conflict have a key in common (`keys`); they do when `dependence` says so.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::OnceCell;

use model::event::{Event, EventKind, Range};
use model::ids::ThreadId;
use model::pair::Mode;

use super::forest::PlannedStep;
use super::holds::{Change, wanted};
use super::keys::{Key, each_key, granule, granules, lock_key};
use super::objects::{Entry, Object, Objects};
use super::race::{Race, Remedy, Second};
use crate::dependence::{Footprint, dependent};
use crate::strategy::path::Turn;
use crate::threads::ThreadSet;

/// Which conflicting steps are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thoroughness {
    All,
    Last,
}

/// A step that was taken.
#[derive(Clone, Debug)]
struct Taken {
    thread: ThreadId,
    event: Event,
    footprint: Footprint,
    /// Its number within its thread, from 1.
    number: u32,
    /// The step before it in its thread.
    previous: Option<usize>,
    /// Those that it woke.
    woken: ThreadSet,
    /// The injected locks that it gave up on its way.
    released: Vec<u64>,
    /// What was in the memory that it wrote to, if we were told.
    overwritten: Option<u64>,
    /// What it left nothing of for others.
    emptied: Vec<u32>,
    /// It as a planned step, once it was planned.
    planned: OnceCell<Rc<PlannedStep>>,
}

/// The steps of the current execution.
#[derive(Debug, Default)]
pub(super) struct History {
    steps: Vec<Taken>,
    /// `stride` numbers a step: how many steps of each thread come before it or are it.
    clocks: Vec<u32>,
    stride: usize,
    objects: Objects,
    /// Indexed by thread: its last step so far.
    last: Vec<Option<usize>>,
    scratch: Vec<usize>,
    /// Memory for what is left out of a sequence: threads, and from which of their steps on.
    left_out: Vec<(usize, u32)>,
}

impl History {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn step(&self, at: usize) -> (ThreadId, &Event) {
        (self.steps[at].thread, &self.steps[at].event)
    }

    /// The step before it in its thread.
    pub(super) fn previous(&self, at: usize) -> Option<usize> {
        self.steps[at].previous
    }

    pub(super) fn footprint(&self, at: usize) -> Footprint {
        self.steps[at].footprint
    }

    /// The last step, if it is that of the last of `taken` levels of the path, and new.
    pub(super) fn last_if_new(&self, taken: usize) -> Option<usize> {
        taken.checked_sub(1).filter(|_| self.steps.len() == taken)
    }

    /// Says whom the last step woke.
    pub(super) fn set_woken(&mut self, woken: ThreadSet) {
        if let Some(step) = self.steps.last_mut() {
            step.woken = woken;
        }
    }

    /// Says that the last step gave up, or weakened to what is left, an injected lock on its way.
    pub(super) fn add_released(&mut self, lock: u64, left: Option<Mode>) {
        let at = self.steps.len().saturating_sub(1);
        let Some(step) = self.steps.last_mut() else { return };
        step.released.push(lock);
        let object = self.objects.at(lock_key(lock));
        let change = object.holds.weaken(step.thread, left);
        object.entries.push(Entry { step: at, change, aside: true });
    }

    /// Says what was in the memory that the last step wrote to.
    pub(super) fn set_overwritten(&mut self, before: u64) {
        if let Some(step) = self.steps.last_mut() {
            step.overwritten = Some(before);
        }
    }

    /// What was in the memory that a step wrote to, if we were told.
    pub(super) fn overwritten(&self, at: usize) -> Option<u64> {
        self.steps[at].overwritten
    }

    /// Says what the last step left nothing of: maybe once more, as a last step that is kept is told of again.
    pub(super) fn add_emptied(&mut self, what: u32) {
        if let Some(step) = self.steps.last_mut()
            && !step.emptied.contains(&what)
        {
            step.emptied.push(what);
        }
    }

    /// The last step of another thread that left nothing of what a thread is about to wait for, unless something orders the two. Calls that did so
    /// before come before it.
    pub(super) fn emptied_by(&mut self, thread: ThreadId, event: &Event, what: u32) -> Option<usize> {
        let at = self.steps.iter().rposition(|step| step.thread != thread && step.emptied.contains(&what))?;
        self.make_room(thread);
        let start = self.begin_clock(thread, event);
        let is_after = self.is_after(start, at);
        self.clocks.truncate(start);
        (!is_after).then_some(at)
    }

    /// Where a step is kept as a planned one. What it is, and what was picked in it, stays as it is from then on.
    pub(super) fn planned(&self, at: usize) -> &OnceCell<Rc<PlannedStep>> {
        &self.steps[at].planned
    }

    /// The injected locks that a step gave up on its way.
    pub(super) fn released(&self, at: usize) -> &[u64] {
        &self.steps[at].released
    }

    /// Forgets what the last step gave up on its way, what it left nothing of, and whom it woke: it is performed again, with another choice
    /// in it.
    fn reopen_last(&mut self) {
        let Some(step) = self.steps.last_mut() else { return };
        step.woken = ThreadSet::EMPTY;
        step.planned.take();
        step.emptied.clear();
        for lock in core::mem::take(&mut step.released).into_iter().rev() {
            forget_last(&mut self.objects, lock_key(lock));
        }
    }

    /// Forgets what will be different after the search has turned, with so many levels of the path left.
    pub(super) fn go_back<R>(&mut self, levels: usize, turn: Option<&Turn<R>>) {
        match turn {
            Some(Turn::Pick) => {
                self.truncate(levels);
                self.reopen_last();
            }
            Some(Turn::Step(_)) => self.truncate(levels.saturating_sub(1)),
            None => {}
        }
    }

    /// Whether a thread is about to take a lock that, as far as we were told, others hold in its way: then a release was
    /// not told of, and the order of steps is not known.
    pub(super) fn contradicts(&self, thread: ThreadId, event: &Event) -> bool {
        let Some((mode, range)) = wanted(event).zip(event.range) else { return false };
        self.objects.get(granule(range)).is_some_and(|object| !object.holds.allow(thread, mode))
    }

    /// Forgets the steps from `length` on.
    pub(super) fn truncate(&mut self, length: usize) {
        while self.steps.len() > length {
            self.reopen_last();
            let Some(step) = self.steps.pop() else { return };
            each_key(&step.event, |key, _| forget_last(&mut self.objects, key));
            self.last[step.thread.index()] = step.previous;
        }
        self.clocks.truncate(length * self.stride);
    }

    /// Appends a step and reports its races.
    pub(super) fn append(&mut self, thread: ThreadId, event: &Event, races: &mut Vec<Race>) {
        self.make_room(thread);
        let at = self.steps.len();
        let previous = self.last[thread.index()];
        let number = previous.map_or(0, |previous| self.steps[previous].number) + 1;
        let start = self.begin_clock(thread, event);
        let footprint = Footprint::of(event);
        self.find_races(start, thread, (event, &footprint), Second::At(at), races);
        self.clocks[start + thread.index()] = number;
        each_key(event, |key, role| {
            let object = self.objects.at(key);
            let change = role.map_or(Change::Nothing, |role| object.holds.perform(thread, event, role));
            object.entries.push(Entry { step: at, change, aside: false });
        });
        self.last[thread.index()] = Some(at);
        let (woken, released) = (ThreadSet::EMPTY, Vec::new());
        self.steps.push(Taken {
            thread,
            event: *event,
            footprint,
            number,
            previous,
            woken,
            released,
            overwritten: None,
            emptied: Vec::new(),
            planned: OnceCell::new(),
        });
    }

    /// Reports the races of a step that was pending at the end.
    pub(super) fn pending(&mut self, thread: ThreadId, event: Event, races: &mut Vec<Race>) {
        self.make_room(thread);
        let start = self.begin_clock(thread, &event);
        self.find_races(start, thread, (&event, &Footprint::of(&event)), Second::Pending(thread, event, self.steps.len()), races);
        self.clocks.truncate(start);
    }

    /// All steps in conflict with what a thread is about to do that nothing else orders before it.
    pub(super) fn rivals(&mut self, thread: ThreadId, event: &Event, rivals: &mut Vec<usize>) {
        self.make_room(thread);
        let start = self.begin_clock(thread, event);
        rivals.clear();
        if event.kind == EventKind::ExitProcess {
            rivals.extend(0..self.steps.len());
        }
        let footprint = Footprint::of(event);
        each_key(event, |key, _| self.conflicts(key, (event, &footprint), Thoroughness::All, rivals));
        rivals.sort_unstable();
        rivals.dedup();
        rivals.retain(|&at| !self.is_after(start, at));
        self.clocks.truncate(start);
    }

    /// The steps that do not come after the first step of a race, in order, and without its second step.
    /// A last step that `ended` the execution is left out too: nothing could follow it.
    pub(super) fn independent_of(&mut self, race: &Race, ended: Option<usize>, kept: &mut Vec<usize>) {
        let (second, footprint) = match race.second {
            Second::At(at) => (at, self.steps[at].footprint),
            Second::Pending(_, event, _) => (self.steps.len(), Footprint::of(&event)),
        };
        kept.clear();
        let number = |at: usize| (self.steps[at].thread.index(), self.steps[at].number);
        let (thread, from) = number(race.first);
        // Steps that are left out beside the first one though they do not come after it.
        let mut others = core::mem::take(&mut self.left_out);
        others.clear();
        for (at, clock) in (race.first..).zip(self.clocks[race.first * self.stride..].chunks_exact(self.stride)) {
            if clock[thread] >= from || others.iter().any(|&(thread, from)| clock[thread] >= from) {
                continue;
            }
            let overtaken = race.remedy == Remedy::Overtake && at < second && self.steps[at].footprint.meets(&footprint);
            if at == second || Some(at) == ended || overtaken {
                others.push(number(at));
            } else {
                kept.push(at);
            }
        }
        self.left_out = others;
    }

    fn make_room(&mut self, thread: ThreadId) {
        let threads = thread.index() + 1;
        if self.last.len() < threads {
            self.last.resize(threads, None);
        }
        if self.stride < threads {
            let stride = threads.next_power_of_two().max(4);
            let mut clocks = Vec::with_capacity(self.steps.len() * stride);
            for at in 0..self.steps.len() {
                clocks.extend_from_slice(&self.clocks[at * self.stride..(at + 1) * self.stride]);
                clocks.resize((at + 1) * stride, 0);
            }
            self.clocks = clocks;
            self.stride = stride;
        }
    }

    /// Adds a clock for the next step, of what enabledness alone orders before it; where it begins.
    fn begin_clock(&mut self, thread: ThreadId, event: &Event) -> usize {
        let start = self.clocks.len();
        let previous = self.last[thread.index()];
        match previous {
            Some(previous) => self.clocks.extend_from_within(previous * self.stride..(previous + 1) * self.stride),
            None => {
                self.clocks.resize(start + self.stride, 0);
                let created = |entry: &&Entry| matches!(self.steps[entry.step].event.kind, EventKind::Create { child } if child == thread);
                let creations = self.objects.get(Key::Creation);
                if let Some(creation) = creations.and_then(|object| object.entries.iter().rev().find(created)) {
                    self.join(start, creation.step);
                }
            }
        }
        match event.kind {
            EventKind::Join { child } => {
                if let Some(end) = self.last.get(child.index()).copied().flatten() {
                    self.join(start, end);
                }
            }
            EventKind::WaitReacquire | EventKind::BarrierLeave | EventKind::FutexReturn => {
                let since = previous.unwrap_or(0);
                let waker = (since..self.steps.len()).rev().find(|&at| self.steps[at].woken.contains(thread));
                if let Some(waker) = waker {
                    self.join(start, waker);
                }
            }
            _ => {}
        }
        start
    }

    /// Makes the clock at `start` come after a step's.
    fn join(&mut self, start: usize, step: usize) {
        let (before, after) = self.clocks.split_at_mut(start);
        let from = &before[step * self.stride..(step + 1) * self.stride];
        for (mine, &theirs) in after.iter_mut().zip(from) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Whether the clock at `start` comes after a step.
    fn is_after(&self, start: usize, step: usize) -> bool {
        let step = &self.steps[step];
        self.clocks[start + step.thread.index()] >= step.number
    }

    /// Finds the races of a step whose clock begins at `start`, and completes the clock.
    fn find_races(&mut self, start: usize, thread: ThreadId, own: (&Event, &Footprint), second: Second, races: &mut Vec<Race>) {
        let (event, _) = own;
        let remedy = remedy(event.kind);
        if let Some(mode) = wanted(event)
            && let Some(first) = self.overtaken(start, thread, event, mode)
        {
            races.push(Race { first, second, remedy: Remedy::Overtake });
        }
        let mut conflicts = core::mem::take(&mut self.scratch);
        conflicts.clear();
        if event.kind == EventKind::ExitProcess {
            conflicts.extend(self.last.iter().flatten());
        } else {
            let thoroughness = if remedy == Some(Remedy::Expand) { Thoroughness::All } else { Thoroughness::Last };
            each_key(event, |key, _| self.conflicts(key, own, thoroughness, &mut conflicts));
        }
        // From the last on: what comes before one that was met is not an immediate race.
        conflicts.sort_unstable_by(|a, b| b.cmp(a));
        conflicts.dedup();
        conflicts.retain(|&at| !self.is_after(start, at));
        for &at in &conflicts {
            let immediate = !self.is_after(start, at);
            if immediate {
                self.join(start, at);
            }
            if let Some(remedy) = remedy
                && (immediate || remedy == Remedy::Expand)
            {
                races.push(Race { first: at, second, remedy });
            }
        }
        self.scratch = conflicts;
    }

    /// The steps at `key` that conflict with an event; the last ones end with one that conflicts with all before it.
    fn conflicts(&self, key: Key, own: (&Event, &Footprint), thoroughness: Thoroughness, conflicts: &mut Vec<usize>) {
        if let Some(object) = self.objects.get(key) {
            self.conflicts_at(object, own, thoroughness, conflicts);
        }
        let (event, footprint) = own;
        if key != Key::Wide {
            if let Some(wide) = self.objects.wide() {
                let steps = wide.entries.iter().map(|entry| entry.step);
                conflicts.extend(steps.filter(|&at| self.steps[at].footprint.meets(footprint)));
            }
        } else if let Some(range) = event.range {
            let (first, last) = granules(range);
            for object in self.objects.between(Key::Granule(first), Key::Granule(last)) {
                self.conflicts_at(object, own, thoroughness, conflicts);
            }
        }
    }

    fn conflicts_at(
        &self,
        object: &Object,
        (event, footprint): (&Event, &Footprint),
        thoroughness: Thoroughness,
        conflicts: &mut Vec<usize>,
    ) {
        for entry in object.entries.iter().rev() {
            let step = &self.steps[entry.step];
            if entry.aside && dependent(&release(key_address(event)), event) {
                conflicts.push(entry.step);
            } else if !entry.aside && step.footprint.meets(footprint) {
                conflicts.push(entry.step);
                if thoroughness == Thoroughness::Last && hides_earlier(step, event) {
                    break;
                }
            }
        }
    }

    /// The last conflicting step before which a thread could have taken a lock, unless an earlier one orders the two.
    fn overtaken(&self, start: usize, thread: ThreadId, event: &Event, mode: Mode) -> Option<usize> {
        let key = granule(event.range?);
        let object = self.objects.get(key)?;
        let mut holds = object.holds.clone();
        for entry in object.entries.iter().rev() {
            if self.is_after(start, entry.step) {
                return None;
            }
            holds.undo(entry.change);
            let release = release(key_address(event));
            let meant = if entry.aside { &release } else { &self.steps[entry.step].event };
            let idle = entry.aside && entry.change == Change::Nothing;
            if !idle && dependent(meant, event) && holds.allow(thread, mode) {
                return Some(entry.step);
            }
        }
        None
    }
}

/// What races with an event as the second one ask for; `None` when there are none, or when they are found otherwise.
fn remedy(kind: EventKind) -> Option<Remedy> {
    match kind {
        // Found by `overtaken`.
        EventKind::Lock | EventKind::WaitReacquire | EventKind::ReadLock | EventKind::Acquire { .. } => None,
        EventKind::SemWait | EventKind::OnceEnter => Some(Remedy::Expand),
        _ => Some(Remedy::Reverse),
    }
}

/// Whether every earlier step that conflicts with `event` also conflicts with `step`.
fn hides_earlier(step: &Taken, event: &Event) -> bool {
    let covers = |outer: Range, inner: Range| {
        let offset = inner.address.wrapping_sub(outer.address);
        offset < u64::from(outer.length) && offset + u64::from(inner.length) <= u64::from(outer.length)
    };
    let exclusive = step.footprint.meets(&step.footprint);
    exclusive && matches!((step.event.range, event.range), (Some(outer), Some(inner)) if covers(outer, inner))
}

/// Giving up the injected lock at this address.
pub(super) fn release(lock: u64) -> Event {
    Event { kind: EventKind::Release, range: Some(Range { address: lock, length: 1 }), object: None, site: None }
}

fn key_address(event: &Event) -> u64 {
    event.range.map_or(0, |range| range.address)
}

/// Forgets the last step that met others here.
fn forget_last(objects: &mut Objects, key: Key) {
    let object = objects.at(key);
    if let Some(entry) = object.entries.pop() {
        object.holds.undo(entry.change);
    }
}
