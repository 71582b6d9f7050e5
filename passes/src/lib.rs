//! LLVM bitcode in, LLVM bitcode out. The only crate that names LLVM, and inside it only the folder `llvm` does.
//!
//! In the order of use: `capture` (compile so that objects carry their bitcode, read it back, link again), `extract`
//! (bitcode to `model::program`), `instrument` (recording and gating hooks), `inject` (a plan's locks), and `transform`,
//! which does both to a module.

pub mod capture;
mod error;
pub mod extract;
pub mod inject;
mod instrument;
mod llvm;
mod transform;

pub use error::PassError;
pub use extract::Skip;
pub use llvm::{PluginInfo, atomfix_plugin_run, llvmGetPassPluginInfo};
pub use transform::{Hooks, Transform, Transformed, transform};
