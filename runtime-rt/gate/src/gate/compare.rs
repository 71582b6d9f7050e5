//! What is in memory that is about to be compared or overwritten.
//!
//! The outcome of a pending compare-and-swap is looked up anew at every scheduling point, so that strategies know which of them would only
//! read. Memory that another thread has unmapped in the meantime counts as different from everything: the instruction itself fails then.

use model::event::{Comparison, Range};

use crate::sys::guarded;

/// Bytes of a word: what is kept of memory.
pub(crate) const WORD: u32 = 8;

const PAGE: usize = 4096;

/// The first bytes at `range`, at most [`WORD`], in the low bytes of the result; `None` when they cannot be read.
pub(crate) fn word(range: Range) -> Option<u64> {
    let address = usize::try_from(range.address).ok()?;
    // Mostly all of it lies in one page, which can be read or not.
    if address % PAGE <= PAGE - WORD as usize {
        let bits = 8 * range.length.min(WORD);
        return guarded::word(address).map(|word| word & (u64::MAX >> (64 - bits)));
    }
    let mut bytes = [0; WORD as usize];
    for (at, byte) in bytes.iter_mut().enumerate().take(range.length as usize) {
        *byte = guarded::byte(address.wrapping_add(at))?;
    }
    Some(u64::from_le_bytes(bytes))
}

/// What comparing the memory at `range` with a value gives now.
pub(crate) fn compare(range: Range, expected: u64) -> Comparison {
    word(range).map_or(Comparison::Unequal, |found| Comparison::of(found, expected, range.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn check(memory: u32, expected: u64, finds: Comparison) {
        let address = core::ptr::from_ref(&memory).expose_provenance() as u64;
        assert_eq!(compare(Range { address, length: 4 }, expected), finds, "{memory} {expected}");
    }

    #[test]
    fn words_are_read_at_every_place_of_a_page() {
        let memory: Vec<u8> = (0..2 * PAGE + 16).map(|at| u8::try_from(at % 251).expect("small")).collect();
        let border = memory.as_ptr().expose_provenance().next_multiple_of(PAGE);
        for (address, length) in (border - 9..border + 2).flat_map(|address| (1..=WORD).map(move |length| (address, length))) {
            let begin = address - memory.as_ptr().expose_provenance();
            let expected = memory[begin..begin + length as usize].iter().rfold(0, |word, &byte| word << 8 | u64::from(byte));
            assert_eq!(word(Range { address: address as u64, length }), Some(expected), "{length} at {begin}");
        }
    }

    #[test]
    fn as_many_bytes_count_as_the_range_has() {
        check(7, 7, Comparison::Equal);
        check(7, 8, Comparison::Unequal);
        check(0x0100_0007, 7, Comparison::Unequal);
        check(7, 1 << 40 | 7, Comparison::Equal);
    }
}
