//! One event of an exploration: what a thread is about to do at a scheduling point.
//!
//! Identities are stable across runs: threads by order of creation, objects by order of first use, sites by code.
