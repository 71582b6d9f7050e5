//! Input and output on descriptors. On files it never gives anything up: regions may span it. On what may keep its user waiting it
//! does when the call would wait for a peer: the descriptor blocks, and is not ready.
//!
//! A thread without holds pays for none of these questions; it only shows that it may be waiting.

use core::ffi::{c_int, c_short, c_uint};

use super::next::{Next, interpose_blocking};
use super::{holds_something, keeping_errno};
use crate::protocol::graph::Blocked;
use crate::sys;

type Size = libc::ssize_t;

/// What a call waits for.
pub(super) const INPUT: c_short = libc::POLLIN;
pub(super) const OUTPUT: c_short = libc::POLLOUT;

/// Whether a call that wants this event of this descriptor may wait for a peer.
#[inline(never)]
pub(super) fn peer(descriptor: c_int, event: c_short, flags: c_int) -> Option<Blocked> {
    if holds_something() && (flags & libc::MSG_DONTWAIT != 0 || !keeping_errno(|| waits(descriptor, event))) {
        return None;
    }
    Some(Blocked::Stream)
}

/// Whether a connect may wait for a peer: unless the descriptor never waits, nobody can tell before.
#[inline(never)]
fn connecting(descriptor: c_int) -> Option<Blocked> {
    (!holds_something() || status_flags(descriptor).is_none_or(|flags| flags & libc::O_NONBLOCK == 0)).then_some(Blocked::Stream)
}

/// A descriptor's flags; none if it is not open.
fn status_flags(descriptor: c_int) -> Option<c_int> {
    let arguments = [usize::try_from(descriptor).ok()?, usize::try_from(libc::F_GETFL).ok()?, 0, 0, 0, 0];
    // SAFETY: the command takes no further argument.
    let flags = unsafe { sys::call::call(libc::SYS_fcntl, arguments) };
    c_int::try_from(flags).ok().filter(|&flags| flags >= 0)
}

/// The kinds of files that may keep a reader or writer waiting: pipes, sockets, terminals and other devices, and what has no kind
/// (descriptors of events, timers, signals and changes).
const WAITING: [libc::mode_t; 4] = [libc::S_IFIFO, libc::S_IFSOCK, libc::S_IFCHR, 0];

/// Whether the descriptor is of one of these kinds, is not ready, and is waited for.
#[cold]
pub(super) fn waits(descriptor: c_int, event: c_short) -> bool {
    // The question that most servers answer with no comes first: it is the only call that they pay for.
    if status_flags(descriptor).is_none_or(|flags| flags & libc::O_NONBLOCK != 0) {
        return false;
    }
    // SAFETY: all-zero is a value of this structure of integers.
    let mut status = unsafe { core::mem::zeroed::<libc::stat>() };
    // SAFETY: the kernel writes the live `status` only.
    let known = unsafe { libc::fstat(descriptor, &raw mut status) } == 0;
    if !known || !WAITING.contains(&(status.st_mode & libc::S_IFMT)) {
        return false;
    }
    let mut asked = libc::pollfd { fd: descriptor, events: event, revents: 0 };
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: one live entry; a time-out of zero does not wait.
    unsafe { sys::call::call(libc::SYS_ppoll, [(&raw mut asked).addr(), 1, (&raw const now).addr(), 0, 0, 0]) != 1 }
}

interpose_blocking! {
    /// Reads.
    fn read(descriptor: c_int, buffer: usize, size: usize) -> Size,
    Next::new(c"read"),
    peer(descriptor, INPUT, 0)
}

interpose_blocking! {
    /// Takes the count of a descriptor of events.
    fn eventfd_read(descriptor: c_int, count: usize) -> c_int,
    Next::new(c"eventfd_read"),
    peer(descriptor, INPUT, 0)
}

interpose_blocking! {
    /// Adds to the count of a descriptor of events, which waits if that is too much for it.
    fn eventfd_write(descriptor: c_int, count: u64) -> c_int,
    Next::new(c"eventfd_write"),
    peer(descriptor, OUTPUT, 0)
}

interpose_blocking! {
    /// Reads into several buffers.
    fn readv(descriptor: c_int, buffers: usize, count: c_int) -> Size,
    Next::new(c"readv"),
    peer(descriptor, INPUT, 0)
}

interpose_blocking! {
    /// Writes.
    fn write(descriptor: c_int, buffer: usize, size: usize) -> Size,
    Next::new(c"write"),
    peer(descriptor, OUTPUT, 0)
}

interpose_blocking! {
    /// Writes from several buffers.
    fn writev(descriptor: c_int, buffers: usize, count: c_int) -> Size,
    Next::new(c"writev"),
    peer(descriptor, OUTPUT, 0)
}

interpose_blocking! {
    /// Receives.
    fn recv(descriptor: c_int, buffer: usize, size: usize, flags: c_int) -> Size,
    Next::new(c"recv"),
    peer(descriptor, INPUT, flags)
}

