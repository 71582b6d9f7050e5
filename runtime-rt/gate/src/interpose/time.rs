//! Time: virtual while an execution runs. All clocks of the world run together.

use core::ffi::{c_int, c_uint, c_void};

use super::{export, fail, set_errno, store};
use crate::engine::clocks::{self, Rest};
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Nanoseconds};
use crate::gate::thread::Hope;
use crate::sys::call::process;
use crate::sys::real::{Real, real};

static GET_TIME: Real = Real::new(c"clock_gettime");
static CLOCK_OF_THREAD: Real = Real::new(c"pthread_getcpuclockid");
static CLOCK: Real = Real::new(c"clock");
static GET_TIME_OF_DAY: Real = Real::new(c"gettimeofday");
static TIME: Real = Real::new(c"time");
static NANOSLEEP: Real = Real::new(c"nanosleep");
static CLOCK_NANOSLEEP: Real = Real::new(c"clock_nanosleep");
static USLEEP: Real = Real::new(c"usleep");
static SLEEP: Real = Real::new(c"sleep");
static YIELD: Real = Real::new(c"sched_yield");

/// All of them.
pub(super) static REALS: &[&Real] =
    &[&GET_TIME, &CLOCK_OF_THREAD, &CLOCK, &GET_TIME_OF_DAY, &TIME, &NANOSLEEP, &CLOCK_NANOSLEEP, &USLEEP, &SLEEP, &YIELD];

/// What a clock says; `None` where there is none of this number.
fn read(engine: &Engine, clock: libc::clockid_t) -> Option<libc::timespec> {
    engine.hope(Hope::Time);
    // A loop that looks at nothing but the clock has no other place at which it waits for time to pass.
    if engine.with_current(|fiber| fiber.circle.borrow().is_found()) {
        engine.point(Ask::Yield);
    }
    clocks::read(engine, clock).map(as_time)
}

fn now(engine: &Engine) -> libc::timespec {
    read(engine, libc::CLOCK_REALTIME).unwrap_or(as_time(Nanoseconds(0)))
}

fn as_time(time: Nanoseconds) -> libc::timespec {
    let [tv_sec, tv_nsec] = clocks::parts(time).map(|part| i64::try_from(part).unwrap_or(i64::MAX));
    libc::timespec { tv_sec, tv_nsec }
}

/// In a fiber: sleeps by a clock; the result, or the error.
pub(super) fn sleep_by(
    engine: &Engine,
    clock: libc::clockid_t,
    flags: c_int,
    wanted: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    let Some(wanted) = super::time(wanted).filter(|_| clocks::can_sleep_by(engine, clock)) else { return libc::EINVAL };
    let Err(Rest(left)) = clocks::sleep_by(engine, clock, flags, wanted) else { return 0 };
    if flags & libc::TIMER_ABSTIME == 0 {
        store(rest, as_time(left));
    }
    libc::EINTR
}

export! {
    fn clock_gettime(clock: libc::clockid_t, place: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => match read(engine, clock) {
                Some(time) => {
                    store(place, time);
                    0
                }
                None => fail(libc::EINVAL),
            },
            None => real!(GET_TIME, fn(libc::clockid_t, *mut libc::timespec) -> c_int, clock, place),
        }
    }

    fn pthread_getcpuclockid(identity: libc::pthread_t, place: *mut libc::clockid_t) -> c_int {
        match running() {
            Some(engine) => match super::threads::owner(engine, identity) {
                Some(thread) => {
                    store(place, clocks::of_thread(process() + thread.index()));
                    0
                }
                None => libc::ESRCH,
            },
            None => real!(CLOCK_OF_THREAD, fn(libc::pthread_t, *mut libc::clockid_t) -> c_int, identity, place),
        }
    }

    fn clock() -> libc::clock_t {
        match running() {
            Some(engine) => read(engine, libc::CLOCK_PROCESS_CPUTIME_ID).map_or(-1, |time| time.tv_sec * 1_000_000 + time.tv_nsec / 1000),
            None => real!(CLOCK, fn() -> libc::clock_t,),
        }
    }

    fn gettimeofday(place: *mut libc::timeval, zone: *mut c_void) -> c_int {
        match running() {
            Some(engine) => {
                let libc::timespec { tv_sec, tv_nsec } = now(engine);
                store(place, libc::timeval { tv_sec, tv_usec: tv_nsec / 1000 });
                0
            }
            None => real!(GET_TIME_OF_DAY, fn(*mut libc::timeval, *mut c_void) -> c_int, place, zone),
        }
    }

    fn time(place: *mut libc::time_t) -> libc::time_t {
        match running() {
            Some(engine) => {
                let libc::timespec { tv_sec, .. } = now(engine);
                store(place, tv_sec);
                tv_sec
            }
            None => real!(TIME, fn(*mut libc::time_t) -> libc::time_t, place),
        }
    }

    fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => match sleep_by(engine, libc::CLOCK_MONOTONIC, 0, time, rest) {
                0 => 0,
                error => fail(error),
            },
            None => real!(NANOSLEEP, fn(*const libc::timespec, *mut libc::timespec) -> c_int, time, rest),
        }
    }

    fn clock_nanosleep(clock: libc::clockid_t, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        match running() {
            Some(engine) => sleep_by(engine, clock, flags, time, rest),
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
            Some(engine) => match clocks::sleep(engine, Nanoseconds(u64::from(microseconds) * 1000)) {
                Ok(()) => 0,
                Err(Rest(_)) => fail(libc::EINTR),
            },
            None => real!(USLEEP, fn(libc::useconds_t) -> c_int, microseconds),
        }
    }

    fn sleep(seconds: c_uint) -> c_uint {
        match running() {
            Some(engine) => match clocks::sleep(engine, Nanoseconds(u64::from(seconds) * 1_000_000_000)) {
                Ok(()) => 0,
                Err(Rest(left)) => {
                    set_errno(libc::EINTR);
                    let [seconds, _] = clocks::parts(left);
                    c_uint::try_from(seconds).unwrap_or(c_uint::MAX)
                }
            },
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
