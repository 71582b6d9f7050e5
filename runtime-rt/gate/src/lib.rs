//! The gate archive: linked into the program under test, it runs all of the program's threads as fibers on one OS thread
//! and lets a strategy choose, at every scheduling point, which of them goes on.
//!
//! From the bottom up: `sys` (system calls, stack and TLS switching), `engine` (fibers, executions, drivers, the control
//! page), `gate` (scheduling points and the models of synchronization objects), `interpose` (the exported symbols that
//! stand in the way of the C library's). A process that is not started by `atomfix check` passes straight through.
//!
//! Invariant: while an execution runs, no fiber ever blocks in the kernel on our account; a thread waits in the model.
//! Not handled: static executables, and code that makes system calls by itself.
#![cfg_attr(panic = "abort", no_std)]
#![cfg_attr(not(panic = "abort"), expect(dead_code, reason = "the way in is there only where the archive is built to be linked"))]

extern crate alloc;

mod sys;

mod engine;
mod gate;
mod interpose;

/// The engine's own memory: nothing that strategies allocate lies on the program's heap.
#[cfg(panic = "abort")]
#[global_allocator]
static ARENA: engine::arena::Arena = engine::arena::Arena;

#[cfg(panic = "abort")]
#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    engine::control::internal_error(info)
}

/// What the prebuilt `core` refers to; nothing ever unwinds through this archive.
#[cfg(panic = "abort")]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
