//! Where synchronization objects are found: by address, in order of first use within one execution.
//!
//! A hash of all their states is kept up to date object by object: a program may have thousands, of which a step changes one.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use model::event::Range;
use model::ids::{ObjectId, ThreadId};

use super::lock::{Lock, LockKind};
use super::waiting::{Barrier, Condition, Once};

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    /// A mutex, spin lock or reader-writer lock.
    Lock(Lock),
    /// A condition variable.
    Condition(Condition),
    /// A semaphore's count.
    Semaphore(u32),
    /// A barrier.
    Barrier(Barrier),
    /// `pthread_once`.
    Once(Once),
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its storage.
    pub(crate) range: Range,
    /// Its state.
    pub(crate) state: State,
    /// What it adds to the hash of all; 0 before it was first asked for.
    hash: u64,
    /// Whether its state may be another one since.
    is_stale: bool,
}

/// The objects of one execution.
#[derive(Default)]
pub(crate) struct Objects {
    list: Vec<Object>,
    index: AddressMap,
    /// Whether one may have been changed that threads wait for, since this was last reset.
    pub(super) changed: bool,
    /// A hash of all states but for what stale ones add to it.
    hash: u64,
    /// Those whose states may be others since. invariant: each once.
    stale: Vec<ObjectId>,
}

impl Objects {
    /// Forgets all objects.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.index.clear();
        self.hash = 0;
        self.stale.clear();
    }

    /// A hash of all states. The same in all executions that came to the same objects in the same order, and left them in the same states.
    pub(crate) fn hash<H: Hasher + Default>(&mut self) -> u64 {
        while let Some(id) = self.stale.pop() {
            let object = &mut self.list[id.index()];
            object.is_stale = false;
            let before = core::mem::replace(&mut object.hash, hash_of::<H>(id, &object.state));
            self.hash ^= before ^ object.hash;
        }
        debug_assert_eq!(self.hash, self.hash_anew::<H>(), "an object has changed, and nobody noted it");
        self.hash
    }

    fn hash_anew<H: Hasher + Default>(&self) -> u64 {
        self.list.iter().enumerate().fold(0, |all, (at, object)| all ^ hash_of::<H>(ObjectId::new(at), &object.state))
    }

    /// The object's state is about to become another one.
    #[inline]
    fn note(&mut self, id: ObjectId) {
        let object = &mut self.list[id.index()];
        if !object.is_stale {
            object.is_stale = true;
            self.stale.push(id);
        }
    }

    /// The object at this address, made by `new` if it is not known.
    pub(crate) fn at(&mut self, range: Range, new: impl FnOnce() -> State) -> ObjectId {
        if let Some(id) = self.index.get(range.address) {
            return ObjectId(id);
        }
        let id = ObjectId::new(self.list.len());
        self.list.push(Object { range, state: new(), hash: 0, is_stale: false });
        self.index.insert(range.address, id.0);
        self.note(id);
        id
    }

    /// Whether the object at this address was used in this execution.
    pub(crate) fn knows(&self, range: Range) -> bool {
        self.index.get(range.address).is_some()
    }

    /// The state of the object at this address, if it was used in this execution.
    pub(crate) fn find(&self, range: Range) -> Option<&State> {
        self.index.get(range.address).map(|id| &self.get(ObjectId(id)).state)
    }

    /// Makes the object at this address anew: it was initialized, or destroyed and its memory used again.
    pub(crate) fn replace(&mut self, range: Range, state: State) -> ObjectId {
        let id = self.at(range, || State::Semaphore(0));
        *self.change(id) = state;
        id
    }

    /// What kind of lock it is, as whoever uses it says: who can go on does not depend on that.
    pub(crate) fn set_kind(&mut self, id: ObjectId, kind: LockKind) {
        self.note(id);
        match &mut self.list[id.index()].state {
            State::Lock(lock) => lock.set_kind(kind),
            _ => self.lock(id).set_kind(kind),
        }
    }

    fn change(&mut self, id: ObjectId) -> &mut State {
        self.changed = true;
        self.note(id);
        &mut self.list[id.index()].state
    }

    /// The object with this id.
    pub(crate) fn get(&self, id: ObjectId) -> &Object {
        &self.list[id.index()]
    }

    /// Whether the thread has any lock.
    pub(crate) fn holds_any(&self, thread: ThreadId) -> bool {
        self.list.iter().any(|object| matches!(&object.state, State::Lock(lock) if lock.holders().any(|holder| holder == thread)))
    }

    /// The robust locks that a thread leaves behind when it ends.
    pub(crate) fn left_by(&self, thread: ThreadId) -> Vec<Range> {
        let left = |object: &&Object| matches!(&object.state, State::Lock(lock) if lock.is_left_by(thread));
        self.list.iter().filter(left).map(|object| object.range).collect()
    }

    /// The lock with this id. An object that was used as something else before becomes a lock: its memory was used again.
    pub(crate) fn lock(&mut self, id: ObjectId) -> &mut Lock {
        let state = self.change(id);
        if !matches!(state, State::Lock(_)) {
            *state = State::Lock(Lock::new(LockKind::NORMAL));
        }
        let State::Lock(lock) = state else { unreachable!("made a lock above") };
        lock
    }

    /// The condition with this id, likewise.
    pub(crate) fn condition(&mut self, id: ObjectId) -> &mut Condition {
        let state = self.change(id);
        if !matches!(state, State::Condition(_)) {
            *state = State::Condition(Condition::default());
        }
        let State::Condition(condition) = state else { unreachable!("made a condition above") };
        condition
    }

    /// The semaphore with this id, likewise.
    pub(crate) fn semaphore(&mut self, id: ObjectId) -> &mut u32 {
        let state = self.change(id);
        if !matches!(state, State::Semaphore(_)) {
            *state = State::Semaphore(0);
        }
        let State::Semaphore(count) = state else { unreachable!("made a semaphore above") };
        count
    }

    /// The barrier with this id, likewise.
    pub(crate) fn barrier(&mut self, id: ObjectId) -> &mut Barrier {
        let state = self.change(id);
        if !matches!(state, State::Barrier(_)) {
            *state = State::Barrier(Barrier { size: 1, arrived: Vec::new() });
        }
        let State::Barrier(barrier) = state else { unreachable!("made a barrier above") };
        barrier
    }

    /// The `once` with this id, likewise.
    pub(crate) fn once(&mut self, id: ObjectId) -> &mut Once {
        let state = self.change(id);
        if !matches!(state, State::Once(_)) {
            *state = State::Once(Once::New);
        }
        let State::Once(once) = state else { unreachable!("made a once above") };
        once
    }
}

