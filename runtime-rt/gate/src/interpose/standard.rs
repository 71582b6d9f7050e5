//! C11 threads: the C library calls its own pthread functions for these past any symbol, so each has a door here.
//!
//! Their objects are laid out as those of pthreads are.

use core::ffi::{c_int, c_void};

use super::condition::{wait_on, wait_until};
use super::mutex::{destroy, kind, lock_until};
use super::{export, storage, store};
use crate::engine::destroyed;
use crate::engine::fiber::{Routine, running};
use crate::engine::shapes::descriptor;
use crate::gate::ask::{Ask, Until};
use crate::gate::lock::Lock;
use crate::gate::objects::State;
use crate::gate::waiting::Condition as ConditionModel;
use crate::sys::real::{Real, real};

type Mutex = libc::pthread_mutex_t;
type Condition = libc::pthread_cond_t;
type Function = extern "C" fn(*mut c_void) -> c_int;

static CREATE: Real = Real::new(c"thrd_create");
static JOIN: Real = Real::new(c"thrd_join");
static DETACH: Real = Real::new(c"thrd_detach");
static SLEEP: Real = Real::new(c"thrd_sleep");
static YIELD: Real = Real::new(c"thrd_yield");
static MUTEX_INIT: Real = Real::new(c"mtx_init");
static MUTEX_LOCK: Real = Real::new(c"mtx_lock");
static MUTEX_TIMED_LOCK: Real = Real::new(c"mtx_timedlock");
static MUTEX_TRY_LOCK: Real = Real::new(c"mtx_trylock");
static MUTEX_UNLOCK: Real = Real::new(c"mtx_unlock");
static MUTEX_DESTROY: Real = Real::new(c"mtx_destroy");
static CONDITION_INIT: Real = Real::new(c"cnd_init");
static CONDITION_WAIT: Real = Real::new(c"cnd_wait");
static CONDITION_TIMED_WAIT: Real = Real::new(c"cnd_timedwait");
static CONDITION_SIGNAL: Real = Real::new(c"cnd_signal");
static CONDITION_BROADCAST: Real = Real::new(c"cnd_broadcast");
static CONDITION_DESTROY: Real = Real::new(c"cnd_destroy");
static ONCE: Real = Real::new(c"call_once");
static KEY_CREATE: Real = Real::new(c"tss_create");
static KEY_DELETE: Real = Real::new(c"tss_delete");

/// All of them.
pub(super) static REALS: &[&Real] = &[
    &CREATE,
    &JOIN,
    &DETACH,
    &SLEEP,
    &YIELD,
    &MUTEX_INIT,
    &MUTEX_LOCK,
    &MUTEX_TIMED_LOCK,
    &MUTEX_TRY_LOCK,
    &MUTEX_UNLOCK,
    &MUTEX_DESTROY,
    &CONDITION_INIT,
    &CONDITION_WAIT,
    &CONDITION_TIMED_WAIT,
    &CONDITION_SIGNAL,
    &CONDITION_BROADCAST,
    &CONDITION_DESTROY,
    &ONCE,
    &KEY_CREATE,
    &KEY_DELETE,
];

