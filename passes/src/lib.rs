//! LLVM bitcode in, LLVM bitcode out. The only crate that names LLVM, and inside it only the folder `llvm` does.
//!
//! In the order of use: `capture` (compile so that objects carry their bitcode, read it back, link again), `extract`
//! (bitcode to `model::program`), `instrument` (recording and gating hooks), `inject` (a plan's locks).

pub mod capture;
