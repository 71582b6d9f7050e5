//! `atomfix cc` and what is read back from its programs, black box: as clang behaves, in real build systems, on bad input.

mod bad_input;
mod compile;
mod doctor;
mod link;
mod projects;
mod sandbox;
