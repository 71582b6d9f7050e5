//! What is in memory that is about to be compared or overwritten.
//!
//! The outcome of a pending compare-and-swap is looked up anew at every scheduling point, so that strategies know which of them would only
//! read. Not handled: memory that another thread unmaps while a thread is about to compare it; the program would die there too.

use model::event::{Comparison, Range};

/// Bytes of a word: what is kept of memory.
pub(crate) const WORD: u32 = 8;

/// The first bytes at `range`, at most [`WORD`], in the low bytes of the result.
pub(crate) fn word(range: Range) -> u64 {
    let address = usize::try_from(range.address).unwrap_or(0);
    let mut bytes = [0; WORD as usize];
    for (at, byte) in bytes.iter_mut().enumerate().take(range.length as usize) {
        let source: *const u8 = core::ptr::with_exposed_provenance(address + at);
        // SAFETY: memory that the program's own instruction is about to access; only one thread of the process runs at a time.
        *byte = unsafe { source.read_volatile() };
    }
    u64::from_le_bytes(bytes)
}

/// What comparing the memory at `range` with a value gives now.
pub(crate) fn compare(range: Range, expected: u64) -> Comparison {
    Comparison::of(word(range), expected, range.length)
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
