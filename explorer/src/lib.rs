//! Schedule exploration: strategies as data in, data out, and what surrounds them.
//!
//! In reading order: sets of threads (`threads`), which events conflict (`dependence`), the seam between the engine that
//! runs a program and whoever chooses its schedule (`strategy`, one strategy a file below it); for people, failing
//! schedules made simple (`minimize`) and drawn (`timeline`), named by the pairs of
//! accesses that it interleaves (`violation`), two builds side by side (`compare`), and explorations in parts (`parts`); data races (`races`); `fake` tests it all.
//!
//! Without the `host` feature the crate is `no_std` + `alloc`: so it is linked into the program under test.
#![cfg_attr(not(feature = "host"), no_std)]

extern crate alloc;

pub mod dependence;
pub mod minimize;
pub mod races;
pub mod random;
pub mod strategy;
pub mod target;
pub mod threads;

#[cfg(feature = "host")]
pub mod compare;
#[cfg(feature = "host")]
pub mod fake;
#[cfg(feature = "host")]
pub mod parts;
#[cfg(feature = "host")]
pub mod timeline;
pub mod violation;
