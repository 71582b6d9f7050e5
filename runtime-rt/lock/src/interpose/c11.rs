//! C11 threads, which glibc does not lead through the POSIX symbols. A `mtx_t` is a `pthread_mutex_t`, a `thrd_t` a `pthread_t`.

use core::ffi::c_int;

use super::next::{Next, interpose, interpose_blocking};
use super::{begin_lock, end_blocking};
use crate::hooks;
use crate::process;
use crate::protocol::graph::Blocked;

/// `thrd_busy` of glibc.
const BUSY: c_int = 1;

/// Whether the mutex is taken at once; otherwise the call's result.
fn tried(mutex: usize) -> Option<c_int> {
    static TRY: Next = Next::new(c"mtx_trylock");
    let attempt = core::ptr::with_exposed_provenance::<()>(TRY.address());
    // SAFETY: the address is that of the function of this name, which has this type.
    let attempt = unsafe { core::mem::transmute::<*const (), unsafe extern "C" fn(usize) -> c_int>(attempt) };
    // SAFETY: the caller's mutex.
    let result = unsafe { attempt(mutex) };
    (result != BUSY).then_some(result)
}

interpose! {
    /// Takes a mutex.
    fn mtx_lock(mutex: usize) -> c_int,
    Next::new(c"mtx_lock"),
    |original| {
        if let Some(result) = tried(mutex) {
            return result;
        }
        let blocking = begin_lock(Blocked::Mutex(mutex));
        // SAFETY: the caller's duty, passed on.
        let result = unsafe { original(mutex) };
        end_blocking(blocking);
        result
    }
}

interpose! {
    /// Takes a mutex, or gives up at a time.
    fn mtx_timedlock(mutex: usize, until: usize) -> c_int,
    Next::new(c"mtx_timedlock"),
    |original| {
        if let Some(result) = tried(mutex) {
            return result;
        }
        let blocking = begin_lock(Blocked::Mutex(mutex));
        // SAFETY: the caller's duty, passed on.
        let result = unsafe { original(mutex, until) };
        end_blocking(blocking);
        result
    }
}

interpose_blocking! {
    /// Waits for a condition.
    fn cnd_wait(condition: usize, mutex: usize) -> c_int,
    Next::new(c"cnd_wait"),
    Some(Blocked::Condition)
}

interpose_blocking! {
    /// Waits for a condition until a time.
    fn cnd_timedwait(condition: usize, mutex: usize, until: usize) -> c_int,
    Next::new(c"cnd_timedwait"),
    Some(Blocked::Condition)
}

interpose_blocking! {
    /// Waits for a thread's end.
    fn thrd_join(thread: usize, result: usize) -> c_int,
    Next::new(c"thrd_join"),
    Some(Blocked::Join(thread))
}

interpose_blocking! {
    /// Sleeps.
    fn thrd_sleep(time: usize, left: usize) -> c_int,
    Next::new(c"thrd_sleep"),
    Some(Blocked::Sleep)
}

interpose! {
    /// Ends this thread, as `pthread_exit` does.
    fn thrd_exit(result: c_int) -> (),
    Next::new(c"thrd_exit"),
    |original| {
        if let Some(me) = process::me() {
            hooks::repair(me);
            hooks::leave_frames(me, |_| true);
        }
        // SAFETY: the caller's duty, passed on. It does not return.
        unsafe { original(result) }
    }
}
