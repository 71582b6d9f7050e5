//! One execution: the strategy says who goes on, the model performs the event, the fiber runs on to its next one.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::ffi::c_void;
use core::hash::Hash;

use explorer::strategy::{Choice, Pick, Point, Step, Strategy};
use explorer::target::page::{Note, Word};
use explorer::threads::MAX_THREADS;
use model::event::{Event, EventKind};
use model::ids::{SiteKey, ThreadId};
use model::report::FailureKind;

use super::endings::{end_process, end_thread};
use super::failure::{Failed, deadlock};
use super::fiber::{Engine, Fiber, Routine, Stop, running};
use super::habits::{self, Habit};
use super::outside::{self, Patience};
use super::recorder::Recorded;
use super::rounds::{Digest, Round};
use super::{child, control, early, repeat, several, timers};
use crate::gate::compare::word;
use crate::gate::thread::Life;
use crate::sys::switch::{StackPointer, prepare};
use crate::sys::unwind;

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Without a failure.
    Passed,
    /// With one.
    Failed(Failed),
    /// At the step limit: what would have followed is not known.
    Cut(Failed),
    /// In a round within the library (`several`): what would have followed, others show.
    LeftOut,
    /// The strategy gave it up.
    Abandoned,
    /// The strategy found it to differ from what it was to repeat.
    Diverged,
    /// It needs more parked threads and must be run again with them.
    NeedLenders,
    /// It needs other scheduling points and must be run again with them.
    Learnt,
    /// The restore driver cannot run this program, for this reason.
    NeedFork(&'static str),
}

/// Who took a step, or how it ended the execution. Small: a step is taken in less time than it takes to move all that may be said of an end.
pub(super) type Taking = Result<ThreadId, Box<Ended>>;

/// Runs one execution to its end. Does not tell the strategy of the end: the caller does, when the process survives it.
pub(crate) fn execute(engine: &Engine, strategy: &mut dyn Strategy, limit: u64) -> Ended {
    begin(engine);
    let mut last = repeat::steps(engine, strategy, limit);
    let ended = loop {
        let current = match last {
            Ok(thread) => thread,
            Err(ended) => break ended,
        };
        last = step(engine, strategy, limit, current).map(Some);
    };
    engine.come_home();
    control::raise(Word::Threads, engine.model.borrow().threads.len() as u64);
    *ended
}

fn begin(engine: &Engine) {
    engine.model.borrow_mut().begin();
    engine.shadow.borrow_mut().begin();
    engine.recorder.borrow_mut().begin();
    engine.found_races.borrow_mut().clear();
    engine.lifetimes.begin();
    engine.rounds.begin();
    engine.pieces.begin();
    engine.streams.begin();
    engine.refuges.borrow_mut().begin();
    engine.hangs.set(false);
    if let Some(races) = engine.races.borrow_mut().as_mut() {
        races.begin();
    }
    engine.spare.borrow_mut().extend(engine.fibers.borrow_mut().drain(..).rev());
    engine.names.borrow_mut().clear();
    engine.timers.borrow_mut().clear();
    engine.supplies.begin();
    engine.unseen.begin();
    engine.entropy.set(0);
    control::set(Word::AwaitsOutside, 0);
    add_fiber(engine, engine.initial.get(), None);
    engine.model.borrow_mut().threads[0].name(engine.initial.get().identity);
}

