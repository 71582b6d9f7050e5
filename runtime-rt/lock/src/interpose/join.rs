//! Waiting for a thread's end.

use core::ffi::c_int;

use super::next::{Next, interpose, interpose_blocking};
use super::{begin_blocking, end_blocking, holds_something};
use crate::protocol::graph::Blocked;

interpose! {
    /// Waits for a thread's end. One that has ended keeps nobody waiting, so that is tried first.
    fn pthread_join(thread: usize, result: usize) -> c_int,
    Next::new(c"pthread_join"),
    |original| {
        static TRY: Next = Next::new(c"pthread_tryjoin_np");
        if holds_something() {
            let attempt = core::ptr::with_exposed_provenance::<()>(TRY.address());
            // SAFETY: the address is that of the function of this name, which has this type.
            let attempt = unsafe { core::mem::transmute::<*const (), unsafe extern "C" fn(usize, usize) -> c_int>(attempt) };
            // SAFETY: the caller's thread and place for its result.
            let tried = unsafe { attempt(thread, result) };
            if tried != libc::EBUSY {
                return tried;
            }
        }
        let blocking = begin_blocking(Some(Blocked::Join(thread)));
        // SAFETY: the caller's duty, passed on.
        let ended = unsafe { original(thread, result) };
        end_blocking(blocking);
        ended
    }
}

interpose_blocking! {
    /// Waits for a thread's end until a time.
    fn pthread_timedjoin_np(thread: usize, result: usize, until: usize) -> c_int,
    Next::new(c"pthread_timedjoin_np"),
    Some(Blocked::Join(thread))
}

interpose_blocking! {
    /// Waits for a thread's end until a time on a clock.
    fn pthread_clockjoin_np(thread: usize, result: usize, clock: c_int, until: usize) -> c_int,
    Next::new(c"pthread_clockjoin_np"),
    Some(Blocked::Join(thread))
}
