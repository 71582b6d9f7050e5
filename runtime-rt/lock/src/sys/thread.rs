//! Who this thread is, and whether another one still is.

use super::call::call;

/// This thread's number in the kernel.
#[must_use]
pub fn tid() -> u32 {
    // SAFETY: the call takes nothing.
    let tid = unsafe { call(libc::SYS_gettid, [0; 6]) };
    u32::try_from(tid).unwrap_or(0)
}

/// This process's number in the kernel.
#[must_use]
pub fn pid() -> u32 {
    // SAFETY: the call takes nothing.
    let pid = unsafe { call(libc::SYS_getpid, [0; 6]) };
    u32::try_from(pid).unwrap_or(0)
}

/// Whether this process has a thread of this number.
#[must_use]
pub fn lives(tid: u32) -> bool {
    // SAFETY: signal 0 is sent to nobody; the call takes no pointers.
    let result = unsafe { call(libc::SYS_tgkill, [pid() as usize, tid as usize, 0, 0, 0, 0]) };
    result != -(libc::ESRCH as isize)
}
