//! The processor's clock: instructions that read it fault, and are answered with virtual time, which each of them lets pass a little.
//!
//! Not handled: random numbers by instructions, which cannot be made to fault; a process that the program starts reads the real clock.

use core::ffi::c_void;

use super::fiber::Engine;
use crate::gate::ask::Nanoseconds;
use crate::gate::thread::Hope;
use crate::sys::call::{system_call, word};

const ENABLED: i32 = 1;
const FAULTS: i32 = 2;

/// The program's clock is ours from now on. Where the kernel cannot do that, it stays the processor's.
pub(crate) fn take() {
    set(FAULTS);
}

/// Before a process starts that is not ours to answer.
pub(crate) fn give_back() {
    set(ENABLED);
}

fn set(mode: i32) {
    // SAFETY: changes what an instruction does.
    let _ = unsafe { system_call(libc::SYS_prctl, [word(libc::PR_SET_TSC), word(mode), 0, 0, 0, 0]) };
}

/// In a handler: whether it was such an instruction, which is answered then.
pub(crate) fn answer(engine: &Engine, context: *mut c_void) -> bool {
    const STEP: Nanoseconds = Nanoseconds(1000);
    const RIP: usize = libc::REG_RIP.cast_unsigned() as usize;
    const RAX: usize = libc::REG_RAX.cast_unsigned() as usize;
    const RCX: usize = libc::REG_RCX.cast_unsigned() as usize;
    const RDX: usize = libc::REG_RDX.cast_unsigned() as usize;
    // SAFETY: the kernel passes a valid `ucontext_t`.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let code: *const [u8; 3] = core::ptr::with_exposed_provenance(usize::try_from(registers[RIP]).unwrap_or(0));
    if code.is_null() {
        return false;
    }
    // SAFETY: an instruction that faulted, and was fetched; only a page that begins behind it could be missing.
    let first = unsafe { code.cast::<[u8; 2]>().read() };
    let length = match first {
        [0x0f, 0x31] => 2,
        // SAFETY: as above: these two bytes begin instructions of three.
        [0x0f, 0x01] if unsafe { code.read() }[2] == 0xf9 => 3,
        _ => return false,
    };
    engine.hope(Hope::Time);
    let mut model = engine.model.borrow_mut();
    model.advance(STEP);
    model.threads[engine.current().index()].worked.0 += STEP.0;
    let now = model.now().0;
    registers[RAX] = (now & 0xffff_ffff).cast_signed();
    registers[RDX] = (now >> 32).cast_signed();
    if length == 3 {
        registers[RCX] = 0;
    }
    registers[RIP] += length;
    true
}
