//! Reader-writer locks.

use core::ffi::c_int;

use super::{deadline, export, peek, storage};
use crate::engine::destroyed;
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Until};
use crate::gate::lock::{Lock, LockKind};
use crate::gate::objects::State;
use crate::sys::real::{Real, real};

type RwLock = libc::pthread_rwlock_t;
type Attributes = libc::pthread_rwlockattr_t;

static INIT: Real = Real::new(c"pthread_rwlock_init");
static DESTROY: Real = Real::new(c"pthread_rwlock_destroy");
static READ: Real = Real::new(c"pthread_rwlock_rdlock");
static TRY_READ: Real = Real::new(c"pthread_rwlock_tryrdlock");
static TIMED_READ: Real = Real::new(c"pthread_rwlock_timedrdlock");
static WRITE: Real = Real::new(c"pthread_rwlock_wrlock");
static TRY_WRITE: Real = Real::new(c"pthread_rwlock_trywrlock");
static TIMED_WRITE: Real = Real::new(c"pthread_rwlock_timedwrlock");
static CLOCK_READ: Real = Real::new(c"pthread_rwlock_clockrdlock");
static CLOCK_WRITE: Real = Real::new(c"pthread_rwlock_clockwrlock");
static UNLOCK: Real = Real::new(c"pthread_rwlock_unlock");

/// All of them.
pub(super) static REALS: &[&Real] =
    &[&INIT, &DESTROY, &READ, &TRY_READ, &TIMED_READ, &WRITE, &TRY_WRITE, &TIMED_WRITE, &CLOCK_READ, &CLOCK_WRITE, &UNLOCK];

/// Where the C library keeps whom a lock prefers.
const PREFERENCE_AT: usize = 48;
/// What it keeps there when writers come first: only the attribute that forbids recursion has that effect.
const WRITERS: c_int = 2;

/// The kind of a lock, from its storage.
fn kind(lock: *const RwLock) -> LockKind {
    if peek(lock, PREFERENCE_AT) == WRITERS { LockKind::WriterFirst } else { LockKind::ReadWrite }
}

/// In a fiber: locks the write side.
fn write(engine: &Engine, lock: *mut RwLock, until: Until) -> c_int {
    let (site, kind, lock) = (engine.take_site(), kind(lock), storage(lock));
    if kind == LockKind::WriterFirst {
        let arrived = engine.point_at(site, Ask::WriteArrive { lock });
        if arrived != libc::EBUSY {
            return arrived;
        }
    }
    engine.point_at(site, Ask::Lock { lock, kind, until })
}

fn read(engine: &Engine, lock: *mut RwLock, until: Until) -> c_int {
    engine.point(Ask::ReadLock { lock: storage(lock), kind: kind(lock), until })
}

export! {
    fn pthread_rwlock_init(lock: *mut RwLock, attributes: *const Attributes) -> c_int {
        let done = real!(INIT, fn(*mut RwLock, *const Attributes) -> c_int, lock, attributes);
        if let Some(engine) = running().filter(|_| done == 0) {
            destroyed::initialize(engine, storage(lock), State::Lock(Lock::new(kind(lock))));
        }
        done
    }

    fn pthread_rwlock_destroy(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => {
                destroyed::destroy(engine, storage(lock));
                0
            }
            None => real!(DESTROY, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_rdlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => read(engine, lock, Until::Forever),
            None => real!(READ, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_tryrdlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::TryReadLock { lock: storage(lock), kind: kind(lock) }),
            None => real!(TRY_READ, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_timedrdlock(lock: *mut RwLock, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or(libc::EINVAL, |until| read(engine, lock, until)),
            None => real!(TIMED_READ, fn(*mut RwLock, *const libc::timespec) -> c_int, lock, time),
        }
    }

    fn pthread_rwlock_clockrdlock(lock: *mut RwLock, clock: libc::clockid_t, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or(libc::EINVAL, |until| read(engine, lock, until)),
            None => real!(CLOCK_READ, fn(*mut RwLock, libc::clockid_t, *const libc::timespec) -> c_int, lock, clock, time),
        }
    }

    fn pthread_rwlock_wrlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => write(engine, lock, Until::Forever),
            None => real!(WRITE, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_trywrlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::TryLock { lock: storage(lock), kind: kind(lock) }),
            None => real!(TRY_WRITE, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_timedwrlock(lock: *mut RwLock, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or(libc::EINVAL, |until| write(engine, lock, until)),
            None => real!(TIMED_WRITE, fn(*mut RwLock, *const libc::timespec) -> c_int, lock, time),
        }
    }

    fn pthread_rwlock_clockwrlock(lock: *mut RwLock, clock: libc::clockid_t, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or(libc::EINVAL, |until| write(engine, lock, until)),
            None => real!(CLOCK_WRITE, fn(*mut RwLock, libc::clockid_t, *const libc::timespec) -> c_int, lock, clock, time),
        }
    }

    fn pthread_rwlock_unlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Unlock { lock: storage(lock), kind: kind(lock) }),
            None => real!(UNLOCK, fn(*mut RwLock) -> c_int, lock),
        }
    }
}
