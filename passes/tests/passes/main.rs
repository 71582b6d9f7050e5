//! The passes on real bitcode: compiled with clang 22, looked at with its tools, and run.

mod behavior;
mod directives;
mod errors;
mod filecheck;
mod keys;
mod support;
