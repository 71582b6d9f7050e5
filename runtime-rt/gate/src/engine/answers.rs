//! System calls that are answered here, without the kernel: clocks, random numbers, and what is a thread's own but would be that
//! of the one OS thread.
//!
//! An execution's random numbers are the same in every execution: a schedule then says all that happens.
//! Not handled: the processor's own time stamps and random numbers.

use model::ids::ThreadId;

use super::clocks::{self, parts};
use super::fiber::Engine;
use super::{handlers, thread_names, timers};
use crate::gate::ask::Nanoseconds;
use crate::gate::model::EPOCH;
use crate::sys::call::{process, word};

/// What the call returns, if it is one of these.
pub(crate) fn answer(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Option<isize> {
    let [first, second, third, ..] = *arguments;
    match number {
        libc::SYS_clock_gettime => Some(match clocks::read(engine, super::shapes::descriptor(first)) {
            Some(time) => {
                store(second, parts(time));
                0
            }
            None => -(libc::EINVAL as isize),
        }),
        libc::SYS_gettimeofday => {
            store(first, in_microseconds(clocks::now(engine)));
            Some(0)
        }
        libc::SYS_time => {
            let [seconds, _] = parts(clocks::now(engine));
            store(first, seconds);
            isize::try_from(seconds).ok()
        }
        libc::SYS_getrandom => {
            fill(engine, first, second);
            isize::try_from(second).ok()
        }
        libc::SYS_rt_sigaction => handlers::set(first, second, third),
        libc::SYS_rt_sigprocmask => Some(mask(engine, first, second, third)),
        libc::SYS_sigaltstack => Some(other_stack(engine, first, second)),
        libc::SYS_alarm => Some(timers::alarm(engine, first)),
        libc::SYS_setitimer if first == word(libc::ITIMER_REAL) => {
            let new: *const [u64; 4] = core::ptr::with_exposed_provenance(second);
            // SAFETY: the program passes valid times, or null.
            let new = unsafe { new.as_ref() }.copied().unwrap_or_default();
            store(third, timers::set_interval(engine, new));
            Some(0)
        }
        libc::SYS_setitimer | libc::SYS_timer_settime => {
            timers::set_other(engine);
            Some(0)
        }
        libc::SYS_getrusage => {
            let worked = match super::shapes::descriptor(first) {
                libc::RUSAGE_SELF => clocks::worked_by_all(engine),
                libc::RUSAGE_THREAD => clocks::worked_by_caller(engine),
                _ => Nanoseconds(0),
            };
            let mut usage = [0_u64; 18];
            [usage[0], usage[1]] = in_microseconds(worked);
            store(second, usage);
            Some(0)
        }
        libc::SYS_times => {
            const TICK: u64 = 10_000_000;
            store(first, [clocks::worked_by_all(engine).0 / TICK, 0, 0, 0]);
            isize::try_from((clocks::now(engine).0 - EPOCH.0) / TICK).ok()
        }
        libc::SYS_prctl => thread_names::answer(engine, first, second),
        libc::SYS_gettid => isize::try_from(process() + engine.current().index()).ok(),
        _ => None,
    }
}

/// The thread of this execution to which `gettid` gives this number.
pub(super) fn thread(engine: &Engine, number: usize) -> Option<ThreadId> {
    number.checked_sub(process()).filter(|&index| index < engine.model.borrow().threads.len()).map(ThreadId::new)
}

/// Seconds and microseconds.
fn in_microseconds(time: Nanoseconds) -> [u64; 2] {
    let [seconds, nanoseconds] = parts(time);
    [seconds, nanoseconds / 1000]
}

fn store<T>(address: usize, value: T) {
    let place: *mut T = core::ptr::with_exposed_provenance_mut(address);
    if !place.is_null() {
        // SAFETY: the program passes a valid place, or null.
        unsafe { place.write(value) };
    }
}

/// Fills the program's memory with random bytes (SplitMix64).
pub(crate) fn fill(engine: &Engine, address: usize, length: usize) {
    let place: *mut u8 = core::ptr::with_exposed_provenance_mut(address);
    for at in 0..length {
        let byte = next(engine);
        // SAFETY: the program passes so many bytes.
        let target = unsafe { place.add(at) };
        // SAFETY: as above.
        unsafe { target.write(byte) };
    }
}

fn next(engine: &Engine) -> u8 {
    let state = engine.entropy.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    engine.entropy.set(state);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let [first, ..] = (mixed ^ (mixed >> 31)).to_le_bytes();
    first
}

/// Keeps what the thread has said of another stack for handlers. Nothing runs there: faults are handled on our own, other handlers where the thread is.
fn other_stack(engine: &Engine, new: usize, old: usize) -> isize {
    let before = engine.with_current(|fiber| fiber.told.other_stack.get());
    let new: *const [usize; 3] = core::ptr::with_exposed_provenance(new);
    // SAFETY: the program passes a valid description, or null.
    if let Some(&new) = unsafe { new.as_ref() } {
        engine.with_current(|fiber| fiber.told.other_stack.set(Some(new)));
    }
    store(old, before.unwrap_or([0, word(libc::SS_DISABLE), 0]));
    0
}

/// Keeps the thread's own set of blocked signals; the OS thread's stays empty, or faults would end the process.
fn mask(engine: &Engine, how: usize, set: usize, before: usize) -> isize {
    let me = engine.current().index();
    let old = engine.model.borrow().threads[me].blocked;
    store(before, old);
    let given: *const u64 = core::ptr::with_exposed_provenance(set);
    // SAFETY: the program passes a valid set, or null.
    if let Some(&given) = unsafe { given.as_ref() } {
        const BLOCK: usize = libc::SIG_BLOCK.cast_unsigned() as usize;
        const UNBLOCK: usize = libc::SIG_UNBLOCK.cast_unsigned() as usize;
        let new = match how {
            BLOCK => old | given,
            UNBLOCK => old & !given,
            _ if how == word(libc::SIG_SETMASK) => given,
            _ => return -(libc::EINVAL as isize),
        };
        engine.model.borrow_mut().threads[me].blocked = new;
    }
    0
}
