//! Which memory is shared: touched by two threads of one execution, by one of them to write.
//!
//! Two bytes of shadow for each byte of memory, in blocks of 64 bytes that are found by address:
//!
//! | bits | content |
//! |---|---|
//! | 0-9 | the first thread that touched it in this execution, plus one; 0: none |
//! | 12 | another thread touched it too, in this execution |
//! | 13 | it was written in this execution |
//! | 14 | it was given back to the heap in this execution, and not handed out again |
//! | 15 | it was shared in some execution; stays |
//!
//! To give memory back is to write to it. Of a block larger than 4 KiB only what was touched before, in any execution, is noted.
//!
//! Sharing only grows, so exploring again with what was learned reaches a fixpoint.

use alloc::vec::Vec;

use model::event::Range;
use model::ids::ThreadId;
use model::pair::Rw;

use super::objects::AddressMap;

const OTHERS: u16 = 1 << 12;
const WRITTEN: u16 = 1 << 13;
const FREED: u16 = 1 << 14;
const SHARED: u16 = 1 << 15;
/// Of larger blocks that are given back, only what is known already is noted.
const SMALL: u32 = 4096;
const BLOCK_BYTES: u64 = 64;
const BLOCK: usize = 64;

struct Block {
    execution: u32,
    bytes: [u16; BLOCK],
}

/// What is known of all memory that was touched.
#[derive(Default)]
pub(crate) struct Shadow {
    blocks: Vec<Block>,
    index: AddressMap,
    execution: u32,
    grown: bool,
    /// The block that was touched last, by number, and its place.
    latest: Option<(u64, u32)>,
}

impl Shadow {
    /// A new execution begins: nothing has been touched.
    pub(crate) fn begin(&mut self) {
        self.execution = self.execution.wrapping_add(1);
        self.grown = false;
    }

    /// Whether this execution found more shared memory than those before it.
    pub(crate) fn has_grown(&self) -> bool {
        self.grown
    }

    /// Takes memory for shared that another exploration found to be.
    pub(crate) fn share(&mut self, ranges: &[Range]) {
        for range in ranges {
            for address in range.address..range.address.saturating_add(u64::from(range.length)) {
                let slot = self.slot(address / BLOCK_BYTES);
                self.blocks[slot as usize].bytes[place(address)] |= SHARED;
            }
        }
    }

    /// All memory that is known to be shared, in ascending order.
    pub(crate) fn shared(&self) -> Vec<Range> {
        let mut blocks: Vec<(u64, u32)> = self.index.iter().collect();
        blocks.sort_unstable();
        let mut ranges: Vec<Range> = Vec::new();
        for (number, slot) in blocks {
            let bytes = (number * BLOCK_BYTES..).zip(&self.blocks[slot as usize].bytes);
            for (address, _) in bytes.filter(|(_, byte)| **byte & SHARED != 0) {
                match ranges.last_mut() {
                    Some(last) if last.address + u64::from(last.length) == address => last.length += 1,
                    _ => ranges.push(Range { address, length: 1 }),
                }
            }
        }
        ranges
    }

    fn slot(&mut self, number: u64) -> u32 {
        self.index.get(number).unwrap_or_else(|| {
            let slot = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
            self.blocks.push(Block { execution: self.execution, bytes: [0; BLOCK] });
            self.index.insert(number, slot);
            slot
        })
    }

    /// Notes an access; whether it is to memory that is known to be shared. Part of its callers: at each access of the program.
    #[inline(always)]
    pub(crate) fn touch(&mut self, thread: ThreadId, range: Range, rw: Rw) -> bool {
        if range.address % BLOCK_BYTES + u64::from(range.length) > BLOCK_BYTES {
            return self.touch_blocks(thread, range, rw);
        }
        let slot = self.touched(range.address / BLOCK_BYTES);
        let (first, length) = (place(range.address), range.length as usize);
        self.known_touch(thread, slot, first, length, rw).unwrap_or_else(|| self.touch_block(thread, slot, first, length, rw))
    }

    /// Of an access of which there is nothing new to note: whether it is to shared memory.
    #[inline(always)]
    fn known_touch(&self, thread: ThreadId, slot: u32, first: usize, length: usize, rw: Rw) -> Option<bool> {
        let block = self.blocks.get(slot as usize).filter(|block| block.execution == self.execution)?;
        let known = alike(block.bytes.get(first..)?.get(..length)?)?;
        (touched(known, mark(thread), written(rw)) == known).then_some(known & SHARED != 0)
    }

    #[inline(never)]
    fn touch_blocks(&mut self, thread: ThreadId, range: Range, rw: Rw) -> bool {
        let mut shared = false;
        each_block(range, |number, first, length| {
            let slot = self.touched(number);
            shared |= self.touch_block(thread, slot, first, length, rw);
        });
        shared
    }

    /// The slot of a block, which is likely to be looked for again.
    #[inline]
    fn touched(&mut self, number: u64) -> u32 {
        let slot = match self.latest {
            Some((latest, slot)) if latest == number => slot,
            _ => self.slot(number),
        };
        self.latest = Some((number, slot));
        slot
    }

