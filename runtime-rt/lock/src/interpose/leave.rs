//! Ways out that no release sees: longjmp and the end of a thread.
//!
//! A jump ends the holds of all frames below its target. glibc keeps the target's stack pointer mangled in the buffer; where we
//! cannot read it, and when the jump leaves another stack (a signal handler's), every hold ends.

use core::ffi::c_int;

use super::next::{Next, interpose};
use crate::hooks;
use crate::process;

/// Index of the stack pointer in glibc's `jmp_buf`.
#[cfg(target_arch = "x86_64")]
const STACK_POINTER: usize = 6;

/// The stack pointer that a jump restores.
///
/// # Safety
/// `buffer` was filled by glibc's `setjmp`.
#[cfg(target_arch = "x86_64")]
unsafe fn target(buffer: *const usize) -> usize {
    // SAFETY: the buffer holds eight registers.
    let slot = unsafe { buffer.add(STACK_POINTER) };
    // SAFETY: as above.
    let mangled = unsafe { slot.read() };
    let guard: usize;
    // SAFETY: reads the pointer guard, which glibc keeps at this place of the thread's control block.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[0x30]", out(reg) guard, options(nostack, preserves_flags, readonly));
    }
    mangled.rotate_right(17) ^ guard
}

/// Unknown here: above everything.
///
/// # Safety
/// None is asked for.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn target(_: *const usize) -> usize {
    usize::MAX
}

/// Before a jump.
///
/// # Safety
/// As `target`.
unsafe fn before_jump(buffer: *const usize) {
    let Some(me) = process::me() else { return };
    hooks::repair(me);
    if me.thread.holds_nothing() {
        return;
    }
    // SAFETY: the caller's duty.
    let target = unsafe { target(buffer) };
    let marker = 0_u8;
    let here = core::ptr::from_ref(&marker).addr();
    hooks::leave_frames(me, |frame| frame.0 < target || target < here);
}

/// Defines a function that jumps.
macro_rules! interpose_jump {
    ($(#[$doc:meta])* $name:ident, $symbol:literal) => {
        interpose! {
            $(#[$doc])*
            fn $name(buffer: *const usize, value: c_int) -> (),
            Next::new($symbol),
            |original| {
                // SAFETY: the caller's buffer.
                unsafe { before_jump(buffer) };
                // SAFETY: the caller's duty, passed on. It does not return.
                unsafe { original(buffer, value) }
            }
        }
    };
}

interpose_jump! {
    /// Jumps to where `setjmp` returned.
    longjmp, c"longjmp"
}

interpose_jump! {
    /// Jumps to where `_setjmp` returned.
    _longjmp, c"_longjmp"
}

interpose_jump! {
    /// Jumps to where `sigsetjmp` returned.
    siglongjmp, c"siglongjmp"
}

interpose_jump! {
    /// What fortified builds call for all of these.
    __longjmp_chk, c"__longjmp_chk"
}

interpose! {
    /// Ends this thread: its frames are gone, and what runs from here on (cleanups, destructors) may wait for others.
    fn pthread_exit(result: usize) -> (),
    Next::new(c"pthread_exit"),
    |original| {
        if let Some(me) = process::me() {
            hooks::repair(me);
            hooks::leave_frames(me, |_| true);
        }
        // SAFETY: the caller's duty, passed on. It does not return.
        unsafe { original(result) }
    }
}
