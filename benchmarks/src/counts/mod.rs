//! How many executions `dpor` explores, held against the counts that model checkers keep of their own test programs, taken from
//! checkouts that the user points at.
//!
//! An execution is a class of schedules that differ only in the order of independent steps; an optimal search runs exactly one
//! of each. Executions with a blocked assumption end in a deadlock here, and are counted apart, as those suites do. Every
//! memory access is sequentially consistent, whatever order the program names.

pub mod measure;
pub mod suite;
