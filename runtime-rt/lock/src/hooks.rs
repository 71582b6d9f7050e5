//! The doors: the hooks of `model::abi` that hardened code calls. They keep `errno`, since nothing below them sets it.
//!
//! `busy` names the lock while a hook is at work. A signal handler that finds it set has interrupted a hook, whose records may
//! be half-written: its own acquisitions are left out (counted as `Nested`), so that it can neither spoil them nor wait for the
//! very thread that it interrupted.

use core::ops::Range;
use core::sync::atomic::{Ordering, compiler_fence};

use model::pair::Mode;

use crate::block;
use crate::process;
use crate::protocol::enter::{attempt, enter, join, reader_may_stay, take_open, upgrade_alone};
use crate::protocol::glance::{Glance, glance};
use crate::protocol::hold::{Bits, Frame, Origin, Place, Ticket};
use crate::protocol::leave::{Keep, disown, drop_tenure, follow, give_back, leave, slip_out, tell, weaken};
use crate::protocol::lock::{Attempt, Cause, Lock, Me, Request, mine, tenure};
use crate::protocol::thread::Thread;
use crate::protocol::wait::Turn;

/// `model::abi::LOCK_ACQUIRE`.
///
/// The common cases are here: a thread that holds nothing enters a lock that is biased to it, or reads one that is `LIGHT`. They
/// change nothing but the thread's record, in an order in which a signal handler finds it whole, and so do not mark it busy.
///
/// # Safety
/// `lock` is an entry of the table of locks, `mode` is 1 to 3, and `frame` is an address in a frame of the caller's thread.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_acquire(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let Some(me) = process::me() else { return acquire(lock, mode, label, frame) };
    let bits = Bits::passed(mode);
    if !me.thread.is_idle() {
        return acquire_besides(lock, mode, label, frame);
    }
    let word = lock.word();
    if !me.thread.is_favored_by(word) {
        if !bits.is_read() {
            return acquire_open(lock, mode, label, frame);
        }
        if !word.is_light() {
            return acquire_reading(lock, mode, label, frame);
        }
    }
    me.thread.publish_only(lock, bits, Origin { label, frame: Frame(frame) });
    compiler_fence(Ordering::SeqCst);
    // Whatever the change, it is worth a closer look; most often there is none.
    if lock.word() != word {
        acquire_otherwise(lock, mode, label, frame);
    }
}

/// `model::abi::LOCK_RELEASE`.
///
/// The common case is here: the thread's only entry ends, and nobody has to be told.
///
/// # Safety
/// As `__atomfix_acquire`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_release(lock: &'static Lock, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    let Some(bits) = me.thread.quick(lock, Origin { label, frame: Frame(frame) }) else { return release_owned(lock, label, frame) };
    me.thread.withdraw(Place::Only);
    compiler_fence(Ordering::SeqCst);
    if !is_silent(me, lock, bits) {
        left(lock, bits, me.thread.only_ticket());
    }
}

/// Whether withdrawing an entry is all there is to leave. If not, a signal handler may come before `left` marks the thread busy; it
/// then finds the word owned by a tenure that is gone, and `block` frees it.
#[inline(always)]
fn is_silent(me: Me, lock: &Lock, mode: Bits) -> bool {
    let word = lock.word();
    me.thread.is_favored_by(word) || mode.is_read() && word.is_unwatched()
}

/// An idle thread reads a lock that bars nobody from that, but is not `LIGHT`: an entry and a fence.
#[inline(never)]
extern "C" fn acquire_reading(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    if !lock.word().welcomes_readers() {
        return acquire(lock, mode, label, frame);
    }
    me.thread.publish_only(lock, Bits::passed(mode), Origin { label, frame: Frame(frame) });
    if !reader_may_stay(me, lock) {
        acquire_otherwise(lock, mode, label, frame);
    }
}

/// An idle thread takes U or X of a lock that nobody has: one compare-and-swap.
#[inline(never)]
extern "C" fn acquire_open(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    let bits = Bits::passed(mode);
    begin_work(me.thread, lock);
    let ticket = me.thread.next_ticket();
    if !take_open(me, lock, bits.mode(), ticket) {
        end_work(me.thread);
        return acquire(lock, mode, label, frame);
    }
    me.thread.publish_owned(lock, bits, Origin { label, frame: Frame(frame) }, ticket);
    end_work(me.thread);
}

