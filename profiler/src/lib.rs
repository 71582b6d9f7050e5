//! Runs instrumented programs and learns from those runs that pass.
//!
//! In order: `perturb` gives each run its seed, `wanted` the orders to bring about, `run` runs a program and judges it, `collect` reads the recordings that its
//! processes left (`model::recording`), `symbols` names the locks in them, `swap` puts the instrumented program in the place of
//! the original while a test suite runs.
//!
//! The rule that everything keeps: a run that fails is never merged. Not here: building the instrumented program (`passes`,
//! `cli`), and what a profile means (`inference`).

pub mod collect;
pub mod error;
pub mod perturb;
pub mod run;
pub mod signals;
pub mod swap;
pub mod symbols;
pub mod wanted;

pub use error::ProfileError;
