//! Time: virtual while an execution runs. All clocks run together.

use core::ffi::{c_int, c_uint, c_void};

use super::{export, span, store};
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Nanoseconds};
use crate::gate::thread::Hope;
use crate::sys::real::{Real, real};

static GET_TIME: Real = Real::new(c"clock_gettime");
static GET_TIME_OF_DAY: Real = Real::new(c"gettimeofday");
static TIME: Real = Real::new(c"time");
static NANOSLEEP: Real = Real::new(c"nanosleep");
static CLOCK_NANOSLEEP: Real = Real::new(c"clock_nanosleep");
static USLEEP: Real = Real::new(c"usleep");
static SLEEP: Real = Real::new(c"sleep");
static YIELD: Real = Real::new(c"sched_yield");

/// All of them.
pub(super) static REALS: &[&Real] = &[&GET_TIME, &GET_TIME_OF_DAY, &TIME, &NANOSLEEP, &CLOCK_NANOSLEEP, &USLEEP, &SLEEP, &YIELD];

fn now(engine: &Engine) -> (i64, i64) {
    engine.hope(Hope::Time);
    let Nanoseconds(now) = engine.model.borrow().now();
    (i64::try_from(now / 1_000_000_000).unwrap_or(i64::MAX), i64::try_from(now % 1_000_000_000).unwrap_or(0))
}

fn sleep_for(engine: &Engine, span: Nanoseconds) {
    engine.point(Ask::Sleep { span });
}

export! {
    fn clock_gettime(clock: libc::clockid_t, place: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => {
                let (tv_sec, tv_nsec) = now(engine);
                store(place, libc::timespec { tv_sec, tv_nsec });
                0
            }
            None => real!(GET_TIME, fn(libc::clockid_t, *mut libc::timespec) -> c_int, clock, place),
        }
    }

    fn gettimeofday(place: *mut libc::timeval, zone: *mut c_void) -> c_int {
        match running() {
            Some(engine) => {
                let (tv_sec, nanoseconds) = now(engine);
                store(place, libc::timeval { tv_sec, tv_usec: nanoseconds / 1000 });
                0
            }
            None => real!(GET_TIME_OF_DAY, fn(*mut libc::timeval, *mut c_void) -> c_int, place, zone),
        }
    }

    fn time(place: *mut libc::time_t) -> libc::time_t {
        match running() {
            Some(engine) => {
                let (seconds, _) = now(engine);
                store(place, seconds);
                seconds
            }
            None => real!(TIME, fn(*mut libc::time_t) -> libc::time_t, place),
        }
    }

    fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => {
                // SAFETY: the program passes a valid time.
                sleep_for(engine, unsafe { time.as_ref() }.map_or(Nanoseconds(0), span));
                0
            }
            None => real!(NANOSLEEP, fn(*const libc::timespec, *mut libc::timespec) -> c_int, time, rest),
        }
    }

    fn clock_nanosleep(clock: libc::clockid_t, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => {
                // SAFETY: the program passes a valid time.
                let wanted = unsafe { time.as_ref() }.map_or(Nanoseconds(0), span);
                let before = if flags & libc::TIMER_ABSTIME == 0 { Nanoseconds(0) } else { engine.model.borrow().now() };
                sleep_for(engine, Nanoseconds(wanted.0.saturating_sub(before.0)));
                0
            }
            None => real!(
                CLOCK_NANOSLEEP,
                fn(libc::clockid_t, c_int, *const libc::timespec, *mut libc::timespec) -> c_int,
                clock,
                flags,
                time,
                rest
            ),
        }
    }

    fn usleep(microseconds: libc::useconds_t) -> c_int {
        match running() {
            Some(engine) => {
                sleep_for(engine, Nanoseconds(u64::from(microseconds) * 1000));
                0
            }
            None => real!(USLEEP, fn(libc::useconds_t) -> c_int, microseconds),
        }
    }

    fn sleep(seconds: c_uint) -> c_uint {
        match running() {
            Some(engine) => {
                sleep_for(engine, Nanoseconds(u64::from(seconds) * 1_000_000_000));
                0
            }
            None => real!(SLEEP, fn(c_uint) -> c_uint, seconds),
        }
    }

    fn sched_yield() -> c_int {
        match running() {
            Some(engine) => engine.point(Ask::Yield),
            None => real!(YIELD, fn() -> c_int,),
        }
    }
}
