//! Between the `atomfix` process and the engine inside the target: a page of shared memory (`page`), what is asked for
//! (`setup`) and what was found (`found`), both as text in it; and, on the side of `atomfix`, the target's process
//! (`process`) and how it is watched (`watch`).

pub mod found;
pub mod page;
pub mod setup;

#[cfg(feature = "host")]
pub mod pool;
#[cfg(feature = "host")]
pub mod process;
#[cfg(feature = "host")]
pub mod watch;
