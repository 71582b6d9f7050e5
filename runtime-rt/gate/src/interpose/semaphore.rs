//! Semaphores.

use core::ffi::{c_int, c_uint};

use explorer::target::page::Note;

use super::{deadline, export, fail, look, peek, storage, store};
use crate::engine::control;
use crate::engine::destroyed;
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Until};
use crate::gate::objects::State;
use crate::sys::real::{Real, real};

pub(super) type Semaphore = libc::sem_t;

static INIT: Real = Real::new(c"sem_init");
static DESTROY: Real = Real::new(c"sem_destroy");
static WAIT: Real = Real::new(c"sem_wait");
static TRY_WAIT: Real = Real::new(c"sem_trywait");
static TIMED_WAIT: Real = Real::new(c"sem_timedwait");
static CLOCK_WAIT: Real = Real::new(c"sem_clockwait");
static POST: Real = Real::new(c"sem_post");
static GET: Real = Real::new(c"sem_getvalue");

/// All of them.
pub(super) static REALS: &[&Real] = &[&INIT, &DESTROY, &WAIT, &TRY_WAIT, &TIMED_WAIT, &CLOCK_WAIT, &POST, &GET];

/// The count that the C library's initialization has left in the storage.
fn initial(semaphore: *const Semaphore) -> u32 {
    peek(semaphore, 0).cast_unsigned()
}

/// The -1 with `errno` that these functions report errors by.
fn answer(result: c_int) -> c_int {
    if result == 0 { 0 } else { fail(result) }
}

fn wait(engine: &Engine, semaphore: *const Semaphore, until: Until) -> c_int {
    answer(engine.point(Ask::SemWait { semaphore: storage(semaphore), count: initial(semaphore), until }))
}

export! {
    fn sem_init(semaphore: *mut Semaphore, shared: c_int, count: c_uint) -> c_int {
        let result = real!(INIT, fn(*mut Semaphore, c_int, c_uint) -> c_int, semaphore, shared, count);
        if let Some(engine) = running().filter(|_| result == 0) {
            if shared != 0 {
                control::note(Note::SharedObjects);
            }
            destroyed::initialize(engine, storage(semaphore), State::Semaphore(count));
        }
        result
    }

    fn sem_destroy(semaphore: *mut Semaphore) -> c_int {
        match running() {
            Some(engine) => {
                destroyed::destroy(engine, storage(semaphore));
                0
            }
            None => real!(DESTROY, fn(*mut Semaphore) -> c_int, semaphore),
        }
    }

    fn sem_wait(semaphore: *mut Semaphore) -> c_int {
        match running() {
            Some(engine) => wait(engine, semaphore, Until::Forever),
            None => real!(WAIT, fn(*mut Semaphore) -> c_int, semaphore),
        }
    }

    fn sem_trywait(semaphore: *mut Semaphore) -> c_int {
        match running() {
            Some(engine) => answer(engine.point(Ask::SemTryWait { semaphore: storage(semaphore), count: initial(semaphore) })),
            None => real!(TRY_WAIT, fn(*mut Semaphore) -> c_int, semaphore),
        }
    }

    fn sem_timedwait(semaphore: *mut Semaphore, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or_else(|| fail(libc::EINVAL), |until| wait(engine, semaphore, until)),
            None => real!(TIMED_WAIT, fn(*mut Semaphore, *const libc::timespec) -> c_int, semaphore, time),
        }
    }

    fn sem_clockwait(semaphore: *mut Semaphore, clock: libc::clockid_t, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or_else(|| fail(libc::EINVAL), |until| wait(engine, semaphore, until)),
            None => real!(CLOCK_WAIT, fn(*mut Semaphore, libc::clockid_t, *const libc::timespec) -> c_int, semaphore, clock, time),
        }
    }

    fn sem_post(semaphore: *mut Semaphore) -> c_int {
        match running() {
            Some(engine) => answer(engine.point(Ask::SemPost { semaphore: storage(semaphore), count: initial(semaphore) })),
            None => real!(POST, fn(*mut Semaphore) -> c_int, semaphore),
        }
    }

    fn sem_getvalue(semaphore: *mut Semaphore, place: *mut c_int) -> c_int {
        match running() {
            Some(engine) => {
                look(engine, storage(semaphore));
                let mut model = engine.model.borrow_mut();
                let id = model.objects.at(storage(semaphore), || State::Semaphore(initial(semaphore)));
                store(place, model.objects.semaphore(id).cast_signed());
                0
            }
            None => real!(GET, fn(*mut Semaphore, *mut c_int) -> c_int, semaphore, place),
        }
    }
}
