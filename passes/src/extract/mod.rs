//! Bitcode to `model::program`, in the order of the work:
//!
//! 1. `prepare`: promote locals to registers, find functions that must be left alone (`registers`: for the sake of their assembly);
//! 2. `key`: the stable identity of each body;
//! 3. `collect`: each body's nodes, in the one numbering that instrumentation and injection share (`vector`: lanes under a mask);
//! 4. `place`: what memory each access is to;
//! 5. `pointer`: where pointers come from and go to;
//! 6. `counted`: which loops end by counting;
//! 7. `program`: the model.

mod collect;
mod counted;
mod key;
mod place;
mod pointer;
mod prepare;
mod privacy;
mod program;
mod registers;
mod vector;

pub(crate) use collect::{Act, Body, CallPoint, Length, RangePoint, Target, Touch, WIDE, bodies, constant_text, resolve};
pub(crate) use place::Places;
pub(crate) use prepare::Calls;
pub use program::extract;
pub(crate) use vector::Lanes;
