//! SCTBench (mc-imperial/sctbench), run from a checkout that the user points at: how soon each strategy finds each bug, what
//! hardening makes of the programs, and how fast their schedules are explored.
//!
//! Names, arguments and published numbers are in `sct/programs.toml`; nothing of the programs is part of this project.
//! Not run: what is built by build systems of its own time (parsec, radbench); the table says why.

pub mod build;
pub mod catalog;
pub mod harden;
pub mod report;
pub mod results;
pub mod search;
pub mod throughput;
