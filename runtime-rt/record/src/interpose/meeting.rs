//! Semaphores and barriers: the order that they make between threads.

use core::ffi::c_void;

use super::{Next, weak_before};
use crate::process::{perturb, with};
use crate::shadow::Address;

/// Functions that publish what the thread did, or wait for what others did, or both.
macro_rules! meetings {
    ($($symbol:ident, $wrapper:ident, $next:ident, $name:literal, [$($act:ident),+];)*) => {$(
        static $next: Next = Next::new($name);

        extern "C" fn $wrapper(object: *mut c_void) -> *mut c_void {
            with(|recorder, thread, _| {
                $(recorder.$act(thread, Address(object.addr()));)+
            });
            perturb();
            $next.address()
        }

        weak_before!($symbol => $wrapper);
    )*};
}

meetings! {
    sem_post, post, POST, c"sem_post", [release];
    sem_wait, sem_wait, SEM_WAIT, c"sem_wait", [wait];
    sem_trywait, sem_trywait, SEM_TRYWAIT, c"sem_trywait", [wait];
    sem_timedwait, sem_timedwait, SEM_TIMEDWAIT, c"sem_timedwait", [wait];
    sem_clockwait, sem_clockwait, SEM_CLOCKWAIT, c"sem_clockwait", [wait];
    pthread_barrier_wait, barrier_wait, BARRIER_WAIT, c"pthread_barrier_wait", [release, wait];
}
