//! Which memory is shared: touched by two threads of one execution, by one of them to write.
//!
//! A step that ends the process while others could go on (a failed assertion, `exit`) may touch what others only touch in executions that
//! go another way: what follows a thread's last point, and conflicts with that, is in no execution beside it. So memory that such a
//! step touches is also shared when threads of several executions touch it. Addresses are the same in all executions; where two
//! objects of two executions happen to be in one place, there are more points than need be.
//!
//! Twice two bytes of shadow for each byte of memory, of this execution and of all, in blocks of 64 bytes that are found by address:
//!
//! | bits | content |
//! |---|---|
//! | 0-9 | the first thread that touched it, plus one; 0: none |
//! | 12 | another thread touched it too |
//! | 13 | it was written |
//! | 14 | of all executions: a step touched it that ended the process |
//! | 15 | of this execution: it was shared in some execution; stays |
//!
//! Sharing only grows, so exploring again with what was learned reaches a fixpoint.
//!
//! Not handled: a last step of very many accesses, of which only the first count; executions that other processes make (`--jobs`).

use alloc::vec::Vec;

use model::event::Range;
use model::ids::ThreadId;
use model::pair::Rw;

use super::objects::AddressMap;

const OTHERS: u16 = 1 << 12;
const WRITTEN: u16 = 1 << 13;
const ENDING: u16 = 1 << 14;
const SHARED: u16 = 1 << 15;
/// The accesses of a step that count, if it ends the process.
const MOST_TAKEN: usize = 1 << 12;
const BLOCK_BYTES: u64 = 64;
const BLOCK: usize = 64;

struct Block {
    execution: u32,
    bytes: [u16; BLOCK],
    ever: [u16; BLOCK],
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
    /// What the step that is being taken has touched, of memory that is not known to be shared.
    taken: Vec<Range>,
}

impl Shadow {
    /// A new execution begins: nothing has been touched.
    pub(crate) fn begin(&mut self) {
        self.execution = self.execution.wrapping_add(1);
        self.grown = false;
        self.taken.clear();
    }

    /// A thread takes a step.
    pub(crate) fn step(&mut self) {
        self.taken.clear();
    }

    /// The current step touches this memory, which is not known to be shared.
    pub(crate) fn take(&mut self, range: Range) {
        match self.taken.last_mut() {
            Some(last) if last.address + u64::from(last.length) == range.address => last.length = last.length.saturating_add(range.length),
            Some(last) if *last == range => {}
            _ => {
                if self.taken.len() < MOST_TAKEN {
                    self.taken.push(range);
                }
            }
        }
    }

    /// The current step ended the process, while others could have gone on.
    pub(crate) fn end(&mut self) {
        let taken = core::mem::take(&mut self.taken);
        for range in &taken {
            for address in range.address..range.address.saturating_add(u64::from(range.length)) {
                let (byte, ever) = self.of_byte(address);
                *ever |= ENDING;
                if conflicts(*ever) && *byte & SHARED == 0 {
                    *byte |= SHARED;
                    self.grown = true;
                }
            }
        }
        self.taken = taken;
    }

    /// Whether this execution found more shared memory than those before it.
    pub(crate) fn has_grown(&self) -> bool {
        self.grown
    }

