//! Threads that interrupt each other: signals that one sends another, and cancellation.
//!
//! Where a program does either (`habits`), each point of a thread is preceded by a step that looks whether it was interrupted, and a
//! thread that waits is woken by an interruption. A signal's handler then runs on the thread's own stack; a thread that was cancelled
//! ends at the points that POSIX names, by unwinding.
//!
//! Not handled: cancellation between any two instructions (the asynchronous type), which is noted; signals from outside.

use core::ffi::{c_int, c_void};

use explorer::target::page::Note;
use model::ids::ThreadId;
use model::pair::Rw;
use model::report::FailureKind;

use super::failure::Failed;
use super::fiber::Engine;
use super::habits::{self, Habit};
use super::handlers::{self, Action, DEFAULT, IGNORE};
use super::{control, endings, signals};
use crate::gate::ask::{Ask, Request};
use crate::gate::perform::{INTERRUPTED, bit};
use crate::gate::thread::{Cancellation, Life, Thread};
use crate::interpose::threads::EXIT;
use crate::sys::real::real;

/// The result of a wait on a condition in which the thread was cancelled: it leaves the waiters first.
pub(crate) const CANCELLED: i32 = -3;

/// Signals that do nothing by default.
const HARMLESS: [c_int; 4] = [libc::SIGCHLD, libc::SIGURG, libc::SIGWINCH, libc::SIGCONT];

/// What a look, or a wait, finds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Handled {
    /// No handler ran.
    No,
    /// One ran after which most calls that wait go on.
    Restarts,
    /// One ran that ends calls which wait.
    EndsCalls,
}

/// In a fiber: what a thread requests that others may interrupt, as the model has it.
pub(crate) fn request(engine: &Engine, me: ThreadId) -> i32 {
    let request = engine.model.borrow().threads[me.index()].request;
    if !request.ask.continues() {
        engine.request_once(me, Request { ask: Ask::Look, site: None });
        take_signals(engine);
        if request.ask.is_cancellation_point() && !matches!(request.ask, Ask::Call { .. }) {
            end_if_cancelled(engine);
        }
    }
    loop {
        let result = engine.request_once(me, request);
        if result != INTERRUPTED {
            return result;
        }
        if matches!(request.ask, Ask::FutexReturn { .. }) && has_handler(engine) {
            engine.model.borrow_mut().leave_word(me);
        }
        let handled = take_signals(engine);
        if engine.model.borrow().threads[me.index()].ends_in(request.ask) {
            if let Ask::Waiting { .. } = request.ask {
                return CANCELLED;
            }
            end(engine);
        }
        let least = if request.ask.is_never_restarted() { Handled::Restarts } else { Handled::EndsCalls };
        if handled >= least && matches!(request.ask, Ask::SemWait { .. } | Ask::Call { .. } | Ask::AwaitSignal { .. } | Ask::Sleep { .. }) {
            return libc::EINTR;
        }
        if handled > Handled::No && matches!(request.ask, Ask::FutexReturn { .. }) {
            return if handled >= least { libc::EINTR } else { libc::ERESTART };
        }
    }
}

/// In a fiber: whether a handler runs for any of the signals that wait for it.
fn has_handler(engine: &Engine) -> bool {
    let signals = engine.model.borrow().threads[engine.current().index()].deliverable();
    (1..=64).filter(|&signal| signals & bit(signal) != 0).any(|signal| {
        let action = handlers::action(signal).unwrap_or_default();
        action.handler != IGNORE && action.handler != DEFAULT
    })
}

/// Whether a signal waits for the running thread, which is to take it before it goes on, also where nobody could see what it does.
#[inline]
pub(crate) fn is_due(engine: &Engine, me: ThreadId) -> bool {
    engine.habits.has(Habit::Interrupts) && engine.model.borrow().threads[me.index()].deliverable() != 0
}

/// In a fiber: a place where a thread that was cancelled ends.
pub(crate) fn look_for_cancellation(engine: &Engine) {
    if engine.habits.has(Habit::Interrupts) {
        engine.request_once(engine.current(), Request { ask: Ask::Look, site: None });
        take_signals(engine);
        end_if_cancelled(engine);
    }
}

/// In a fiber: a place where it takes signals that it has just stopped to block.
pub(crate) fn look_for_signals(engine: &Engine) {
    if engine.habits.has(Habit::Interrupts) {
        engine.request_once(engine.current(), Request { ask: Ask::Look, site: None });
        take_signals(engine);
    }
}

/// In a fiber: stores the signals that wait until the thread no longer blocks them.
pub(crate) fn pending(engine: &Engine, place: usize) -> usize {
    look_for_signals(engine);
    let signals = engine.model.borrow().threads[engine.current().index()].waiting();
    let place: *mut u64 = core::ptr::with_exposed_provenance_mut(place);
    // SAFETY: the program passes a valid set.
    unsafe { place.write(signals) };
    0
}

fn end_if_cancelled(engine: &Engine) {
    let me = engine.current().index();
    if engine.model.borrow().threads[me].has_to_end() {
        end(engine);
    }
}

/// In a fiber: the thread ends, cancelled. No cell may be borrowed, as the frames here are left behind.
pub(crate) fn end(engine: &Engine) -> ! {
    const CANCELED: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);
    let me = engine.current().index();
    engine.model.borrow_mut().threads[me].cancellation = Cancellation::Disabled;
    engine.with_current(|fiber| fiber.result.set(CANCELED));
    real!(EXIT, fn(*mut c_void), CANCELED);
    control::missing_symbol()
}

