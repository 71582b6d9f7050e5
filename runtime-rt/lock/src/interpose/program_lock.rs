//! Locks of the program. A thread keeps its injected locks while it waits for one (regions span critical sections), unless the
//! owner waits, directly or not, for this very thread. While it waits it shows the lock, so that waiters can see further.
//!
//! An uncontended lock costs one call more: it is tried first.

use core::ffi::c_int;

use super::next::{Next, interpose};
use super::{begin_lock, end_blocking};
use crate::protocol::graph::Blocked;

/// Defines a function that takes a lock: tried first with `$try`, then waited for.
macro_rules! interpose_lock {
    ($(#[$doc:meta])* fn $name:ident($lock:ident: usize $(, $argument:ident: $type:ty)*), $symbol:literal, $try:literal, $blocked:path) => {
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
                    return tried;
                }
                let blocking = begin_lock($blocked($lock));
                // SAFETY: the caller's duty, passed on.
                let result = unsafe { original($lock $(, $argument)*) };
                end_blocking(blocking);
                result
            }
        }
    };
}

interpose_lock! {
    /// Takes a mutex.
    fn pthread_mutex_lock(mutex: usize), c"pthread_mutex_lock", c"pthread_mutex_trylock", Blocked::Mutex
}

interpose_lock! {
    /// Takes a mutex, or gives up at a time.
    fn pthread_mutex_timedlock(mutex: usize, until: usize), c"pthread_mutex_timedlock", c"pthread_mutex_trylock", Blocked::Mutex
}

interpose_lock! {
    /// Takes a mutex, or gives up at a time on a clock.
    fn pthread_mutex_clocklock(mutex: usize, clock: c_int, until: usize), c"pthread_mutex_clocklock", c"pthread_mutex_trylock", Blocked::Mutex
}

interpose_lock! {
    /// Takes a reader-writer lock for reading.
    fn pthread_rwlock_rdlock(lock: usize), c"pthread_rwlock_rdlock", c"pthread_rwlock_tryrdlock", Blocked::Rwlock
}

interpose_lock! {
    /// Takes a reader-writer lock for writing.
    fn pthread_rwlock_wrlock(lock: usize), c"pthread_rwlock_wrlock", c"pthread_rwlock_trywrlock", Blocked::Rwlock
}
