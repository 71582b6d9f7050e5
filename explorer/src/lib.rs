//! Schedule exploration: strategies as data in, data out, and what surrounds them.
//!
//! In reading order: sets of threads (`threads`), which events conflict (`dependence`), the seam between the engine that
//! runs a program and whoever chooses its schedule (`strategy`, one strategy a file below it).
//!
//! Without the `host` feature the crate is `no_std` + `alloc`: so it is linked into the program under test.
#![cfg_attr(not(feature = "host"), no_std)]

extern crate alloc;

pub mod dependence;
pub mod random;
pub mod strategy;
pub mod threads;
