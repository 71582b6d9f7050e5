//! Phase 8: the independent checker. It takes a program, a plan and the places that each lock protects, replays the plan's operations
//! along abstract paths, and says what it established. It shares no code with the phases that made the plan.
//!
//! Invariant: `Certificate::checked` is true only if no violation was found.

pub mod calls;
mod components;
pub mod coverage;
pub mod early;
pub mod machine;
pub mod order;
pub mod scene;
pub mod spin;

mod verdict;
mod ways_out;

pub use verdict::{Verdict, check, judge};
