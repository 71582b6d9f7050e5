//! Threads: create, join, detach, exit.
//!
//! Attributes other than the detached state are not looked at: every fiber has a stack of the default size.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use explorer::races::Party;
use explorer::target::page::Note;
use model::event::Range;
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;

use super::{deadline, export, storage, store};
use crate::engine::control;
use crate::engine::execution::{equip, make_room};
use crate::engine::fiber::{Engine, Fiber, Routine, Stop, installed, running};
use crate::engine::habits::{self, Habit};
use crate::engine::interrupts;
use crate::engine::lenders::CREATE;
use crate::engine::lifetime;
use crate::engine::thread_names;
use crate::gate::ask::{Ask, Until};
use crate::gate::thread::{Cancellation, Life};
use crate::sys::real::{Real, real};

static JOIN: Real = Real::new(c"pthread_join");
static TRY_JOIN: Real = Real::new(c"pthread_tryjoin_np");
static TIMED_JOIN: Real = Real::new(c"pthread_timedjoin_np");
static CLOCK_JOIN: Real = Real::new(c"pthread_clockjoin_np");
static DETACH: Real = Real::new(c"pthread_detach");
pub(crate) static EXIT: Real = Real::new(c"pthread_exit");
static CANCEL: Real = Real::new(c"pthread_cancel");
static TEST_CANCEL: Real = Real::new(c"pthread_testcancel");
static CANCEL_STATE: Real = Real::new(c"pthread_setcancelstate");
static CANCEL_TYPE: Real = Real::new(c"pthread_setcanceltype");
static KILL: Real = Real::new(c"pthread_kill");
static QUEUE: Real = Real::new(c"pthread_sigqueue");

static SET_NAME: Real = Real::new(c"pthread_setname_np");
static GET_NAME: Real = Real::new(c"pthread_getname_np");

/// All of them.
pub(super) static REALS: &[&Real] = &[
    &JOIN,
    &TRY_JOIN,
    &TIMED_JOIN,
    &CLOCK_JOIN,
    &DETACH,
    &EXIT,
    &CANCEL,
    &TEST_CANCEL,
    &CANCEL_STATE,
    &CANCEL_TYPE,
    &KILL,
    &QUEUE,
    &SET_NAME,
    &GET_NAME,
];

type Function = extern "C" fn(*mut c_void) -> *mut c_void;
type Attributes = libc::pthread_attr_t;

static EARLY: AtomicBool = AtomicBool::new(false);

/// Whether a thread was created before `main`.
pub(crate) fn created_early() -> bool {
    EARLY.load(Relaxed)
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const Attributes, state: *mut c_int) -> c_int;
}

fn is_detached(attributes: *const Attributes) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the program passes valid attributes.
        unsafe { pthread_attr_getdetachstate(attributes, &raw mut state) };
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

/// The thread with this identity, unless it was joined or detached.
fn find(engine: &Engine, identity: libc::pthread_t) -> Option<ThreadId> {
    owner(engine, identity).filter(|thread| !engine.fibers.borrow()[thread.index()].forgotten.get())
}

/// The thread that has this identity.
pub(super) fn owner(engine: &Engine, identity: libc::pthread_t) -> Option<ThreadId> {
    // Who has one has it from the parked thread of its number.
    let lent = || engine.lenders.borrow().iter().position(|lender| lender.identity == identity).map(|at| at + 1);
    let at = if identity == engine.initial.get().identity { Some(0) } else { lent() };
    at.filter(|&at| at < engine.fibers.borrow().len()).map(ThreadId::new)
}

/// In a fiber: does this to the thread with this identity, detached or not. It is a step also where the thread has been joined: in other schedules it may
/// have been there still.
fn reach(engine: &Engine, identity: libc::pthread_t, act: impl FnOnce(ThreadId) -> c_int) -> c_int {
    let Some(thread) = owner(engine, identity) else { return libc::ESRCH };
    let result = act(thread);
    let has_ended = engine.model.borrow().threads[thread.index()].life == Life::Ended;
    if has_ended && find(engine, identity).is_none() { libc::ESRCH } else { result }
}

fn forget(engine: &Engine, thread: ThreadId) -> *mut c_void {
    let fibers = engine.fibers.borrow();
    let fiber = &fibers[thread.index()];
    fiber.forgotten.set(true);
    fiber.result.get()
}

/// In a fiber: it is about to store a result, where the program may leave no place for it. The place, and whether others may see it.
fn writes<T>(engine: &Engine, place: *mut T, site: Option<SiteKey>) -> Option<(Range, bool)> {
    let range = (!place.is_null()).then(|| storage(place))?;
    let me = engine.current();
    let shared = engine.shadow.borrow_mut().touch(me, range, Rw::Write);
    if let Some(site) = site {
        engine.note_access(Party { thread: me, site, rw: Rw::Write, atomic: false }, range);
    }
    Some((range, shared))
}