interpose_blocking! {
    /// Receives, with the sender's address.
    fn recvfrom(descriptor: c_int, buffer: usize, size: usize, flags: c_int, address: usize, length: usize) -> Size,
    Next::new(c"recvfrom"),
    peer(descriptor, INPUT, flags)
}

interpose_blocking! {
    /// Receives a message.
    fn recvmsg(descriptor: c_int, message: usize, flags: c_int) -> Size,
    Next::new(c"recvmsg"),
    peer(descriptor, INPUT, flags)
}

interpose_blocking! {
    /// Sends.
    fn send(descriptor: c_int, buffer: usize, size: usize, flags: c_int) -> Size,
    Next::new(c"send"),
    peer(descriptor, OUTPUT, flags)
}

interpose_blocking! {
    /// Sends to an address.
    fn sendto(descriptor: c_int, buffer: usize, size: usize, flags: c_int, address: usize, length: c_uint) -> Size,
    Next::new(c"sendto"),
    peer(descriptor, OUTPUT, flags)
}

interpose_blocking! {
    /// Sends a message.
    fn sendmsg(descriptor: c_int, message: usize, flags: c_int) -> Size,
    Next::new(c"sendmsg"),
    peer(descriptor, OUTPUT, flags)
}

interpose_blocking! {
    /// Takes a connection.
    fn accept(descriptor: c_int, address: usize, length: usize) -> c_int,
    Next::new(c"accept"),
    peer(descriptor, INPUT, 0)
}

interpose_blocking! {
    /// Takes a connection, with flags.
    fn accept4(descriptor: c_int, address: usize, length: usize, flags: c_int) -> c_int,
    Next::new(c"accept4"),
    peer(descriptor, INPUT, 0)
}

interpose_blocking! {
    /// Connects. Whether that waits cannot be known before, unless the descriptor never does.
    fn connect(descriptor: c_int, address: usize, length: c_uint) -> c_int,
    Next::new(c"connect"),
    connecting(descriptor)
}

interpose_blocking! {
    /// What fortified builds call for `read`.
    fn __read_chk(descriptor: c_int, buffer: usize, size: usize, room: usize) -> Size,
    Next::new(c"__read_chk"),
    peer(descriptor, INPUT, 0)
}

interpose_blocking! {
    /// What fortified builds call for `recv`.
    fn __recv_chk(descriptor: c_int, buffer: usize, size: usize, room: usize, flags: c_int) -> Size,
    Next::new(c"__recv_chk"),
    peer(descriptor, INPUT, flags)
}

interpose_blocking! {
    /// What fortified builds call for `recvfrom`.
    fn __recvfrom_chk(descriptor: c_int, buffer: usize, size: usize, room: usize, flags: c_int, address: usize, length: usize) -> Size,
    Next::new(c"__recvfrom_chk"),
    peer(descriptor, INPUT, flags)
}

interpose_blocking! {
    /// Receives several messages.
    fn recvmmsg(descriptor: c_int, messages: usize, count: c_uint, flags: c_int, timeout: usize) -> c_int,
    Next::new(c"recvmmsg"),
    peer(descriptor, INPUT, flags)
}

interpose_blocking! {
    /// Sends several messages.
    fn sendmmsg(descriptor: c_int, messages: usize, count: c_uint, flags: c_int) -> c_int,
    Next::new(c"sendmmsg"),
    peer(descriptor, OUTPUT, flags)
}

interpose_blocking! {
    /// Copies from a file.
    fn sendfile(to: c_int, from: c_int, offset: usize, count: usize) -> Size,
    Next::new(c"sendfile"),
    peer(to, OUTPUT, 0)
}

interpose_blocking! {
    /// What builds with large files call for `sendfile`.
    fn sendfile64(to: c_int, from: c_int, offset: usize, count: usize) -> Size,
    Next::new(c"sendfile64"),
    peer(to, OUTPUT, 0)
}

interpose_blocking! {
    /// Copies from pipe to pipe.
    fn tee(from: c_int, to: c_int, size: usize, flags: c_uint) -> Size,
    Next::new(c"tee"),
    peer(from, INPUT, 0).or_else(|| peer(to, OUTPUT, 0))
}

interpose_blocking! {
    /// Moves memory into a pipe, or a pipe's content into memory.
    fn vmsplice(descriptor: c_int, pieces: usize, count: usize, flags: c_uint) -> Size,
    Next::new(c"vmsplice"),
    peer(descriptor, OUTPUT, 0)
}

interpose_blocking! {
    /// Waits until a terminal has sent what was written.
    fn tcdrain(descriptor: c_int) -> c_int,
    Next::new(c"tcdrain"),
    Some(Blocked::Stream)
}

interpose_blocking! {
    /// Moves between a pipe and something else.
    fn splice(from: c_int, from_offset: usize, to: c_int, to_offset: usize, size: usize, flags: c_uint) -> Size,
    Next::new(c"splice"),
    peer(from, INPUT, 0).or_else(|| peer(to, OUTPUT, 0))
}
