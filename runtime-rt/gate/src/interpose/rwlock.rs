//! Reader-writer locks.

use core::ffi::c_int;

use super::{deadline, export, storage};
use crate::engine::fiber::running;
use crate::gate::ask::{Ask, Until};
use crate::gate::lock::{Lock, LockKind};
use crate::gate::objects::State;
use crate::sys::real::{Real, real};

type RwLock = libc::pthread_rwlock_t;
type Attributes = libc::pthread_rwlockattr_t;

static INIT: Real = Real::new(c"pthread_rwlock_init");
static READ: Real = Real::new(c"pthread_rwlock_rdlock");
static TRY_READ: Real = Real::new(c"pthread_rwlock_tryrdlock");
static TIMED_READ: Real = Real::new(c"pthread_rwlock_timedrdlock");
static WRITE: Real = Real::new(c"pthread_rwlock_wrlock");
static TRY_WRITE: Real = Real::new(c"pthread_rwlock_trywrlock");
static TIMED_WRITE: Real = Real::new(c"pthread_rwlock_timedwrlock");
static UNLOCK: Real = Real::new(c"pthread_rwlock_unlock");

/// All of them.
pub(super) static REALS: &[&Real] = &[&INIT, &READ, &TRY_READ, &TIMED_READ, &WRITE, &TRY_WRITE, &TIMED_WRITE, &UNLOCK];

const KIND: LockKind = LockKind::ReadWrite;

export! {
    fn pthread_rwlock_init(lock: *mut RwLock, attributes: *const Attributes) -> c_int {
        if let Some(engine) = running() {
            engine.take_site();
            engine.model.borrow_mut().objects.replace(storage(lock), State::Lock(Lock::new(KIND)));
        }
        real!(INIT, fn(*mut RwLock, *const Attributes) -> c_int, lock, attributes)
    }

    fn pthread_rwlock_rdlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::ReadLock { lock: storage(lock), until: Until::Forever }),
            None => real!(READ, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_tryrdlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::TryReadLock { lock: storage(lock) }),
            None => real!(TRY_READ, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_timedrdlock(lock: *mut RwLock, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::ReadLock { lock: storage(lock), until: deadline(time) }),
            None => real!(TIMED_READ, fn(*mut RwLock, *const libc::timespec) -> c_int, lock, time),
        }
    }

    fn pthread_rwlock_wrlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Lock { lock: storage(lock), kind: KIND, until: Until::Forever }),
            None => real!(WRITE, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_trywrlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::TryLock { lock: storage(lock), kind: KIND }),
            None => real!(TRY_WRITE, fn(*mut RwLock) -> c_int, lock),
        }
    }

    fn pthread_rwlock_timedwrlock(lock: *mut RwLock, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Lock { lock: storage(lock), kind: KIND, until: deadline(time) }),
            None => real!(TIMED_WRITE, fn(*mut RwLock, *const libc::timespec) -> c_int, lock, time),
        }
    }

    fn pthread_rwlock_unlock(lock: *mut RwLock) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Unlock { lock: storage(lock), kind: KIND }),
            None => real!(UNLOCK, fn(*mut RwLock) -> c_int, lock),
        }
    }
}