/// Takes one step: who took it, or how the execution ended.
///
/// Part of its caller, the loop of an execution: where the engine returned between two fibers, the processor's record of return addresses would
/// be one off, and both that return and the next fiber's first one mispredicted.
#[inline(always)]
fn step(engine: &Engine, strategy: &mut dyn Strategy, limit: u64, current: Option<ThreadId>) -> Taking {
    let mut model = loop {
        let mut model = engine.model.borrow_mut();
        if model.holds.has_news() {
            early::count(model.holds.take_lost());
        }
        model.find_enabled();
        if core::mem::take(&mut model.held_ends) {
            control::note(Note::HeldTimeouts);
        }
        if !model.found_enabled().is_empty() {
            break model;
        }
        drop(model);
        free_somebody(engine, strategy)?;
    };
    let mut recorder = engine.recorder.borrow_mut();
    let at = recorder.steps.len();
    if at as u64 >= limit {
        return Err(Box::new(Ended::Cut(step_limit(&recorder.steps, limit))));
    }
    let point = Point { current, enabled: model.found_enabled(), pending: &model.pending };
    let thread = match strategy.choose(&point) {
        Choice::Run(thread) if point.enabled.contains(thread) => thread,
        Choice::Run(_) => control::broken("the strategy chose a thread that is not enabled"),
        Choice::Abandon => return Err(Box::new(Ended::Abandoned)),
        Choice::Diverged => return Err(Box::new(Ended::Diverged)),
    };
    let preempts = point.preempts(thread);
    engine.rounds.offer(point.enabled);
    let Some(event) = point.event(thread) else { control::broken("a thread is enabled that is about to do nothing") };
    engine.pieces.step(thread, event, point.pending);
    let step = Step { thread, event: *event };
    let ordinal = engine.fibers.borrow()[thread.index()].asks_for.get();
    // Not from `step`: the processor waits where what was written in parts is copied as a whole.
    recorder.push(Recorded { step: Step { thread, event: *event }, ordinal, preempts });
    let result = model.perform(thread, &step.event, &mut |pick| {
        let option = strategy.pick(pick);
        recorder.pick(at, option);
        option
    });
    drop(recorder);
    drop(model);
    strategy.executed(&step);
    go_on(engine, strategy, &step, result)
}

/// Lets a thread go on to its next point after its event was performed in the model, with this result.
#[inline(always)]
pub(super) fn go_on(engine: &Engine, strategy: &mut dyn Strategy, step: &Step, result: i32) -> Taking {
    let Step { thread, event } = step;
    let thread = *thread;
    timers::fire(engine);
    engine.note_step(thread, event);
    control::add(Word::Steps, 1);
    // Calls say so themselves: one that reads a timer has not given up when its time comes.
    if matches!(event.kind, EventKind::WaitTimeout { .. } | EventKind::LockTimeout { .. }) && !event.leaves_call() {
        control::note(Note::BoundedTimeouts);
    }
    engine.overwritten.set(None);
    let is_call = event.is_call();
    if is_call {
        engine.supplies.call_begins();
    }
    let stop = if matches!(event.kind, EventKind::Exit) { Stop::Point } else { engine.resume(thread, result) };
    if is_call {
        engine.supplies.call_ended();
    }
    let before = engine.overwritten.take();
    if let Some(before) = before {
        strategy.overwrote(before);
        if event.range.and_then(word) == Some(before) {
            engine.model.borrow_mut().changed_nothing(thread, event);
        }
    }
    if engine.supplies.has_news() {
        engine.supplies.take_news().into_iter().for_each(|supply| strategy.supplied(thread, supply));
    }
    if engine.model.borrow().holds.has_news() {
        tell_released(engine, strategy, thread);
    }
    engine.rounds.step(step, result, before);
    match stop {
        Stop::Point if engine.rounds.is_watching() => look_for_round(engine, thread).map_or(Ok(thread), Err),
        Stop::Point => Ok(thread),
        stop => Err(ended(engine, thread, stop)),
    }
}

/// Whether threads go round with the step that this one has taken, and so end the execution.
#[inline(never)]
fn look_for_round(engine: &Engine, thread: ThreadId) -> Option<Box<Ended>> {
    engine.fibers.borrow()[thread.index()].leave_place();
    if !engine.rounds.looks_at_states() {
        return None;
    }
    let round = engine.rounds.come_round(|digest| state(engine, digest))?;
    if several::go_round(engine, &round) {
        if engine.rounds.ignores_library() {
            return None;
        }
        control::note(Note::SeveralLocks);
        return Some(Box::new(Ended::LeftOut));
    }
    round.is_fair.then(|| Box::new(Ended::Failed(livelock(engine, &round))))
}

/// Tells of the injected locks that the thread gave up within its step.
#[inline(never)]
fn tell_released(engine: &Engine, strategy: &mut dyn Strategy, thread: ThreadId) {
    let dropped = engine.model.borrow_mut().holds.take_dropped();
    for lock in dropped {
        let left = engine.model.borrow().holds.strongest(thread, lock);
        strategy.released(thread, lock, left);
        if let Some(races) = engine.races.borrow_mut().as_mut() {
            races.released(thread, lock);
        }
    }
}

