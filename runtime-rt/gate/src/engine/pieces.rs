//! Accesses that a program makes in pieces, and that are one step here: what a call copies, compares or prints, a structure that is assigned.
//!
//! Where another thread is about to access such memory as well, and one of both writes, it could come between two pieces. That is not explored, so
//! the result says so. Who has a lock meanwhile, or comes back to it later, is never about to: nothing is said then.
//! Not handled: pieces of eight bytes or less, such as short strings that are copied byte by byte, count as one access, and so do sixteen that a library is
//! handed in ways of which not all is known. And it is said of a single
//! write to one piece too, which can change nothing but what that piece holds.

use core::cell::Cell;

use explorer::target::page::Note;
use model::event::{Event, EventKind, Range};
use model::ids::ThreadId;

use super::control;
use crate::gate::compare::WORD;

/// Bytes of the largest object that the processor accesses in one step.
const LARGEST_ATOMIC: u32 = 16;

/// Whether the execution has come to such accesses.
#[derive(Default)]
pub(crate) struct Pieces {
    any: Cell<bool>,
}

impl Pieces {
    /// An execution begins: what is said of it must not depend on those before.
    pub(crate) fn begin(&self) {
        self.any.set(false);
    }

    /// A thread is about to ask for an access to this.
    #[inline]
    pub(crate) fn note(&self, range: Range, atomic: bool) {
        if range.length > if atomic { LARGEST_ATOMIC } else { WORD } {
            self.any.set(true);
        }
    }

    /// A thread takes this step, and this is what all of them were about to do.
    #[inline]
    pub(crate) fn step(&self, thread: ThreadId, event: &Event, pending: &[Option<Event>]) {
        if self.any.get() && others(thread, pending).any(|other| comes_between(event, other)) {
            control::note(Note::Pieces);
        }
    }
}

fn others(thread: ThreadId, pending: &[Option<Event>]) -> impl Iterator<Item = &Event> {
    pending.iter().enumerate().filter(move |(index, _)| *index != thread.index()).filter_map(|(_, event)| event.as_ref())
}

/// Whether these accesses conflict, and one of them is made in pieces.
fn comes_between(a: &Event, b: &Event) -> bool {
    let (Some((a_rw, _)), Some((b_rw, _))) = (a.kind.access(), b.kind.access()) else { return false };
    let Some((a_range, b_range)) = a.range.zip(b.range) else { return false };
    (a_rw.writes() || b_rw.writes()) && a_range.overlaps(b_range) && (is_in_pieces(a, b) || is_in_pieces(b, a))
}

/// Whether an access is made in pieces between which another one could come. One that counts as atomic but is too large for that is a library's, to an
/// object of which only the begin is known to be in it, and which the library may guard against its own like.
fn is_in_pieces(event: &Event, other: &Event) -> bool {
    let Some((range, found)) = event.range.zip(other.range) else { return false };
    let is_plain = |event: &Event| matches!(event.kind, EventKind::Access { atomic: false, .. });
    let begin = Range { length: range.length.min(LARGEST_ATOMIC), ..range };
    match event.kind {
        EventKind::Access { atomic: false, .. } => range.length > WORD,
        EventKind::Access { atomic: true, .. } => range.length > LARGEST_ATOMIC && is_plain(other) && begin.overlaps(found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use model::pair::Rw;

    use super::*;

    fn access(address: u64, length: u32, rw: Rw, atomic: bool) -> Event {
        Event { kind: EventKind::Access { rw, atomic }, range: Some(Range { address, length }), object: None, site: None }
    }

    #[test]
    fn one_of_both_writes_and_one_is_in_pieces() {
        let copy = access(100, 16, Rw::Read, false);
        for (other, expected) in [
            (access(104, 4, Rw::Write, false), true),
            (access(104, 4, Rw::Write, true), true),
            (access(104, 4, Rw::Read, false), false),
            (access(116, 4, Rw::Write, false), false),
            (access(96, 16, Rw::Update, true), true),
        ] {
            assert_eq!((comes_between(&copy, &other), comes_between(&other, &copy)), (expected, expected), "{other:?}");
        }
        let object = access(100, 64, Rw::Update, true);
        for (other, expected) in [
            (access(104, 4, Rw::Write, false), true),
            (access(120, 4, Rw::Write, false), false),
            (access(104, 4, Rw::Write, true), false),
            (access(100, 64, Rw::Update, true), false),
        ] {
            assert_eq!((comes_between(&object, &other), comes_between(&other, &object)), (expected, expected), "{other:?}");
        }
        let word = access(100, 8, Rw::Read, false);
        assert!(!comes_between(&word, &access(100, 8, Rw::Write, false)));
        assert!(!comes_between(&word, &access(96, 16, Rw::Write, true)));
    }
}
