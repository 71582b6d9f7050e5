//! Linked into the program under test for profiling: it watches accesses to memory and aggregates what seed 002, section 6
//! derives from them into a shared file mapping (`model::recording`).
//!
//! Read in this order: `frame` (activations and the frontier), `cell` (the last accesses to one word), `shadow` (from
//! addresses to cells; ownership; stripes), `hold` and `made` (lock instances, and what to call them), `order` (happens-before), `thread` (what belongs to one thread), `observe` (Fig. 5), `joint` (which sites run near each other), `instance` and `watch` (correlated sets),
//! `recorder` (events in, observations out; tested as ordinary Rust), `give_back` and `quarantine` (blocks that end, and have ended), `table` and `mapping` (where observations go),
//! `pace`, `perturb` and `wanted` (pauses, delays, orders to bring about), `process` (start, fork, end), `doors` and `interpose` (the symbols that the program sees), `sys` (the kernel).
//!
//! Silent, keeps `errno`, never calls the allocator, tolerates signals at any instruction. Not handled: static executables,
//! coroutines that switch stacks, memory that is unmapped and mapped again without `malloc`.
#![no_std]
#![cfg_attr(test, expect(dead_code, reason = "doors into the process are left out of tests"))]

// With unwinding (ordinary builds of the workspace) the compiler wants std's handlers; the archive is built to abort.
#[cfg(any(test, not(panic = "abort")))]
extern crate std;

mod cell;
mod change;
mod frame;
mod held;
mod hold;
mod instance;
mod made;
mod order;
mod pool;
mod quarantine;
mod shadow;
mod starts;
mod thread;

mod give_back;
mod joint;
mod observe;
mod recorder;
mod synchronize;
mod watch;
mod witness;

mod mapping;
mod table;

mod pace;
mod perturb;
mod process;
mod wanted;

#[cfg(not(test))]
mod doors;
#[cfg(not(test))]
mod interpose;

mod sys;

#[cfg(test)]
mod tests;

/// The archive has nobody to tell and nothing to unwind.
#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::abort()
}

/// Nothing here allocates; `model` could, so the compiler asks for an allocator. This one has no memory.
#[cfg(all(not(test), panic = "abort"))]
mod no_memory {
    use core::alloc::{GlobalAlloc, Layout};

    struct NoMemory;

    // SAFETY: it never hands out memory.
    unsafe impl GlobalAlloc for NoMemory {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::ptr::null_mut()
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static ALLOCATOR: NoMemory = NoMemory;
}

/// Nothing of this archive is unwound through; precompiled parts of core and alloc refer to a personality all the same.
#[cfg(all(not(test), panic = "abort"))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> i32 {
    // `_URC_CONTINUE_UNWIND`
    8
}
