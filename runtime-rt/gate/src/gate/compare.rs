//! What is in memory that is about to be compared or overwritten.
//!
//! The outcome of a pending compare-and-swap is looked up anew at every scheduling point, so that strategies know which of them would only
//! read. Memory that another thread has unmapped in the meantime counts as different from everything: the instruction itself fails then.

use model::event::{Comparison, Range};

use crate::sys::guarded;

/// Bytes of a word: what is kept of memory.
pub(crate) const WORD: u32 = 8;

/// The first bytes at `range`, at most [`WORD`], in the low bytes of the result; `None` when they cannot be read.
pub(crate) fn word(range: Range) -> Option<u64> {
    let address = usize::try_from(range.address).ok()?;
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

    fn check(memory: u32, expected: u64, finds: Comparison) {
        let address = core::ptr::from_ref(&memory).expose_provenance() as u64;
        assert_eq!(compare(Range { address, length: 4 }, expected), finds, "{memory} {expected}");
    }

    #[test]
    fn as_many_bytes_count_as_the_range_has() {
        check(7, 7, Comparison::Equal);
        check(7, 8, Comparison::Unequal);
        check(0x0100_0007, 7, Comparison::Unequal);
        check(7, 1 << 40 | 7, Comparison::Equal);
    }
}
