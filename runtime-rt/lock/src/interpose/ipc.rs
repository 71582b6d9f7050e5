//! Waiting for other processes: file locks, and the message queues and semaphores of System V and POSIX.
//!
//! A peer may be a thread of this very process, so holds are given up even though most peers know nothing of them.

use core::ffi::{c_int, c_long, c_uint};

use super::next::{Next, interpose_blocking};
use crate::protocol::graph::Blocked;

/// Blocks unless the flags forbid it.
fn unless(flags: c_int, forbidding: c_int) -> Option<Blocked> {
    (flags & forbidding == 0).then_some(Blocked::Meet)
}

interpose_blocking! {
    /// Locks an open file, or unlocks it.
    fn flock(descriptor: c_int, operation: c_int) -> c_int,
    Next::new(c"flock"),
    unless(operation, libc::LOCK_NB | libc::LOCK_UN)
}

interpose_blocking! {
    /// Locks a part of a file, or unlocks it.
    fn lockf(descriptor: c_int, operation: c_int, length: libc::off_t) -> c_int,
    Next::new(c"lockf"),
    (operation == libc::F_LOCK).then_some(Blocked::Meet)
}

interpose_blocking! {
    /// As `lockf`, with the wide offsets of 32-bit machines.
    fn lockf64(descriptor: c_int, operation: c_int, length: libc::off_t) -> c_int,
    Next::new(c"lockf64"),
    (operation == libc::F_LOCK).then_some(Blocked::Meet)
}

/// Of the operations on descriptors only those that lock a part of a file and wait for it.
fn locking(operation: c_int) -> Option<Blocked> {
    matches!(operation, libc::F_SETLKW | libc::F_OFD_SETLKW).then_some(Blocked::Meet)
}

interpose_blocking! {
    /// Operates on a descriptor. The argument is passed on whether or not there is one, as libc does.
    fn fcntl(descriptor: c_int, operation: c_int, argument: usize) -> c_int,
    Next::new(c"fcntl"),
    locking(operation)
}

interpose_blocking! {
    /// What builds with large files call for `fcntl`.
    fn fcntl64(descriptor: c_int, operation: c_int, argument: usize) -> c_int,
    Next::new(c"fcntl64"),
    locking(operation)
}

interpose_blocking! {
    /// Receives a message of System V.
    fn msgrcv(queue: c_int, message: usize, size: usize, kind: c_long, flags: c_int) -> libc::ssize_t,
    Next::new(c"msgrcv"),
    unless(flags, libc::IPC_NOWAIT)
}

interpose_blocking! {
    /// Sends a message of System V.
    fn msgsnd(queue: c_int, message: usize, size: usize, flags: c_int) -> c_int,
    Next::new(c"msgsnd"),
    unless(flags, libc::IPC_NOWAIT)
}

/// Operations that only add to semaphores never wait, nor do those that are told not to.
///
/// # Safety
/// `operations` points to `count` operations.
unsafe fn operating(operations: *const libc::sembuf, count: usize) -> Option<Blocked> {
    let waits = (0..count).any(|index| {
        // SAFETY: within the caller's array.
        let operation = unsafe { operations.add(index) };
        // SAFETY: as above.
        let operation = unsafe { operation.read() };
        operation.sem_op <= 0 && c_int::from(operation.sem_flg) & libc::IPC_NOWAIT == 0
    });
    waits.then_some(Blocked::Meet)
}

interpose_blocking! {
    /// Operates on semaphores of System V.
    fn semop(set: c_int, operations: *const libc::sembuf, count: usize) -> c_int,
    Next::new(c"semop"),
    // SAFETY: the caller's array.
    unsafe { operating(operations, count) }
}

interpose_blocking! {
    /// Operates on semaphores of System V, or gives up after a time.
    fn semtimedop(set: c_int, operations: *const libc::sembuf, count: usize, time: usize) -> c_int,
    Next::new(c"semtimedop"),
    // SAFETY: the caller's array.
    unsafe { operating(operations, count) }
}

interpose_blocking! {
    /// Receives a message of POSIX.
    fn mq_receive(queue: c_int, message: usize, size: usize, priority: usize) -> libc::ssize_t,
    Next::new(c"mq_receive"),
    Some(Blocked::Meet)
}

interpose_blocking! {
    /// Sends a message of POSIX.
    fn mq_send(queue: c_int, message: usize, size: usize, priority: c_uint) -> c_int,
    Next::new(c"mq_send"),
    Some(Blocked::Meet)
}

interpose_blocking! {
    /// Receives a message of POSIX, or gives up at a time.
    fn mq_timedreceive(queue: c_int, message: usize, size: usize, priority: usize, until: usize) -> libc::ssize_t,
    Next::new(c"mq_timedreceive"),
    Some(Blocked::Meet)
}

interpose_blocking! {
    /// Sends a message of POSIX, or gives up at a time.
    fn mq_timedsend(queue: c_int, message: usize, size: usize, priority: c_uint, until: usize) -> c_int,
    Next::new(c"mq_timedsend"),
    Some(Blocked::Meet)
}
