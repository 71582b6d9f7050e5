//! Sleeping until a word changes.

use core::sync::atomic::AtomicU32;

use super::call::call;
use super::clock::Nanoseconds;

/// Sleeps while the word has this value, at most for this long. May return early for no reason.
pub fn wait(word: &AtomicU32, value: u32, longest: Nanoseconds) {
    let time = longest.timespec();
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let arguments = [
        core::ptr::from_ref(word).addr(),
        usize::try_from(operation).unwrap_or(0),
        value as usize,
        core::ptr::from_ref(&time).addr(),
        0,
        0,
    ];
    // SAFETY: both pointers are to live values; the kernel reads them only.
    let _ = unsafe { call(libc::SYS_futex, arguments) };
}

/// Wakes the one thread that sleeps on the word.
pub fn wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    let arguments = [core::ptr::from_ref(word).addr(), usize::try_from(operation).unwrap_or(0), 1, 0, 0, 0];
    // SAFETY: the word is alive; the kernel does not write it.
    let _ = unsafe { call(libc::SYS_futex, arguments) };
}
