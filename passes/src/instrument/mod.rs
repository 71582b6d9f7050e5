//! Hooks into bodies, in the order of the work: `escape` finds accesses that need none, `quiet` such functions, `hooks`
//! declares them, `frame` gives each activation its identity, `access` surrounds accesses and calls, `handed` finds what
//! functions outside the program are handed, `signature` what names say of that, `assembly` reads inline assembly, `inline` makes hooks cheap while recording pauses, `spin` shortens loops
//! for exploration, `several` knows functions that may try for ever. Which nodes there are was collected before (`extract::collect`); nothing here walks code.

mod access;
mod assembly;
mod escape;
mod frame;
mod handed;
mod hooks;
mod inline;
mod quiet;
mod several;
mod signature;
mod spin;

pub(crate) use access::{Bare, instrument_nodes};
pub(crate) use escape::private_addresses;
pub(crate) use frame::{WaysOut, add_frame, begin_locks, cover_ways_out, enter};
pub(crate) use hooks::Declared;
pub(crate) use inline::inline_hooks;
pub(crate) use quiet::quiet_functions;
pub(crate) use several::takes_several;
pub(crate) use spin::look_once;
