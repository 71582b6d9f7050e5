//! From a fault back to the fiber that it came from: there, and not in a signal handler, its end can be a step.
//!
//! On the fiber's own stack; where that has no room left, on another one.

use core::ffi::c_void;

use super::guarded;

/// What code may keep below its stack pointer.
const RED_ZONE: usize = 128;
/// What is needed below that.
const ROOM: usize = 1 << 14;
/// Faults this near to the stack pointer are the stack's.
const NEAR: usize = 1 << 16;

const RSP: usize = libc::REG_RSP.cast_unsigned() as usize;

fn registers<'a>(context: *mut c_void) -> &'a mut [i64] {
    // SAFETY: the kernel passes a valid `ucontext_t`, which is there as long as the handler runs.
    unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs }
}

fn stack(registers: &[i64]) -> usize {
    usize::try_from(registers[RSP].cast_unsigned()).unwrap_or(0)
}

/// In a handler of a fault: whether it is the stack that has no room left.
pub(crate) fn is_of_stack(context: *mut c_void, address: usize) -> bool {
    address.abs_diff(stack(registers(context))) < NEAR
}

/// In a handler of a fault: lets the fiber go on at `target`, if its stack is sound. Whether it was.
pub(crate) fn land(context: *mut c_void, target: extern "C" fn() -> !) -> bool {
    let Some(place) = stack(registers(context)).checked_sub(RED_ZONE).map(|below| below & !15) else { return false };
    let is_there = |below: usize| place.checked_sub(below).and_then(guarded::byte).is_some();
    let sound = is_there(1) && is_there(ROOM);
    if sound {
        land_on(context, place, target);
    }
    sound
}

/// In a handler of a fault: lets the fiber go on at `target`, on the stack that ends at this address.
pub(crate) fn land_on(context: *mut c_void, end: usize, target: extern "C" fn() -> !) {
    const RIP: usize = libc::REG_RIP.cast_unsigned() as usize;
    const FLAGS: usize = libc::REG_EFL.cast_unsigned() as usize;
    const DOWNWARDS: i64 = 1 << 10;
    let registers = registers(context);
    // As if it had been called.
    registers[RSP] = ((end & !15) as u64 - 8).cast_signed();
    registers[RIP] = (target as usize as u64).cast_signed();
    registers[FLAGS] &= !DOWNWARDS;
}
