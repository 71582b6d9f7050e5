//! One system call, as the processor makes it.

use core::arch::asm;

/// Arguments of a call; unused ones are 0.
pub type Arguments = [usize; 6];

/// The call's result; a negative one is an error number.
///
/// # Safety
/// As the kernel's documentation of the call says; pointers among the arguments must be good for what the call does with them.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub unsafe fn call(number: libc::c_long, arguments: Arguments) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: libc::c_long;
    // SAFETY: the instruction clobbers rcx and r11 only; the rest is the caller's duty.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
             in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    isize::try_from(result).unwrap_or(-1)
}

/// The call's result; a negative one is an error number.
///
/// # Safety
/// As the kernel's documentation of the call says; pointers among the arguments must be good for what the call does with them.
#[cfg(target_arch = "aarch64")]
#[must_use]
pub unsafe fn call(number: libc::c_long, arguments: Arguments) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: the instruction clobbers nothing else; the rest is the caller's duty.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a => result, in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
             options(nostack));
    }
    result
}