/// A thread that holds others enters a lock of which it has nothing.
#[inline(never)]
extern "C" fn acquire_besides(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    let dead = dead_frames();
    let room = me.thread.room(lock, dead.start, dead.end);
    let Some(place) = room.filter(|_| !me.thread.is_busy()) else { return acquire_again(lock, mode, label, frame) };
    let request = Request { mode: Bits::passed(mode).mode(), origin: Origin { label, frame: Frame(frame) }, turn: Turn::Passes };
    begin_work(me.thread, lock);
    if enter(me, lock, request, place) != Attempt::Done {
        block::acquire(me, lock, request.mode, request.origin);
    }
    end_work(me.thread);
}

/// A thread takes another hold of a lock that is no stronger than what it has, or upgrades the one that it has.
#[inline(never)]
extern "C" fn acquire_again(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    let (bits, origin) = (Bits::passed(mode), Origin { label, frame: Frame(frame) });
    let dead = dead_frames();
    let share = me.thread.share_without(lock, origin.frame, dead.start, dead.end);
    let Some(share) = share.filter(|_| !me.thread.is_busy()) else { return acquire(lock, mode, label, frame) };
    if join(me, lock, bits, origin, share) {
        return;
    }
    begin_work(me.thread, lock);
    let upgraded = bits == Bits::of(Mode::X) && upgrade_alone(me, lock, label, share);
    end_work(me.thread);
    if !upgraded {
        acquire(lock, mode, label, frame);
    }
}

/// Any other acquire.
#[inline(never)]
extern "C" fn acquire(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let origin = Origin { label, frame: Frame(frame) };
    let mode = Bits::passed(mode).mode();
    let Some(me) = process::me_or_register() else { return lock.count(Cause::Full) };
    if me.thread.is_busy() {
        return lock.count(Cause::Nested);
    }
    begin_work(me.thread, lock);
    let tried = if me.thread.holds_nothing() {
        enter(me, lock, Request { mode, origin, turn: Turn::Last }, Place::Only)
    } else {
        sweep(me);
        attempt(me, lock, Request { mode, origin, turn: Turn::Passes })
    };
    if tried != Attempt::Done {
        block::acquire(me, lock, mode, origin);
    }
    end_work(me.thread);
}

/// An acquire whose short way closed after its entry was shown.
#[cold]
#[inline(never)]
extern "C" fn acquire_otherwise(lock: &'static Lock, mode: u32, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    begin_work(me.thread, lock);
    let mode = Bits::passed(mode).mode();
    me.thread.withdraw(Place::Only);
    tell(me, lock, mode, me.thread.only_ticket());
    block::acquire(me, lock, mode, Origin { label, frame: Frame(frame) });
    end_work(me.thread);
}

/// The thread's only entry ends, which owns the word: one compare-and-swap.
#[inline(never)]
extern "C" fn release_owned(lock: &'static Lock, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    let only = me.thread.only(lock, Origin { label, frame: Frame(frame) });
    if me.thread.is_busy() || only.is_none_or(Bits::is_read) {
        return release(lock, label, frame);
    }
    begin_work(me.thread, lock);
    me.thread.withdraw(Place::Only);
    let given = give_back(me, lock, me.thread.only_ticket());
    end_work(me.thread);
    if !given {
        left(lock, Bits::passed(3), me.thread.only_ticket());
    }
}

/// Any other release.
#[inline(never)]
extern "C" fn release(lock: &'static Lock, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    if me.thread.is_busy() {
        return;
    }
    let origin = Origin { label, frame: Frame(frame) };
    let Some(share) = me.thread.share(lock, origin.frame) else { return release_revoked(lock, label, frame) };
    let Some(here) = share.here.filter(|here| here.label == label) else { return };
    if !slip_out(me, lock, (here.place, here.mode), share.rest) {
        left_among(lock, here.mode, share.ticket, share.rest);
    }
}

/// After a release of one of several entries whose word asks for more.
#[inline(never)]
fn left_among(lock: &'static Lock, mode: Bits, ticket: Ticket, rest: Bits) {
    let Some(me) = process::me() else { return };
    at_work(me, lock, || follow(me, lock, mode, ticket, rest));
}

