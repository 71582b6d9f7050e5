//! `pthread_once`, which `std::call_once` uses too.
//!
//! Not handled: a routine that throws; the process aborts, which is reported.

use core::ffi::c_int;

use super::{export, peek, storage, store};
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::Ask;
use crate::sys::real::{Real, real};

type Once = libc::pthread_once_t;
pub(super) type Routine = extern "C" fn();

static ONCE: Real = Real::new(c"pthread_once");

/// All of them.
pub(super) static REALS: &[&Real] = &[&ONCE];

/// What the C library keeps in the storage when the routine has run.
const DONE: c_int = 2;

/// In a fiber: runs the routine, unless that was done, or waits for whoever does.
pub(super) fn enter(engine: &Engine, once: *mut Once, routine: Routine) {
    let site = engine.take_site();
    let range = storage(once);
    if engine.point_at(site, Ask::OnceEnter { once: range, done: peek(once, 0) == DONE }) != 0 {
        routine();
        store(once, DONE);
        engine.point_at(site, Ask::OnceLeave { once: range });
    }
}

export! {
    fn pthread_once(once: *mut Once, routine: Routine) -> c_int {
        match running() {
            Some(engine) => {
                enter(engine, once, routine);
                0
            }
            None => real!(ONCE, fn(*mut Once, Routine) -> c_int, once, routine),
        }
    }
}
