//! The locks as data: state word, held sets, waiting, the wait-for graph. No system calls, so that threads can be data in tests.

pub mod atomic;
pub mod word;

pub mod hold;
pub mod thread;

pub mod domain;

pub mod wait;

pub mod bias;
pub mod enter;
pub mod glance;
pub mod last;
pub mod leave;
pub mod lock;

pub mod graph;

#[cfg(all(test, not(feature = "loom")))]
mod tests;
