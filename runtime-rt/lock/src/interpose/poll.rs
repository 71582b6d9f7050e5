//! Waiting for events on descriptors, for processes, and for name servers. With a time-out of zero these calls only ask.

use core::ffi::{c_int, c_uint};

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
    /// Waits for events, with a time-out in nanoseconds.
    fn epoll_pwait2(epoll: c_int, events: usize, count: c_int, timeout: *const [libc::c_long; 2], mask: usize) -> c_int,
    Next::new(c"epoll_pwait2"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
}

interpose_blocking! {
    /// What fortified builds call for `poll`.
    fn __poll_chk(descriptors: usize, count: libc::nfds_t, timeout: c_int, size: usize) -> c_int,
    Next::new(c"__poll_chk"),
    within(timeout)
}

interpose_blocking! {
    /// What fortified builds call for `ppoll`.
    fn __ppoll_chk(descriptors: usize, count: libc::nfds_t, timeout: *const [libc::c_long; 2], mask: usize, size: usize) -> c_int,
    Next::new(c"__ppoll_chk"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
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

interpose_blocking! {
    /// Waits for a child process, or asks, and says what it used.
    fn wait4(pid: libc::pid_t, status: usize, options: c_int, usage: usize) -> libc::pid_t,
    Next::new(c"wait4"),
    if options & libc::WNOHANG == 0 { POLL } else { None }
}

interpose_blocking! {
    /// Waits for a child process of any kind, or asks.
    fn waitid(kind: c_int, id: libc::id_t, information: usize, options: c_int) -> c_int,
    Next::new(c"waitid"),
    if options & libc::WNOHANG == 0 { POLL } else { None }
}

interpose_blocking! {
    /// Closes a stream and waits for its process.
    fn pclose(stream: usize) -> c_int,
    Next::new(c"pclose"),
    POLL
}

interpose_blocking! {
    /// Asks name servers.
    fn getaddrinfo(node: usize, service: usize, hints: usize, result: usize) -> c_int,
    Next::new(c"getaddrinfo"),
    POLL
}

interpose_blocking! {
    /// Asks name servers for a name.
    fn getnameinfo(address: usize, length: c_uint, host: usize, room: c_uint, service: usize, space: c_uint, flags: c_int) -> c_int,
    Next::new(c"getnameinfo"),
    POLL
}

interpose_blocking! {
    /// Asks name servers, as of old.
    fn gethostbyname(name: usize) -> usize,
    Next::new(c"gethostbyname"),
    POLL
}

interpose_blocking! {
    /// Asks name servers, as of old, into the caller's memory.
    fn gethostbyname_r(name: usize, entry: usize, buffer: usize, size: usize, result: usize, error: usize) -> c_int,
    Next::new(c"gethostbyname_r"),
    POLL
}

interpose_blocking! {
    /// Asks name servers for a name, as of old.
    fn gethostbyaddr(address: usize, length: c_uint, kind: c_int) -> usize,
    Next::new(c"gethostbyaddr"),
    POLL
}

interpose_blocking! {
    /// Asks name servers, as of old, for addresses of one kind.
    fn gethostbyname2(name: usize, kind: c_int) -> usize,
    Next::new(c"gethostbyname2"),
    POLL
}

interpose_blocking! {
    /// Asks name servers, as of old, for addresses of one kind, into the caller's memory.
    fn gethostbyname2_r(name: usize, kind: c_int, entry: usize, buffer: usize, size: usize, result: usize, error: usize) -> c_int,
    Next::new(c"gethostbyname2_r"),
    POLL
}

interpose_blocking! {
    /// Asks name servers for a name, as of old, into the caller's memory.
    fn gethostbyaddr_r(address: usize, length: c_uint, kind: c_int, entry: usize, buffer: usize, size: usize, result: usize, error: usize) -> c_int,
    Next::new(c"gethostbyaddr_r"),
    POLL
}

interpose_blocking! {
    /// Waits for a child process, or asks, and says what it used.
    fn wait3(status: usize, options: c_int, usage: usize) -> libc::pid_t,
    Next::new(c"wait3"),
    if options & libc::WNOHANG == 0 { POLL } else { None }
}

interpose_blocking! {
    /// Waits for one of several asynchronous operations.
    fn aio_suspend(list: usize, count: c_int, timeout: *const [libc::c_long; 2]) -> c_int,
    Next::new(c"aio_suspend"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
}

interpose_blocking! {
    /// What builds with large files call for `aio_suspend`.
    fn aio_suspend64(list: usize, count: c_int, timeout: *const [libc::c_long; 2]) -> c_int,
    Next::new(c"aio_suspend64"),
    // SAFETY: the caller's time-out.
    unsafe { until(timeout) }
}

interpose_blocking! {
    /// Starts several asynchronous operations, and waits for all of them if it is told to.
    fn lio_listio(mode: c_int, list: usize, count: c_int, event: usize) -> c_int,
    Next::new(c"lio_listio"),
    if mode == libc::LIO_WAIT { POLL } else { None }
}

interpose_blocking! {
    /// What builds with large files call for `lio_listio`.
    fn lio_listio64(mode: c_int, list: usize, count: c_int, event: usize) -> c_int,
    Next::new(c"lio_listio64"),
    if mode == libc::LIO_WAIT { POLL } else { None }
}
