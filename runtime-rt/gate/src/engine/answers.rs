//! System calls that are answered here, without the kernel: clocks, random numbers, and what is a thread's own but would be that
//! of the one OS thread.
//!
//! An execution's random numbers are the same in every execution: a schedule then says all that happens.
//! Not handled: the processor's own time stamps and random numbers.

use explorer::target::page::Note;

use super::fiber::Engine;
use super::{control, handlers};
use crate::gate::model::EPOCH;
use crate::gate::thread::Hope;
use crate::sys::call::{process, word};

/// Where virtual time begins, in seconds.
const BEGIN: u64 = EPOCH.0 / 1_000_000_000;

/// What the call returns, if it is one of these.
pub(crate) fn answer(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Option<isize> {
    let [first, second, third, ..] = *arguments;
    match number {
        libc::SYS_clock_gettime => {
            let (seconds, nanoseconds) = now(engine);
            store(second, [seconds, nanoseconds]);
            Some(0)
        }
        libc::SYS_gettimeofday => {
            let (seconds, nanoseconds) = now(engine);
            store(first, [seconds, nanoseconds / 1000]);
            Some(0)
        }
        libc::SYS_time => {
            let (seconds, _) = now(engine);
            store(first, seconds);
            isize::try_from(seconds).ok()
        }
        libc::SYS_getrandom => {
            fill(engine, first, second);
            isize::try_from(second).ok()
        }
        libc::SYS_rt_sigaction => handlers::set(first, second, third),
        libc::SYS_rt_sigprocmask => Some(mask(engine, first, second, third)),
        // Our handlers run on a stack of their own, which stays; nothing else would use another one.
        libc::SYS_sigaltstack => Some(0),
        // Timers that send signals never go off: they would in real time.
        libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_timer_settime => {
            control::note(Note::Signals);
            Some(0)
        }
        libc::SYS_getrusage => {
            let (seconds, nanoseconds) = now(engine);
            let mut usage = [0_u64; 18];
            (usage[0], usage[1]) = (seconds - BEGIN, nanoseconds / 1000);
            store(second, usage);
            Some(0)
        }
        libc::SYS_times => {
            let (seconds, nanoseconds) = now(engine);
            let ticks = (seconds - BEGIN) * 100 + nanoseconds / 10_000_000;
            store(first, [ticks, 0, 0, 0]);
            isize::try_from(ticks).ok()
        }
        libc::SYS_gettid => isize::try_from(process() + engine.current().index()).ok(),
        _ => None,
    }
}

/// Whether `gettid` gives this number to a thread of this execution.
pub(super) fn is_thread(engine: &Engine, number: usize) -> bool {
    number.checked_sub(process()).is_some_and(|index| index < engine.model.borrow().threads.len())
}

fn now(engine: &Engine) -> (u64, u64) {
    engine.hope(Hope::Time);
    let now = engine.model.borrow().now().0;
    (now / 1_000_000_000, now % 1_000_000_000)
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
