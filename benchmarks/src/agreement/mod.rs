//! Random programs under the real engine: what searches find in a compiled program is what brute force finds in the same program as data.
//!
//! In reading order: programs as arguments of the interpreter and as C (`source`), what an execution ends with in words (`outcome`),
//! the engine's searches (`search`), all of it for many programs (`compare`).

pub mod compare;
pub mod outcome;
pub mod search;
pub mod source;
