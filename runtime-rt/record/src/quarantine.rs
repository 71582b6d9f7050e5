//! Heap blocks that were freed a short while ago: they are kept from being used anew, so that an access to one is known for what it
//! is. A run in which a thread touches what another one has freed is no correct run, whatever comes of it.
//!
//! What the freeing thread itself touches does not count: no schedule is to blame for that.
//! Not seen: accesses to blocks freed long before, to large ones, to those that `realloc` has moved, and to those of other allocators.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::cell::ThreadNumber;
use crate::shadow::{Address, Shadow};
use crate::sys::{Spin, Zeroed};

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The program frees it.
    Freed,
    /// The C library may move it, or make it longer or shorter.
    Reallocated,
}

/// Threads that do not get into each other's way.
const RINGS: usize = 16;
/// Blocks that are kept of each ring's threads at most; bytes that they may have in all, and one of them.
const BLOCKS: usize = 256;
const BYTES: usize = 1 << 16;
const LARGEST: usize = BYTES / 4;

/// The blocks, by who freed them. Which memory they are `Shadow::set_freed` knows.
#[derive(Debug)]
pub(crate) struct Quarantine([Ring; RINGS]);

/// Those of some threads, oldest first from `first` on.
#[derive(Debug)]
struct Ring {
    taken: Spin,
    first: AtomicUsize,
    count: AtomicUsize,
    bytes: AtomicUsize,
    blocks: [Block; BLOCKS],
}

#[derive(Debug)]
struct Block {
    /// 0 once it has been taken out.
    start: AtomicUsize,
    length: AtomicUsize,
    freed_by: AtomicU32,
}

// SAFETY: atomic integers, and locks whose zero is "free".
unsafe impl Zeroed for Quarantine {}

impl Quarantine {
    /// Keeps a block that a thread frees, and has those given back that there is no more room for. `false`: it is too large.
    pub(crate) fn keep(&self, shadow: &Shadow, block: (Address, usize), by: ThreadNumber, give_back: impl Fn(Address)) -> bool {
        let (start, length) = block;
        if length > LARGEST {
            return false;
        }
        let ring = &self.0[usize::from(by.0) % RINGS];
        let _taken = ring.taken.take();
        while ring.count.load(Ordering::Relaxed) == BLOCKS || ring.bytes.load(Ordering::Relaxed) + length > BYTES {
            ring.drop_oldest(shadow, &give_back);
        }
        let (first, count) = (ring.first.load(Ordering::Relaxed), ring.count.load(Ordering::Relaxed));
        let place = &ring.blocks[(first + count) % BLOCKS];
        place.start.store(start.0, Ordering::Relaxed);
        place.length.store(length, Ordering::Relaxed);
        place.freed_by.store(u32::from(by.0), Ordering::Relaxed);
        ring.count.store(count + 1, Ordering::Relaxed);
        ring.bytes.store(ring.bytes.load(Ordering::Relaxed) + length, Ordering::Relaxed);
        shadow.set_freed(block, true);
        true
    }

    /// Whether another thread has freed what lies at this address.
    pub(crate) fn freed_by_other(&self, address: Address, me: ThreadNumber) -> bool {
        self.0.iter().any(|ring| {
            let _taken = ring.taken.take();
            let holds = |block: &&Block| {
                let start = block.start.load(Ordering::Relaxed);
                start != 0 && (start..start + block.length.load(Ordering::Relaxed)).contains(&address.0)
            };
            ring.blocks().find(holds).is_some_and(|block| block.freed_by.load(Ordering::Relaxed) != u32::from(me.0))
        })
    }

    /// Takes the block out that begins here, if it is kept: it is used, or freed, as if it lived.
    pub(crate) fn take_out(&self, shadow: &Shadow, start: Address) -> bool {
        self.0.iter().any(|ring| {
            let _taken = ring.taken.take();
            let found = ring.blocks().find(|block| block.start.load(Ordering::Relaxed) == start.0);
            found.and_then(|block| ring.clear(shadow, block)).is_some()
        })
    }

    /// Gives all back.
    pub(crate) fn empty(&self, shadow: &Shadow, give_back: impl Fn(Address)) {
        for ring in &self.0 {
            let _taken = ring.taken.take();
            while ring.count.load(Ordering::Relaxed) > 0 {
                ring.drop_oldest(shadow, &give_back);
            }
        }
    }

    /// In a forked child: where another thread was at it, what is kept stays so for ever.
    pub(crate) fn after_fork(&self) {
        for ring in self.0.iter().filter(|ring| ring.taken.is_taken()) {
            ring.count.store(0, Ordering::Relaxed);
            ring.bytes.store(0, Ordering::Relaxed);
            ring.taken.unlock();
        }
    }
}

