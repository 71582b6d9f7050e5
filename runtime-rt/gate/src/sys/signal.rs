//! Signal handlers of the engine's own, installed past the C library so that their way back is ours as well.

use core::arch::naked_asm;
use core::ffi::c_void;

use super::call::{system_call, word};

/// The kernel's form of an action.
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// A handler that gets all there is to know.
pub(crate) type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void);

/// The way back from a handler: the one place from which system calls are never dispatched to us.
#[unsafe(naked)]
extern "C" fn way_back() {
    naked_asm!("mov eax, 15", "syscall", "ud2", "nop", "nop", "nop", "nop", "nop", "nop", "nop")
}

/// Where that is, and how long.
pub(crate) fn restorer_range() -> (usize, usize) {
    (way_back as extern "C" fn() as usize, 16)
}

/// Installs a handler, to be run on the alternate stack, with no signal blocked in it.
pub(crate) fn install(signal: i32, handler: Handler) {
    const RESTORER: u64 = 0x0400_0000;
    let flags = u64::from((libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER).cast_unsigned()) | RESTORER;
    let action = Action { handler: handler as usize, flags, restorer: way_back as extern "C" fn() as usize, mask: 0 };
    let arguments = [word(signal), (&raw const action).expose_provenance(), 0, 8, 0, 0];
    // SAFETY: the kernel reads the action; the handler is one that never returns into something it has broken.
    let _ = unsafe { system_call(libc::SYS_rt_sigaction, arguments) };
}
