//! Formatted input and output, whose functions take any number of arguments: a stub keeps all registers that may carry one, asks
//! `before`, and jumps to the original as if it had never been there. So nothing can be done after the call: while it waits its thread
//! does not show that it does, and a waiter's patience decides.

use core::sync::atomic::{Ordering, compiler_fence};

use super::next::Next;
use super::stdio::{Standard, Wanted, before_input, before_output, standard};
use super::stream::{self, peer};
use super::{begin_blocking, end_blocking};

/// Where the stream of a call is.
#[derive(Clone, Copy)]
enum From {
    /// The first argument.
    First,
    /// None: the first argument is a descriptor.
    Descriptor,
    /// A standard one.
    Standard(Standard),
}

/// A function with any number of arguments.
struct Variadic {
    next: Next,
    stream: From,
    reads: Option<Wanted>,
}

/// What the stubs call, with the first argument of the call that they interrupt. The address of the original.
unsafe extern "C" fn before(function: &'static Variadic, first: *mut libc::FILE) -> usize {
    let stream = match function.stream {
        From::First => Some(first),
        From::Standard(which) => Some(standard(which)),
        From::Descriptor => None,
    };
    let blocking = match (stream, function.reads) {
        // SAFETY: the caller's stream.
        (Some(stream), Some(wanted)) => unsafe { before_input(stream, wanted) },
        // SAFETY: as above.
        (Some(stream), None) => unsafe { before_output(stream) },
        // A C `int` fills the low half of its register.
        (None, _) => begin_blocking(peer((first.addr() & 0x7fff_ffff).try_into().unwrap_or(0), stream::OUTPUT, 0)),
    };
    compiler_fence(Ordering::SeqCst);
    end_blocking(blocking);
    function.next.address()
}

// Keeps the registers of a variadic call, asks `before` about the function in r11, and goes on to the original.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .text.__atomfix_before_variadic,\"ax\",@progbits",
    ".globl __atomfix_before_variadic",
    ".hidden __atomfix_before_variadic",
    ".type __atomfix_before_variadic, @function",
    "__atomfix_before_variadic:",
    ".cfi_startproc",
    "push rax", ".cfi_adjust_cfa_offset 8",
    "push rdi", ".cfi_adjust_cfa_offset 8",
    "push rsi", ".cfi_adjust_cfa_offset 8",
    "push rdx", ".cfi_adjust_cfa_offset 8",
    "push rcx", ".cfi_adjust_cfa_offset 8",
    "push r8", ".cfi_adjust_cfa_offset 8",
    "push r9", ".cfi_adjust_cfa_offset 8",
    "sub rsp, 128", ".cfi_adjust_cfa_offset 128",
    "movaps [rsp], xmm0", "movaps [rsp + 16], xmm1", "movaps [rsp + 32], xmm2", "movaps [rsp + 48], xmm3",
    "movaps [rsp + 64], xmm4", "movaps [rsp + 80], xmm5", "movaps [rsp + 96], xmm6", "movaps [rsp + 112], xmm7",
    "mov rsi, rdi",
    "mov rdi, r11",
    "call {before}",
    "mov r11, rax",
    "movaps xmm0, [rsp]", "movaps xmm1, [rsp + 16]", "movaps xmm2, [rsp + 32]", "movaps xmm3, [rsp + 48]",
    "movaps xmm4, [rsp + 64]", "movaps xmm5, [rsp + 80]", "movaps xmm6, [rsp + 96]", "movaps xmm7, [rsp + 112]",
    "add rsp, 128", ".cfi_adjust_cfa_offset -128",
    "pop r9", ".cfi_adjust_cfa_offset -8",
    "pop r8", ".cfi_adjust_cfa_offset -8",
    "pop rcx", ".cfi_adjust_cfa_offset -8",
    "pop rdx", ".cfi_adjust_cfa_offset -8",
    "pop rsi", ".cfi_adjust_cfa_offset -8",
    "pop rdi", ".cfi_adjust_cfa_offset -8",
    "pop rax", ".cfi_adjust_cfa_offset -8",
    "jmp r11",
    ".cfi_endproc",
    ".popsection",
    before = sym before,
);