    /// Notes that a block is about to be given back; whether any of it is known to be shared.
    pub(crate) fn touch_all(&mut self, thread: ThreadId, block: Range) -> bool {
        if block.length <= SMALL {
            return self.touch(thread, block, Rw::Write);
        }
        let mut shared = false;
        for (slot, first, length) in self.known(block) {
            shared |= self.touch_block(thread, slot, first, length, Rw::Write);
        }
        shared
    }

    /// A block was given back, after [`Shadow::touch_all`], or is handed out.
    pub(crate) fn mark(&mut self, block: Range, freed: bool) {
        for (slot, first, length) in self.known(block) {
            for byte in &mut self.current(slot)[first..first + length] {
                *byte = if freed { *byte | FREED } else { *byte & !FREED };
            }
        }
    }

    /// The slots of all blocks in a range that were touched before, and which bytes of them are in it. Programs take away hundreds of
    /// megabytes at a time, of which few were ever touched: then it is the blocks that are gone through, not the range.
    fn known(&self, range: Range) -> Vec<(u32, usize, usize)> {
        let mut known = Vec::new();
        if u64::from(range.length) / BLOCK_BYTES <= self.blocks.len() as u64 {
            each_block(range, |number, first, length| {
                known.extend(self.index.get(number).map(|slot| (slot, first, length)));
            });
            return known;
        }
        let end = range.address.saturating_add(u64::from(range.length));
        for (number, slot) in self.index.iter() {
            let start = number * BLOCK_BYTES;
            let (from, to) = (range.address.max(start), end.min(start + BLOCK_BYTES));
            if from < to {
                known.push((slot, place(from), usize::try_from(to - from).unwrap_or(0)));
            }
        }
        known
    }

    /// Whether the byte at this address was given back.
    pub(crate) fn is_freed(&mut self, address: u64) -> bool {
        let slot = self.index.get(address / BLOCK_BYTES);
        slot.is_some_and(|slot| self.current(slot)[place(address)] & FREED != 0)
    }

    /// What is known of a block in this execution.
    #[inline]
    fn current(&mut self, slot: u32) -> &mut [u16; BLOCK] {
        let block = &mut self.blocks[slot as usize];
        if block.execution != self.execution {
            block.execution = self.execution;
            for byte in &mut block.bytes {
                *byte &= SHARED;
            }
        }
        &mut block.bytes
    }

    #[inline(never)]
    fn touch_block(&mut self, thread: ThreadId, slot: u32, first: usize, length: usize, rw: Rw) -> bool {
        let bytes = &mut self.current(slot)[first..first + length];
        let (me, written) = (mark(thread), written(rw));
        if let Some(known) = alike(bytes) {
            let next = touched(known, me, written);
            if next != known {
                // As they are read: the processor waits where what was written in parts is read as a whole.
                let (fours, rest) = bytes.as_chunks_mut::<4>();
                fours.fill([next; 4]);
                rest.fill(next);
                self.grown |= (next ^ known) & SHARED != 0;
            }
            return next & SHARED != 0;
        }
        let (mut shared, mut grown) = (0, 0);
        for byte in bytes {
            let next = touched(*byte, me, written);
            grown |= (next ^ *byte) & SHARED;
            shared |= next & SHARED;
            *byte = next;
        }
        self.grown |= grown != 0;
        shared != 0
    }
}

/// What is known of each of some bytes, if that is the same: four at a time, as mostly there are four or eight.
#[inline]
fn alike(bytes: &[u16]) -> Option<u16> {
    let known = *bytes.first()?;
    let are_known = |four: &[u16; 4]| *four == [known; 4];
    let are_alike = match bytes.as_chunks::<4>() {
        ([one], []) => are_known(one),
        ([one, other], []) => are_known(one) && are_known(other),
        (fours, rest) => fours.iter().all(are_known) && rest.iter().all(|byte| *byte == known),
    };
    are_alike.then_some(known)
}

/// How a thread is noted.
#[inline]
fn mark(thread: ThreadId) -> u16 {
    u16::try_from((thread.0 + 1) % u32::from(OTHERS)).unwrap_or(0)
}

/// What a write adds.
#[inline]
fn written(rw: Rw) -> u16 {
    if rw.writes() { WRITTEN } else { 0 }
}

/// What is known of a byte when a thread has touched it too.
#[inline]
fn touched(known: u16, me: u16, written: u16) -> u16 {
    let owner = known & (OTHERS - 1);
    let by = if owner == 0 {
        me
    } else if owner == me {
        0
    } else {
        OTHERS
    };
    let next = known | by | written;
    if next & (OTHERS | WRITTEN) == OTHERS | WRITTEN { next | SHARED } else { next }
}

fn place(address: u64) -> usize {
    usize::try_from(address % BLOCK_BYTES).unwrap_or(0)
}

