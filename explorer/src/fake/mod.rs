//! Threads as data: small programs, interpreted, so that strategies are tested without a compiler.
//!
//! In reading order: `program` (operations and their text form), `pipes` (queues with room for so many things), `waiting` (who waits to be woken), `thread` (what one is in the middle of), `machine` (the state, which events are pending and
//! enabled), `perform` (what performing one does), `explore` (the engine's part of the protocol around a strategy), `oracle` (brute force: all
//! outcomes, and how many schedules and traces there are, without any strategy), `generate` (random programs).

pub mod explore;
pub mod generate;
pub mod machine;
pub mod oracle;
mod perform;
pub mod pipes;
pub mod program;
mod thread;
mod waiting;
