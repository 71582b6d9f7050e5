//! Waiting for events on descriptors, and for processes. With a time-out of zero these calls only ask.

use core::ffi::c_int;

use super::next::{Next, interpose_blocking};
use crate::protocol::graph::Blocked;

const POLL: Option<Blocked> = Some(Blocked::Poll);

/// Blocks unless the time-out, in milliseconds, is zero.
fn within(milliseconds: c_int) -> Option<Blocked> {
    (milliseconds != 0).then_some(Blocked::Poll)
}

/// Blocks unless there is a time-out of zero: two words that are 0, as `timeval` and `timespec` both are.
///
/// # Safety
/// `time` is null or points to a `timeval` or `timespec`.
unsafe fn until(time: *const [libc::c_long; 2]) -> Option<Blocked> {
    // SAFETY: the caller's duty.
    let time = unsafe { time.as_ref() };
    time.is_none_or(|time| *time != [0, 0]).then_some(Blocked::Poll)
}

interpose_blocking! {
    /// Waits for events.
    fn poll(descriptors: usize, count: libc::nfds_t, timeout: c_int) -> c_int,
    Next::new(c"poll"),
    within(timeout)
}

interpose_blocking! {
    /// Waits for events, under another signal mask.
    fn ppoll(descriptors: usize, count: libc::nfds_t, timeout: *const [libc::c_long; 2], mask: usize) -> c_int,
    Next::new(c"ppoll"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
}

interpose_blocking! {
    /// Waits for events.
    fn select(count: c_int, read: usize, write: usize, except: usize, timeout: *const [libc::c_long; 2]) -> c_int,
    Next::new(c"select"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
}

interpose_blocking! {
    /// Waits for events, under another signal mask.
    fn pselect(count: c_int, read: usize, write: usize, except: usize, timeout: *const [libc::c_long; 2], mask: usize) -> c_int,
    Next::new(c"pselect"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
}

interpose_blocking! {
    /// Waits for events.
    fn epoll_wait(epoll: c_int, events: usize, count: c_int, timeout: c_int) -> c_int,
    Next::new(c"epoll_wait"),
    within(timeout)
}

interpose_blocking! {
    /// Waits for events, under another signal mask.
    fn epoll_pwait(epoll: c_int, events: usize, count: c_int, timeout: c_int, mask: usize) -> c_int,
    Next::new(c"epoll_pwait"),
    within(timeout)
}

interpose_blocking! {
    /// Waits for a child process.
    fn wait(status: usize) -> libc::pid_t,
    Next::new(c"wait"),
    POLL
}

interpose_blocking! {
    /// Waits for a child process, or asks.
    fn waitpid(pid: libc::pid_t, status: usize, options: c_int) -> libc::pid_t,
    Next::new(c"waitpid"),
    if options & libc::WNOHANG == 0 { POLL } else { None }
}

interpose_blocking! {
    /// Runs a command and waits for it.
    fn system(command: usize) -> c_int,
    Next::new(c"system"),
    POLL
}
