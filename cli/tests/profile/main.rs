//! `profile` as its user meets it: programs run, suites with the program swapped, and everything that cannot be done.
//!
//! `runs` has runs of the program itself, `swap` runs of a command with the recording build in the program's place, `bad_input`
//! what is refused.

mod bad_input;
mod runs;
mod sandbox;
mod swap;
