//! Hooks into bodies, in the order of the work: `hooks` declares them, `frame` gives each activation its identity, `access`
//! surrounds accesses and calls. Which nodes there are was collected before (`extract::collect`); nothing here walks code.

mod access;
mod frame;
mod hooks;

pub(crate) use access::instrument_nodes;
pub(crate) use frame::{WaysOut, add_frame, cover_ways_out, enter};
pub(crate) use hooks::Declared;
