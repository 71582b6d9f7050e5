//! Whether a store changes what stands in memory.
//!
//! A *silent* store (Lepak and Lipasti, ISCA 2000) writes the value that is there already. Nobody can tell whether it came between two accesses
//! of another thread, so that a run passed says nothing about a store of another value at that place: it is no remote access in the sense of
//! seed 002, Fig. 5. An atomic update that changes nothing, such as a compare-and-swap that fails, is a read.
//!
//! Not handled, and taken for a change: stores of more than 16 bytes or across two cache lines, and ranges that library calls write.

use model::pair::Atomicity;

use crate::cell::{Room, ThreadNumber, weaken};
use crate::shadow::{Address, Page, Shadow};
use crate::sys;

/// What an access that writes did to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Another value, or nobody knows.
    Changed,
    /// The same value stands there.
    Silent,
}

/// Bytes of the longest store that is looked at.
pub(crate) const LONGEST: usize = 16;

/// A store to memory that others may use, whose effect will be known when it has happened. The line's stripe is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub(crate) page: &'static Page,
    pub(crate) address: Address,
    pub(crate) length: usize,
}

/// What stands in memory before a store. Zeroed: nobody looked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    address: usize,
    length: usize,
    bytes: u128,
}

impl Before {
    /// Looks at the bytes that the program is about to store to.
    pub(crate) fn look(address: Address, length: usize) -> Self {
        Self { address: address.0, length, bytes: sys::peek(address.0, length) }
    }

    /// What the store, which has happened, did.
    pub(crate) fn effect(self) -> Effect {
        let same = self.length > 0 && sys::peek(self.address, self.length) == self.bytes;
        if same { Effect::Silent } else { Effect::Changed }
    }
}

impl Shadow {
    /// A store by a thread, whose line's stripe is held, has changed what others may have read.
    #[inline]
    pub(crate) fn weaken(&self, store: Store, by: ThreadNumber) -> Room {
        let (mut at, mut left, mut room) = (store.address, store.length, Room::Enough);
        while left > 0 {
            let (bytes, count) = at.bytes(left);
            room = room.max(weaken(&mut self.slots(store.page, at), bytes, by, Atomicity::None));
            at.0 += count;
            left -= count;
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_silent_if_all_its_bytes_stay() {
        for length in 1..=LONGEST {
            let mut memory: std::vec::Vec<u8> = (0..32).collect();
            let address = Address(memory.as_mut_ptr().expose_provenance() + 3);
            let before = Before::look(address, length);
            assert_eq!(before.effect(), Effect::Silent, "{length}");
            memory[3 + length] = 99;
            memory[2] = 99;
            assert_eq!(before.effect(), Effect::Silent, "{length}: others do not matter");
            memory[3 + length - 1] = 99;
            assert_eq!(before.effect(), Effect::Changed, "{length}");
        }
        assert_eq!(Before::default().effect(), Effect::Changed, "nobody looked");
    }
}
