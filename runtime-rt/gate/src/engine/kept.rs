//! What calls read before they touch something else: `memcpy` its source, `printf` its strings.
//!
//! Such a call has a point for each range of memory, and others may go on between two of them. What was read at the first one is kept, and the
//! call is given that instead: it does all its work behind the last point, and would see what others have written since.
//!
//! Each call of a thread has places of its own, told apart by their numbers and by how many handlers of signals are under way, as those may come
//! between two points. They stay where they are: an address that changed would hide that a thread goes round in a circle.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use model::event::Range;

use crate::gate::compare::{WORD, word};

/// Aligned as strictly as any instruction wants it.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; LINE]);

const LINE: usize = 8;
/// At least so many lines are kept, so that few places ever move.
const LEAST: usize = 64;

struct Place {
    depth: u32,
    number: u32,
    lines: Vec<Line>,
}

/// What the calls of one thread have read.
#[derive(Default)]
pub(crate) struct Kept {
    /// How many handlers of signals it runs.
    depth: Cell<u32>,
    places: RefCell<Vec<Place>>,
}

impl Kept {
    /// Runs a handler.
    pub(crate) fn within<R>(&self, handler: impl FnOnce() -> R) -> R {
        let depth = self.depth.replace(self.depth.get() + 1);
        let result = handler();
        self.depth.set(depth);
        result
    }

    /// The thread begins.
    pub(crate) fn begin(&self) {
        self.depth.set(0);
    }

    /// Keeps what is in memory now, with zeros behind it: where it can be found. Where there is no memory nothing is kept.
    pub(crate) fn keep(&self, range: Range, number: u32) -> u64 {
        let depth = self.depth.get();
        let mut places = self.places.borrow_mut();
        let index = places.iter().position(|place| (place.depth, place.number) == (depth, number)).unwrap_or_else(|| {
            places.push(Place { depth, number, lines: Vec::new() });
            places.len() - 1
        });
        let lines = &mut places[index].lines;
        let wanted = (range.length as usize / size_of::<Line>() + 1).max(LEAST);
        if lines.len() < wanted {
            lines.resize(wanted, Line([0; LINE]));
        }
        copy(range, lines).map_or(range.address, |()| lines.as_ptr().expose_provenance() as u64)
    }
}

/// Copies memory, as far as all of it is there.
fn copy(range: Range, lines: &mut [Line]) -> Option<()> {
    let places = lines.iter_mut().flat_map(|line| line.0.iter_mut());
    for (place, at) in places.zip((0..=range.length).step_by(WORD as usize)) {
        let rest = Range { address: range.address.wrapping_add(at.into()), length: range.length - at };
        // Behind the last byte there may be no memory.
        *place = if rest.length == 0 { 0 } else { word(rest)? };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::guarded;

    fn bytes_at(address: u64, length: usize) -> Vec<u8> {
        (0..length).map(|at| guarded::byte(usize::try_from(address).expect("an address") + at).expect("memory")).collect()
    }

    fn range(memory: &[u8]) -> Range {
        Range { address: memory.as_ptr().expose_provenance() as u64, length: u32::try_from(memory.len()).expect("few bytes") }
    }

    #[test]
    fn what_was_there_is_kept_in_a_place_of_its_own() {
        let kept = Kept::default();
        for length in [1, 7, 8, 9, 63, 64, 65, 6000] {
            let memory: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).expect("a byte") + 1).collect();
            let first = kept.keep(range(&memory), 0);
            let second = kept.keep(range(b"other"), 1);
            let nested = kept.within(|| kept.keep(range(b"nested"), 0));
            assert_eq!(bytes_at(first, length), memory);
            assert_eq!(bytes_at(first + length as u64, 1), [0]);
            assert_eq!((bytes_at(second, 6), bytes_at(nested, 7)), (b"other\0".to_vec(), b"nested\0".to_vec()));
            assert_eq!(kept.keep(range(b"x"), 0), first);
        }
    }
}