/// When nobody can go on: frees whoever can be freed, after which all are to be looked at again. `Err` when the execution is over. Where
/// locks can be taken away in several ways, the strategy picks one: a part of the step that left nobody able to go on.
#[inline(never)]
fn free_somebody(engine: &Engine, strategy: &mut dyn Strategy) -> Result<(), Box<Ended>> {
    if engine.model.borrow().threads.iter().all(|thread| thread.life != Life::Alive) {
        end_as_last(engine)?;
        return Ok(());
    }
    let outside = outside::is_awaited(engine);
    if outside && outside::wait(engine, Patience::Short) {
        return Ok(());
    }
    let mut model = engine.model.borrow_mut();
    if model.free_timeouts() || model.let_hope() {
        return Ok(());
    }
    let kept = model.kept_waiting();
    if let Some(first) = kept.first().copied() {
        let chosen = if kept.len() == 1 { first } else { pick(engine, strategy, &kept) };
        model.revoke_for(chosen);
        control::note(Note::Revocations);
        return Ok(());
    }
    drop(model);
    if timers::is_awaited(engine) {
        if !(habits::learn(engine, Habit::Interrupts) & habits::learn(engine, Habit::SignalsForAll)) {
            return Err(Box::new(Ended::Learnt));
        }
        timers::ring(engine);
        return Ok(());
    }
    let model = engine.model.borrow();
    if model.awaits_signal() {
        control::note(Note::Signals);
    }
    let failed = deadlock(&model);
    if (control::has_noted(Note::SignalDescriptors) || timers::has_others(engine)) && failed.kind == FailureKind::DeadlockCondition {
        // A thread that waits for a descriptor may wait for a signal of another thread, which would have come; and so would that of a timer.
        return Err(Box::new(Ended::Passed));
    }
    drop(model);
    if outside && !matches!(failed.kind, FailureKind::DeadlockLock | FailureKind::DeadlockSelf) && outside::wait(engine, Patience::Endless)
    {
        return Ok(());
    }
    Err(Box::new(Ended::Failed(failed)))
}

/// All threads have ended, so the process ends as by `exit`: the initial thread lives on to run what that runs. The C library has the last
/// thread do so; which one that is shows in nothing else.
fn end_as_last(engine: &Engine) -> Result<(), Box<Ended>> {
    let initial = ThreadId(0);
    engine.model.borrow_mut().revive(initial);
    for child in 1..engine.model.borrow().threads.len() {
        let kind = EventKind::Join { child: ThreadId::new(child) };
        engine.note_step(initial, &Event { kind, range: None, object: None, site: None });
    }
    match engine.resume(initial, 0) {
        Stop::Point => Ok(()),
        stop => Err(ended(engine, initial, stop)),
    }
}

/// How a thread has ended the execution.
#[inline(never)]
fn ended(engine: &Engine, thread: ThreadId, stop: Stop) -> Box<Ended> {
    Box::new(match stop {
        Stop::Point => control::broken("a point is no end"),
        Stop::Exited(0) => Ended::Passed,
        Stop::Exited(status) => {
            let site = engine.fibers.borrow()[thread.index()].last_site.get();
            let message = alloc::format!("the program ended with exit status {}", status & 0xff);
            Ended::Failed(Failed::new(FailureKind::ExitStatus, Some(thread), site, &message))
        }
        Stop::Failed(failed) => Ended::Failed(failed),
        Stop::NeedLenders => Ended::NeedLenders,
        Stop::Learnt => Ended::Learnt,
        Stop::NeedFork(why) => Ended::NeedFork(why),
    })
}

/// Who of these goes on.
fn pick(engine: &Engine, strategy: &mut dyn Strategy, threads: &[ThreadId]) -> ThreadId {
    let option = strategy.pick(&Pick::Value { options: u32::try_from(threads.len()).unwrap_or(u32::MAX) });
    let mut recorder = engine.recorder.borrow_mut();
    let at = recorder.steps.len().saturating_sub(1);
    recorder.pick(at, option);
    threads.get(option as usize).copied().unwrap_or(threads[0])
}

/// What the execution does next depends on this, on memory, and on the strategy alone.
fn state(engine: &Engine, digest: &mut Digest) {
    engine.model.borrow_mut().digest(digest);
    for fiber in engine.fibers.borrow().iter() {
        fiber.stood.get().hash(digest);
    }
}

