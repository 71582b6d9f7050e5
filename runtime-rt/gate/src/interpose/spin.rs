//! Spin locks. A waiting thread is not enabled, so nothing spins.

use core::ffi::c_int;

use super::{export, storage};
use crate::engine::destroyed;
use crate::engine::fiber::running;
use crate::gate::ask::{Ask, Until};
use crate::gate::lock::{Lock, LockKind};
use crate::gate::objects::State;
use crate::sys::real::{Real, real};

type Spin = libc::pthread_spinlock_t;

static INIT: Real = Real::new(c"pthread_spin_init");
static DESTROY: Real = Real::new(c"pthread_spin_destroy");
static LOCK: Real = Real::new(c"pthread_spin_lock");
static TRY_LOCK: Real = Real::new(c"pthread_spin_trylock");
static UNLOCK: Real = Real::new(c"pthread_spin_unlock");

/// All of them.
pub(super) static REALS: &[&Real] = &[&INIT, &DESTROY, &LOCK, &TRY_LOCK, &UNLOCK];

const KIND: LockKind = LockKind::NORMAL;

export! {
    fn pthread_spin_init(spin: *mut Spin, shared: c_int) -> c_int {
        if let Some(engine) = running() {
            destroyed::initialize(engine, storage(spin), State::Lock(Lock::new(KIND)));
        }
        real!(INIT, fn(*mut Spin, c_int) -> c_int, spin, shared)
    }

    fn pthread_spin_destroy(spin: *mut Spin) -> c_int {
        match running() {
            Some(engine) => {
                destroyed::destroy(engine, storage(spin));
                0
            }
            None => real!(DESTROY, fn(*mut Spin) -> c_int, spin),
        }
    }

    fn pthread_spin_lock(spin: *mut Spin) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Lock { lock: storage(spin), kind: KIND, until: Until::Forever }),
            None => real!(LOCK, fn(*mut Spin) -> c_int, spin),
        }
    }

    fn pthread_spin_trylock(spin: *mut Spin) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::TryLock { lock: storage(spin), kind: KIND }),
            None => real!(TRY_LOCK, fn(*mut Spin) -> c_int, spin),
        }
    }

    fn pthread_spin_unlock(spin: *mut Spin) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Unlock { lock: storage(spin), kind: KIND }),
            None => real!(UNLOCK, fn(*mut Spin) -> c_int, spin),
        }
    }
}