impl Ring {
    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let first = self.first.load(Ordering::Relaxed);
        (0..self.count.load(Ordering::Relaxed)).map(move |n| &self.blocks[(first + n) % BLOCKS])
    }

    fn drop_oldest(&self, shadow: &Shadow, give_back: &impl Fn(Address)) {
        let first = self.first.load(Ordering::Relaxed);
        self.clear(shadow, &self.blocks[first]).into_iter().for_each(give_back);
        self.first.store((first + 1) % BLOCKS, Ordering::Relaxed);
        self.count.store(self.count.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// Where it began, unless it was taken out before.
    fn clear(&self, shadow: &Shadow, block: &Block) -> Option<Address> {
        let start = Some(block.start.swap(0, Ordering::Relaxed)).filter(|&start| start != 0)?;
        let length = block.length.load(Ordering::Relaxed);
        self.bytes.store(self.bytes.load(Ordering::Relaxed) - length, Ordering::Relaxed);
        shadow.set_freed((Address(start), length), false);
        Some(Address(start))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::vec::Vec;

    use super::*;
    use crate::sys;

    const ME: ThreadNumber = ThreadNumber(0);
    const OTHER: ThreadNumber = ThreadNumber(1);

    fn new() -> (&'static Quarantine, Shadow) {
        (&sys::leak::<Quarantine>(1).expect("memory")[0], Shadow::new().expect("memory"))
    }

    fn keep((kept, shadow): &(&Quarantine, Shadow), start: usize, length: usize) -> Vec<usize> {
        let given = RefCell::new(Vec::new());
        assert!(kept.keep(shadow, (Address(start), length), OTHER, |block| given.borrow_mut().push(block.0)));
        given.into_inner()
    }

    fn is_freed(shadow: &Shadow, address: usize) -> bool {
        shadow.find(Address(address)).and_then(|page| page.starts.get()).is_some_and(|starts| starts.is_freed(Address(address)))
    }

    #[test]
    fn a_block_is_known_as_long_as_it_is_kept_and_to_its_last_byte() {
        let all = new();
        let (kept, shadow) = &all;
        // From one page into the third.
        let (start, length) = (0x4f10, 0x1208);
        keep(&all, start, length);
        for (address, freed) in [(start - 1, false), (start, true), (0x5000, true), (start + length - 1, true), (start + length, false)] {
            assert_eq!(kept.freed_by_other(Address(address), ME), freed, "{address:x}");
            assert!(!kept.freed_by_other(Address(address), OTHER));
        }
        for (address, freed) in [(start - 16, false), (start, true), (0x4ff0, true), (0x5000, true), (0x6110, true), (0x6120, false)] {
            assert_eq!(is_freed(shadow, address), freed, "{address:x}");
        }
        assert!(!kept.take_out(shadow, Address(start + 16)) && kept.take_out(shadow, Address(start)));
        assert!(!kept.take_out(shadow, Address(start)) && !kept.freed_by_other(Address(start), ME));
        assert!((start..start + length).step_by(16).all(|address| !is_freed(shadow, address)));
    }

    #[test]
    fn the_oldest_go_first_and_each_is_given_back_once() {
        let all = new();
        let (kept, shadow) = &all;
        assert!(!kept.keep(shadow, (Address(0x4000), LARGEST + 1), OTHER, |_| ()));
        let mut given = Vec::new();
        let starts: Vec<usize> = (1..=3 * BLOCKS).map(|n| n * 0x40).collect();
        starts.iter().for_each(|&start| given.extend(keep(&all, start, 0x28)));
        assert_eq!(given, starts[..2 * BLOCKS]);
        assert!(kept.take_out(shadow, Address(starts[2 * BLOCKS])));
        // Four of the largest ones leave no room for anything else.
        given.extend((1..=4).flat_map(|n| keep(&all, n << 20, LARGEST)));
        let rest = RefCell::new(Vec::new());
        kept.empty(shadow, |block| rest.borrow_mut().push(block.0));
        assert_eq!(given[2 * BLOCKS..], starts[2 * BLOCKS + 1..]);
        assert_eq!(rest.into_inner(), [1 << 20, 2 << 20, 3 << 20, 4 << 20]);
        assert!((0..5 << 20).step_by(16).all(|address| !is_freed(shadow, address)));
    }

    #[test]
    fn a_child_forgets_what_another_thread_was_changing() {
        let all = new();
        let (kept, _) = &all;
        keep(&all, 0x4000, 8);
        kept.after_fork();
        assert!(kept.freed_by_other(Address(0x4000), ME));
        kept.0[usize::from(OTHER.0)].taken.lock();
        kept.after_fork();
        assert!(!kept.freed_by_other(Address(0x4000), ME) && keep(&all, 0x4000, 8).is_empty());
    }
}
