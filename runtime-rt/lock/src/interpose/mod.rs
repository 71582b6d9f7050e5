//! Functions of libc that this archive stands in for. Each does what its original does, by calling it; before one that may wait
//! for another thread or for a peer, this thread's injected locks are given up.
//!
//! The symbols are in the executable, unversioned, which also catches the calls that libstdc++.so and other shared libraries make;
//! they are weak, so that a program may have functions of its own with these names. Not caught: calls inside libc itself, system calls
//! that the program makes without libc, statically linked libc.
//! Signatures use `usize` for pointers that are only passed on.

pub mod next;

pub mod c11;
pub mod condition;
pub mod ipc;
pub mod join;
pub mod meet;
pub mod open;
pub mod poll;
pub mod raw;
pub mod sleep;
pub mod stdio;
pub mod stream;
// Its stubs are assembly with the names of libc's functions, which tests must keep.
#[cfg(panic = "abort")]
pub mod variadic;

pub mod owner;
pub mod program_lock;

pub mod leave;

use crate::hooks;
use crate::process;
use crate::protocol::atomic::Ordering;
use crate::protocol::graph::{Blocked, Fate, fate};
use crate::protocol::lock::{Cause, Me};

/// Why holds are given up before a thread blocks in this.
fn cause(blocked: Blocked) -> Cause {
    match blocked {
        Blocked::Condition => Cause::Condition,
        Blocked::Meet => Cause::Meet,
        Blocked::Sleep => Cause::Sleep,
        Blocked::Poll => Cause::Poll,
        Blocked::Stream => Cause::Stream,
        Blocked::Join(_) => Cause::Join,
        Blocked::Mutex(_) | Blocked::Rwlock(_) => Cause::ProgramLock,
    }
}

/// Before a call that may wait for another thread or a peer, if it may. The result goes to `end_blocking`.
#[inline(never)]
fn begin_blocking(blocked: Option<Blocked>) -> Option<Me> {
    let me = process::me()?;
    let blocked = blocked?;
    if !me.thread.holds_nothing() {
        hooks::give_up(me, cause(blocked));
    }
    me.thread.blocked.store(blocked.pack(), Ordering::Release);
    Some(me)
}

/// Before a call that usually does not wait, but may: holds are kept, and who waits for one sees that this thread may be blocked.
#[inline(never)]
fn show_blocking(blocked: Blocked) -> Option<Me> {
    let me = process::me()?;
    me.thread.blocked.store(blocked.pack(), Ordering::Release);
    Some(me)
}

/// After it. A cancelled call never gets here; its thread ends.
#[inline(never)]
fn end_blocking(blocking: Option<Me>) {
    if let Some(me) = blocking {
        me.thread.blocked.store(0, Ordering::Release);
    }
}

/// Before a call that waits for a lock of the program.
#[cold]
fn begin_lock(blocked: Blocked) -> Option<Me> {
    let me = process::me_or_register()?;
    me.thread.blocked.store(blocked.pack(), Ordering::SeqCst);
    if !me.thread.holds_nothing() && fate(me.domain, me.slot(), me.slot()) == Fate::Cycle {
        hooks::give_up(me, Cause::ProgramLock);
    }
    Some(me)
}

/// Whether this thread has any injected lock.
#[inline(never)]
fn holds_something() -> bool {
    process::me().is_some_and(|me| !me.thread.holds_nothing())
}

/// Makes a call of libc without its trace in `errno`.
fn keeping_errno<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: the call has no preconditions.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the pointer is to this thread's own variable.
    let before = unsafe { errno.read() };
    let result = call();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}
