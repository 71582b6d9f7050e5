//! Which functions may, in the course of a call, do something: 512 things at a time, in one pass over the call graph.
//!
//! A table of what every function may reach grows with the product of functions and variables; a pass for each 512 variables that
//! are asked about needs one block a component, and only what is asked for is computed. A block is a line of the cache: walking the
//! graph costs more than uniting eight words.

use std::ops::Range;

use model::ids::FunctionId;

use crate::summary::Calls;

/// One of the 512 things that a `Reach` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u16);

impl Slot {
    /// How many there are.
    pub const COUNT: usize = 64 * WORDS;

    /// The slot of the thing at `index` of a table that is cut into pieces of `COUNT`.
    #[must_use]
    pub fn of(index: usize) -> Self {
        Self(u16::try_from(index % Self::COUNT).unwrap_or_default())
    }
}

/// Words of a block.
const WORDS: usize = 8;

/// Slots as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
struct Block([u64; WORDS]);

impl Block {
    fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    fn bit(slot: Slot) -> (usize, u64) {
        (usize::from(slot.0) / 64, 1 << (slot.0 % 64))
    }

    /// Keeps only slots in a range.
    fn within(mut self, slots: &Range<usize>) -> Self {
        for (w, word) in self.0.iter_mut().enumerate() {
            let below = |end: usize| match end.saturating_sub(w * 64) {
                bits @ 0..64 => (1_u64 << bits) - 1,
                _ => u64::MAX,
            };
            *word &= below(slots.end) & !below(slots.start);
        }
        self
    }
}

/// The indices of a table of `len` things, cut into pieces of which a `Reach` each can be made.
pub fn pieces(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(Slot::COUNT).map(move |start| start..len.min(start + Slot::COUNT))
}

/// What functions do themselves, and after `close` also what they may do through those that they call.
#[derive(Clone, Debug)]
pub struct Reach<'a> {
    calls: &'a Calls,
    /// By component of the call graph; empty as long as nothing does anything.
    blocks: Vec<Block>,
}

impl<'a> Reach<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(calls: &'a Calls) -> Self {
        Self { calls, blocks: Vec::new() }
    }

    /// `function` does it.
    pub fn add(&mut self, function: FunctionId, slot: Slot) {
        let (word, bit) = Block::bit(slot);
        self.blocks.resize(self.calls.components().len(), Block::default());
        self.blocks[self.calls.component_of(function).index()].0[word] |= bit;
    }

    /// Passes on to callers what callees do.
    pub fn close(&mut self) {
        // Components are listed with callees before callers.
        for component in self.calls.component_ids().take(self.blocks.len()) {
            let mut block = self.blocks[component.index()];
            for callee in self.calls.component_callees(component) {
                block.unite(&self.blocks[callee.index()]);
            }
            self.blocks[component.index()] = block;
        }
    }

    /// Whether a call of `function` may do it.
    #[must_use]
    pub fn has(&self, function: FunctionId, slot: Slot) -> bool {
        let (word, bit) = Block::bit(slot);
        self.blocks.get(self.calls.component_of(function).index()).is_some_and(|block| block.0[word] & bit != 0)
    }

    /// What any of `functions` may do among `slots`, by place in the piece.
    fn block(&self, functions: &[FunctionId], slots: &Range<usize>) -> Block {
        let mut block = Block::default();
        for &function in functions {
            self.blocks.get(self.calls.component_of(function).index()).into_iter().for_each(|more| block.unite(more));
        }
        block.within(slots)
    }

    /// How many of `slots` calls of any of `functions` may do.
    #[must_use]
    pub fn count_any(&self, functions: &[FunctionId], slots: Range<usize>) -> usize {
        self.block(functions, &slots).0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// All of `slots` that calls of any of `functions` may do, in order.
    pub fn of_any(&self, functions: &[FunctionId], slots: Range<usize>) -> impl Iterator<Item = Slot> + use<> {
        self.block(functions, &slots).0.into_iter().enumerate().flat_map(|(w, word)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    Slot::of(w * 64 + bit)
                })
            })
        })
    }

    /// The place of a slot in its piece.
    #[must_use]
    pub fn position(slot: Slot) -> usize {
        usize::from(slot.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_what_lies_in_a_range() {
        let mut block = Block::default();
        let slots = [0, 63, 64, 200, 511].map(Slot);
        slots.map(Block::bit).iter().for_each(|&(word, bit)| block.0[word] |= bit);
        let count = |range: Range<usize>| block.within(&range).0.iter().map(|word| word.count_ones()).sum::<u32>();
        assert_eq!([count(0..512), count(0..64), count(63..65), count(64..64), count(65..511), count(201..600)], [5, 2, 2, 0, 1, 1]);
    }
}