fn hash_of<H: Hasher + Default>(id: ObjectId, state: &State) -> u64 {
    let mut hasher = H::default();
    (id, state).hash(&mut hasher);
    hasher.finish()
}

/// Addresses to numbers: open addressing, emptied in constant time by a new generation.
pub(crate) struct AddressMap {
    /// invariant: a power of two long, at most half of it of this generation.
    entries: Vec<Entry>,
    generation: u32,
    used: usize,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    address: u64,
    generation: u32,
    value: u32,
}

impl Default for AddressMap {
    fn default() -> Self {
        Self { entries: alloc::vec![Entry::default(); 64], generation: 1, used: 0 }
    }
}

impl AddressMap {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.fill(Entry::default());
            self.generation = 1;
        }
    }

    /// The number at this address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> Option<u32> {
        let entry = &self.entries[self.slot(address)];
        (entry.generation == self.generation).then_some(entry.value)
    }

    /// All addresses with their numbers, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.entries.iter().filter(|entry| entry.generation == self.generation).map(|entry| (entry.address, entry.value))
    }

    /// Sets the number at this address.
    pub(crate) fn insert(&mut self, address: u64, value: u32) {
        if self.used * 2 >= self.entries.len() {
            self.grow();
        }
        let slot = self.slot(address);
        if self.entries[slot].generation != self.generation {
            self.used += 1;
        }
        self.entries[slot] = Entry { address, generation: self.generation, value };
    }

    fn grow(&mut self) {
        let double = alloc::vec![Entry::default(); self.entries.len() * 2];
        let old = core::mem::replace(&mut self.entries, double);
        for entry in old.into_iter().filter(|entry| entry.generation == self.generation) {
            let slot = self.slot(entry.address);
            self.entries[slot] = entry;
        }
    }

    /// Where the address is, or would be.
    #[inline]
    fn slot(&self, address: u64) -> usize {
        let mask = self.entries.len() - 1;
        let hash = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut slot = usize::try_from(hash).unwrap_or(0) & mask;
        while self.entries[slot].generation == self.generation && self.entries[slot].address != address {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_finds_what_was_put_in_since_it_was_cleared() {
        let mut map = AddressMap::default();
        for round in 0..3 {
            for key in 0..1000 {
                assert_eq!(map.get(key * 8), None);
                map.insert(key * 8, u32::try_from(key).expect("small") + round);
            }
            for key in 0..1000 {
                assert_eq!(map.get(key * 8), Some(u32::try_from(key).expect("small") + round));
            }
            map.clear();
        }
    }
}
