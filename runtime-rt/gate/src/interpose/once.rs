//! `pthread_once`, which `std::call_once` uses too.
//!
//! A routine that throws leaves the frames here behind: this is noticed at the thread's next scheduling point at which other frames are
//! in their place, and another thread may run the routine then.

use core::cell::Cell;
use core::ffi::c_int;

use model::event::Range;

use super::{export, peek, storage, store};
use crate::engine::fiber::{Engine, Fiber, running};
use crate::gate::ask::{Ask, Request};
use crate::sys::real::{Real, real};

type Once = libc::pthread_once_t;
pub(super) type Routine = extern "C" fn();

static ONCE: Real = Real::new(c"pthread_once");

/// All of them.
pub(super) static REALS: &[&Real] = &[&ONCE];

/// What the C library keeps in the storage when the routine has run.
const DONE: c_int = 2;

/// A routine that a thread runs.
pub(crate) struct Running {
    /// Where the frame of whoever called it lies, with a mark in it.
    frame: usize,
    once: Range,
}

const MARK: usize = 0x6f6e_6365_6f6e_6365;

impl Running {
    /// Whether that frame is no longer there, seen from `here`: it lies below, or other frames have come in its place.
    fn is_abandoned(&self, here: usize) -> bool {
        let mark: *const usize = core::ptr::with_exposed_provenance(self.frame);
        // SAFETY: a word of the thread's own stack, which stays mapped.
        self.frame <= here || unsafe { mark.read_volatile() } != MARK ^ self.frame
    }
}

/// In a fiber: ends what the thread has left by an exception or a jump. What is above `here` on its stack is still there.
pub(crate) fn leave_abandoned(engine: &Engine, here: usize) {
    let left = |fiber: &Fiber| fiber.once.borrow_mut().pop_if(|running| running.is_abandoned(here));
    while let Some(Running { once, .. }) = engine.with_current(left) {
        engine.request(engine.current(), Request { ask: Ask::OnceAbandon { once }, site: None });
    }
}

/// In a fiber: runs the routine, unless that was done, or waits for whoever does.
pub(super) fn enter(engine: &Engine, once: *mut Once, routine: Routine) {
    let site = engine.take_site();
    let range = storage(once);
    let mark = Cell::new(0_usize);
    let frame = mark.as_ptr().expose_provenance();
    leave_abandoned(engine, frame);
    let done = peek(once, 0) == DONE;
    if done && !engine.model.borrow().objects.knows(range) {
        // What was done before the execution began is done for good, as what a thread's end needs of the C compiler's library.
        return;
    }
    if engine.point_at(site, Ask::OnceEnter { once: range, done }) != 0 {
        mark.set(MARK ^ frame);
        engine.with_current(|fiber| fiber.once.borrow_mut().push(Running { frame, once: range }));
        routine();
        mark.set(0);
        engine.with_current(|fiber| fiber.once.borrow_mut().pop());
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
