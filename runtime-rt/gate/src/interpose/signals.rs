//! Waiting for signals, and blocking them.
//!
//! A thread that waits is woken by what other threads send it; what comes from outside is not explored.

use core::ffi::{c_int, c_void};

use super::{deadline, export, fail, store};
use crate::engine::fiber::{Engine, running};
use crate::engine::interrupts;
use crate::gate::ask::{Ask, Nanoseconds, Until};
use crate::sys::real::{Real, real};

static WAIT: Real = Real::new(c"sigwait");
static WAIT_INFO: Real = Real::new(c"sigwaitinfo");
static TIMED_WAIT: Real = Real::new(c"sigtimedwait");
static PAUSE: Real = Real::new(c"pause");
static SUSPEND: Real = Real::new(c"sigsuspend");
static MASK: Real = Real::new(c"pthread_sigmask");
static PROCESS_MASK: Real = Real::new(c"sigprocmask");

/// All of them.
pub(super) static REALS: &[&Real] = &[&WAIT, &WAIT_INFO, &TIMED_WAIT, &PAUSE, &SUSPEND, &MASK, &PROCESS_MASK];

type Set = libc::sigset_t;

/// The signals of a set.
fn bits(set: *const Set) -> u64 {
    // SAFETY: the program passes a valid set; its first word holds all signals that there are.
    unsafe { set.cast::<u64>().read() }
}

/// In a fiber: takes one of these signals.
fn take(engine: &Engine, set: u64, until: Until) -> c_int {
    // A signal that came before and is not blocked, as it should be, is not waited for any more; and who was cancelled takes none.
    interrupts::look_for_cancellation(engine);
    engine.point(Ask::AwaitSignal { set, until })
}

/// What is known of a signal that was taken.
fn inform(information: *mut c_void, signal: c_int) {
    const INTS: usize = 32;
    let mut known = [0_i32; INTS];
    known[0] = signal;
    store(information.cast::<[i32; INTS]>(), known);
}

/// Changes what the running thread blocks. It sees to signals before, which it may block from then on, and after.
fn change_mask(set: *const Set, change: impl FnOnce() -> c_int) -> c_int {
    let look = || {
        if let Some(engine) = running() {
            interrupts::look_for_signals(engine);
        }
    };
    if !set.is_null() {
        look();
    }
    let result = change();
    look();
    result
}

/// In a fiber: waits until a handler has run, with these signals blocked.
fn suspend(engine: &Engine, blocked: Option<u64>) -> c_int {
    let me = engine.current().index();
    let before = engine.model.borrow().threads[me].blocked;
    if let Some(blocked) = blocked {
        engine.model.borrow_mut().threads[me].blocked = blocked;
    }
    engine.point(Ask::AwaitSignal { set: 0, until: Until::Forever });
    engine.model.borrow_mut().threads[me].blocked = before;
    fail(libc::EINTR)
}

export! {
    fn sigwait(set: *const Set, place: *mut c_int) -> c_int {
        match running() {
            Some(engine) => loop {
                let signal = take(engine, bits(set), Until::Forever);
                if signal != libc::EINTR || bits(set) & 1 << (libc::EINTR - 1) != 0 {
                    store(place, signal);
                    return 0;
                }
            },
            None => real!(WAIT, fn(*const Set, *mut c_int) -> c_int, set, place),
        }
    }

    fn sigwaitinfo(set: *const Set, information: *mut c_void) -> c_int {
        match running() {
            Some(engine) => {
                let signal = take(engine, bits(set), Until::Forever);
                inform(information, signal);
                signal
            }
            None => real!(WAIT_INFO, fn(*const Set, *mut c_void) -> c_int, set, information),
        }
    }

    fn sigtimedwait(set: *const Set, information: *mut c_void, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => {
                let until = match deadline(engine, time) {
                    Some(Until::Deadline(Nanoseconds(span))) => {
                        Until::Deadline(Nanoseconds(engine.model.borrow().now().0.saturating_add(span)))
                    }
                    Some(Until::Forever) => Until::Forever,
                    None => return fail(libc::EINVAL),
                };
                match take(engine, bits(set), until) {
                    libc::ETIMEDOUT => fail(libc::EAGAIN),
                    signal => {
                        inform(information, signal);
                        signal
                    }
                }
            }
            None => real!(TIMED_WAIT, fn(*const Set, *mut c_void, *const libc::timespec) -> c_int, set, information, time),
        }
    }

    fn pause() -> c_int {
        match running() {
            Some(engine) => {
                interrupts::look_for_cancellation(engine);
                suspend(engine, None)
            }
            None => real!(PAUSE, fn() -> c_int,),
        }
    }

    fn sigsuspend(set: *const Set) -> c_int {
        match running() {
            Some(engine) => {
                interrupts::look_for_cancellation(engine);
                suspend(engine, Some(bits(set)))
            }
            None => real!(SUSPEND, fn(*const Set) -> c_int, set),
        }
    }

    fn pthread_sigmask(how: c_int, set: *const Set, before: *mut Set) -> c_int {
        change_mask(set, || real!(MASK, fn(c_int, *const Set, *mut Set) -> c_int, how, set, before))
    }

    fn sigprocmask(how: c_int, set: *const Set, before: *mut Set) -> c_int {
        change_mask(set, || real!(PROCESS_MASK, fn(c_int, *const Set, *mut Set) -> c_int, how, set, before))
    }
}
