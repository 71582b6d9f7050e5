//! Changing stacks and thread-local storage: what makes a fiber run.
//!
//! Where the processor or kernel lacks FSGSBASE, the TLS base is set by a system call instead, ten times slower.
//! The floating-point control words belong to who runs: rounding, and which exceptions there were. Not handled: those that only the x87 unit had.

use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicBool, Ordering};

use super::call::system_call;

/// A stopped flow of control: where its stack pointer stands, with the address to go on at there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct StackPointer(pub(crate) usize);

/// The address that the `fs` register points to: the identity of a thread as far as the C library is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlsBase(pub(crate) usize);

static FSGSBASE: AtomicBool = AtomicBool::new(false);

/// Finds out how the TLS base can be set. Call once, first.
pub(crate) fn detect() {
    const HWCAP2_FSGSBASE: libc::c_ulong = 2;
    // SAFETY: reads the auxiliary vector.
    let capabilities = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    FSGSBASE.store(capabilities & HWCAP2_FSGSBASE != 0, Ordering::Relaxed);
}

/// Whether the TLS base is set by one instruction.
pub(crate) fn is_fast() -> bool {
    FSGSBASE.load(Ordering::Relaxed)
}

/// The TLS base of the running OS thread.
pub(crate) fn tls_base() -> TlsBase {
    let base: usize;
    // The word at the base is its own address, by the ABI for thread-local storage.
    // SAFETY: every thread of a dynamically linked program has a TLS block.
    unsafe { asm!("mov {}, fs:0", out(reg) base, options(nostack, readonly, preserves_flags)) };
    TlsBase(base)
}

/// Puts another TLS block in place.
///
/// # Safety
///
/// `base` must come from `tls_base` of a thread that still exists, or exists in the process that this one was forked from.
#[inline]
pub(crate) unsafe fn set_tls_base(base: TlsBase) {
    if is_fast() {
        // SAFETY: the caller vouches for the base, and `detect` for the instruction.
        unsafe { asm!("wrfsbase {}", in(reg) base.0, options(nostack, preserves_flags)) };
    } else {
        const ARCH_SET_FS: usize = 0x1002;
        // SAFETY: as above.
        let _ = unsafe { system_call(libc::SYS_arch_prctl, [ARCH_SET_FS, base.0, 0, 0, 0, 0]) };
    }
}

/// Stops here, leaving the stack pointer in `from`, and goes on at `to`. Returns when someone goes on at what `from` got.
///
/// Always part of its caller, without a call or a return of its own: the processor's record of return addresses stays in step with the
/// calls on either side, and each place that stops goes on at one address.
///
/// # Safety
///
/// `to` must come from this function or from `prepare`, and be used once.
#[inline(always)]
pub(crate) unsafe fn swap(from: *mut StackPointer, to: StackPointer) {
    // SAFETY: the caller vouches for the stack; all registers that the other side may use are saved or given up.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            "mov r8d, [rsp]",
            "movzx r9d, word ptr [rsp + 4]",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            // Here r8 and r9 are the control words of who has left. Nearly always they are the same, and loading them takes long.
            "2:",
            "cmp r8d, [rsp]",
            "je 3f",
            "ldmxcsr [rsp]",
            "3:",
            "cmp r9w, [rsp + 4]",
            "je 4f",
            "fldcw [rsp + 4]",
            "4:",
            "add rsp, 8",
            "pop rbx",
            "pop rbp",
            inout("rdi") from => _,
            inout("rsi") to.0 => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("C"),
        );
    }
}

/// A stack that starts `entry` when it is first gone to, with the control words of who prepares it. `top` is the end of free stack memory.
///
/// # Safety
///
/// The 256 bytes below `top` must be writable and unused. `entry` must never return.
pub(crate) unsafe fn prepare(top: usize, entry: extern "C" fn() -> !) -> StackPointer {
    // A function finds its stack pointer 8 below a multiple of 16. Above all: a zero return address, which ends backtraces.
    let entry_at = (top & !15) - 64;
    let words: *mut usize = core::ptr::with_exposed_provenance_mut(entry_at);
    // SAFETY: the four words lie within the 256 bytes.
    unsafe { words.cast::<[usize; 4]>().write([begin as *const () as usize, control(), entry as usize, 0]) };
    StackPointer(entry_at)
}

/// The floating-point control words, as `swap` has them on the stack.
fn control() -> usize {
    let mut words = 0_usize;
    // SAFETY: stores four bytes and two bytes into the eight.
    unsafe { asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) &raw mut words, options(nostack, preserves_flags)) };
    words
}

/// Where a new stack begins: takes its control words, and goes to what stands behind them.
#[unsafe(naked)]
extern "C" fn begin() -> ! {
    naked_asm!("ldmxcsr [rsp]", "fldcw [rsp + 4]", "add rsp, 8", "ret")
}
