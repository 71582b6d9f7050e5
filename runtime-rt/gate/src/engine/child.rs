//! Children that the program forks: they run on without control, and end as they would without us.
//!
//! Not here: children that share our memory (`vfork`, `posix_spawn`), which only start another program; and the executions that the engine
//! forks itself (`fork`). Of a child that is made by an instruction of the program's own the blocked signals are not given back.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::fiber::{Engine, uninstall};
use super::{handlers, signals};
use crate::sys::call::restore_signals;

/// What the thread that forked had blocked.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Before the fork: the engine's memory is one with that of the child, which must not touch it.
pub(crate) fn prepare(engine: &Engine) {
    BLOCKED.store(engine.model.borrow().threads[engine.current().index()].blocked, Relaxed);
}

/// In the child: the engine goes, and the kernel is told what the program wants of signals.
pub(crate) fn begin() {
    uninstall();
    signals::give_back();
    handlers::give_back();
}

/// In the child, when it is back in the program: until then, the kernel itself may still put back which signals are blocked.
pub(crate) fn settle() {
    begin();
    restore_signals(BLOCKED.load(Relaxed));
}

/// In the child: its only thread has come to its end, or `main` has.
pub(crate) fn end(status: c_int) -> ! {
    // SAFETY: ends the process, as the C library would here.
    unsafe { libc::exit(status) }
}
