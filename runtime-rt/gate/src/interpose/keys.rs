//! Thread-specific values and the destructors of thread-local variables: run by us when a fiber ends, as the C library's
//! own thread, from which the fiber has its TLS block, never ends.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::export;
use crate::engine::fiber::{Destructor, running};
use crate::sys::real::{Real, real};

static CREATE: Real = Real::new(c"pthread_key_create");
static DELETE: Real = Real::new(c"pthread_key_delete");
static AT_EXIT: Real = Real::new(c"__cxa_thread_atexit_impl");

/// All of them.
pub(super) static REALS: &[&Real] = &[&CREATE, &DELETE, &AT_EXIT];

/// As many as the C library has.
const KEYS: usize = 1024;
/// How often the C library runs destructors that leave new values behind.
const ROUNDS: usize = 4;

pub(super) type Function = extern "C" fn(*mut c_void);

/// By key: its destructor. Private memory: an execution's own, like the keys themselves.
static DESTRUCTORS: [AtomicUsize; KEYS] = [const { AtomicUsize::new(0) }; KEYS];
/// Keys from here on have no destructor.
static END: AtomicUsize = AtomicUsize::new(0);

/// In a fiber that ends: runs the destructors of its values.
pub(crate) fn destroy_values() {
    for _ in 0..ROUNDS {
        let mut any = false;
        for (key, destructor) in (0..).zip(&DESTRUCTORS).take(END.load(Relaxed)) {
            let function = destructor.load(Relaxed);
            if function == 0 {
                continue;
            }
            // SAFETY: reads the running thread's value; a key that does not exist has none.
            let value = unsafe { libc::pthread_getspecific(key) };
            if value.is_null() {
                continue;
            }
            any = true;
            // SAFETY: the key has a destructor, so it exists.
            unsafe { libc::pthread_setspecific(key, core::ptr::null()) };
            // SAFETY: stored from this very type.
            let function = unsafe { core::mem::transmute::<usize, Function>(function) };
            function(value);
        }
        if !any {
            return;
        }
    }
}

/// The C library has just made a key.
pub(super) fn note_created(key: *const libc::pthread_key_t, destructor: Option<Function>) {
    // SAFETY: the call has stored a key there.
    let key = unsafe { key.read() } as usize;
    if let Some((place, function)) = DESTRUCTORS.get(key).zip(destructor) {
        place.store(function as usize, Relaxed);
        END.fetch_max(key + 1, Relaxed);
    }
}

/// The C library is about to take a key away.
pub(super) fn note_deleted(key: libc::pthread_key_t) {
    if let Some(place) = DESTRUCTORS.get(key as usize) {
        place.store(0, Relaxed);
    }
}

export! {
    fn pthread_key_create(key: *mut libc::pthread_key_t, destructor: Option<Function>) -> c_int {
        let result = real!(CREATE, fn(*mut libc::pthread_key_t, Option<Function>) -> c_int, key, destructor);
        if result == 0 {
            note_created(key, destructor);
        }
        result
    }

    fn pthread_key_delete(key: libc::pthread_key_t) -> c_int {
        note_deleted(key);
        real!(DELETE, fn(libc::pthread_key_t) -> c_int, key)
    }

    fn __cxa_thread_atexit_impl(function: Function, object: *mut c_void, library: *mut c_void) -> c_int {
        match running() {
            Some(engine) => {
                engine.with_current(|fiber| fiber.destructors.borrow_mut().push(Destructor { function, object }));
                0
            }
            None => real!(AT_EXIT, fn(Function, *mut c_void, *mut c_void) -> c_int, function, object, library),
        }
    }
}
