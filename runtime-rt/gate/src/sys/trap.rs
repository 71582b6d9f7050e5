//! From a system call that the kernel handed to us back to the fiber that made it: there, on the fiber's own stack and not in
//! a signal handler, the call may wait for other threads.
//!
//! A handler lets the fiber go on at `landing`, which keeps every register, vectors included, as the kernel would, calls
//! `engine::calls::on_fiber` and returns behind the call. Needs XSAVE (`is_possible`).

use core::arch::naked_asm;
use core::arch::x86_64::__cpuid;

/// Registers of the interrupted code, as they lie on its stack.
#[repr(C)]
pub(crate) struct Saved {
    upper: [u64; 5],
    r10: u64,
    r9: u64,
    r8: u64,
    rdi: u64,
    rsi: u64,
    rbp: u64,
    rbx: u64,
    rdx: u64,
    rcx: u64,
    rax: u64,
    flags: u64,
}

/// What code may keep below its stack pointer.
const RED_ZONE: u64 = 128;

impl Saved {
    /// The number of the call.
    pub(crate) fn number(&self) -> libc::c_long {
        self.rax.cast_signed()
    }

    /// Its arguments.
    pub(crate) fn arguments(&self) -> [usize; 6] {
        [self.rdi, self.rsi, self.rdx, self.r10, self.r8, self.r9].map(|value| usize::try_from(value).unwrap_or(0))
    }

    /// What the code finds as the call's result.
    pub(crate) fn answer(&mut self, result: isize) {
        self.rax = (result as i64).cast_unsigned();
    }
}

/// Whether the machine can do this.
pub(crate) fn is_possible() -> bool {
    const OSXSAVE: u32 = 1 << 27;
    __cpuid(1).ecx & OSXSAVE != 0
}

/// In a handler: lets the interrupted code go on at the landing. The registers are those that it was interrupted with, behind
/// the instruction that makes the call.
pub(crate) fn land(registers: &mut [i64]) {
    const RSP: usize = libc::REG_RSP.cast_unsigned() as usize;
    const RIP: usize = libc::REG_RIP.cast_unsigned() as usize;
    let [stack, instruction] = [registers[RSP], registers[RIP]].map(i64::cast_unsigned);
    let place = stack - RED_ZONE - 8;
    let target: *mut u64 = core::ptr::with_exposed_provenance_mut(usize::try_from(place).unwrap_or(0));
    // SAFETY: below the red zone of the interrupted code, on its stack.
    unsafe { target.write(instruction) };
    registers[RSP] = place.cast_signed();
    registers[RIP] = (landing as extern "C" fn() as usize as u64).cast_signed();
}

/// State components: x87, SSE, AVX, AVX-512; 2,688 bytes in the standard format.
#[unsafe(naked)]
extern "C" fn landing() {
    naked_asm!(
        "pushfq",
        "cld",
        "push rax",
        "push rcx",
        "push rdx",
        "push rbx",
        "push rbp",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rdi, rsp",
        "mov rbx, rsp",
        // For the C library, which unwinds from here when the thread is cancelled in the call.
        ".cfi_startproc",
        ".cfi_def_cfa rbx, 264",
        ".cfi_offset rip, -136",
        ".cfi_offset rbx, -176",
        ".cfi_offset rbp, -184",
        ".cfi_offset r12, -240",
        ".cfi_offset r13, -248",
        ".cfi_offset r14, -256",
        ".cfi_offset r15, -264",
        "sub rsp, 2752",
        "and rsp, -64",
        // The header must be zero where XSAVE does not write.
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        "mov eax, 0xe7",
        "xor edx, edx",
        "xsave64 [rsp]",
        "call {on_fiber}",
        "mov eax, 0xe7",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "mov rsp, rbx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rbp",
        "pop rbx",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "popfq",
        "ret 128",
        ".cfi_endproc",
        on_fiber = sym crate::engine::calls::on_fiber,
    )
}

const _: () = assert!(size_of::<Saved>() == 16 * 8);
