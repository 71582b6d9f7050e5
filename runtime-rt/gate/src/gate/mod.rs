//! The gate: what a thread may do at a scheduling point.
//!
//! In reading order: synchronization objects (`lock`, `waiting`, `injected`) and where they are found (`objects`); what a
//! thread asks for (`ask`, with `readiness` for system calls and `compare` for compare-and-swaps); the model of all of it (`model`), which says who is enabled (`pending`) and performs events (`perform`, with `words` for futexes and signals, `ends` for waits that end by themselves); which plain
//! accesses are scheduling points (`shadow`).
//!
//! All of this is plain data and functions, tested without fibers.

pub(crate) mod ask;
pub(crate) mod compare;
mod ends;
pub(crate) mod injected;
pub(crate) mod lock;
pub(crate) mod model;
pub(crate) mod objects;
pub(crate) mod pending;
pub(crate) mod perform;
pub(crate) mod readiness;
pub(crate) mod shadow;
pub(crate) mod thread;
pub(crate) mod waiting;
mod words;
