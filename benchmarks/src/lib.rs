//! The harness behind every published number: kernels of real bugs through the whole chain, and real programs.
//!
//! It drives the `atomfix` command as a user would, and knows nothing of its insides but the JSON form of a report. The exceptions are
//! `door`, which injects plans that no user could, `scale`, which infers for programs that nobody could compile, and `agreement`, which
//! starts the engine's own searches.

pub mod agreement;
pub mod archive;
pub mod campaign;
pub mod child;
pub mod counts;
pub mod door;
pub mod expect;
pub mod kernel;
pub mod locks;
pub mod machine;
pub mod measure;
pub mod real;
pub mod robust;
pub mod scale;
pub mod sct;
pub mod searches;
pub mod speed;
pub mod table;
