//! An exploration in parts: several processes, several machines, or one that goes on where another was interrupted.
//!
//! In reading order: names of parts, in an order of their own (`id`); what is done in a part (`task`); which parts there are, and
//! what follows from one that is done (`campaign`); all parts as one result (`total`), what they cover (`covered`), and what is left (`estimate`); parts in a file, and files joined (`file`).
//!
//! The invariant of all this: which parts there are, and what comes of each, follows from the program and the options alone, never
//! from how many processes there are or which was faster. The first part is done alone, since it learns which memory is shared.
//! What is not a part of any other (`--timeout`) is not said to be the same.
//!
//! Not here: the processes (`target::pool`).

pub mod campaign;
mod covered;
mod estimate;
pub mod file;
pub mod id;
pub mod task;
pub mod total;