    /// Takes memory for shared that another exploration found to be.
    pub(crate) fn share(&mut self, ranges: &[Range]) {
        for range in ranges {
            for address in range.address..range.address.saturating_add(u64::from(range.length)) {
                *self.of_byte(address).0 |= SHARED;
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

    /// The shadow of a byte: of this execution, and of all.
    fn of_byte(&mut self, address: u64) -> (&mut u16, &mut u16) {
        let slot = self.slot(address / BLOCK_BYTES);
        let byte = usize::try_from(address % BLOCK_BYTES).unwrap_or(0);
        let block = &mut self.blocks[slot as usize];
        (&mut block.bytes[byte], &mut block.ever[byte])
    }

    fn slot(&mut self, number: u64) -> u32 {
        self.index.get(number).unwrap_or_else(|| {
            let slot = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
            self.blocks.push(Block { execution: self.execution, bytes: [0; BLOCK], ever: [0; BLOCK] });
            self.index.insert(number, slot);
            slot
        })
    }

    /// Notes an access; whether it is to memory that is known to be shared.
    pub(crate) fn touch(&mut self, thread: ThreadId, range: Range, rw: Rw) -> bool {
        let mut shared = false;
        let mut at = range.address;
        let end = range.address.saturating_add(u64::from(range.length));
        while at < end {
            let number = at / BLOCK_BYTES;
            let until = end.min((number + 1).saturating_mul(BLOCK_BYTES));
            shared |= self.touch_block(thread, number, at % BLOCK_BYTES, until - at, rw);
            at = until;
        }
        shared
    }

    fn touch_block(&mut self, thread: ThreadId, number: u64, first: u64, length: u64, rw: Rw) -> bool {
        let slot = match self.latest {
            Some((latest, slot)) if latest == number => slot,
            _ => self.slot(number),
        };
        self.latest = Some((number, slot));
        let block = &mut self.blocks[slot as usize];
        if block.execution != self.execution {
            block.execution = self.execution;
            for byte in &mut block.bytes {
                *byte &= SHARED;
            }
        }
        let me = u16::try_from(thread.0 + 1).unwrap_or(u16::MAX) & (OTHERS - 1);
        let written = if rw.writes() { WRITTEN } else { 0 };
        let begin = usize::try_from(first).unwrap_or(0);
        let length = usize::try_from(length).unwrap_or(0);
        let bytes = &mut block.bytes[begin..begin + length];
        let ever = &mut block.ever[begin..begin + length];
        // Mostly there is nothing new to note, and all bytes are alike.
        let known = bytes[0];
        let was_here = known & (OTHERS - 1) == me || known & OTHERS != 0;
        if was_here && known & written == written && bytes.iter().all(|byte| *byte == known) {
            return known & SHARED != 0;
        }
        let mut shared = 0;
        for (byte, ever) in bytes.iter_mut().zip(ever) {
            note(byte, me, written);
            note(ever, me, written);
            if (*byte & (OTHERS | WRITTEN) == OTHERS | WRITTEN || conflicts(*ever)) && *byte & SHARED == 0 {
                *byte |= SHARED;
                self.grown = true;
            }
            shared |= *byte & SHARED;
        }
        shared != 0
    }
}

/// Notes in the shadow of a byte that this thread, which is not zero, touched it.
#[inline]
fn note(shadow: &mut u16, me: u16, written: u16) {
    let owner = *shadow & (OTHERS - 1);
    if owner == 0 {
        *shadow |= me;
    } else if owner != me {
        *shadow |= OTHERS;
    }
    *shadow |= written;
}

/// Whether what was seen of a byte in all executions is an end of the process and somebody else, one of them to write.
#[inline]
fn conflicts(ever: u16) -> bool {
    const ALL: u16 = OTHERS | WRITTEN | ENDING;
    ever & ALL == ALL
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

    #[test]
    fn what_a_step_touched_that_ended_the_process_is_shared_with_other_executions() {
        let at = |address| Range { address, length: 4 };
        // Who ends the process reads it; another thread writes it in another execution, before or after.
        for ends_first in [true, false] {
            let mut shadow = Shadow::default();
            let mut ends = false;
            for _ in 0..2 {
                ends = !ends;
                shadow.begin();
                if ends == ends_first {
                    shadow.touch(A, at(8), Rw::Read);
                    shadow.step();
                    for address in [16, 64] {
                        shadow.touch(A, at(address), Rw::Read);
                        shadow.take(at(address));
                    }
                    shadow.end();
                } else {
                    for address in [8, 64] {
                        shadow.touch(B, at(address), Rw::Write);
                    }
                }
            }
            assert!(shadow.has_grown());
            // Nobody else touches the one, and the step that ended the process had not touched the other.
            assert_eq!(shadow.shared(), vec![at(64)], "{ends_first}");
        }
    }
}