/// In a fiber: takes the signals that wait for it.
fn take_signals(engine: &Engine) -> Handled {
    let mut handled = Handled::No;
    let me = engine.current();
    loop {
        let next = {
            let mut model = engine.model.borrow_mut();
            let set = model.threads[me.index()].deliverable();
            model.take_signal(me, set)
        };
        let Some(signal) = next else { return handled };
        let outcome = deliver(engine, signal);
        handled = handled.max(outcome);
        if outcome != Handled::No {
            // Whether more have come meanwhile: in a step, so that strategies see that it matters.
            engine.request_once(me, Request { ask: Ask::Look, site: None });
        }
    }
}

/// In a fiber: the thread sends itself a signal.
pub(crate) fn raise(engine: &Engine, signal: c_int) -> c_int {
    if signal == 0 {
        return 0;
    }
    let me = engine.current().index();
    let blocked = engine.model.borrow().threads[me].blocked;
    if blocked & bit(signal) == 0 {
        deliver(engine, signal);
    } else {
        habits::show(engine, Habit::Interrupts);
        engine.model.borrow_mut().threads[me].signals |= bit(signal);
    }
    0
}

/// In a fiber: a thread sends another one a signal.
pub(crate) fn send(engine: &Engine, to: ThreadId, signal: c_int) -> c_int {
    if to == engine.current() {
        return raise(engine, signal);
    }
    if signal == 0 {
        return 0;
    }
    habits::show(engine, Habit::Interrupts);
    engine.point(Ask::SendSignal { to, signal })
}

/// In a fiber: the program sends itself a signal: any thread takes it that does not block it or waits for it, the sender at once if nobody
/// else could.
pub(crate) fn send_to_process(engine: &Engine, signal: c_int) -> c_int {
    let me = engine.current();
    let nobody_else = || {
        let model = engine.model.borrow();
        model.is_alone() && model.threads[me.index()].blocked & bit(signal) == 0
    };
    if signal == 0 || nobody_else() {
        return raise(engine, signal);
    }
    habits::show(engine, Habit::Interrupts);
    habits::show(engine, Habit::SignalsForAll);
    engine.point(Ask::SendToAll { signal });
    let is_deadly = handlers::action(signal).unwrap_or_default().handler == DEFAULT && !HARMLESS.contains(&signal);
    let now = {
        let model = engine.model.borrow();
        let open = |thread: &Thread| thread.life == Life::Alive && thread.blocked & bit(signal) == 0;
        let awaits = |thread: &Thread| matches!(thread.request.ask, Ask::AwaitSignal { set, .. } if set & bit(signal) != 0);
        let others = || model.threads.iter().enumerate().filter(|&(at, _)| at != me.index()).map(|(_, thread)| thread);
        let own = open(&model.threads[me.index()]);
        let awaited = others().filter(|thread| awaits(thread)).count();
        let interrupted = others().filter(|thread| open(thread) && !awaits(thread)).count();
        let open = interrupted + usize::from(own);
        if open > 0 && open + awaited > 1 && !is_deadly {
            control::note(Note::SignalsForSeveral);
        }
        // Of a signal that ends the process, nobody has to take it first.
        if is_deadly { awaited == 0 && open > 0 } else { own && open + awaited == 1 }
    };
    if now && engine.model.borrow_mut().take_signal(me, bit(signal)).is_some() {
        deliver(engine, signal);
    }
    0
}

/// A signal comes to the running thread: its handler runs, or what happens by default does.
fn deliver(engine: &Engine, signal: c_int) -> Handled {
    const SIGINFO: usize = libc::SA_SIGINFO.cast_unsigned() as usize;
    const RESTART: usize = libc::SA_RESTART.cast_unsigned() as usize;
    const NODEFER: usize = libc::SA_NODEFER.cast_unsigned() as usize;
    const RESETHAND: usize = libc::SA_RESETHAND.cast_unsigned() as usize;
    handlers::meet(engine, signal, Rw::Read);
    let action = handlers::action(signal).unwrap_or_default();
    match action.handler {
        IGNORE => return Handled::No,
        DEFAULT if HARMLESS.contains(&signal) => return Handled::No,
        DEFAULT => {
            let thread = Some(engine.current());
            endings::fail(engine, |site| Failed::new(FailureKind::Signal, thread, site, &signals::message(signal, None)));
        }
        _ => {}
    }
    let me = engine.current().index();
    if action.flags & RESETHAND != 0 {
        handlers::set_action(signal, Action::default());
    }
    let before = engine.model.borrow().threads[me].blocked;
    let own = if action.flags & NODEFER == 0 { bit(signal) } else { 0 };
    engine.model.borrow_mut().threads[me].blocked = before | own | action.mask as u64;
    engine.with_current(|fiber| {
        fiber.kept.within(|| {
            if action.flags & SIGINFO != 0 {
                run_with_information(action.handler, signal);
            } else {
                // SAFETY: the program has given the address of a handler of this form.
                let handler = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(action.handler) };
                handler(signal);
            }
        });
    });
    engine.model.borrow_mut().threads[me].blocked = before;
    if action.flags & RESTART == 0 { Handled::EndsCalls } else { Handled::Restarts }
}

/// Runs a handler that wants to know more: who sent the signal, but not where it came between.
fn run_with_information(handler: usize, signal: c_int) {
    const SENT_BY_THREAD: i32 = -6;
    let mut information = [0_i32; 32];
    (information[0], information[2]) = (signal, SENT_BY_THREAD);
    let mut context = [0_u64; 128];
    // SAFETY: the program has given the address of a handler of this form.
    let handler = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int, *mut i32, *mut u64)>(handler) };
    handler(signal, information.as_mut_ptr(), context.as_mut_ptr());
}

/// In a fiber: what a thread that asks to be cancelled at any instruction gets instead.
pub(crate) fn refuse_asynchronous() {
    control::note(Note::Cancels);
}
