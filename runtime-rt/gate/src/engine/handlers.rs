//! What the program does about signals that its threads send each other.
//!
//! Kept here and not by the kernel, as signals are delivered by the engine. Private memory: an execution's own. Signals that mean an
//! error of the program, those that the kernel sends, and those that the engine needs stay the kernel's.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use explorer::target::page::Note;
use model::pair::Rw;

use super::fiber::{Engine, Fiber};
use super::{control, handed, lifetime};
use crate::sys::call::{system_call, word};

/// What the kernel is told of a handler, in its form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Action {
    /// Its address, or one of the words below.
    pub(crate) handler: usize,
    /// `SA_…`.
    pub(crate) flags: usize,
    restorer: usize,
    /// Signals that are blocked while it runs.
    pub(crate) mask: usize,
}

/// The default is meant.
pub(crate) const DEFAULT: usize = 0;
/// The signal is ignored.
pub(crate) const IGNORE: usize = 1;

const SIGNALS: usize = 64;
/// Where those of signals stand among what is at no address.
const FIRST: u64 = 128;
/// Signals that are not ours.
const KERNELS: [c_int; 12] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
    libc::SIGXCPU,
    libc::SIGKILL,
    libc::SIGSTOP,
    libc::SIGCHLD,
    libc::SIGPIPE,
];

/// By signal: the four words of an action.
static ACTIONS: [[AtomicUsize; 4]; SIGNALS] = [const { [const { AtomicUsize::new(0) }; 4] }; SIGNALS];

fn place(signal: c_int) -> Option<&'static [AtomicUsize; 4]> {
    if KERNELS.contains(&signal) {
        return None;
    }
    ACTIONS.get(usize::try_from(signal - 1).ok()?)
}

/// What the program does about a signal; `None` when the kernel knows.
pub(crate) fn action(signal: c_int) -> Option<Action> {
    let [handler, flags, restorer, mask] = place(signal)?;
    Some(Action { handler: handler.load(Relaxed), flags: flags.load(Relaxed), restorer: restorer.load(Relaxed), mask: mask.load(Relaxed) })
}

/// Sets what is done about a signal.
pub(crate) fn set_action(signal: c_int, action: Action) {
    if let Some(place) = place(signal) {
        for (word, value) in place.iter().zip([action.handler, action.flags, action.restorer, action.mask]) {
            word.store(value, Relaxed);
        }
    }
}

/// In a child that the program forked: tells the kernel.
pub(crate) fn give_back() {
    for signal in (1..).take(SIGNALS) {
        if let Some(action) = action(signal).filter(|&action| action != Action::default()) {
            let arguments = [word(signal), (&raw const action).expose_provenance(), 0, 8, 0, 0];
            // SAFETY: an action as the program gave it, in the kernel's form.
            let _ = unsafe { system_call(libc::SYS_rt_sigaction, arguments) };
        }
    }
}

/// In a fiber: it uses what the program does about a signal, which others may see, or change.
pub(crate) fn meet(engine: &Engine, signal: c_int, rw: Rw) {
    if place(signal).is_none() || engine.model.borrow().is_last() {
        return;
    }
    let range = handed::nowhere(FIRST + u64::from(signal.cast_unsigned()));
    let ordinal = engine.with_current(Fiber::count_access);
    let shared = engine.shadow.borrow_mut().touch(engine.current(), range, rw);
    let site = engine.take_site().or_else(|| engine.with_current(|fiber| fiber.last_site.get()));
    lifetime::access_out_of_sight(engine, ordinal, (range, rw), site, shared);
}

/// Whether the fiber makes an `rt_sigaction` itself: it may have a scheduling point.
pub(crate) fn is_seen(engine: &Engine, signal: usize) -> bool {
    c_int::try_from(signal).is_ok_and(|signal| place(signal).is_some()) && !engine.model.borrow().is_last()
}

/// In a fiber: the same, of such a call, which is made then.
pub(crate) fn set_by_fiber(engine: &Engine, [signal, new, old]: [usize; 3]) -> Option<isize> {
    meet(engine, c_int::try_from(signal).ok()?, if new == 0 { Rw::Read } else { Rw::Update });
    set(signal, new, old)
}

/// The system call `rt_sigaction`: its result, if the signal is ours.
pub(crate) fn set(signal: usize, new: usize, old: usize) -> Option<isize> {
    let signal = c_int::try_from(signal).ok()?;
    let before = action(signal)?;
    let new: *const Action = core::ptr::with_exposed_provenance(new);
    // SAFETY: the program passes a valid action, or null.
    if let Some(&new) = unsafe { new.as_ref() } {
        if new.handler > IGNORE {
            control::note(Note::Signals);
        }
        set_action(signal, new);
    }
    let old: *mut Action = core::ptr::with_exposed_provenance_mut(old);
    if !old.is_null() {
        // SAFETY: as above.
        unsafe { old.write(before) };
    }
    Some(0)
}