/// A release of what somebody has revoked, or is about to.
#[cold]
#[inline(never)]
extern "C" fn release_revoked(lock: &'static Lock, label: u32, frame: usize) {
    let Some(me) = process::me() else { return };
    let origin = Origin { label, frame: Frame(frame) };
    if let Some(view) = mine(me, lock).find(|view| view.origin == origin) {
        at_work(me, lock, || leave(me, lock, view));
    }
}

/// After a release whose word asks for more.
#[cold]
#[inline(never)]
fn left(lock: &'static Lock, mode: Bits, ticket: Ticket) {
    let Some(me) = process::me() else { return };
    at_work(me, lock, || tell(me, lock, mode.mode(), ticket));
}

/// `model::abi::LOCK_GLANCE`.
///
/// # Safety
/// `lock` is an entry of the table of locks.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_glance(lock: &'static Lock) -> u64 {
    process::me().and_then(|me| glance(me, lock)).map_or(0, Glance::token)
}

/// `model::abi::LOCK_DEGRADE`.
///
/// # Safety
/// As `__atomfix_acquire`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_degrade(lock: &'static Lock, label: u32, frame: usize) {
    weaken_to(lock, Mode::R, Origin { label, frame: Frame(frame) });
}

/// `model::abi::LOCK_DEGRADE_TO_UPDATE`.
///
/// # Safety
/// As `__atomfix_acquire`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __atomfix_degrade_to_update(lock: &'static Lock, label: u32, frame: usize) {
    weaken_to(lock, Mode::U, Origin { label, frame: Frame(frame) });
}

#[inline(always)]
fn weaken_to(lock: &'static Lock, mode: Mode, origin: Origin) {
    let Some(me) = process::me().filter(|me| !me.thread.is_busy()) else { return };
    begin_work(me.thread, lock);
    weaken(me, lock, origin, mode);
    end_work(me.thread);
}

/// `model::abi::LOCK_UNWIND`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __atomfix_unwind(frame: usize) {
    let Some(me) = process::me() else { return };
    leave_frames(me, |of| of == Frame(frame));
}

/// `model::abi::LOCK_GIVE_UP`.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __atomfix_give_up() {
    if let Some(me) = process::me().filter(|me| !me.thread.holds_nothing()) {
        give_up(me, Cause::Poll);
    }
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
    me.thread.recount();
    let address = me.thread.busy.load(Ordering::Relaxed);
    if address == 0 {
        return;
    }
    let lock = Lock::at(address);
    me.domain.waiting(me.slot()).store(0, Ordering::Release);
    let word = lock.word();
    if word.owner() == Some(me.slot()) && tenure(me, lock).is_none() {
        disown(me, lock, word.ticket(), Keep::Readers);
    }
    me.thread.busy.store(0, Ordering::Relaxed);
}

/// How far below the stack pointer an address still counts as this stack's: other stacks (of coroutines, of signal handlers) are
/// not judged.
const STACK: usize = 1 << 20;

/// Ends holds of frames that are gone, which a way out that no hook saw left behind. A dead frame that lies no deeper than this
/// function's own is not told from a live one.
#[inline(always)]
fn sweep(me: Me) {
    let dead = dead_frames();
    if me.thread.has_frame_between(dead.start, dead.end) {
        sweep_between(me, dead);
    }
}

/// Where frames are dead, seen from a function of this file.
#[inline(always)]
fn dead_frames() -> Range<usize> {
    let marker = 0_u8;
    let here = core::ptr::from_ref(&marker).addr();
    here - STACK..here
}

#[cold]
#[inline(never)]
fn sweep_between(me: Me, dead: Range<usize>) {
    for view in me.thread.entries().filter(|view| dead.contains(&view.origin.frame.0)) {
        let lock = Lock::at(view.lock);
        lock.count(Cause::DeadFrame);
        leave(me, lock, view);
    }
}

fn at_work(me: Me, lock: &Lock, work: impl FnOnce()) {
    begin_work(me.thread, lock);
    work();
    end_work(me.thread);
}

#[inline(always)]
fn begin_work(thread: &Thread, lock: &Lock) {
    thread.busy.store(lock.address(), Ordering::Relaxed);
    // A signal handler of this thread must find the mark as long as the records are in flux.
    compiler_fence(Ordering::SeqCst);
}

#[inline(always)]
fn end_work(thread: &Thread) {
    compiler_fence(Ordering::SeqCst);
    thread.busy.store(0, Ordering::Relaxed);
}
