//! Mutexes, reader-writer locks and spin locks: who holds which instance.

use core::ffi::{c_int, c_void};

use super::{Next, weak, weak_before};
use crate::hold::Holding;
use crate::process::{perturb, with};
use crate::shadow::Address;

/// Wrappers of functions that make one lock.
macro_rules! makes {
    ($($symbol:ident, $wrapper:ident, $next:ident, $name:literal;)*) => {$(
        static $next: Next = Next::new($name);

        extern "C" fn $wrapper(lock: *mut c_void) -> *mut c_void {
            with(|recorder, thread, _| recorder.make_lock(thread, Address(lock.addr())));
            $next.address()
        }

        weak_before!($symbol => $wrapper);
    )*};
}

makes! {
    pthread_mutex_init, mutex_init, MUTEX_INIT, c"pthread_mutex_init";
    pthread_rwlock_init, rwlock_init, RWLOCK_INIT, c"pthread_rwlock_init";
    pthread_spin_init, spin_init, SPIN_INIT, c"pthread_spin_init";
}

/// A lock was taken.
pub(super) fn taken(lock: *mut c_void, holding: Holding) {
    with(|recorder, thread, _| recorder.acquire(thread, Address(lock.addr()), holding, super::block_size));
}

/// A lock is about to be given up.
pub(super) fn given_up(lock: *mut c_void) {
    with(|recorder, thread, _| recorder.give_up(thread, Address(lock.addr())));
}

/// Whether the result of a locking function says that the caller has the lock now.
pub(super) fn has(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

/// Wrappers of functions that take one lock.
macro_rules! takes {
    ($($symbol:ident, $wrapper:ident, $next:ident, $name:literal, $holding:expr;)*) => {$(
        static $next: Next = Next::new($name);

        extern "C" fn $wrapper(lock: *mut c_void) -> c_int {
            perturb();
            // SAFETY: the program's own call, passed on.
            let result = unsafe { $next.call(lock) };
            if has(result) {
                taken(lock, $holding);
            }
            result
        }

        weak!($symbol => $wrapper);
    )*};
}

/// Wrappers of functions that take one lock and a time.
macro_rules! takes_until {
    ($($symbol:ident, $wrapper:ident, $next:ident, $name:literal, $holding:expr;)*) => {$(
        static $next: Next = Next::new($name);

        extern "C" fn $wrapper(lock: *mut c_void, a: usize, b: usize) -> c_int {
            perturb();
            type Function = unsafe extern "C" fn(*mut c_void, usize, usize) -> c_int;
            // SAFETY: takes a lock and one or two more words (a clock, a time); an unused word does no harm.
            let function = unsafe { core::mem::transmute::<*mut c_void, Function>($next.address()) };
            // SAFETY: the program's own call, passed on.
            let result = unsafe { function(lock, a, b) };
            if has(result) {
                taken(lock, $holding);
            }
            result
        }

        weak!($symbol => $wrapper);
    )*};
}

/// Wrappers of functions that give one lock up.
macro_rules! gives_up {
    ($($symbol:ident, $wrapper:ident, $next:ident, $name:literal;)*) => {$(
        static $next: Next = Next::new($name);

        extern "C" fn $wrapper(lock: *mut c_void) -> c_int {
            given_up(lock);
            // SAFETY: the program's own call, passed on.
            let result = unsafe { $next.call(lock) };
            perturb();
            result
        }

        weak!($symbol => $wrapper);
    )*};
}

takes! {
    pthread_mutex_lock, mutex_lock, MUTEX_LOCK, c"pthread_mutex_lock", Holding::Exclusive;
    pthread_mutex_trylock, mutex_trylock, MUTEX_TRYLOCK, c"pthread_mutex_trylock", Holding::Exclusive;
    pthread_rwlock_rdlock, rwlock_rdlock, RWLOCK_RDLOCK, c"pthread_rwlock_rdlock", Holding::Shared;
    pthread_rwlock_tryrdlock, rwlock_tryrdlock, RWLOCK_TRYRDLOCK, c"pthread_rwlock_tryrdlock", Holding::Shared;
    pthread_rwlock_wrlock, rwlock_wrlock, RWLOCK_WRLOCK, c"pthread_rwlock_wrlock", Holding::Exclusive;
    pthread_rwlock_trywrlock, rwlock_trywrlock, RWLOCK_TRYWRLOCK, c"pthread_rwlock_trywrlock", Holding::Exclusive;
    pthread_spin_lock, spin_lock, SPIN_LOCK, c"pthread_spin_lock", Holding::Exclusive;
    pthread_spin_trylock, spin_trylock, SPIN_TRYLOCK, c"pthread_spin_trylock", Holding::Exclusive;
}

takes_until! {
    pthread_mutex_timedlock, mutex_timedlock, MUTEX_TIMEDLOCK, c"pthread_mutex_timedlock", Holding::Exclusive;
    pthread_mutex_clocklock, mutex_clocklock, MUTEX_CLOCKLOCK, c"pthread_mutex_clocklock", Holding::Exclusive;
    pthread_rwlock_timedrdlock, rwlock_timedrdlock, RWLOCK_TIMEDRDLOCK, c"pthread_rwlock_timedrdlock", Holding::Shared;
    pthread_rwlock_clockrdlock, rwlock_clockrdlock, RWLOCK_CLOCKRDLOCK, c"pthread_rwlock_clockrdlock", Holding::Shared;
    pthread_rwlock_timedwrlock, rwlock_timedwrlock, RWLOCK_TIMEDWRLOCK, c"pthread_rwlock_timedwrlock", Holding::Exclusive;
    pthread_rwlock_clockwrlock, rwlock_clockwrlock, RWLOCK_CLOCKWRLOCK, c"pthread_rwlock_clockwrlock", Holding::Exclusive;
}

gives_up! {
    pthread_mutex_unlock, mutex_unlock, MUTEX_UNLOCK, c"pthread_mutex_unlock";
    pthread_rwlock_unlock, rwlock_unlock, RWLOCK_UNLOCK, c"pthread_rwlock_unlock";
    pthread_spin_unlock, spin_unlock, SPIN_UNLOCK, c"pthread_spin_unlock";
}
