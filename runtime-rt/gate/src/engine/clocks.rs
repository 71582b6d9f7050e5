//! What the clocks of the system say, and sleeping by them. All of those that run with the world run together, in virtual time.
//!
//! The clocks of the time that a thread, or all of them, has worked pass where virtual time passes without anybody sleeping or waiting: while
//! threads go round until it has, and by reading the processor's clock. Work itself takes none.
//! Not handled: clocks of other processes, which say what this one's does; sleeping by a clock of work, which is by the world's.

use model::ids::ThreadId;

use super::answers;
use super::fiber::Engine;
use super::habits::Habit;
use crate::gate::ask::{Ask, Nanoseconds};
use crate::gate::thread::Hope;

const SECOND: u64 = 1_000_000_000;

/// Whose work a clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// That of all threads.
    All,
    /// That of one.
    Of(ThreadId),
}

/// What a clock says; `None` where there is none of this number.
pub(crate) fn read(engine: &Engine, clock: libc::clockid_t) -> Option<Nanoseconds> {
    const THREADS: i32 = 4;
    const SCHEDULED: i32 = 2;
    let work = match clock {
        libc::CLOCK_REALTIME
        | libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_REALTIME_COARSE
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_REALTIME_ALARM
        | libc::CLOCK_BOOTTIME_ALARM
        | libc::CLOCK_TAI => return Some(now(engine)),
        libc::CLOCK_PROCESS_CPUTIME_ID => Work::All,
        libc::CLOCK_THREAD_CPUTIME_ID => Work::Of(engine.current()),
        // Those of a thread or process by its number.
        ..0 if clock & 3 > SCHEDULED => return None,
        ..0 if clock & THREADS == 0 => Work::All,
        ..0 => Work::Of(answers::thread(engine, usize::try_from(!(clock >> 3)).ok()?)?),
        _ => return None,
    };
    Some(worked(engine, work))
}

/// The clock that counts the work of a thread.
pub(crate) fn of_thread(number: usize) -> libc::clockid_t {
    const THREAD_SCHEDULED: i32 = 6;
    (!i32::try_from(number).unwrap_or(i32::MAX) << 3) | THREAD_SCHEDULED
}

/// What the clocks say that run with the world.
pub(crate) fn now(engine: &Engine) -> Nanoseconds {
    engine.hope(Hope::Time);
    engine.model.borrow().now()
}

/// How long all threads have worked.
pub(crate) fn worked_by_all(engine: &Engine) -> Nanoseconds {
    worked(engine, Work::All)
}

/// How long the running thread has.
pub(crate) fn worked_by_caller(engine: &Engine) -> Nanoseconds {
    worked(engine, Work::Of(engine.current()))
}

fn worked(engine: &Engine, work: Work) -> Nanoseconds {
    engine.hope(Hope::Time);
    let model = engine.model.borrow();
    match work {
        Work::All => Nanoseconds(model.threads.iter().fold(0, |sum: u64, thread| sum.saturating_add(thread.worked.0))),
        Work::Of(thread) => model.threads[thread.index()].worked,
    }
}

/// Seconds and nanoseconds.
pub(crate) fn parts(Nanoseconds(time): Nanoseconds) -> [u64; 2] {
    [time / SECOND, time % SECOND]
}

/// What is left of a sleep that a handler ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest(pub(crate) Nanoseconds);

/// In a fiber: sleeps for so long.
pub(crate) fn sleep(engine: &Engine, span: Nanoseconds) -> Result<(), Rest> {
    let me = engine.current().index();
    let (begin, word) = {
        let model = engine.model.borrow();
        (model.now(), model.threads[me].word)
    };
    let word = engine.habits.has(Habit::Interrupts).then_some(word);
    if engine.point(Ask::Sleep { span, word }) != libc::EINTR {
        return Ok(());
    }
    let passed = engine.model.borrow().now().0 - begin.0;
    match span.0.saturating_sub(passed) {
        // Its time was over when the handler ran.
        0 => Ok(()),
        rest => Err(Rest(Nanoseconds(rest))),
    }
}

/// In a fiber: sleeps until a clock says so much, or for so long.
pub(crate) fn sleep_by(engine: &Engine, clock: libc::clockid_t, flags: i32, time: Nanoseconds) -> Result<(), Rest> {
    let said = match read(engine, clock) {
        Some(said) if flags & libc::TIMER_ABSTIME != 0 => said,
        _ => Nanoseconds(0),
    };
    sleep(engine, Nanoseconds(time.0.saturating_sub(said.0)))
}

/// Whether threads can sleep by a clock.
pub(crate) fn can_sleep_by(engine: &Engine, clock: libc::clockid_t) -> bool {
    clock != libc::CLOCK_THREAD_CPUTIME_ID && read(engine, clock).is_some()
}

/// A time as programs give it to the system; `None` for what is none.
pub(crate) fn span(seconds: i64, nanoseconds: i64) -> Option<Nanoseconds> {
    let fraction = u64::try_from(nanoseconds).ok().filter(|&fraction| fraction < SECOND)?;
    Some(Nanoseconds(u64::try_from(seconds).ok()?.saturating_mul(SECOND).saturating_add(fraction)))
}
