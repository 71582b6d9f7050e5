//! Reading memory that may not be there: another thread may have unmapped it since its address was known.
//!
//! One instruction does it. When it faults, the handler of the signal lets the code go on as if it had returned [`NOTHING`].
//! Needs the engine's handlers (`engine::signals`).

use core::arch::naked_asm;
use core::ffi::c_void;

/// What is returned where there is no byte: no byte's value.
const NOTHING: u32 = 0x100;

/// Reads a byte. The first instruction is the one that may fault.
#[unsafe(naked)]
extern "C" fn load(_address: usize) -> u32 {
    naked_asm!("movzx eax, byte ptr [rdi]", "ret")
}

/// Where a read that faulted goes on: the stack is as `load` found it.
#[unsafe(naked)]
extern "C" fn refuse() -> u32 {
    naked_asm!("mov eax, {nothing}", "ret", nothing = const NOTHING)
}

/// The byte at an address; `None` when there is no memory that can be read.
pub(crate) fn byte(address: usize) -> Option<u8> {
    u8::try_from(load(address)).ok()
}

/// In a handler of a fault: whether it was a read of ours, which then goes on without its byte.
pub(crate) fn recover(context: *mut c_void) -> bool {
    const RIP: usize = libc::REG_RIP.cast_unsigned() as usize;
    // SAFETY: the kernel passes a valid `ucontext_t`.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let address = |code: usize| (code as u64).cast_signed();
    let ours = registers[RIP] == address(load as extern "C" fn(usize) -> u32 as usize);
    if ours {
        registers[RIP] = address(refuse as extern "C" fn() -> u32 as usize);
    }
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_there_is_read() {
        let memory = [7_u8, 255];
        let address = memory.as_ptr().expose_provenance();
        assert_eq!((byte(address), byte(address + 1)), (Some(7), Some(255)));
        assert_eq!(u8::try_from(refuse()).ok(), None);
    }
}
