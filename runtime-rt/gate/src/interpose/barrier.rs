//! Barriers.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint};

use super::{export, storage};
use crate::engine::destroyed;
use crate::engine::fiber::running;
use crate::gate::ask::Ask;
use crate::gate::objects::State;
use crate::gate::waiting::Barrier as Model;
use crate::sys::real::{Real, real};

type Barrier = libc::pthread_barrier_t;
type Attributes = libc::pthread_barrierattr_t;

static INIT: Real = Real::new(c"pthread_barrier_init");
static DESTROY: Real = Real::new(c"pthread_barrier_destroy");
static WAIT: Real = Real::new(c"pthread_barrier_wait");

/// All of them.
pub(super) static REALS: &[&Real] = &[&INIT, &DESTROY, &WAIT];

export! {
    fn pthread_barrier_init(barrier: *mut Barrier, attributes: *const Attributes, count: c_uint) -> c_int {
        let result = real!(INIT, fn(*mut Barrier, *const Attributes, c_uint) -> c_int, barrier, attributes, count);
        if let Some(engine) = running().filter(|_| result == 0) {
            let state = State::Barrier(Model { size: count, arrived: Vec::new() });
            destroyed::initialize(engine, storage(barrier), state);
        }
        result
    }

    fn pthread_barrier_destroy(barrier: *mut Barrier) -> c_int {
        match running() {
            Some(engine) => {
                destroyed::destroy(engine, storage(barrier));
                0
            }
            None => real!(DESTROY, fn(*mut Barrier) -> c_int, barrier),
        }
    }

    fn pthread_barrier_wait(barrier: *mut Barrier) -> c_int {
        match running() {
            Some(engine) => {
                let site = engine.take_site();
                let barrier = storage(barrier);
                let last = engine.point_at(site, Ask::BarrierArrive { barrier });
                engine.point_at(site, Ask::BarrierLeave { barrier });
                if last == 0 { 0 } else { libc::PTHREAD_BARRIER_SERIAL_THREAD }
            }
            None => real!(WAIT, fn(*mut Barrier) -> c_int, barrier),
        }
    }
}