// As above, about the function in x16.
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".pushsection .text.__atomfix_before_variadic,\"ax\",@progbits",
    ".globl __atomfix_before_variadic",
    ".hidden __atomfix_before_variadic",
    ".type __atomfix_before_variadic, @function",
    "__atomfix_before_variadic:",
    ".cfi_startproc",
    "sub sp, sp, #208", ".cfi_adjust_cfa_offset 208",
    "stp x0, x1, [sp]", "stp x2, x3, [sp, #16]", "stp x4, x5, [sp, #32]", "stp x6, x7, [sp, #48]",
    "stp q0, q1, [sp, #64]", "stp q2, q3, [sp, #96]", "stp q4, q5, [sp, #128]", "stp q6, q7, [sp, #160]",
    "stp x8, x30, [sp, #192]", ".cfi_rel_offset x30, 200",
    "mov x1, x0",
    "mov x0, x16",
    "bl {before}",
    "mov x16, x0",
    "ldp x0, x1, [sp]", "ldp x2, x3, [sp, #16]", "ldp x4, x5, [sp, #32]", "ldp x6, x7, [sp, #48]",
    "ldp q0, q1, [sp, #64]", "ldp q2, q3, [sp, #96]", "ldp q4, q5, [sp, #128]", "ldp q6, q7, [sp, #160]",
    "ldp x8, x30, [sp, #192]",
    "add sp, sp, #208", ".cfi_adjust_cfa_offset -208",
    "br x16",
    ".cfi_endproc",
    ".popsection",
    before = sym before,
);

/// Defines stubs, weak like all functions that stand in front of libc's.
macro_rules! variadic {
    ($($name:ident, $symbol:literal, $stream:expr, $reads:expr;)*) => {$(
        mod $name {
            use super::*;

            static FUNCTION: Variadic = Variadic { next: Next::new($symbol), stream: $stream, reads: $reads };
            core::arch::global_asm!(
                concat!(".pushsection .text.", stringify!($name), ",\"ax\",@progbits"),
                concat!(".weak ", stringify!($name)),
                concat!(".type ", stringify!($name), ", @function"),
                concat!(stringify!($name), ":"),
                #[cfg(target_arch = "x86_64")]
                "lea r11, [rip + {function}]",
                #[cfg(target_arch = "x86_64")]
                "jmp __atomfix_before_variadic",
                #[cfg(target_arch = "aarch64")]
                "adrp x16, {function}",
                #[cfg(target_arch = "aarch64")]
                "add x16, x16, :lo12:{function}",
                #[cfg(target_arch = "aarch64")]
                "b __atomfix_before_variadic",
                concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
                ".popsection",
                function = sym FUNCTION,
            );
        }
    )*};
}

const LINE: Option<Wanted> = Some(Wanted::UpTo(b'\n'));
const INPUT: From = From::Standard(Standard::Input);
const OUTPUT: From = From::Standard(Standard::Output);

variadic! {
    scanf, c"scanf", INPUT, LINE;
    fscanf, c"fscanf", From::First, LINE;
    vscanf, c"vscanf", INPUT, LINE;
    vfscanf, c"vfscanf", From::First, LINE;
    __isoc99_scanf, c"__isoc99_scanf", INPUT, LINE;
    __isoc99_fscanf, c"__isoc99_fscanf", From::First, LINE;
    __isoc99_vscanf, c"__isoc99_vscanf", INPUT, LINE;
    __isoc99_vfscanf, c"__isoc99_vfscanf", From::First, LINE;

    __isoc23_scanf, c"__isoc23_scanf", INPUT, LINE;
    __isoc23_fscanf, c"__isoc23_fscanf", From::First, LINE;
    __isoc23_vscanf, c"__isoc23_vscanf", INPUT, LINE;
    __isoc23_vfscanf, c"__isoc23_vfscanf", From::First, LINE;

    printf, c"printf", OUTPUT, None;
    fprintf, c"fprintf", From::First, None;
    vprintf, c"vprintf", OUTPUT, None;
    vfprintf, c"vfprintf", From::First, None;
    __printf_chk, c"__printf_chk", OUTPUT, None;
    __fprintf_chk, c"__fprintf_chk", From::First, None;
    __vprintf_chk, c"__vprintf_chk", OUTPUT, None;
    __vfprintf_chk, c"__vfprintf_chk", From::First, None;
    dprintf, c"dprintf", From::Descriptor, None;
    vdprintf, c"vdprintf", From::Descriptor, None;
    __dprintf_chk, c"__dprintf_chk", From::Descriptor, None;
    __vdprintf_chk, c"__vdprintf_chk", From::Descriptor, None;
}