/// A result of pthreads in the terms of C11.
fn result(error: c_int) -> c_int {
    const BUSY: c_int = 1;
    const ERROR: c_int = 2;
    const TIMED_OUT: c_int = 4;
    match error {
        0 => 0,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// A routine that returns a number, as one that returns a pointer.
fn as_routine(function: Function, argument: *mut c_void) -> Routine {
    // Both return in one register; the half that `thrd_join` does not look at is of no meaning.
    // SAFETY: the same calling convention, and the result is only ever looked at as a number.
    let function = unsafe { core::mem::transmute::<Function, extern "C" fn(*mut c_void) -> *mut c_void>(function) };
    Routine { function, argument }
}

/// The number in a routine's result.
fn as_number(result: *mut c_void) -> c_int {
    descriptor(result.expose_provenance())
}

export! {
    fn thrd_create(place: *mut libc::pthread_t, function: Function, argument: *mut c_void) -> c_int {
        match running() {
            Some(engine) => result(super::threads::start(engine, place, core::ptr::null(), as_routine(function, argument))),
            None => real!(CREATE, fn(*mut libc::pthread_t, Function, *mut c_void) -> c_int, place, function, argument),
        }
    }

    fn thrd_join(identity: libc::pthread_t, place: *mut c_int) -> c_int {
        match running() {
            Some(engine) => match super::threads::join(engine, identity) {
                Ok(value) => {
                    store(place, as_number(value));
                    0
                }
                Err(error) => result(error),
            },
            None => real!(JOIN, fn(libc::pthread_t, *mut c_int) -> c_int, identity, place),
        }
    }

    fn thrd_detach(identity: libc::pthread_t) -> c_int {
        match running() {
            Some(engine) => result(super::threads::detach(engine, identity)),
            None => real!(DETACH, fn(libc::pthread_t) -> c_int, identity),
        }
    }

    fn thrd_sleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => {
                match super::time::sleep_by(engine, libc::CLOCK_REALTIME, 0, time, rest) {
                    0 => 0,
                    libc::EINTR => -1,
                    _ => -2,
                }
            }
            None => real!(SLEEP, fn(*const libc::timespec, *mut libc::timespec) -> c_int, time, rest),
        }
    }

    fn thrd_yield() {
        match running() {
            Some(engine) => {
                engine.point(Ask::Yield);
            }
            None => real!(YIELD, fn(),),
        }
    }

    fn mtx_init(mutex: *mut Mutex, flags: c_int) -> c_int {
        let done = real!(MUTEX_INIT, fn(*mut Mutex, c_int) -> c_int, mutex, flags);
        if let Some(engine) = running() {
            destroyed::initialize(engine, storage(mutex), State::Lock(Lock::new(kind(mutex))));
        }
        done
    }

    fn mtx_destroy(mutex: *mut Mutex) {
        match running() {
            Some(engine) => {
                destroy(engine, mutex);
            }
            None => real!(MUTEX_DESTROY, fn(*mut Mutex), mutex),
        }
    }

    fn mtx_lock(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => result(engine.point(Ask::Lock { lock: storage(mutex), kind: kind(mutex), until: Until::Forever })),
            None => real!(MUTEX_LOCK, fn(*mut Mutex) -> c_int, mutex),
        }
    }

    fn mtx_timedlock(mutex: *mut Mutex, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => result(lock_until(engine, mutex, time)),
            None => real!(MUTEX_TIMED_LOCK, fn(*mut Mutex, *const libc::timespec) -> c_int, mutex, time),
        }
    }

    fn mtx_trylock(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => result(engine.point(Ask::TryLock { lock: storage(mutex), kind: kind(mutex) })),
            None => real!(MUTEX_TRY_LOCK, fn(*mut Mutex) -> c_int, mutex),
        }
    }

    fn mtx_unlock(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => result(engine.point(Ask::Unlock { lock: storage(mutex), kind: kind(mutex) })),
            None => real!(MUTEX_UNLOCK, fn(*mut Mutex) -> c_int, mutex),
        }
    }

    fn cnd_init(condition: *mut Condition) -> c_int {
        if let Some(engine) = running() {
            destroyed::initialize(engine, storage(condition), State::Condition(ConditionModel::default()));
        }
        real!(CONDITION_INIT, fn(*mut Condition) -> c_int, condition)
    }

    fn cnd_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => result(wait_on(engine, condition, mutex, Until::Forever)),
            None => real!(CONDITION_WAIT, fn(*mut Condition, *mut Mutex) -> c_int, condition, mutex),
        }
    }

    fn cnd_timedwait(condition: *mut Condition, mutex: *mut Mutex, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => result(wait_until(engine, condition, mutex, time)),
            None => real!(CONDITION_TIMED_WAIT, fn(*mut Condition, *mut Mutex, *const libc::timespec) -> c_int, condition, mutex, time),
        }
    }

    fn cnd_signal(condition: *mut Condition) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Signal { condition: storage(condition) }),
            None => real!(CONDITION_SIGNAL, fn(*mut Condition) -> c_int, condition),
        }
    }

    fn cnd_broadcast(condition: *mut Condition) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Broadcast { condition: storage(condition) }),
            None => real!(CONDITION_BROADCAST, fn(*mut Condition) -> c_int, condition),
        }
    }

    fn cnd_destroy(condition: *mut Condition) {
        match running() {
            Some(engine) => destroyed::destroy(engine, storage(condition)),
            None => real!(CONDITION_DESTROY, fn(*mut Condition), condition),
        }
    }

    fn tss_create(key: *mut libc::pthread_key_t, destructor: Option<super::keys::Function>) -> c_int {
        let done = real!(KEY_CREATE, fn(*mut libc::pthread_key_t, Option<super::keys::Function>) -> c_int, key, destructor);
        if done == 0 {
            super::keys::note_created(key, destructor);
        }
        done
    }

    fn tss_delete(key: libc::pthread_key_t) {
        super::keys::note_deleted(key);
        real!(KEY_DELETE, fn(libc::pthread_key_t), key);
    }

    fn call_once(once: *mut libc::pthread_once_t, routine: super::once::Routine) {
        match running() {
            Some(engine) => super::once::enter(engine, once, routine),
            None => real!(ONCE, fn(*mut libc::pthread_once_t, super::once::Routine), once, routine),
        }
    }
}
