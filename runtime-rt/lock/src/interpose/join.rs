//! Waiting for a thread's end.

use core::ffi::c_int;

use super::next::{Next, interpose};
use super::{begin_blocking, end_blocking, holds_something};
use crate::protocol::graph::Blocked;

/// The result of the call, if it does not have to wait and this thread holds something; otherwise nothing was done.
///
/// # Safety
/// As `pthread_tryjoin_np`.
unsafe fn ended(thread: usize, result: usize) -> Option<c_int> {
    static TRY: Next = Next::new(c"pthread_tryjoin_np");
    if !holds_something() {
        return None;
    }
    let attempt = core::ptr::with_exposed_provenance::<()>(TRY.address());
    // SAFETY: the address is that of the function of this name, which has this type.
    let attempt = unsafe { core::mem::transmute::<*const (), unsafe extern "C" fn(usize, usize) -> c_int>(attempt) };
    // SAFETY: the caller's thread and place for its result.
    let tried = unsafe { attempt(thread, result) };
    (tried != libc::EBUSY).then_some(tried)
}

/// Defines a function that waits for a thread's end. One that has ended keeps nobody waiting, so that is tried first.
macro_rules! interpose_join {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*), $symbol:literal) => {
        interpose! {
            $(#[$doc])*
            fn $name(thread: usize, result: usize $(, $argument: $type)*) -> c_int,
            Next::new($symbol),
            |original| {
                // SAFETY: the caller's thread and place for its result.
                if let Some(ended) = unsafe { ended(thread, result) } {
                    return ended;
                }
                let blocking = begin_blocking(Some(Blocked::Join(thread)));
                // SAFETY: the caller's duty, passed on.
                let joined = unsafe { original(thread, result $(, $argument)*) };
                end_blocking(blocking);
                joined
            }
        }
    };
}

interpose_join! {
    /// Waits for a thread's end.
    fn pthread_join(), c"pthread_join"
}

interpose_join! {
    /// Waits for a thread's end until a time.
    fn pthread_timedjoin_np(until: usize), c"pthread_timedjoin_np"
}

interpose_join! {
    /// Waits for a thread's end until a time on a clock.
    fn pthread_clockjoin_np(clock: c_int, until: usize), c"pthread_clockjoin_np"
}
