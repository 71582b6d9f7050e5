//! The atomics that the protocol is written in: the processor's, or loom's when the feature `loom` explores the protocol.
//!
//! Not here: what the fences are for (`lock`).

#[cfg(not(feature = "loom"))]
pub use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence};
#[cfg(feature = "loom")]
pub use loom::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// The light half of an asymmetric fence; loom has no process-wide barrier, so there it is a full one.
#[cfg(feature = "loom")]
pub fn compiler_fence(order: Ordering) {
    fence(order);
}
