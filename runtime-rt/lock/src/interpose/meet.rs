//! Waiting for peers: semaphores, barriers, and initializers that another thread runs. A semaphore that has a count left keeps nobody waiting, so it is tried first.

use core::ffi::c_int;

use super::next::{Next, interpose, interpose_blocking};
use super::{begin_blocking, end_blocking, holds_something, keeping_errno};
use crate::protocol::graph::Blocked;

/// Whether the call may wait: a semaphore with a count left is taken by the question itself.
///
/// # Safety
/// `semaphore` is a semaphore.
unsafe fn is_taken(semaphore: *mut libc::sem_t) -> bool {
    // SAFETY: the caller's semaphore, and a call that does not wait.
    holds_something() && keeping_errno(|| unsafe { libc::sem_trywait(semaphore) }) == 0
}

/// Defines a function that takes one from a semaphore.
macro_rules! interpose_semaphore {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*), $symbol:literal) => {
        interpose! {
            $(#[$doc])*
            fn $name(semaphore: *mut libc::sem_t $(, $argument: $type)*) -> c_int,
            Next::new($symbol),
            |original| {
                // SAFETY: the caller's semaphore.
                if unsafe { is_taken(semaphore) } {
                    return 0;
                }
                let blocking = begin_blocking(Some(Blocked::Meet));
                // SAFETY: the caller's duty, passed on.
                let result = unsafe { original(semaphore $(, $argument)*) };
                end_blocking(blocking);
                result
            }
        }
    };
}

interpose_semaphore! {
    /// Takes one from a semaphore.
    fn sem_wait(), c"sem_wait"
}

interpose_semaphore! {
    /// Takes one from a semaphore, or gives up at a time.
    fn sem_timedwait(until: usize), c"sem_timedwait"
}

interpose_semaphore! {
    /// Takes one from a semaphore, or gives up at a time on a clock.
    fn sem_clockwait(clock: c_int, until: usize), c"sem_clockwait"
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