/// Goes through the blocks that a range has a part of: the number of each, and which of its bytes they are.
#[inline]
fn each_block(range: Range, mut go: impl FnMut(u64, usize, usize)) {
    let mut at = range.address;
    let end = range.address.saturating_add(u64::from(range.length));
    while at < end {
        let number = at / BLOCK_BYTES;
        let until = end.min((number + 1).saturating_mul(BLOCK_BYTES));
        go(number, place(at), usize::try_from(until - at).unwrap_or(0));
        at = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    fn check(accesses: &[(ThreadId, u64, Rw)], expected: bool) {
        let mut shadow = Shadow::default();
        shadow.begin();
        for &(thread, address, rw) in accesses {
            shadow.touch(thread, Range { address, length: 4 }, rw);
        }
        assert_eq!(shadow.has_grown(), expected, "{accesses:?}");
        shadow.begin();
        let again = accesses.iter().any(|&(_, address, _)| shadow.touch(A, Range { address, length: 4 }, Rw::Read));
        assert_eq!(again, expected, "{accesses:?}");
    }

    #[test]
    fn memory_is_shared_when_two_threads_touch_it_and_one_writes() {
        check(&[(A, 0, Rw::Write), (B, 0, Rw::Read)], true);
        check(&[(A, 0, Rw::Read), (B, 0, Rw::Update)], true);
        check(&[(A, 0, Rw::Write), (A, 0, Rw::Read)], false);
        check(&[(A, 0, Rw::Read), (B, 0, Rw::Read)], false);
        check(&[(A, 0, Rw::Write), (B, 4, Rw::Write)], false);
        check(&[(A, 0, Rw::Write), (B, 3, Rw::Write)], true);
        check(&[(A, 62, Rw::Write), (B, 64, Rw::Write)], true);
    }

    #[test]
    fn who_gives_memory_back_writes_to_it_until_it_is_handed_out_again() {
        let mut shadow = Shadow::default();
        shadow.begin();
        let (block, inside) = (Range { address: 120, length: 100 }, Range { address: 200, length: 4 });
        shadow.touch(A, inside, Rw::Read);
        assert!(shadow.touch_all(B, block), "another thread read it");
        let freed = |shadow: &mut Shadow| [119, 120, 200, 219, 220].map(|address| shadow.is_freed(address));
        assert_eq!(freed(&mut shadow), [false; 5], "only about to be given back");
        shadow.mark(block, true);
        assert_eq!(freed(&mut shadow), [false, true, true, true, false]);
        shadow.mark(Range { address: 100, length: 28 }, false);
        assert_eq!(freed(&mut shadow), [false, false, true, true, false]);
        shadow.begin();
        assert_eq!(freed(&mut shadow), [false; 5], "of this execution only");
    }

    #[test]
    fn of_a_large_block_only_what_was_touched_is_noted() {
        let mut shadow = Shadow::default();
        shadow.begin();
        let block = Range { address: 0, length: 1 << 20 };
        shadow.touch(A, Range { address: 5000, length: 4 }, Rw::Write);
        assert!(shadow.touch_all(B, block));
        shadow.mark(block, true);
        assert_eq!([5000, 9000].map(|address| shadow.is_freed(address)), [true, false]);
        shadow.mark(block, false);
        for (range, freed) in [
            (Range { address: 5001, length: u32::MAX }, [false, true]),
            (Range { address: 5002, length: 1 << 20 }, [false, false]),
            (Range { address: 2000, length: 3002 }, [true, true]),
            (Range { address: 2000, length: 3001 }, [true, false]),
        ] {
            shadow.mark(range, true);
            assert_eq!([5000, 5001].map(|address| shadow.is_freed(address)), freed, "{range:?}");
            shadow.mark(block, false);
        }
        assert_eq!(shadow.blocks.len(), 1);
    }

    #[test]
    fn what_one_found_another_takes_for_shared() {
        let mut first = Shadow::default();
        first.begin();
        for (thread, address, length) in [(A, 62, 4), (B, 60, 8), (A, 200, 1), (B, 200, 1)] {
            first.touch(thread, Range { address, length }, Rw::Write);
        }
        let shared = first.shared();
        assert_eq!(shared, [Range { address: 62, length: 4 }, Range { address: 200, length: 1 }]);
        let mut second = Shadow::default();
        second.share(&shared);
        second.begin();
        assert!(second.touch(A, Range { address: 64, length: 1 }, Rw::Read));
        assert!(!second.touch(A, Range { address: 61, length: 1 }, Rw::Read));
        second.touch(B, Range { address: 62, length: 4 }, Rw::Write);
        assert!(!second.has_grown());
        assert_eq!(second.shared(), shared);
    }

    #[test]
    fn touches_of_different_executions_do_not_meet() {
        let mut shadow = Shadow::default();
        let range = Range { address: 128, length: 8 };
        shadow.begin();
        shadow.touch(A, range, Rw::Write);
        shadow.begin();
        shadow.touch(B, range, Rw::Write);
        assert!(!shadow.has_grown());
    }
}