/// In a fiber: creates a thread.
pub(super) fn start(engine: &Engine, place: *mut libc::pthread_t, attributes: *const Attributes, routine: Routine) -> c_int {
    make_room(engine);
    let site = engine.take_site();
    // Its identity is stored in that step, before the new thread can look.
    let place_seen = writes(engine, place, site).and_then(|(range, shared)| shared.then_some(range));
    // Its number is that of the step that creates it: which thread got here first makes no difference.
    let child = ThreadId(engine.point_at(site, Ask::Create { place: place_seen }).unsigned_abs());
    // Threads are never as many again: no circle.
    engine.with_current(|fiber| fiber.circle.borrow_mut().progress());
    let Some(identity) = equip(engine, child, routine) else { engine.leave_for_good(Stop::NeedLenders) };
    store(place, identity);
    if is_detached(attributes) {
        forget(engine, child);
    }
    0
}

/// In a fiber: waits for a thread's end; its result.
pub(super) fn join(engine: &Engine, identity: libc::pthread_t) -> Result<*mut c_void, c_int> {
    match find(engine, identity) {
        None => Err(libc::ESRCH),
        Some(child) if child == engine.current() => Err(libc::EDEADLK),
        Some(child) => {
            engine.point(Ask::Join { child });
            engine.with_current(|fiber| fiber.circle.borrow_mut().progress());
            Ok(forget(engine, child))
        }
    }
}

/// In a fiber: waits for a thread's end, but no longer than that.
fn timed_join(engine: &Engine, identity: libc::pthread_t, place: *mut *mut c_void, until: Until) -> c_int {
    habits::show(engine, Habit::LooksForEnds);
    let site = engine.take_site();
    if let Some(child) = find(engine, identity).filter(|&child| child != engine.current()) {
        let word = engine.model.borrow().threads[child.index()].end;
        let looked = engine.point_at(site, Ask::TimedJoin { child, word, until });
        if looked != 0 {
            return looked;
        }
    }
    finish(engine, identity, place)
}

/// In a fiber: joins a thread that has ended, or is about to.
fn finish(engine: &Engine, identity: libc::pthread_t, place: *mut *mut c_void) -> c_int {
    let site = engine.with_current(|fiber| fiber.call_site.get());
    match join(engine, identity) {
        Ok(result) => {
            if let Some((range, shared)) = writes(engine, place, site) {
                let ordinal = engine.with_current(Fiber::count_access);
                lifetime::access_out_of_sight(engine, ordinal, (range, Rw::Write), site, shared);
            }
            store(place, result);
            0
        }
        Err(error) => error,
    }
}

/// In a fiber: nobody will wait for the thread.
pub(super) fn detach(engine: &Engine, identity: libc::pthread_t) -> c_int {
    engine.take_site();
    match find(engine, identity) {
        None => libc::ESRCH,
        Some(thread) => {
            forget(engine, thread);
            0
        }
    }
}

