//! `harden` as its user meets it: what it refuses, and that it then leaves everything as it was.
//!
//! Not here: what the plans are worth, which `kernels` checks, and damaged programs and link records, which `capture` does.

mod bad_input;
mod blocking;
mod certificate;
mod containers;
mod early;
mod given_back;
mod guards;
mod sandbox;
mod split;