/// Threads go round.
fn livelock(engine: &Engine, &Round { first, took: threads, .. }: &Round) -> Failed {
    let recorder = engine.recorder.borrow();
    let round = recorder.steps.get(usize::try_from(first).unwrap_or(0)..).unwrap_or_default();
    // Wherever in the round it was found out: the same failure.
    let steps = || round.iter().map(|recorded| recorded.step);
    let place = |thread: ThreadId| steps().filter(|step| step.thread == thread).filter_map(|step| step.event.site).min();
    let at = |thread: ThreadId| place(thread).map_or_else(String::new, |site| alloc::format!(" at {site}"));
    let message = if threads.len() == 1 {
        "a thread tries for ever, and nobody else can go on"
    } else {
        "threads try for ever: each goes on, and none gets anywhere"
    };
    let failed = Failed::new(FailureKind::Livelock, threads.first(), threads.first().and_then(place), message);
    Failed { details: threads.iter().map(|thread| alloc::format!("{thread} goes round{}", at(thread))).collect(), ..failed }
}

/// The place is where most steps were: the same failure, wherever the execution was cut.
fn step_limit(steps: &[Recorded], limit: u64) -> Failed {
    let mut places: BTreeMap<(SiteKey, ThreadId), u64> = BTreeMap::new();
    for Recorded { step: Step { thread, event }, .. } in steps {
        if let Some(site) = event.site {
            *places.entry((site, *thread)).or_default() += 1;
        }
    }
    let place = places.iter().max_by_key(|(_, steps)| **steps).map(|(place, _)| *place);
    let message = alloc::format!("the execution did not end within {limit} steps");
    Failed::new(FailureKind::StepLimit, place.map(|(_, thread)| thread), place.map(|(site, _)| site), &message)
}

/// In a fiber that is about to create a thread: ends the execution if that would be one too many.
pub(crate) fn make_room(engine: &Engine) {
    if engine.model.borrow().expected(engine.current()) >= MAX_THREADS {
        control::note(Note::TooManyThreads);
        let message = alloc::format!("the execution creates more than the {MAX_THREADS} threads that can be explored");
        let failed = Failed::new(FailureKind::StepLimit, Some(engine.current()), None, &message);
        engine.leave_for_good(Stop::Failed(failed));
    }
}

/// In a fiber that has created a thread, in the same step: gives it a fiber. Its identity; `None` when no parked thread is left to lend
/// its own.
pub(crate) fn equip(engine: &Engine, child: ThreadId, routine: Routine) -> Option<libc::pthread_t> {
    let lender = engine.lenders.borrow().get(child.index().checked_sub(1)?).copied()?;
    let name = engine.with_current(|creator| creator.told.name.get());
    add_fiber(engine, lender, Some(routine));
    engine.fibers.borrow()[child.index()].told.name.set(name);
    let mut model = engine.model.borrow_mut();
    model.threads[child.index()].name(lender.identity);
    if engine.habits.has(Habit::SignalsForAll) {
        model.threads[child.index()].word = model.threads[0].word;
    }
    Some(lender.identity)
}

fn add_fiber(engine: &Engine, lender: super::lenders::Lender, routine: Option<Routine>) {
    // SAFETY: a parked thread's free stack, or the initial thread's below our caller in `start`.
    let stack: StackPointer = unsafe { prepare(lender.stack, entry) };
    let fiber = match engine.spare.borrow_mut().pop() {
        Some(mut fiber) => {
            fiber.renew(stack, lender, routine);
            fiber
        }
        None => Box::new(Fiber::new(stack, lender, routine)),
    };
    engine.fibers.borrow_mut().push(fiber);
}

/// The first thing that a fiber runs.
extern "C" fn entry() -> ! {
    let Some(engine) = running() else { control::broken("a fiber runs without an engine") };
    let routine = engine.with_current(|fiber| fiber.routine);
    let routine = routine.unwrap_or(Routine { function: run_main, argument: core::ptr::null_mut() });
    // SAFETY: the routine is the program's.
    let result = unsafe { unwind::run(routine.function, routine.argument) };
    if running().is_none() {
        child::end(0);
    }
    end_thread(engine, result)
}

/// Where a fiber goes on whose stack was unwound, or a forked child.
pub(crate) extern "C" fn unwound() -> ! {
    let Some(engine) = running() else { child::end(0) };
    let result = engine.with_current(|fiber| fiber.result.get());
    end_thread(engine, result)
}

/// The program's `main`, after which the process ends.
extern "C" fn run_main(_: *mut c_void) -> *mut c_void {
    let Some(engine) = running() else { control::broken("main runs without an engine") };
    let main = engine.main.get();
    let status = (main.function)(main.count, main.arguments, main.environment);
    if running().is_none() {
        child::end(status);
    }
    end_process(engine, status)
}
