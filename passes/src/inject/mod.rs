//! A plan's locks into a module: `place` turns the plan's places into instructions, `apply` inserts the operations, `glance`
//! makes those cheap that guard one load, `table` makes the module that defines the locks.

mod apply;
mod glance;
mod place;
mod table;

pub(crate) use apply::{Glances, PlannedBody, anchored, apply, give_up_before, listed_calls, operations_of};
pub use table::lock_table;
