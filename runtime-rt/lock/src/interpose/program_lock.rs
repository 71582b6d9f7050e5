//! Locks of the program. A thread keeps its injected locks while it waits for one (regions span critical sections), unless the
//! owner waits, directly or not, for this very thread. While it waits it shows the lock, so that waiters can see further.
//!
//! An uncontended lock costs one call more: it is tried first.

use core::ffi::c_int;

use super::next::{Next, interpose};
use super::{begin_lock, end_blocking};
use crate::process;
use crate::protocol::graph::Blocked;

/// A lock that says itself who owns it.
#[inline(always)]
fn owning(result: c_int, _: usize) -> c_int {
    result
}

/// A lock that only counts its readers. Who has one for reading must be known before it first takes an injected lock.
#[inline(always)]
fn reading(result: c_int, lock: usize) -> c_int {
    if let (0, Some(me)) = (result, process::me_or_register()) {
        me.thread.begin_reading(lock);
    }
    result
}

/// Defines a function that takes a lock: tried first with `$try`, then waited for.
macro_rules! interpose_lock {
    ($(#[$doc:meta])* fn $name:ident($lock:ident: usize $(, $argument:ident: $type:ty)*), $symbol:literal, $try:literal, $blocked:path, $taken:ident) => {
        interpose! {
            $(#[$doc])*
            fn $name($lock: usize $(, $argument: $type)*) -> c_int,
            Next::new($symbol),
            |original| {
                static TRY: Next = Next::new($try);
                let attempt = core::ptr::with_exposed_provenance::<()>(TRY.address());
                // SAFETY: the address is that of the function of this name, which has this type.
                let attempt = unsafe { core::mem::transmute::<*const (), unsafe extern "C" fn(usize) -> c_int>(attempt) };
                // SAFETY: the caller's lock.
                let tried = unsafe { attempt($lock) };
                if tried != libc::EBUSY {
                    return $taken(tried, $lock);
                }
                let blocking = begin_lock($blocked($lock));
                // SAFETY: the caller's duty, passed on.
                let result = unsafe { original($lock $(, $argument)*) };
                end_blocking(blocking);
                $taken(result, $lock)
            }
        }
    };
}

interpose_lock! {
    /// Takes a mutex.
    fn pthread_mutex_lock(mutex: usize), c"pthread_mutex_lock", c"pthread_mutex_trylock", Blocked::Mutex, owning
}

interpose_lock! {
    /// Takes a mutex, or gives up at a time.
    fn pthread_mutex_timedlock(mutex: usize, until: usize), c"pthread_mutex_timedlock", c"pthread_mutex_trylock", Blocked::Mutex, owning
}

interpose_lock! {
    /// Takes a mutex, or gives up at a time on a clock.
    fn pthread_mutex_clocklock(mutex: usize, clock: c_int, until: usize), c"pthread_mutex_clocklock", c"pthread_mutex_trylock", Blocked::Mutex, owning
}

interpose_lock! {
    /// Takes a reader-writer lock for reading.
    fn pthread_rwlock_rdlock(lock: usize), c"pthread_rwlock_rdlock", c"pthread_rwlock_tryrdlock", Blocked::Rwlock, reading
}

interpose_lock! {
    /// Takes a reader-writer lock for writing.
    fn pthread_rwlock_wrlock(lock: usize), c"pthread_rwlock_wrlock", c"pthread_rwlock_trywrlock", Blocked::Rwlock, owning
}

interpose_lock! {
    /// Takes a reader-writer lock for reading, or gives up at a time.
    fn pthread_rwlock_timedrdlock(lock: usize, until: usize),
    c"pthread_rwlock_timedrdlock", c"pthread_rwlock_tryrdlock", Blocked::Rwlock, reading
}

interpose_lock! {
    /// Takes a reader-writer lock for writing, or gives up at a time.
    fn pthread_rwlock_timedwrlock(lock: usize, until: usize),
    c"pthread_rwlock_timedwrlock", c"pthread_rwlock_trywrlock", Blocked::Rwlock, owning
}

interpose_lock! {
    /// Takes a reader-writer lock for reading, or gives up at a time on a clock.
    fn pthread_rwlock_clockrdlock(lock: usize, clock: c_int, until: usize),
    c"pthread_rwlock_clockrdlock", c"pthread_rwlock_tryrdlock", Blocked::Rwlock, reading
}

interpose_lock! {
    /// Takes a reader-writer lock for writing, or gives up at a time on a clock.
    fn pthread_rwlock_clockwrlock(lock: usize, clock: c_int, until: usize),
    c"pthread_rwlock_clockwrlock", c"pthread_rwlock_trywrlock", Blocked::Rwlock, owning
}

interpose! {
    /// Takes a reader-writer lock for reading, if that is possible at once.
    fn pthread_rwlock_tryrdlock(lock: usize) -> c_int,
    Next::new(c"pthread_rwlock_tryrdlock"),
    |original| {
        // SAFETY: the caller's duty, passed on.
        let result = unsafe { original(lock) };
        reading(result, lock)
    }
}

interpose! {
    /// Gives a reader-writer lock back.
    fn pthread_rwlock_unlock(lock: usize) -> c_int,
    Next::new(c"pthread_rwlock_unlock"),
    |original| {
        if let Some(me) = process::me() {
            me.thread.end_reading(lock);
        }
        // SAFETY: the caller's duty, passed on.
        unsafe { original(lock) }
    }
}
