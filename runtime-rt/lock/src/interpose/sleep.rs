//! Waiting for time or for a signal.

use core::ffi::{c_int, c_uint};

use super::next::{Next, interpose_blocking};
use crate::protocol::graph::Blocked;

interpose_blocking! {
    /// Sleeps for seconds.
    fn sleep(seconds: c_uint) -> c_uint,
    Next::new(c"sleep"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Sleeps for microseconds.
    fn usleep(microseconds: c_uint) -> c_int,
    Next::new(c"usleep"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Sleeps.
    fn nanosleep(time: usize, left: usize) -> c_int,
    Next::new(c"nanosleep"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Sleeps by a clock.
    fn clock_nanosleep(clock: c_int, flags: c_int, time: usize, left: usize) -> c_int,
    Next::new(c"clock_nanosleep"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Sleeps until a signal.
    fn pause() -> c_int,
    Next::new(c"pause"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Sleeps until a signal, under another mask.
    fn sigsuspend(mask: usize) -> c_int,
    Next::new(c"sigsuspend"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Sleeps until this signal, as of old.
    fn __xpg_sigpause(signal: c_int) -> c_int,
    Next::new(c"__xpg_sigpause"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Takes a signal.
    fn sigwait(set: usize, signal: usize) -> c_int,
    Next::new(c"sigwait"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Takes a signal, with what is known of it.
    fn sigwaitinfo(set: usize, information: usize) -> c_int,
    Next::new(c"sigwaitinfo"),
    Some(Blocked::Sleep)
}

interpose_blocking! {
    /// Takes a signal, or gives up after a time.
    fn sigtimedwait(set: usize, information: usize, time: usize) -> c_int,
    Next::new(c"sigtimedwait"),
    Some(Blocked::Sleep)
}
