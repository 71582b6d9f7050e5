//! Timers, in virtual time. The process's alarm goes off when nobody can go on. Of timers that are descriptors (`timerfd`), to the kernel each is an event counter, to which the engine adds when its time has
//! come. So reading and polling are as with any descriptor.
//!
//! A thread that waits for a timer may be let on at any moment, as one that sleeps: its time has passed then.
//! Not handled: alarms that go off earlier, POSIX timers, which never do (both noted), copies of such descriptors, which do not know of the timer; `TFD_TIMER_CANCEL_ON_SET`.

use alloc::vec::Vec;

use explorer::target::page::Note;

use super::control;
use super::fiber::Engine;
use super::handlers::{self, IGNORE};
use super::outside;
use super::shapes;
use crate::gate::ask::Nanoseconds;
use crate::gate::readiness::Readiness;
use crate::sys::call::{Errno, system_call, word};
use crate::sys::poll;

/// The timers of an execution.
#[derive(Default)]
pub(crate) struct Timers {
    descriptors: Vec<Timer>,
    alarm: Alarm,
    /// Whether others are set (`timer_settime`), which never go off.
    others: bool,
    /// Whether a socket was given a time limit.
    sockets: bool,
}

/// So often an alarm goes off in an execution: one that comes again and again lets nobody go on whom it does not help.
const MOST_ALARMS: u32 = 200;

/// The process's timer that sends it `SIGALRM`. It goes off when nobody can go on: that it may do so earlier is noted.
#[derive(Clone, Copy, Default)]
struct Alarm {
    due: Option<Nanoseconds>,
    interval: Nanoseconds,
    /// How often it went off.
    rung: u32,
}

#[derive(Clone, Copy)]
struct Timer {
    descriptor: i32,
    due: Option<Nanoseconds>,
    interval: Nanoseconds,
}

/// Times as the kernel takes them: interval, then first expiration, each seconds and nanoseconds.
type Setting = [u64; 4];

const SECOND: u64 = 1_000_000_000;

impl Timers {
    /// A new execution begins.
    pub(crate) fn clear(&mut self) {
        self.descriptors.clear();
        self.alarm = Alarm::default();
        self.others = false;
        self.sockets = false;
    }

    /// A descriptor was closed.
    pub(crate) fn close(&mut self, descriptor: i32) {
        self.descriptors.retain(|timer| timer.descriptor != descriptor);
    }

    /// A socket is given a time limit.
    pub(crate) fn limit_sockets(&mut self) {
        self.sockets = true;
    }

    /// Whether any has one, so that others are asked for theirs.
    pub(crate) fn limits_sockets(&self) -> bool {
        self.sockets
    }

    fn find(&mut self, descriptor: i32) -> Result<&mut Timer, Errno> {
        self.descriptors.iter_mut().find(|timer| timer.descriptor == descriptor).ok_or(Errno(libc::EINVAL))
    }
}

/// `alarm`: how many seconds were left.
pub(crate) fn alarm(engine: &Engine, seconds: usize) -> isize {
    let every = Nanoseconds(0);
    let (_, left) = set_alarm(engine, every, Nanoseconds((seconds as u64).saturating_mul(SECOND)));
    isize::try_from(left.0.div_ceil(SECOND)).unwrap_or(0)
}

/// `setitimer` of real time: seconds and microseconds, of the interval and until it goes off.
pub(crate) fn set_interval(engine: &Engine, new: Setting) -> Setting {
    let time = |seconds: u64, fraction: u64| Nanoseconds(seconds.saturating_mul(SECOND).saturating_add(fraction.saturating_mul(1000)));
    let [every, every_fraction, first, first_fraction] = new;
    let (interval, left) = set_alarm(engine, time(every, every_fraction), time(first, first_fraction));
    [interval.0 / SECOND, interval.0 % SECOND / 1000, left.0 / SECOND, left.0 % SECOND / 1000]
}

/// Its interval before, and what is left until it would have gone off.
fn set_alarm(engine: &Engine, interval: Nanoseconds, span: Nanoseconds) -> (Nanoseconds, Nanoseconds) {
    let now = engine.model.borrow().now();
    let due = (span.0 > 0).then(|| Nanoseconds(now.0.saturating_add(span.0)));
    if due.is_some() {
        control::note(Note::Alarms);
    }
    let alarm = &mut engine.timers.borrow_mut().alarm;
    let old = core::mem::replace(alarm, Alarm { due, interval, rung: alarm.rung });
    (old.interval, Nanoseconds(old.due.map_or(0, |due| due.0.saturating_sub(now.0).max(1))))
}

/// `timer_settime`: such timers never go off, and who waits for one is no deadlock.
pub(crate) fn set_other(engine: &Engine) {
    control::note(Note::Alarms);
    engine.timers.borrow_mut().others = true;
}

/// Whether a timer is set that never goes off.
pub(crate) fn has_others(engine: &Engine) -> bool {
    engine.timers.borrow().others
}

/// When nobody can go on: whether the alarm is set, and the program has something to do when it goes off. What it does by default would hide why
/// nobody can go on.
pub(crate) fn is_awaited(engine: &Engine) -> bool {
    let Alarm { due, rung, .. } = engine.timers.borrow().alarm;
    let has_handler = handlers::action(libc::SIGALRM).unwrap_or_default().handler > IGNORE;
    due.is_some() && rung < MOST_ALARMS && (has_handler || engine.model.borrow().awaits(libc::SIGALRM))
}

