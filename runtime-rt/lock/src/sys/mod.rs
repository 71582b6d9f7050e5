//! The only raw system calls. They leave `errno` alone and are no cancellation points, unlike libc's wrappers.

pub mod call;
pub mod clock;
pub mod futex;
pub mod membarrier;
pub mod memory;
pub mod thread;
