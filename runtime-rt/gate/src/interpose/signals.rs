//! Waiting for signals: a thread that waits is woken by `pthread_kill`, and otherwise only from outside, which is not explored.

use core::ffi::{c_int, c_void};

use super::{export, store};
use crate::engine::fiber::running;
use crate::gate::ask::Ask;
use crate::sys::real::{Real, real};

static WAIT: Real = Real::new(c"sigwait");
static WAIT_INFO: Real = Real::new(c"sigwaitinfo");
static PAUSE: Real = Real::new(c"pause");
static SUSPEND: Real = Real::new(c"sigsuspend");

/// All of them.
pub(super) static REALS: &[&Real] = &[&WAIT, &WAIT_INFO, &PAUSE, &SUSPEND];

type Set = libc::sigset_t;

export! {
    fn sigwait(set: *const Set, place: *mut c_int) -> c_int {
        match running() {
            Some(engine) => {
                store(place, engine.point(Ask::AwaitSignal));
                0
            }
            None => real!(WAIT, fn(*const Set, *mut c_int) -> c_int, set, place),
        }
    }

    fn sigwaitinfo(set: *const Set, info: *mut c_void) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::AwaitSignal),
            None => real!(WAIT_INFO, fn(*const Set, *mut c_void) -> c_int, set, info),
        }
    }

    fn pause() -> c_int {
        match running() {
            Some(engine) => {
                engine.point(Ask::AwaitSignal);
                super::fail(libc::EINTR)
            }
            None => real!(PAUSE, fn() -> c_int,),
        }
    }

    fn sigsuspend(set: *const Set) -> c_int {
        match running() {
            Some(engine) => {
                engine.point(Ask::AwaitSignal);
                super::fail(libc::EINTR)
            }
            None => real!(SUSPEND, fn(*const Set) -> c_int, set),
        }
    }
}
