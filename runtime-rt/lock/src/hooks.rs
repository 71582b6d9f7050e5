//! The doors: the four hooks of `model::abi` that hardened code calls. They keep `errno`, since nothing below them sets it.
//!
//! `busy` names the lock while a hook is at work. A signal handler that finds it set has interrupted a hook, whose records may
//! be half-written: its own acquisitions are left out (counted as `Nested`), so that it can neither spoil them nor wait for the
//! very thread that it interrupted.

use core::sync::atomic::{Ordering, compiler_fence};

use model::pair::Mode;

use crate::block;
use crate::process;
use crate::protocol::lock::{Attempt, Cause, Lock, Me, Request, attempt, disown, drop_tenure, enter, leave, tenure, weaken};
use crate::protocol::thread::{Frame, Index, Origin, View};
use crate::protocol::wait::Turn;

/// `model::abi::LOCK_ACQUIRE`.
///
/// # Safety
/// `lock` is null or an entry of the table of locks; `frame` is an address in a frame of the caller's thread.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_acquire(lock: *const Lock, mode: u32, label: u32, frame: usize) {
    // SAFETY: the table outlives the program's code, and its entries are made of atomics.
    let Some(lock) = (unsafe { lock.as_ref() }) else { return };
    let mode = match mode {
        1 => Mode::R,
        2 => Mode::U,
        _ => Mode::X,
    };
    let origin = Origin { label, frame: Frame(frame) };
    let Some(me) = process::me() else { return first(lock, mode, origin) };
    acquire(me, lock, mode, origin);
}

/// `model::abi::LOCK_RELEASE`.
///
/// # Safety
/// As `__atomfix_acquire`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_release(lock: *const Lock, label: u32, frame: usize) {
    // SAFETY: the table outlives the program's code, and its entries are made of atomics.
    let Some(lock) = (unsafe { lock.as_ref() }) else { return };
    let Some((me, view)) = find(lock, Origin { label, frame: Frame(frame) }) else { return };
    at_work(me, lock, || leave(me, lock, view));
}

/// `model::abi::LOCK_DEGRADE`.
///
/// # Safety
/// As `__atomfix_acquire`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_degrade(lock: *const Lock, label: u32, frame: usize) {
    // SAFETY: the table outlives the program's code, and its entries are made of atomics.
    let Some(lock) = (unsafe { lock.as_ref() }) else { return };
    let Some((me, view)) = find(lock, Origin { label, frame: Frame(frame) }) else { return };
    at_work(me, lock, || weaken(me, lock, view));
}

/// `model::abi::LOCK_UNWIND`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __atomfix_unwind(frame: usize) {
    let Some(me) = process::me() else { return };
    leave_frames(me, |of| of == Frame(frame));
}

/// Ends every hold of the frames that are chosen.
pub fn leave_frames(me: Me, chosen: impl Fn(Frame) -> bool) {
    if me.thread.holds_nothing() || me.thread.busy.load(Ordering::Relaxed) != 0 {
        return;
    }
    for view in me.thread.entries().filter(|view| chosen(view.origin.frame)) {
        let lock = Lock::at(view.lock);
        at_work(me, lock, || leave(me, lock, view));
    }
}

/// Ends every hold of this thread, because it is about to block.
#[cold]
pub fn give_up(me: Me, cause: Cause) {
    if me.thread.busy.load(Ordering::Relaxed) != 0 {
        return;
    }
    for view in me.thread.entries() {
        let lock = Lock::at(view.lock);
        if view.in_force {
            lock.count(cause);
            crate::events::note(lock, Some(view.origin.label), cause);
        }
        at_work(me, lock, || drop_tenure(me, lock));
    }
}

/// A jump out of a signal handler may leave a hook in the middle. Makes the records whole again: the thread waits for nothing, and
/// has of the lock that the hook was at work on only what its entries say.
pub fn repair(me: Me) {
    let address = me.thread.busy.load(Ordering::Relaxed);
    if address == 0 {
        return;
    }
    let lock = Lock::at(address);
    me.domain.waiting(me.slot).store(0, Ordering::Release);
    me.thread.recount();
    let word = lock.word();
    if word.owner() == Some(me.slot) && tenure(me, lock).is_none() {
        disown(me, lock, word.ticket(), None);
    }
    me.thread.busy.store(0, Ordering::Relaxed);
}

#[cold]
fn first(lock: &Lock, mode: Mode, origin: Origin) {
    match process::me_or_register() {
        Some(me) => acquire(me, lock, mode, origin),
        None => lock.count(Cause::Full),
    }
}

#[inline(always)]
fn acquire(me: Me, lock: &Lock, mode: Mode, origin: Origin) {
    if me.thread.busy.load(Ordering::Relaxed) != 0 {
        lock.count(Cause::Nested);
        return;
    }
    at_work(me, lock, || {
        let request = Request { mode, origin, turn: Turn::Last };
        let tried = if me.thread.holds_nothing() { enter(me, lock, request, Index(0)) } else { again(me, lock, request) };
        if tried != Attempt::Done {
            block::acquire(me, lock, mode, origin);
        }
    });
}

/// The attempt of a thread that has holds already.
fn again(me: Me, lock: &Lock, request: Request) -> Attempt {
    sweep(me);
    attempt(me, lock, Request { turn: Turn::Passes, ..request })
}

/// How far below the stack pointer an address still counts as this stack's: other stacks (of coroutines, of signal handlers) are
/// not judged.
const STACK: usize = 1 << 20;

/// Ends holds of frames that are gone, which a way out that no hook saw left behind. A dead frame that lies no deeper than this
/// function's own is not told from a live one.
#[inline(always)]
fn sweep(me: Me) {
    let marker = 0_u8;
    let here = core::ptr::from_ref(&marker).addr();
    let dead = |of: Frame| of.0 < here && here - of.0 < STACK;
    for view in me.thread.entries() {
        if dead(view.origin.frame) {
            let lock = Lock::at(view.lock);
            lock.count(Cause::DeadFrame);
            leave(me, lock, view);
        }
    }
}

/// The entry of this origin, if the thread has it and no hook is at work.
#[inline(always)]
fn find(lock: &Lock, origin: Origin) -> Option<(Me, View)> {
    let me = process::me()?;
    if me.thread.busy.load(Ordering::Relaxed) != 0 {
        return None;
    }
    let view = me.thread.entries().find(|view| view.lock == lock.address() && view.origin == origin)?;
    Some((me, view))
}

#[inline(always)]
fn at_work<T>(me: Me, lock: &Lock, work: impl FnOnce() -> T) -> T {
    me.thread.busy.store(lock.address(), Ordering::Relaxed);
    // A signal handler of this thread must find the mark as long as the records are in flux.
    compiler_fence(Ordering::SeqCst);
    let result = work();
    compiler_fence(Ordering::SeqCst);
    me.thread.busy.store(0, Ordering::Relaxed);
    result
}