/// The alarm goes off: time passes until then.
pub(crate) fn ring(engine: &Engine) {
    let mut timers = engine.timers.borrow_mut();
    let mut model = engine.model.borrow_mut();
    let Alarm { due: Some(due), interval, rung } = timers.alarm else { return };
    let late = due.0.saturating_sub(model.now().0);
    model.advance(Nanoseconds(late));
    let next = (interval.0 > 0).then(|| Nanoseconds(model.now().0.saturating_add(interval.0)));
    timers.alarm = Alarm { due: next, interval, rung: rung + 1 };
    model.send_to_all(libc::SIGALRM);
}

/// The calls for timers.
pub(crate) fn call(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Result<usize, Errno> {
    let [first, second, third, fourth, ..] = *arguments;
    let (setting, place) = match number {
        libc::SYS_timerfd_create => return create(engine, second),
        libc::SYS_timerfd_gettime => (get(engine, shapes::descriptor(first))?, second),
        _ => {
            let new: *const [u64; 4] = core::ptr::with_exposed_provenance(third);
            // SAFETY: the program passes valid times, or null.
            let new = *unsafe { new.as_ref() }.ok_or(Errno(libc::EFAULT))?;
            (set(engine, shapes::descriptor(first), second, new)?, fourth)
        }
    };
    let place: *mut [u64; 4] = core::ptr::with_exposed_provenance_mut(place);
    if !place.is_null() {
        // SAFETY: as above.
        unsafe { place.write(setting) };
    }
    Ok(0)
}

/// Makes a timer.
pub(crate) fn create(engine: &Engine, flags: usize) -> Result<usize, Errno> {
    // SAFETY: makes a new descriptor. The flags of both calls are the same.
    let made = unsafe { system_call(libc::SYS_eventfd2, [0, flags, 0, 0, 0, 0]) }?;
    let descriptor = i32::try_from(made).unwrap_or(-1);
    engine.timers.borrow_mut().descriptors.push(Timer { descriptor, due: None, interval: Nanoseconds(0) });
    Ok(made)
}

/// Sets a timer; what it was set to.
pub(crate) fn set(engine: &Engine, descriptor: i32, flags: usize, new: Setting) -> Result<Setting, Errno> {
    let now = engine.model.borrow().now();
    let old = get(engine, descriptor)?;
    let [every, every_fraction, first, first_fraction] = new;
    let first = first.saturating_mul(SECOND).saturating_add(first_fraction);
    let absolute = flags & 1 != 0;
    let mut timers = engine.timers.borrow_mut();
    let timer = timers.find(descriptor)?;
    timer.interval = Nanoseconds(every.saturating_mul(SECOND).saturating_add(every_fraction));
    timer.due = (first != 0).then_some(Nanoseconds(if absolute { first } else { now.0.saturating_add(first) }));
    // What it has counted so far is forgotten.
    if poll::is_ready(descriptor, libc::POLLIN) {
        let mut count = 0_u64;
        // SAFETY: the kernel writes only the count.
        let _ = unsafe { system_call(libc::SYS_read, [word(descriptor), (&raw mut count).expose_provenance(), 8, 0, 0, 0]) };
    }
    drop(timers);
    fire(engine);
    Ok(old)
}

/// What a timer is set to.
pub(crate) fn get(engine: &Engine, descriptor: i32) -> Result<Setting, Errno> {
    let now = engine.model.borrow().now();
    let mut timers = engine.timers.borrow_mut();
    let timer = timers.find(descriptor)?;
    let rest = timer.due.map_or(0, |due| due.0.saturating_sub(now.0));
    Ok([timer.interval.0 / SECOND, timer.interval.0 % SECOND, rest / SECOND, rest % SECOND])
}

/// Adds to those whose time has come.
#[inline]
pub(crate) fn fire(engine: &Engine) {
    // At each step, and hardly any program has one.
    if !engine.timers.borrow().descriptors.is_empty() {
        fire_due(engine);
    }
}

#[inline(never)]
fn fire_due(engine: &Engine) {
    let mut timers = engine.timers.borrow_mut();
    let now = engine.model.borrow().now();
    for timer in &mut timers.descriptors {
        let Some(due) = timer.due.filter(|&due| due <= now) else { continue };
        let more = (now.0 - due.0).checked_div(timer.interval.0).unwrap_or(0);
        timer.due = (timer.interval.0 != 0).then(|| Nanoseconds(due.0 + (more + 1) * timer.interval.0));
        let count = more + 1;
        // SAFETY: the kernel only reads the count.
        let _ = unsafe { system_call(libc::SYS_write, [word(timer.descriptor), (&raw const count).expose_provenance(), 8, 0, 0, 0]) };
    }
}

/// When the first timer is due of those that are waited for.
pub(crate) fn first_due(engine: &Engine, ready: Readiness) -> Option<Nanoseconds> {
    let timers = engine.timers.borrow();
    if timers.descriptors.is_empty() {
        return None;
    }
    let descriptors = outside::watched(ready);
    timers.descriptors.iter().filter(|timer| descriptors.contains(&timer.descriptor)).filter_map(|timer| timer.due).min()
}
