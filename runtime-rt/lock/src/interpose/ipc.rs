//! Waiting for other processes: file locks, and the message queues and semaphores of System V and POSIX.
//!
//! A peer may be a thread of this very process, so holds are given up even though most peers know nothing of them. Not here:
//! `fcntl(F_SETLKW)`, whose holder counts as running.

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

interpose_blocking! {
    /// Operates on semaphores of System V.
    fn semop(set: c_int, operations: usize, count: usize) -> c_int,
    Next::new(c"semop"),
    Some(Blocked::Meet)
}

interpose_blocking! {
    /// Operates on semaphores of System V, or gives up after a time.
    fn semtimedop(set: c_int, operations: usize, count: usize, time: usize) -> c_int,
    Next::new(c"semtimedop"),
    Some(Blocked::Meet)
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
