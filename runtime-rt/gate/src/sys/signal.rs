//! Signal handlers of the engine's own, installed past the C library so that their way back is ours as well; and the few
//! instructions from which system calls are never dispatched to us.

use core::arch::naked_asm;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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

/// Where a call that went past us goes on.
static GOES_ON: AtomicUsize = AtomicUsize::new(0);

/// Two entries, 16 bytes apart: the way back from a handler; and any one system call, after which code goes on at `GOES_ON`.
#[unsafe(naked)]
extern "C" fn way_back() {
    naked_asm!(
        "mov eax, 15",
        "syscall",
        "ud2",
        ".skip 7, 0x90",
        "syscall",
        "jmp qword ptr [rip + {goes_on}]",
        ".skip 8, 0x90",
        goes_on = sym GOES_ON,
    )
}

const ENTRY: usize = 16;
const BYTES: usize = 32;

/// Where that is, and how long.
pub(crate) fn restorer_range() -> (usize, usize) {
    (way_back as extern "C" fn() as usize, BYTES)
}

/// Where a handler has to let the program go on, so that its system call is made past us and it then goes on at `then`.
/// That of the next caller takes the place of this one.
pub(crate) fn past(then: usize) -> usize {
    GOES_ON.store(then, Relaxed);
    way_back as extern "C" fn() as usize + ENTRY
}

/// Where to go on, with the stack pointer at a signal frame, to return from a handler of the program's own.
pub(crate) fn returning() -> usize {
    way_back as extern "C" fn() as usize
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

/// The default again, if it is this handler that is installed.
pub(crate) fn uninstall(signal: i32, handler: Handler) {
    let mut action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
    let place = (&raw mut action).expose_provenance();
    // SAFETY: the kernel writes the action.
    let told = unsafe { system_call(libc::SYS_rt_sigaction, [word(signal), 0, place, 8, 0, 0]) };
    if told.is_ok() && action.handler == handler as usize {
        let default = Action { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };
        let arguments = [word(signal), (&raw const default).expose_provenance(), 0, 8, 0, 0];
        // SAFETY: the kernel reads the action.
        let _ = unsafe { system_call(libc::SYS_rt_sigaction, arguments) };
    }
}
