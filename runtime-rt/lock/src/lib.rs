//! Linked into the program under test: the lock archive. Fast locks that can be taken away from a holder that cannot go on.
//!
//! `hooks` are the doors for hardened code, `interpose` those for calls that block or leave; both act on `protocol`, which is
//! the locks as data, with `block` (spin, park, inspect) and `revoke` beside it. `docs/locks.md` states the semantics.
//!
//! No std, no allocation, no formatting, nothing read or written unless `ATOMFIX_OPTIONS` asks for it.
#![no_std]

// With unwinding (ordinary builds of the workspace) the linker wants std's handlers; the archive is built to abort.
#[cfg(not(panic = "abort"))]
extern crate std;

pub mod protocol;
#[cfg(not(feature = "loom"))]
pub mod sys;
#[cfg(not(feature = "loom"))]
pub mod tls;

#[cfg(not(feature = "loom"))]
pub mod events;
#[cfg(not(feature = "loom"))]
pub mod options;
#[cfg(not(feature = "loom"))]
pub mod table;
#[cfg(not(feature = "loom"))]
pub mod text;

#[cfg(not(feature = "loom"))]
pub mod block;
#[cfg(not(feature = "loom"))]
pub mod process;
#[cfg(not(feature = "loom"))]
pub mod revoke;

#[cfg(not(feature = "loom"))]
pub mod fork;
#[cfg(not(feature = "loom"))]
pub mod start;
#[cfg(not(feature = "loom"))]
pub mod statistics;

#[cfg(not(feature = "loom"))]
pub mod hooks;
#[cfg(not(feature = "loom"))]
pub mod interpose;

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: the call has no preconditions.
    unsafe { libc::abort() }
}

/// Nothing here allocates; `model` could, so the compiler asks for an allocator. This one has no memory.
#[cfg(panic = "abort")]
mod without_memory {
    use core::alloc::{GlobalAlloc, Layout};

    struct WithoutMemory;

    // SAFETY: it never gives memory out, which an allocator is free to do.
    unsafe impl GlobalAlloc for WithoutMemory {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::ptr::null_mut()
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static ALLOCATOR: WithoutMemory = WithoutMemory;
}

/// Frames of this archive are unwound through (cancellation inside an interposed call), but have nothing to clean up, so their
/// personality is never called; precompiled parts of core refer to it.
#[cfg(panic = "abort")]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> i32 {
    // `_URC_CONTINUE_UNWIND`
    8
}
