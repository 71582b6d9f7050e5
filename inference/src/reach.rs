//! Which functions may, in the course of a call, do something: 64 things at a time, in one pass over the call graph.
//!
//! A table of what every function may reach grows with the product of functions and variables; a pass for each 64 variables that
//! are asked about needs one word a component, and only what is asked for is computed.

use std::ops::Range;

use model::ids::FunctionId;

use crate::summary::Calls;

/// One of the 64 things that a `Reach` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u8);

impl Slot {
    /// How many there are.
    pub const COUNT: usize = 64;

    /// The slot of the thing at `index` of a table that is cut into pieces of `COUNT`.
    #[must_use]
    pub fn of(index: usize) -> Self {
        Self(u8::try_from(index % Self::COUNT).unwrap_or_default())
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
    /// By component of the call graph.
    words: Vec<u64>,
}

impl<'a> Reach<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(calls: &'a Calls) -> Self {
        Self { calls, words: vec![0; calls.components().len()] }
    }

    /// `function` does it.
    pub fn add(&mut self, function: FunctionId, slot: Slot) {
        self.words[self.calls.component_of(function).index()] |= 1 << slot.0;
    }

    /// Passes on to callers what callees do.
    pub fn close(&mut self) {
        // Components are listed with callees before callers.
        for component in self.calls.component_ids() {
            let of_callees = self.calls.component_callees(component).iter();
            let more = of_callees.fold(0, |word, callee| word | self.words[callee.index()]);
            self.words[component.index()] |= more;
        }
    }

    /// Whether a call of `function` may do it.
    #[must_use]
    pub fn has(&self, function: FunctionId, slot: Slot) -> bool {
        self.words[self.calls.component_of(function).index()] & (1 << slot.0) != 0
    }

    /// What any of `functions` may do among `slots`, by place in the piece.
    fn word(&self, functions: &[FunctionId], slots: Range<usize>) -> u64 {
        let upto = |slot: usize| if slot >= Slot::COUNT { u64::MAX } else { (1 << slot) - 1 };
        let word = functions.iter().fold(0, |word, &function| word | self.words[self.calls.component_of(function).index()]);
        word & upto(slots.end) & !upto(slots.start)
    }

    /// How many of `slots` calls of any of `functions` may do.
    #[must_use]
    pub fn count_any(&self, functions: &[FunctionId], slots: Range<usize>) -> usize {
        self.word(functions, slots).count_ones() as usize
    }

    /// All of `slots` that calls of any of `functions` may do, in order.
    pub fn of_any(&self, functions: &[FunctionId], slots: Range<usize>) -> impl Iterator<Item = Slot> + use<> {
        let mut rest = self.word(functions, slots);
        core::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                Slot::of(bit)
            })
        })
    }

    /// The place of a slot in its piece.
    #[must_use]
    pub fn position(slot: Slot) -> usize {
        usize::from(slot.0)
    }
}
