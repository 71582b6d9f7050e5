//! What the second step of a race does when it comes before the first one.
//!
//! A compare-and-swap may find something else then, and so be another event. That must be known exactly: the planned beginnings of a point
//! are told apart by which of their steps depend on each other, and a guess on the safe side would put independent ones beside
//! each other, each believed to be covered by the other. Nothing between the two steps writes what the second one reads, as that would
//! order them: it finds what the first one overwrites.

use model::event::{Comparison, Event, EventKind};

use super::history::History;
use super::race::{Race, Second};

/// What a step does when it is reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reversed {
    /// What it did.
    Same,
    /// This: a compare-and-swap that finds something else.
    Becomes(Event),
    /// We were not told what is in memory then.
    Unknown,
}

/// What the second step of a race becomes.
pub(super) fn reversed(history: &History, race: &Race) -> Reversed {
    let Second::At(at) = race.second else { return Reversed::Same };
    let ((_, first), (_, second)) = (history.step(race.first), history.step(at));
    let EventKind::CompareAndSwap { expected, .. } = second.kind else { return Reversed::Same };
    match (first.kind.access(), history.overwritten(race.first), second.range) {
        (Some((rw, _)), _, _) if !rw.writes() => Reversed::Same,
        (Some(_), Some(before), Some(range)) if first.range == second.range => {
            let finds = Comparison::of(before, expected, range.length);
            Reversed::Becomes(Event { kind: EventKind::CompareAndSwap { expected, finds }, ..*second })
        }
        _ => Reversed::Unknown,
    }
}
