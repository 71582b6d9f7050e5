//! Creation and join of threads: places to disturb the schedule. A thread becomes known with its first event.

use core::ffi::{c_int, c_void};

use super::{Next, weak, weak_before};
use crate::process::perturb;

static CREATE: Next = Next::new(c"pthread_create");
static JOIN: Next = Next::new(c"pthread_join");

extern "C" fn create(thread: *mut c_void, attributes: *const c_void, start: *const c_void, argument: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *mut c_void) -> c_int;
    // SAFETY: this is its type.
    let function = unsafe { core::mem::transmute::<*mut c_void, Function>(CREATE.address()) };
    // SAFETY: the program's own call, passed on.
    let result = unsafe { function(thread, attributes, start, argument) };
    perturb();
    result
}

extern "C" fn join(_thread: *mut c_void) -> *mut c_void {
    perturb();
    JOIN.address()
}

weak!(pthread_create => create);
weak_before!(pthread_join => join);
