//! Running a thread's routine so that it may end by unwinding: `pthread_exit` and cancellation, as the C library does them.
//!
//! The C library unwinds a thread's stack, running cleanup handlers and destructors of automatic objects, up to the innermost place
//! that was registered with it, and jumps there. The outermost one is that of the real thread, which only lends its stack, so each fiber
//! registers one of its own at its beginning.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

/// How a routine ended.
#[repr(C)]
pub(crate) struct Ran {
    /// What it returned.
    pub(crate) result: *mut c_void,
    /// Not 0 when it did not return, but was unwound.
    pub(crate) unwound: usize,
}

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
    fn __pthread_unregister_cancel(place: *mut c_void);
    fn backtrace(frames: *mut *mut c_void, count: c_int) -> c_int;
}

/// Loads what the C library unwinds with: it does so at its first use, which would be inside an execution.
pub(crate) fn load() {
    let mut frame = core::ptr::null_mut();
    // SAFETY: room for one frame.
    unsafe { backtrace(&raw mut frame, 1) };
}

/// Runs a routine. The place is in use until it ends.
///
/// # Safety
///
/// The place must be writable, and the code that the routine runs must keep to the C library's rules of unwinding.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn run(function: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void, place: *mut Place) -> Ran {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "mov rbx, rdi",
        "mov r12, rsi",
        "mov r13, rdx",
        "mov rdi, r13",
        "xor esi, esi",
        "call {setjmp}",
        "test eax, eax",
        "jnz 2f",
        "mov rdi, r13",
        "call {register}",
        "mov rdi, r12",
        "call rbx",
        "mov r14, rax",
        "mov rdi, r13",
        "call {unregister}",
        "mov rax, r14",
        "xor edx, edx",
        "jmp 3f",
        "2:",
        "xor eax, eax",
        "mov edx, 1",
        "3:",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        setjmp = sym __sigsetjmp,
        register = sym __pthread_register_cancel,
        unregister = sym __pthread_unregister_cancel,
    )
}
