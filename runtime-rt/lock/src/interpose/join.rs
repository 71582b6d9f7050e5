//! Waiting for a thread's end.

use core::ffi::c_int;

use super::next::{Next, interpose_blocking};
use crate::protocol::graph::Blocked;

interpose_blocking! {
    /// Waits for a thread's end.
    fn pthread_join(thread: usize, result: usize) -> c_int,
    Next::new(c"pthread_join"),
    Some(Blocked::Join(thread))
}

interpose_blocking! {
    /// Waits for a thread's end until a time.
    fn pthread_timedjoin_np(thread: usize, result: usize, until: usize) -> c_int,
    Next::new(c"pthread_timedjoin_np"),
    Some(Blocked::Join(thread))
}

interpose_blocking! {
    /// Waits for a thread's end until a time on a clock.
    fn pthread_clockjoin_np(thread: usize, result: usize, clock: c_int, until: usize) -> c_int,
    Next::new(c"pthread_clockjoin_np"),
    Some(Blocked::Join(thread))
}
