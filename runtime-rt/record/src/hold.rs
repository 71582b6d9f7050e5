//! The locks that one thread holds, by *instance*: one acquisition of one lock (seed 002, Fig. 4).
//!
//! An instance that is held now and was acquired before an earlier access of the thread was held there too, so accesses need
//! not remember what was held: the serial of each acquisition says it.
//! A lock taken for reading does not protect a write, so it counts for reads only.

use model::recording::SET_LOCKS;

use crate::frame::Serial;
use crate::shadow::Address;
use crate::table::LockIndex;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// By one thread.
    Exclusive,
    /// By readers.
    Shared,
}

/// What kind of access protection is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protects {
    Reads,
    Writes,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    lock: Address,
    name: LockIndex,
    since: Serial,
    holding: Holding,
    depth: u32,
}

/// Locks that one thread may hold at once and have recorded.
const HOLDS: usize = 32;

/// The locks held, in order of acquisition.
#[derive(Debug)]
pub(crate) struct Holds {
    count: usize,
    holds: [Hold; HOLDS],
}

/// Names of locks, ascending, without repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    count: usize,
    names: [LockIndex; SET_LOCKS],
}

impl Names {
    pub(crate) const NONE: Self = Self { count: 0, names: [LockIndex(0); SET_LOCKS] };

    pub(crate) fn as_slice(&self) -> &[LockIndex] {
        &self.names[..self.count]
    }

    /// Adds one; those beyond the room are left out, which makes the set weaker, never stronger.
    pub(crate) fn add(&mut self, name: LockIndex) {
        let place = self.as_slice().partition_point(|&known| known < name);
        if self.as_slice().get(place) != Some(&name) && self.count < SET_LOCKS {
            self.names.copy_within(place..self.count, place + 1);
            self.names[place] = name;
            self.count += 1;
        }
    }
}

impl Holds {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Every lock.
    pub(crate) fn locks(&self) -> impl Iterator<Item = Address> + Clone {
        self.holds[..self.count].iter().map(|hold| hold.lock)
    }

    /// Takes a lock (once more). `false` when there is no room to remember it.
    pub(crate) fn acquire(&mut self, lock: Address, holding: Holding, name: LockIndex, now: Serial) -> bool {
        if let Some(hold) = self.holds[..self.count].iter_mut().find(|hold| hold.lock == lock) {
            hold.depth += 1;
            return true;
        }
        let Some(place) = self.holds.get_mut(self.count) else { return false };
        *place = Hold { lock, name, since: now, holding, depth: 1 };
        self.count += 1;
        true
    }

    /// Gives it up (once).
    pub(crate) fn release(&mut self, lock: Address) {
        if let Some(place) = self.holds[..self.count].iter().rposition(|hold| hold.lock == lock) {
            self.holds[place].depth -= 1;
            if self.holds[place].depth == 0 {
                self.holds.copy_within(place + 1..self.count, place);
                self.count -= 1;
            }
        }
    }

    /// Gives it up and takes it again, as a condition wait does: a new instance.
    pub(crate) fn renew(&mut self, lock: Address, now: Serial) {
        if let Some(hold) = self.holds[..self.count].iter_mut().find(|hold| hold.lock == lock) {
            hold.since = now;
        }
    }

    /// The names of what has been held since `then` and protects such accesses.
    pub(crate) fn names_since(&self, then: Serial, protects: Protects) -> Names {
        let mut names = Names::NONE;
        let protecting = |hold: &&Hold| hold.since <= then && (protects == Protects::Reads || hold.holding == Holding::Exclusive);
        self.holds[..self.count].iter().filter(protecting).for_each(|hold| names.add(hold.name));
        names
    }
}
