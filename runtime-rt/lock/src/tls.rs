//! One word of thread-local storage, in the executable's own block, so that reading it is one instruction and calls nothing.
//!
//! `#[thread_local]` is unstable and `thread_local!` needs std, so the word is defined in assembly. Local-exec access binds the
//! archive to executables, which is what it is made for: a shared library cannot be linked with it.

use core::arch::{asm, global_asm};
use core::ptr::NonNull;

use crate::protocol::thread::Thread;

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 8",
    ".type __atomfix_lock_self, @object",
    ".size __atomfix_lock_self, 8",
    "__atomfix_lock_self:",
    ".zero 8",
    ".popsection",
);

/// This thread's record. `None` until it has one, and after it gave it back.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn record() -> Option<&'static Thread> {
    let record: *const Thread;
    // SAFETY: reads eight bytes of this thread's own block, which lives as long as the thread.
    unsafe {
        asm!("mov {}, qword ptr fs:[__atomfix_lock_self@TPOFF]", out(reg) record, options(nostack, preserves_flags, readonly));
    }
    // SAFETY: the word is only ever set, by `set_record`, to a record of the static table, or to null.
    NonNull::new(record.cast_mut()).map(|record| unsafe { record.as_ref() })
}

/// Sets or clears this thread's record.
#[cfg(target_arch = "x86_64")]
pub fn set_record(record: Option<&'static Thread>) {
    let record = record.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: writes eight bytes of this thread's own block, which only this module knows.
    unsafe {
        asm!("mov qword ptr fs:[__atomfix_lock_self@TPOFF], {}", in(reg) record, options(nostack, preserves_flags));
    }
}

/// The address of the word.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn word() -> *mut *const Thread {
    let word: *mut *const Thread;
    // SAFETY: computes an address in this thread's own block.
    unsafe {
        asm!("mrs {0}, tpidr_el0", "add {0}, {0}, :tprel_hi12:__atomfix_lock_self", "add {0}, {0}, :tprel_lo12_nc:__atomfix_lock_self",
             out(reg) word, options(nostack, preserves_flags, nomem));
    }
    word
}

/// This thread's record. `None` until it has one, and after it gave it back.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[must_use]
pub fn record() -> Option<&'static Thread> {
    // SAFETY: the word lives as long as the thread.
    let record = unsafe { word().read_volatile() };
    // SAFETY: the word is only ever set, by `set_record`, to a record of the static table, or to null.
    NonNull::new(record.cast_mut()).map(|record| unsafe { record.as_ref() })
}

/// Sets or clears this thread's record.
#[cfg(target_arch = "aarch64")]
pub fn set_record(record: Option<&'static Thread>) {
    let record = record.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the word lives as long as the thread, and only this module knows it.
    unsafe { word().write_volatile(record) };
}
