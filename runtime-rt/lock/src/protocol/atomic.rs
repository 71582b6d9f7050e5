//! The atomics that the protocol is written in: the processor's, or loom's when the feature `loom` explores the protocol.
//! Loom's have no constant constructors, hence the two macros.
//!
//! Not here: what the fences are for (`enter`, `leave`).

#[cfg(not(feature = "loom"))]
pub use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence};
#[cfg(feature = "loom")]
pub use loom::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// The light half of an asymmetric fence; loom has no process-wide barrier, so there it is a full one.
#[cfg(feature = "loom")]
pub fn compiler_fence(_: Ordering) {
    fence(Ordering::SeqCst);
}

/// A full fence, right after a compare-and-swap that took place: on x86-64 that is one.
#[inline(always)]
pub fn fence_after_swap() {
    if cfg!(all(target_arch = "x86_64", not(any(feature = "loom", miri)))) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// Defines a constructor, constant where it can be.
#[cfg(not(feature = "loom"))]
macro_rules! constructor {
    ($(#[$attribute:meta])* $visibility:vis fn new() -> Self $body:block) => {
        $(#[$attribute])* $visibility const fn new() -> Self $body
    };
}

/// Defines a constructor, constant where it can be.
#[cfg(feature = "loom")]
macro_rules! constructor {
    ($(#[$attribute:meta])* $visibility:vis fn new() -> Self $body:block) => {
        $(#[$attribute])* $visibility fn new() -> Self $body
    };
}

/// An array of equal things.
#[cfg(not(feature = "loom"))]
macro_rules! array {
    ($value:expr; $length:expr) => {
        [const { $value }; $length]
    };
}

/// An array of equal things.
#[cfg(feature = "loom")]
macro_rules! array {
    ($value:expr; $length:expr) => {
        core::array::from_fn(|_| $value)
    };
}

pub(crate) use {array, constructor};
