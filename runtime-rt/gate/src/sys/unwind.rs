//! Running a thread's routine so that it may end by unwinding: `pthread_exit` and cancellation, as the C library does them.
//!
//! The C library unwinds a thread's stack, running cleanup handlers and destructors of automatic objects, up to the innermost place
//! that was registered with it, and jumps there. The outermost one is that of the real thread, which only lends its stack. So each such thread
//! registers one of ours, once and for all, before it lends: the fibers on its stack, one an execution, need not, and write to no page
//! of its own for that.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

/// What the C library keeps of a registered place (`__pthread_unwind_buf_t`): registers, a flag, and four words of its own.
#[repr(C, align(16))]
pub(crate) struct Place([usize; 14]);

impl Place {
    /// Not registered yet.
    pub(crate) const fn new() -> Self {
        Self([0; 14])
    }
}

unsafe extern "C" {
    fn __sigsetjmp(place: *mut c_void, mask: c_int) -> c_int;
    fn __pthread_register_cancel(place: *mut c_void);
    fn backtrace(frames: *mut *mut c_void, count: c_int) -> c_int;
}

/// Loads what the C library unwinds with: it does so at its first use, which would be inside an execution.
pub(crate) fn load() {
    let mut frame = core::ptr::null_mut();
    // SAFETY: room for one frame.
    unsafe { backtrace(&raw mut frame, 1) };
}

/// Registers a place for the running thread and goes on with `rest`, which is told the place. What is unwound from now on goes on with `unwound`, on the stack as it
/// is here: what `rest` has left below is lost.
///
/// # Safety
///
/// The place must stay where it is, writable, for as long as the thread exists; and code that is unwound must keep to the C library's rules.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn settle(place: *mut Place, rest: extern "C" fn(*mut Place) -> !, unwound: extern "C" fn() -> !) -> ! {
    naked_asm!(
        "push rbx",
        "push r12",
        "push r13",
        "mov rbx, rdi",
        "mov r12, rsi",
        "mov r13, rdx",
        "xor esi, esi",
        "call {setjmp}",
        "test eax, eax",
        "jnz 2f",
        "mov rdi, rbx",
        "call {register}",
        "mov rdi, rbx",
        "call r12",
        "2:",
        "call r13",
        "ud2",
        setjmp = sym __sigsetjmp,
        register = sym __pthread_register_cancel,
    )
}

/// Runs a routine, which may be unwound: without unwind tables of its own, this is where a stack ends.
///
/// # Safety
///
/// The code that the routine runs must keep to the C library's rules of unwinding.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn run(function: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> *mut c_void {
    naked_asm!("sub rsp, 8", "mov rax, rdi", "mov rdi, rsi", "call rax", "add rsp, 8", "ret",)
}