export! {
    fn pthread_create(place: *mut libc::pthread_t, attributes: *const Attributes, function: Function, argument: *mut c_void) -> c_int {
        let Some(engine) = running() else {
            if installed().is_none() {
                EARLY.store(true, Relaxed);
            }
            return real!(
                CREATE,
                fn(*mut libc::pthread_t, *const Attributes, Function, *mut c_void) -> c_int,
                place,
                attributes,
                function,
                argument
            );
        };
        start(engine, place, attributes, Routine { function, argument })
    }

    fn pthread_setname_np(identity: libc::pthread_t, text: *const c_char) -> c_int {
        let Some(engine) = running() else {
            return real!(SET_NAME, fn(libc::pthread_t, *const c_char) -> c_int, identity, text);
        };
        let Some(thread) = owner(engine, identity) else { return libc::ENOENT };
        // SAFETY: the program passes a string that ends with a zero.
        if unsafe { CStr::from_ptr(text) }.count_bytes() > 15 {
            return libc::ERANGE;
        }
        thread_names::set(engine, thread, thread_names::read(text.cast()));
        0
    }

    fn pthread_getname_np(identity: libc::pthread_t, place: *mut c_char, room: usize) -> c_int {
        let Some(engine) = running() else {
            return real!(GET_NAME, fn(libc::pthread_t, *mut c_char, usize) -> c_int, identity, place, room);
        };
        let Some(thread) = owner(engine, identity) else { return libc::ENOENT };
        let name = thread_names::get(engine, thread);
        if room < size_of_val(&name) {
            return libc::ERANGE;
        }
        let bytes = name.bytes();
        // SAFETY: the program passes so much room.
        unsafe { place.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        0
    }

    fn pthread_join(identity: libc::pthread_t, place: *mut *mut c_void) -> c_int {
        let Some(engine) = running() else {
            return real!(JOIN, fn(libc::pthread_t, *mut *mut c_void) -> c_int, identity, place);
        };
        finish(engine, identity, place)
    }

    fn pthread_timedjoin_np(identity: libc::pthread_t, place: *mut *mut c_void, time: *const libc::timespec) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or(libc::EINVAL, |until| timed_join(engine, identity, place, until)),
            None => {
                real!(TIMED_JOIN, fn(libc::pthread_t, *mut *mut c_void, *const libc::timespec) -> c_int, identity, place, time)
            }
        }
    }

    fn pthread_clockjoin_np(
        identity: libc::pthread_t,
        place: *mut *mut c_void,
        clock: libc::clockid_t,
        time: *const libc::timespec,
    ) -> c_int {
        match running() {
            Some(engine) => deadline(engine, time).map_or(libc::EINVAL, |until| timed_join(engine, identity, place, until)),
            None => real!(
                CLOCK_JOIN,
                fn(libc::pthread_t, *mut *mut c_void, libc::clockid_t, *const libc::timespec) -> c_int,
                identity,
                place,
                clock,
                time
            ),
        }
    }

    fn pthread_tryjoin_np(identity: libc::pthread_t, place: *mut *mut c_void) -> c_int {
        let Some(engine) = running() else {
            return real!(TRY_JOIN, fn(libc::pthread_t, *mut *mut c_void) -> c_int, identity, place);
        };
        habits::show(engine, Habit::LooksForEnds);
        let site = engine.take_site();
        if let Some(child) = find(engine, identity).filter(|&child| child != engine.current()) {
            let range = engine.model.borrow().threads[child.index()].end;
            engine.point_at(site, Ask::Access { range, rw: Rw::Read, atomic: true });
            if !engine.model.borrow().threads[child.index()].ending {
                return libc::EBUSY;
            }
        }
        finish(engine, identity, place)
    }

    fn pthread_detach(identity: libc::pthread_t) -> c_int {
        let Some(engine) = running() else { return real!(DETACH, fn(libc::pthread_t) -> c_int, identity) };
        detach(engine, identity)
    }

    fn pthread_cancel(identity: libc::pthread_t) -> c_int {
        let Some(engine) = running() else { return real!(CANCEL, fn(libc::pthread_t) -> c_int, identity) };
        reach(engine, identity, |to| {
            habits::show(engine, Habit::Interrupts);
            engine.point(Ask::Cancel { to })
        })
    }

    fn pthread_testcancel() {
        match running() {
            Some(engine) => interrupts::look_for_cancellation(engine),
            None => real!(TEST_CANCEL, fn(),),
        }
    }

    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int {
        let Some(engine) = running() else { return real!(CANCEL_STATE, fn(c_int, *mut c_int) -> c_int, state, before) };
        let wanted = match state {
            ENABLE => Cancellation::Enabled,
            DISABLE => Cancellation::Disabled,
            _ => return libc::EINVAL,
        };
        let me = engine.current().index();
        let old = core::mem::replace(&mut engine.model.borrow_mut().threads[me].cancellation, wanted);
        store(before, if old == Cancellation::Enabled { ENABLE } else { DISABLE });
        0
    }

    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int {
        if running().is_some() && kind != 0 {
            interrupts::refuse_asynchronous();
        }
        // The C library keeps it; it is of no consequence.
        real!(CANCEL_TYPE, fn(c_int, *mut c_int) -> c_int, kind, before)
    }

    fn pthread_kill(identity: libc::pthread_t, signal: c_int) -> c_int {
        let Some(engine) = running() else { return real!(KILL, fn(libc::pthread_t, c_int) -> c_int, identity, signal) };
        reach(engine, identity, |to| interrupts::send(engine, to, signal))
    }

    fn pthread_sigqueue(identity: libc::pthread_t, signal: c_int, value: *mut c_void) -> c_int {
        let Some(engine) = running() else {
            return real!(QUEUE, fn(libc::pthread_t, c_int, *mut c_void) -> c_int, identity, signal, value);
        };
        control::note(Note::QueuedSignals);
        reach(engine, identity, |to| interrupts::send(engine, to, signal))
    }
}

const ENABLE: c_int = 0;
const DISABLE: c_int = 1;

/// The end of a thread is the C library's: it runs the cleanup handlers, and comes to where the fiber began (`sys::unwind`).
macro_rules! exits {
    ($($name:ident)*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[unsafe(naked)]
        extern "C" fn $name(_: *mut c_void) {
            core::arch::naked_asm!("push rdi", "call {begin}", "pop rdi", "jmp rax", begin = sym begin_exit)
        }
    )*};
}

exits! { pthread_exit thrd_exit }

/// Notes what the thread ends with; where the function is that ends it.
extern "C" fn begin_exit(result: *mut c_void) -> usize {
    if let Some(engine) = running() {
        let me = engine.current().index();
        engine.model.borrow_mut().threads[me].cancellation = Cancellation::Disabled;
        engine.with_current(|fiber| fiber.result.set(result));
    }
    EXIT.address().map_or_else(|| control::missing_symbol(), |address| address.expose_provenance())
}
