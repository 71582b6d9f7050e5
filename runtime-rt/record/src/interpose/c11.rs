//! C11 mutexes and conditions, which the C library does not lead through the POSIX symbols.

use core::ffi::{c_int, c_void};

use super::lock::{given_up, taken};
use super::{Next, weak, weak_before};
use crate::hold::Holding;
use crate::process::perturb;

static LOCK: Next = Next::new(c"mtx_lock");
static TRYLOCK: Next = Next::new(c"mtx_trylock");
static TIMEDLOCK: Next = Next::new(c"mtx_timedlock");
static UNLOCK: Next = Next::new(c"mtx_unlock");
static WAIT: Next = Next::new(c"cnd_wait");
static TIMEDWAIT: Next = Next::new(c"cnd_timedwait");

/// `thrd_success` of glibc.
const SUCCESS: c_int = 0;

extern "C" fn lock(mutex: *mut c_void) -> c_int {
    perturb();
    // SAFETY: the program's own call, passed on.
    let result = unsafe { LOCK.call(mutex) };
    if result == SUCCESS {
        taken(mutex, Holding::Exclusive);
    }
    result
}

extern "C" fn trylock(mutex: *mut c_void) -> c_int {
    perturb();
    // SAFETY: the program's own call, passed on.
    let result = unsafe { TRYLOCK.call(mutex) };
    if result == SUCCESS {
        taken(mutex, Holding::Exclusive);
    }
    result
}

extern "C" fn timedlock(mutex: *mut c_void, time: *const c_void) -> c_int {
    perturb();
    type Function = unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int;
    // SAFETY: this is its type.
    let function = unsafe { core::mem::transmute::<*mut c_void, Function>(TIMEDLOCK.address()) };
    // SAFETY: the program's own call, passed on.
    let result = unsafe { function(mutex, time) };
    if result == SUCCESS {
        taken(mutex, Holding::Exclusive);
    }
    result
}

extern "C" fn unlock(mutex: *mut c_void) -> c_int {
    given_up(mutex);
    // SAFETY: the program's own call, passed on.
    let result = unsafe { UNLOCK.call(mutex) };
    perturb();
    result
}

extern "C" fn wait(_condition: *mut c_void, mutex: *mut c_void) -> *mut c_void {
    super::condition::before_wait(mutex);
    WAIT.address()
}

extern "C" fn timedwait(_condition: *mut c_void, mutex: *mut c_void) -> *mut c_void {
    super::condition::before_wait(mutex);
    TIMEDWAIT.address()
}

weak!(mtx_lock => lock, mtx_trylock => trylock, mtx_timedlock => timedlock, mtx_unlock => unlock);
weak_before!(cnd_wait => wait, cnd_timedwait => timedwait);
