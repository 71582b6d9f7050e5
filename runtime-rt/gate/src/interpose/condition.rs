//! Condition variables. The C library has them in two versions; ours stand before the newer.

use core::ffi::c_int;

use model::ids::SiteKey;

use super::mutex::kind;
use super::{deadline, export, storage};
use crate::engine::destroyed;
use crate::engine::fiber::{Engine, running};
use crate::engine::interrupts::{self, CANCELLED};
use crate::gate::ask::{Ask, Until};
use crate::gate::objects::State;
use crate::gate::perform::FOR_NOTHING;
use crate::gate::thread::Cancellation;
use crate::gate::waiting::Condition as Model;
use crate::sys::real::{Real, real};

type Condition = libc::pthread_cond_t;
type Mutex = libc::pthread_mutex_t;
type Attributes = libc::pthread_condattr_t;

static INIT: Real = Real::versioned(c"pthread_cond_init", c"GLIBC_2.3.2");
static DESTROY: Real = Real::versioned(c"pthread_cond_destroy", c"GLIBC_2.3.2");
static WAIT: Real = Real::versioned(c"pthread_cond_wait", c"GLIBC_2.3.2");
static TIMED_WAIT: Real = Real::versioned(c"pthread_cond_timedwait", c"GLIBC_2.3.2");
static CLOCK_WAIT: Real = Real::new(c"pthread_cond_clockwait");
static SIGNAL: Real = Real::versioned(c"pthread_cond_signal", c"GLIBC_2.3.2");
static BROADCAST: Real = Real::versioned(c"pthread_cond_broadcast", c"GLIBC_2.3.2");

/// All of them.
pub(super) static REALS: &[&Real] = &[&INIT, &DESTROY, &WAIT, &TIMED_WAIT, &CLOCK_WAIT, &SIGNAL, &BROADCAST];

/// Releases the mutex and joins the waiters; waits to be woken or timed out; takes the mutex again.
pub(super) fn wait_on(engine: &Engine, condition: *mut Condition, mutex: *mut Mutex, until: Until) -> c_int {
    let site = engine.take_site();
    let kind = kind(mutex);
    let (condition, mutex) = (storage(condition), storage(mutex));
    let released = engine.point_at(site, Ask::WaitRelease { condition, mutex, kind });
    if released != 0 {
        return released;
    }
    let waiting = Ask::Waiting { condition, mutex, kind, until };
    let ended = engine.point_at(site, waiting);
    if ended == CANCELLED {
        return end_wait(engine, site, waiting);
    }
    let result = if ended == FOR_NOTHING { 0 } else { ended };
    if ended != libc::ETIMEDOUT && ended != FOR_NOTHING {
        return result;
    }
    match engine.point_at(site, Ask::Reacquire { mutex, kind }) {
        0 => result,
        // That the owner of the mutex has ended is more than that time has.
        error => error,
    }
}

/// As `wait_on`, with a time limit.
pub(super) fn wait_until(engine: &Engine, condition: *mut Condition, mutex: *mut Mutex, time: *const libc::timespec) -> c_int {
    deadline(engine, time).map_or(libc::EINVAL, |until| wait_on(engine, condition, mutex, until))
}

/// A thread that waits was cancelled: it leaves the waiters as if its time were over, unless it is woken before, and takes the mutex,
/// which its cleanup handlers expect to have.
fn end_wait(engine: &Engine, site: Option<SiteKey>, waiting: Ask) -> c_int {
    let Ask::Waiting { condition, mutex, kind, .. } = waiting else { return 0 };
    let me = engine.current().index();
    let now = engine.model.borrow().now();
    let held = core::mem::replace(&mut engine.model.borrow_mut().threads[me].cancellation, Cancellation::Disabled);
    let ended = engine.point_at(site, Ask::Waiting { condition, mutex, kind, until: Until::Deadline(now) });
    if ended == libc::ETIMEDOUT || ended == FOR_NOTHING {
        engine.point_at(site, Ask::Reacquire { mutex, kind });
        interrupts::end(engine);
    }
    engine.model.borrow_mut().threads[me].cancellation = held;
    ended
}

export! {
    fn pthread_cond_init(condition: *mut Condition, attributes: *const Attributes) -> c_int {
        if let Some(engine) = running() {
            destroyed::initialize(engine, storage(condition), State::Condition(Model::default()));
        }
        real!(INIT, fn(*mut Condition, *const Attributes) -> c_int, condition, attributes)
    }

    fn pthread_cond_destroy(condition: *mut Condition) -> c_int {
        match running() {
            // The real one would wait for real waiters, of which there are none.
            Some(engine) => {
                destroyed::destroy(engine, storage(condition));
                0
            }
            None => real!(DESTROY, fn(*mut Condition) -> c_int, condition),
        }
    }

    fn pthread_cond_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int {
        match running() {
            Some(engine) => wait_on(engine, condition, mutex, Until::Forever),
            None => real!(WAIT, fn(*mut Condition, *mut Mutex) -> c_int, condition, mutex),
        }
    }

    fn pthread_cond_timedwait(condition: *mut Condition, mutex: *mut Mutex, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => wait_until(engine, condition, mutex, time),
            None => real!(TIMED_WAIT, fn(*mut Condition, *mut Mutex, *const libc::timespec) -> c_int, condition, mutex, time),
        }
    }

    fn pthread_cond_clockwait(condition: *mut Condition, mutex: *mut Mutex, clock: libc::clockid_t, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => wait_until(engine, condition, mutex, time),
            None => real!(
                CLOCK_WAIT,
                fn(*mut Condition, *mut Mutex, libc::clockid_t, *const libc::timespec) -> c_int,
                condition,
                mutex,
                clock,
                time
            ),
        }
    }

    fn pthread_cond_signal(condition: *mut Condition) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Signal { condition: storage(condition) }),
            None => real!(SIGNAL, fn(*mut Condition) -> c_int, condition),
        }
    }

    fn pthread_cond_broadcast(condition: *mut Condition) -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Broadcast { condition: storage(condition) }),
            None => real!(BROADCAST, fn(*mut Condition) -> c_int, condition),
        }
    }
}
