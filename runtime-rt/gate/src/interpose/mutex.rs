//! Mutexes.

use core::ffi::c_int;

use explorer::target::page::Note;

use super::{deadline, export, peek, storage};
use crate::engine::control;
use crate::engine::destroyed;
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Until};
use crate::gate::lock::{Lock, LockKind, Relock, Robustness};
use crate::gate::objects::State;
use crate::sys::real::{Real, real};

type Mutex = libc::pthread_mutex_t;
type Attributes = libc::pthread_mutexattr_t;

static INIT: Real = Real::new(c"pthread_mutex_init");
static DESTROY: Real = Real::new(c"pthread_mutex_destroy");
static LOCK: Real = Real::new(c"pthread_mutex_lock");
static TRY_LOCK: Real = Real::new(c"pthread_mutex_trylock");
static TIMED_LOCK: Real = Real::new(c"pthread_mutex_timedlock");
static CLOCK_LOCK: Real = Real::new(c"pthread_mutex_clocklock");
static UNLOCK: Real = Real::new(c"pthread_mutex_unlock");
static CONSISTENT: Real = Real::new(c"pthread_mutex_consistent");

/// All of them.
pub(super) static REALS: &[&Real] = &[&INIT, &DESTROY, &LOCK, &TRY_LOCK, &TIMED_LOCK, &CLOCK_LOCK, &UNLOCK, &CONSISTENT];

/// Where the C library keeps a mutex's kind.
const KIND_AT: usize = 16;

/// The kind of a mutex, from its storage.
pub(super) fn kind(mutex: *const Mutex) -> LockKind {
    const DESTROYED: c_int = -1;
    const ROBUST: c_int = 16;
    const PRIORITIES: c_int = 32 | 64;
    const SHARED: c_int = 128;
    let kind = peek(mutex, KIND_AT);
    if kind == DESTROYED {
        return LockKind::NORMAL;
    }
    if kind & PRIORITIES != 0 {
        control::note(Note::PlainLocks);
    }
    // The C library calls every robust one shared.
    if kind & SHARED != 0 && kind & ROBUST == 0 {
        control::note(Note::SharedObjects);
    }
    let relock = match kind & 3 {
        libc::PTHREAD_MUTEX_RECURSIVE => Relock::Counts,
        libc::PTHREAD_MUTEX_ERRORCHECK => Relock::Fails,
        _ => Relock::Deadlocks,
    };
    LockKind::Mutex(relock, if kind & ROBUST == 0 { Robustness::Stalled } else { Robustness::Robust })
}

/// In a fiber: locks a mutex with a time limit. What is no time is found out only where the mutex is not free.
pub(super) fn lock_until(engine: &Engine, mutex: *mut Mutex, time: *const libc::timespec) -> c_int {
    let (lock, kind) = (storage(mutex), kind(mutex));
    match deadline(engine, time) {
        Some(until) => engine.point(Ask::Lock { lock, kind, until }),
        None => match engine.point(Ask::TryLock { lock, kind }) {
            libc::EBUSY => libc::EINVAL,
            result => result,
        },
    }
}

/// In a fiber: destroys a mutex that nobody holds.
pub(super) fn destroy(engine: &Engine, mutex: *mut Mutex) -> c_int {
    let object = storage(mutex);
    let site = destroyed::begin(engine, object);
    if matches!(engine.model.borrow().objects.find(object), Some(State::Lock(lock)) if lock.owner.is_some()) {
        destroyed::keep(engine, object);
        return libc::EBUSY;
    }
    destroyed::finish(engine, object, site);
    0
}

export! {
    fn pthread_mutex_init(mutex: *mut Mutex, attributes: *const Attributes) -> c_int {
        let result = real!(INIT, fn(*mut Mutex, *const Attributes) -> c_int, mutex, attributes);
        if let Some(engine) = running().filter(|_| result == 0) {
            destroyed::initialize(engine, storage(mutex), State::Lock(Lock::new(kind(mutex))));
        }
        result
    }

    fn pthread_mutex_destroy(mutex: *mut Mutex) -> c_int {
        if let Some(engine) = running() {
            return destroy(engine, mutex);
        }
        real!(DESTROY, fn(*mut Mutex) -> c_int, mutex)
    }

    fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Lock { lock: storage(mutex), kind: kind(mutex), until: Until::Forever }),
            None => real!(LOCK, fn(*mut Mutex) -> c_int, mutex),
        }
    }

    fn pthread_mutex_trylock(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::TryLock { lock: storage(mutex), kind: kind(mutex) }),
            None => real!(TRY_LOCK, fn(*mut Mutex) -> c_int, mutex),
        }
    }

    fn pthread_mutex_timedlock(mutex: *mut Mutex, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => lock_until(engine, mutex, time),
            None => real!(TIMED_LOCK, fn(*mut Mutex, *const libc::timespec) -> c_int, mutex, time),
        }
    }

    fn pthread_mutex_clocklock(mutex: *mut Mutex, clock: libc::clockid_t, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => lock_until(engine, mutex, time),
            None => real!(CLOCK_LOCK, fn(*mut Mutex, libc::clockid_t, *const libc::timespec) -> c_int, mutex, clock, time),
        }
    }

    fn pthread_mutex_consistent(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => {
                engine.take_site();
                let mut model = engine.model.borrow_mut();
                let id = model.objects.at(storage(mutex), || State::Lock(Lock::new(kind(mutex))));
                model.objects.lock(id).make_consistent(engine.current())
            }
            None => real!(CONSISTENT, fn(*mut Mutex) -> c_int, mutex),
        }
    }

    fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Unlock { lock: storage(mutex), kind: kind(mutex) }),
            None => real!(UNLOCK, fn(*mut Mutex) -> c_int, mutex),
        }
    }
}
