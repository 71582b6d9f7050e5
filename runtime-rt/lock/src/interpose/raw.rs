//! System calls that programs make through libc's `syscall`: a futex wait is how C++20's atomics, semaphores, latches and barriers
//! wait, in code that libstdc++'s headers put into the program. Not here: calls that libc has functions for.
//!
//! The number of arguments is not known here; all that there may be are passed on, as libc itself does.

use core::ffi::{c_int, c_long};

use super::next::{Next, interpose};
use super::{begin_blocking, end_blocking};
use crate::protocol::graph::Blocked;

/// As `SYS_io_getevents`, under another signal mask; the crate `libc` does not know it.
#[cfg(target_arch = "x86_64")]
const SYS_IO_PGETEVENTS: c_long = 333;
#[cfg(not(target_arch = "x86_64"))]
const SYS_IO_PGETEVENTS: c_long = 292;

/// Calls that wait and that libc has no function for.
fn blocked(number: c_long) -> Option<Blocked> {
    match number {
        libc::SYS_futex_waitv => Some(Blocked::Meet),
        libc::SYS_io_getevents | SYS_IO_PGETEVENTS | libc::SYS_io_uring_enter => Some(Blocked::Poll),
        _ => None,
    }
}

/// Whether a futex call waits: on a word that has the value expected, or for a lock that the kernel keeps.
///
/// # Safety
/// As the futex call with these arguments.
unsafe fn waits(number: c_long, word: *const u32, operation: usize, value: usize) -> bool {
    let flags = usize::try_from(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME).unwrap_or(0);
    let is = |wanted: &[c_int]| wanted.iter().any(|&wanted| usize::try_from(wanted) == Ok(operation & 0xffff & !flags));
    if number == libc::SYS_futex && is(&[libc::FUTEX_LOCK_PI, libc::FUTEX_LOCK_PI2, libc::FUTEX_WAIT_REQUEUE_PI]) {
        return true;
    }
    let is_wait = is(&[libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET]);
    if number != libc::SYS_futex || !is_wait || !word.is_aligned() || word.is_null() {
        return false;
    }
    // SAFETY: the caller's word, which other threads change atomically.
    let word = unsafe { &*word.cast::<core::sync::atomic::AtomicU32>() };
    // The kernel compares 32 bits.
    word.load(core::sync::atomic::Ordering::Relaxed) as usize == value & 0xffff_ffff
}

interpose! {
    /// Makes a system call.
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long,
    Next::new(c"syscall"),
    |original| {
        // SAFETY: the caller's arguments.
        let waiting = unsafe { waits(number, core::ptr::with_exposed_provenance(a), b, c) };
        let blocking = begin_blocking(waiting.then_some(Blocked::Meet).or_else(|| blocked(number)));
        // SAFETY: the caller's duty, passed on.
        let result = unsafe { original(number, a, b, c, d, e, f) };
        end_blocking(blocking);
        result
    }
}
