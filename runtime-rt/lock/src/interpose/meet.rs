//! Waiting for peers: semaphores, barriers, and initializers that another thread runs. A semaphore that has a count left keeps nobody waiting, so it is tried first.

use core::ffi::c_int;

use super::next::{Next, interpose, interpose_blocking};
use super::{begin_blocking, end_blocking, holds_something, keeping_errno};
use crate::protocol::graph::Blocked;

interpose! {
    /// Takes one from a semaphore.
    fn sem_wait(semaphore: *mut libc::sem_t) -> c_int,
    Next::new(c"sem_wait"),
    |original| {
        // SAFETY: the caller's semaphore, and a call that does not wait.
        if holds_something() && keeping_errno(|| unsafe { libc::sem_trywait(semaphore) }) == 0 {
            return 0;
        }
        let blocking = begin_blocking(Some(Blocked::Meet));
        // SAFETY: the caller's duty, passed on.
        let result = unsafe { original(semaphore) };
        end_blocking(blocking);
        result
    }
}

interpose_blocking! {
    /// Takes one from a semaphore, or gives up at a time.
    fn sem_timedwait(semaphore: usize, until: usize) -> c_int,
    Next::new(c"sem_timedwait"),
    Some(Blocked::Meet)
}

interpose_blocking! {
    /// Takes one from a semaphore, or gives up at a time on a clock.
    fn sem_clockwait(semaphore: usize, clock: c_int, until: usize) -> c_int,
    Next::new(c"sem_clockwait"),
    Some(Blocked::Meet)
}

interpose_blocking! {
    /// Waits until as many threads as the barrier asks for have come.
    fn pthread_barrier_wait(barrier: usize) -> c_int,
    Next::new(c"pthread_barrier_wait"),
    Some(Blocked::Meet)
}

/// glibc's control word: the initializer runs, and has not ended.
const RUNNING: i32 = 1;
const STATE: i32 = 3;

/// Whether another thread runs the initializer, or had begun to.
///
/// # Safety
/// `control` points to a control word.
unsafe fn is_running(control: *const core::sync::atomic::AtomicI32) -> bool {
    // SAFETY: the caller's word.
    (unsafe { &*control }).load(core::sync::atomic::Ordering::Relaxed) & STATE == RUNNING
}

/// Defines a function that runs an initializer once.
macro_rules! interpose_once {
    ($(#[$doc:meta])* fn $name:ident() -> $result:ty, $symbol:literal) => {
        interpose! {
            $(#[$doc])*
            fn $name(control: *const core::sync::atomic::AtomicI32, initializer: usize) -> $result,
            Next::new($symbol),
            |original| {
                // SAFETY: the caller's control word.
                let waits = unsafe { is_running(control) };
                let blocking = begin_blocking(waits.then_some(Blocked::Meet));
                // SAFETY: the caller's duty, passed on.
                let result = unsafe { original(control, initializer) };
                end_blocking(blocking);
                result
            }
        }
    };
}

interpose_once! {
    /// Runs an initializer, unless that was done, or waits for the thread that runs it.
    fn pthread_once() -> c_int, c"pthread_once"
}

interpose_once! {
    /// As `pthread_once`, of C11.
    fn call_once() -> (), c"call_once"
}
