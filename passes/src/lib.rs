//! LLVM bitcode in, LLVM bitcode out. The only crate that names LLVM, and inside it only the folder `llvm` does.
//!
//! In the order of use: `extract` (bitcode to `model::program`), `instrument` (recording and gating hooks), `inject` (a plan's locks), and
//! `transform`, which does both to a module. `serve` answers what other processes ask for.

pub mod extract;
pub mod inject;
mod instrument;
mod llvm;
mod serve;
mod transform;

pub use llvm::{PluginInfo, atomfix_plugin_run, llvmGetPassPluginInfo};
pub use model::pass::{Hooks, PassError, Skip, Transformed};
pub use serve::serve;
pub use transform::{Transform, transform};
