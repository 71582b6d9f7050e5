//! From a program and the evidence of its passing runs to a plan. Pure: no LLVM, no files, no clock.
//!
//! The phases follow seed 002, sections 6 to 9, in the order of the modules below; `pipeline::infer` runs them.
//! Each takes `&` of what it reads and returns what it makes, so a reader can stop between any two.

mod by_node;
pub mod flow;
pub mod sets;

mod origin;
mod together;
pub mod wrapper;

pub mod points_to;

pub mod indirect;

mod blocks;
pub mod explain;
mod name;
mod site_table;
mod union;
pub mod variable;

pub mod access;
pub mod ends;
pub mod program_lock;
pub mod reach;
pub mod summary;

pub mod early;
pub mod exposure;
pub mod meeting;
pub mod weaken;

pub mod correlate;

pub mod admit;

pub mod budget;

mod spin;

pub mod joint;

pub mod constraint;

pub mod operation;
pub mod optimize;
pub mod placement;

pub mod order;

pub mod hoist;
pub mod lift;
pub mod program_cycle;
pub mod resolve;
mod sequence;

pub mod emit;
pub mod statistics;

pub mod check;

pub mod pipeline;

pub use budget::Budget;
pub use correlate::Thresholds;
pub use optimize::{Optimization, Optimizations};
pub use pipeline::{Config, Inferred, Reads, check_plan, infer};
pub use statistics::Statistics;
