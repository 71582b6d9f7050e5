//! A forked child has one thread: the holds of all others vanish, its own stay. The parent notices nothing.
//!
//! Not covered: a child made by a raw `clone` or `_Fork`, which run no handlers; waiters there find the old holders' threads dead.

use crate::process::{self, DOMAIN};
use crate::protocol::atomic::Ordering;
use crate::protocol::lock::{Lock, Me};
use crate::protocol::word::{BIASED, OFF, READERS, Word};
use crate::sys;
use crate::table;

/// Has `in_child` run in forked children.
pub fn arrange() {
    // SAFETY: the handler has the type that is asked for and lives as long as the program.
    let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

unsafe extern "C" fn in_child() {
    let me = process::me();
    for slot in DOMAIN.slots() {
        let thread = DOMAIN.thread(slot);
        if me.is_some_and(|me| me.slot() == slot) {
            thread.tid.store(sys::thread::tid(), Ordering::Relaxed);
        } else {
            thread.clear();
            thread.tid.store(0, Ordering::Relaxed);
        }
        DOMAIN.waiting(slot).store(0, Ordering::Relaxed);
    }
    for lock in table::locks() {
        lock.reset(without_others(lock, me));
    }
}

/// The word as it is for the only thread left.
fn without_others(lock: &Lock, me: Option<Me>) -> Word {
    let word = lock.word();
    let kept = Word((word.0 & OFF) | READERS);
    let mine = word.owner().filter(|owner| me.is_some_and(|me| me.slot() == *owner));
    match (mine, word.exclusive()) {
        (Some(slot), Some(exclusive)) => kept.owned(exclusive, slot, word.ticket()),
        (Some(slot), None) if word.has(BIASED) => kept.biased(slot),
        _ => kept,
    }
}
