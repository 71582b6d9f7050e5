//! Waiting for a condition: holds are given up, and the region counts as broken, since the thread that signals may need them.

use core::ffi::c_int;

use super::next::{Next, interpose_blocking};
use crate::protocol::graph::Blocked;

/// The version of the interface with today's condition variables; aarch64 never had another one than its first.
#[cfg(target_arch = "x86_64")]
const VERSION: &core::ffi::CStr = c"GLIBC_2.3.2";
#[cfg(not(target_arch = "x86_64"))]
const VERSION: &core::ffi::CStr = c"GLIBC_2.17";

interpose_blocking! {
    /// Waits for a condition.
    fn pthread_cond_wait(condition: usize, mutex: usize) -> c_int,
    Next::versioned(c"pthread_cond_wait", VERSION),
    Some(Blocked::Condition)
}

interpose_blocking! {
    /// Waits for a condition until a time.
    fn pthread_cond_timedwait(condition: usize, mutex: usize, until: usize) -> c_int,
    Next::versioned(c"pthread_cond_timedwait", VERSION),
    Some(Blocked::Condition)
}

interpose_blocking! {
    /// Waits for a condition until a time on a clock.
    fn pthread_cond_clockwait(condition: usize, mutex: usize, clock: c_int, until: usize) -> c_int,
    Next::new(c"pthread_cond_clockwait"),
    Some(Blocked::Condition)
}
