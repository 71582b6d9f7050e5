//! Condition variables: a wait ends one instance of its mutex and begins another. The new one is drawn before the wait, since the
//! thread accesses nothing while it waits.

use core::ffi::c_void;

use super::{Next, weak_before};
use crate::process::{perturb, with};
use crate::shadow::Address;

/// The version with which conditions got their present form.
const VERSION: &core::ffi::CStr = c"GLIBC_2.3.2";

static WAIT: Next = Next::versioned(c"pthread_cond_wait", VERSION);
static TIMEDWAIT: Next = Next::versioned(c"pthread_cond_timedwait", VERSION);
static CLOCKWAIT: Next = Next::new(c"pthread_cond_clockwait");
static SIGNAL: Next = Next::versioned(c"pthread_cond_signal", VERSION);
static BROADCAST: Next = Next::versioned(c"pthread_cond_broadcast", VERSION);

pub(super) fn before_wait(mutex: *mut c_void) {
    with(|recorder, thread, _| recorder.renew(thread, Address(mutex.addr())));
}

extern "C" fn wait(_condition: *mut c_void, mutex: *mut c_void) -> *mut c_void {
    before_wait(mutex);
    WAIT.address()
}

extern "C" fn timedwait(_condition: *mut c_void, mutex: *mut c_void) -> *mut c_void {
    before_wait(mutex);
    TIMEDWAIT.address()
}

extern "C" fn clockwait(_condition: *mut c_void, mutex: *mut c_void) -> *mut c_void {
    before_wait(mutex);
    CLOCKWAIT.address()
}

extern "C" fn signal(_condition: *mut c_void) -> *mut c_void {
    perturb();
    SIGNAL.address()
}

extern "C" fn broadcast(_condition: *mut c_void) -> *mut c_void {
    perturb();
    BROADCAST.address()
}

weak_before!(
    pthread_cond_wait => wait,
    pthread_cond_timedwait => timedwait,
    pthread_cond_clockwait => clockwait,
    pthread_cond_signal => signal,
    pthread_cond_broadcast => broadcast,
);
