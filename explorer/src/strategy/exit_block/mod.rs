//! `ExitBlock` and its relatives (Bruening, *Systematic Testing of Multithreaded Java Programs*, MIT 1999): threads are switched
//! only where a lock was released, which is enough for programs that access shared memory under locks.
//!
//! An *atomic block* is what a thread does from one exit to its next one ([`block`]). `ExitBlock` runs every order of blocks;
//! `-RW` leaves out orders of blocks that touch nothing in common; `-DD` also looks for lock cycles that the schedules passed
//! by ([`locks`]); `-RWDD` does both. Whether shared memory is accessed under locks is checked on the way ([`discipline`]):
//! if not, nothing is claimed.
//!
//! Where this departs from the thesis, and why:
//!
//! - Figure 2.7 keeps one delayed thread; with three threads that loses schedules. Here it is a set.
//! - A reverse lock chain is only a candidate (theorem 5b does not hold): an execution of its own is led into the cycle, and
//!   what that shows is what is reported. So there are no false alarms.
//! - The chain is looked at again after every block for each thread that could not get a lock (theorem 5a does not hold either).
//! - `-RW` as printed loses outcomes (theorem 4 does not hold) where a block leaves a lock taken: another block that wants the lock
//!   cannot come after it, so the two do not commute, whatever they read and write. Such locks count as written to here. That
//!   also shows the cycles that `-RWDD` as printed misses.
//! - The thesis restores states; here executions are repeated. One that runs into a taken lock within a block is abandoned and
//!   repeated without that thread; it is no path and is not counted.
//! - A block that ends the execution, by a failure or by `exit`, covers no order in which others go first.

mod block;
mod discipline;
mod locks;
mod search;
mod state;

pub use search::ExitBlock;

/// Which of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Every order of blocks.
    Plain,
    /// Orders that matter by what blocks read and write.
    ReadWrite,
    /// Every order, with analysis of lock chains.
    Deadlocks,
    /// Both.
    ReadWriteDeadlocks,
}

impl Variant {
    /// Whether orders of blocks without anything in common are left out.
    fn prunes(self) -> bool {
        matches!(self, Self::ReadWrite | Self::ReadWriteDeadlocks)
    }

    /// Whether lock chains are analyzed.
    fn analyzes(self) -> bool {
        matches!(self, Self::Deadlocks | Self::ReadWriteDeadlocks)
    }
}
