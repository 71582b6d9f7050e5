//! Reading memory that may not be there: another thread may have unmapped it since its address was known.
//!
//! One instruction does it. When it faults, the handler of the signal lets the code go on as if it had returned that there is nothing.
//! Needs the engine's handlers (`engine::signals`).

use core::arch::naked_asm;
use core::ffi::c_void;

/// What was read, as it is returned in two registers.
#[repr(C)]
struct Read {
    word: u64,
    /// 0 where there is no memory.
    there: u64,
}

/// Reads a byte. The first instruction is the one that may fault.
#[unsafe(naked)]
extern "C" fn load_byte(_address: usize) -> Read {
    naked_asm!("movzx eax, byte ptr [rdi]", "mov edx, 1", "ret")
}

/// Reads a word, likewise.
#[unsafe(naked)]
extern "C" fn load_word(_address: usize) -> Read {
    naked_asm!("mov rax, qword ptr [rdi]", "mov edx, 1", "ret")
}

/// Where a read that faulted goes on: the stack is as the function found it.
#[unsafe(naked)]
extern "C" fn refuse() -> Read {
    naked_asm!("xor eax, eax", "xor edx, edx", "ret")
}

impl Read {
    fn found(self) -> Option<u64> {
        (self.there != 0).then_some(self.word)
    }
}

/// The byte at an address; `None` when there is no memory that can be read.
pub(crate) fn byte(address: usize) -> Option<u8> {
    load_byte(address).found().and_then(|word| u8::try_from(word).ok())
}

/// The eight bytes at an address, the first one lowest; `None` when one of them cannot be read.
#[inline]
pub(crate) fn word(address: usize) -> Option<u64> {
    load_word(address).found()
}

/// In a handler of a fault: whether it was a read of ours, which then goes on without what it was to read.
pub(crate) fn recover(context: *mut c_void) -> bool {
    const RIP: usize = libc::REG_RIP.cast_unsigned() as usize;
    // SAFETY: the kernel passes a valid `ucontext_t`.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let address = |code: usize| (code as u64).cast_signed();
    let loads: [extern "C" fn(usize) -> Read; 2] = [load_byte, load_word];
    let ours = loads.iter().any(|&load| registers[RIP] == address(load as usize));
    if ours {
        registers[RIP] = address(refuse as extern "C" fn() -> Read as usize);
    }
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read() {
        let memory = [7_u8, 255, 0, 0, 0, 0, 0, 1, 2];
        let address = memory.as_ptr().expose_provenance();
        assert_eq!((byte(address), byte(address + 1)), (Some(7), Some(255)));
        assert_eq!((word(address), word(address + 1)), (Some(0x0100_0000_0000_ff07), Some(0x0201_0000_0000_00ff)));
        assert_eq!(refuse().found(), None);
    }
}
