//! The one domain of this process: its table of threads, and how a thread gets into and out of it.
//!
//! A thread registers at its first acquire, or when it first blocks on a lock of the program. It leaves by a destructor of
//! thread-specific data, which runs after C++'s thread-local destructors, also on `pthread_exit` and cancellation.
//! Should another such destructor acquire again afterwards, the thread registers once more; what the fourth and last round leaves
//! behind is found by waiters, since its thread is dead.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::interpose::owner;
use crate::protocol::domain::{Domain, MAX_THREADS};
use crate::protocol::hold::Slot;
use crate::protocol::leave::drop_tenure;
use crate::protocol::lock::{Lock, Me};
use crate::protocol::thread::{TOLD, Thread};
use crate::sys;
use crate::sys::membarrier::Support;
use crate::tls;

static THREADS: [Thread; MAX_THREADS] = [const { Thread::new() }; MAX_THREADS];
static WAITING: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];

/// The domain of this process.
pub static DOMAIN: Domain = Domain {
    threads: &THREADS,
    waiting: &WAITING,
    high: AtomicU32::new(0),
    barrier: sys::membarrier::barrier,
    asymmetric: || sys::membarrier::support() == Support::Ready,
    now: || sys::clock::now().0,
    unpark,
    needed: owner::needed,
};

/// The key whose destructor ends a thread's registration, plus one; 0: not made yet.
static KEY: AtomicU32 = AtomicU32::new(0);

fn unpark(thread: &Thread) {
    if thread.park.swap(TOLD, Ordering::SeqCst) != TOLD {
        sys::futex::wake(&thread.park);
    }
}

/// This thread, if it has a record.
#[inline(always)]
#[must_use]
pub fn me() -> Option<Me> {
    tls::record().map(of)
}

/// The thread with this record, which must be the calling one.
#[inline(always)]
#[must_use]
pub fn of(thread: &'static Thread) -> Me {
    Me { domain: &DOMAIN, thread }
}

/// This thread, with a record if the table has one left.
#[must_use]
pub fn me_or_register() -> Option<Me> {
    me().or_else(register)
}

#[cold]
fn register() -> Option<Me> {
    let tid = sys::thread::tid();
    let vacant = |(_, thread): &(u32, &'static Thread)| thread.tid.compare_exchange(0, tid, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    let (index, thread) = (0..).zip(&THREADS).find(vacant)?;
    thread.settle_in(Slot(u16::try_from(index).ok()?));
    DOMAIN.high.fetch_max(index + 1, Ordering::SeqCst);
    // SAFETY: the call has no preconditions.
    let handle = unsafe { libc::pthread_self() };
    thread.handle.store(usize::try_from(handle).unwrap_or(0), Ordering::Relaxed);
    tls::set_record(Some(thread));
    arrange_end(thread);
    me()
}

/// Sees to it that `on_thread_end` runs.
fn arrange_end(thread: &'static Thread) {
    let Some(key) = key() else { return };
    // SAFETY: the key was made by `key` and is never deleted.
    let _ = unsafe { libc::pthread_setspecific(key, core::ptr::from_ref(thread).cast()) };
}

/// The key for `on_thread_end`. A race to make it costs a spare key, no more.
pub fn key() -> Option<libc::pthread_key_t> {
    let known = KEY.load(Ordering::Acquire);
    if let Some(key) = known.checked_sub(1) {
        return Some(key);
    }
    let mut key = 0;
    // SAFETY: `key` is alive, and the destructor has the type that is asked for.
    let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(on_thread_end)) } != 0;
    if failed {
        return None;
    }
    match KEY.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(key),
        Err(first) => first.checked_sub(1),
    }
}

/// Ends what the thread holds, and frees its record.
unsafe extern "C" fn on_thread_end(_: *mut c_void) {
    let Some(me) = me() else { return };
    end(me);
    tls::set_record(None);
    me.thread.tid.store(0, Ordering::Release);
}

/// Ends everything that a thread has and waits for.
pub fn end(me: Me) {
    for view in me.thread.entries() {
        drop_tenure(me, Lock::at(view.lock));
    }
    me.domain.waiting(me.slot()).store(0, Ordering::Release);
    me.thread.clear();
}
