//! System calls that have to wait because another thread's came before: they could have come first.
//!
//! Two threads that put something where there is room for one thing: who comes second waits until a third thread takes it. That comes after the first one
//! and before the second, so no race between two steps tells that the second could have been the first. Locks have that too
//! (`History::overtaken`), but of those it is known who holds them.
//!
//! Either the second thread was about to make its call, and was kept from it (`stopped`), or it comes to it later, and the engine says
//! that a call has left nothing of what it waits for (`came_late`), if only at the end, when nobody can go on. Earlier calls that have done so are
//! met when that one was reversed.
//!
//! The other way round, a call that had to wait for another one cannot come before it, though the two conflict (`had_to_wait`).

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::history::History;
use super::race::{Race, Remedy, Second};
use crate::strategy::Point;
use crate::threads::ThreadSet;

/// Reports the races of the last step with the calls of threads that were enabled before it and have to wait now.
pub(super) fn stopped(history: &History, last: usize, before: &ThreadSet, point: &Point<'_>, races: &mut Vec<Race>) {
    let (by, event) = history.step(last);
    if event.kind != EventKind::External {
        return;
    }
    for thread in before.difference(point.enabled).iter().filter(|&thread| thread != by) {
        if let Some(event) = call(point.pending, thread) {
            races.push(Race { first: last, second: Second::Pending(thread, event, last + 1), remedy: Remedy::Reverse });
        }
    }
}

/// Reports the races of those who lack something with the last step that has left nothing of it.
pub(super) fn came_late(history: &mut History, lacking: &mut Vec<(ThreadId, u32)>, pending: &[Option<Event>], races: &mut Vec<Race>) {
    for (thread, what) in lacking.drain(..) {
        let Some(event) = call(pending, thread) else { continue };
        if let Some(first) = history.emptied_by(thread, &event, what) {
            races.push(Race { first, second: Second::Pending(thread, event, history.len()), remedy: Remedy::Reverse });
        }
    }
}

/// Whether the second step of a race is a call that its thread was about to make when the first one came, and could not before that call or a
/// later one let it: nothing that could come before the first one does. `could` says who was enabled before a step.
pub(super) fn had_to_wait(history: &History, could: impl Fn(ThreadId, usize) -> bool, race: &Race) -> bool {
    let Second::At(second) = race.second else { return false };
    let (thread, event) = history.step(second);
    let waited = || !could(thread, race.first) && history.previous(second).is_some_and(|previous| previous < race.first);
    let is_call = |step| history.step(step).1.kind == EventKind::External;
    event.kind == EventKind::External && waited() && (race.first..second).find(|&step| could(thread, step + 1)).is_some_and(is_call)
}

/// The system call that a thread is about to make, or to give up.
fn call(pending: &[Option<Event>], thread: ThreadId) -> Option<Event> {
    let is_timed = |event: &Event| event.leaves_call() && event.kind.is_timeout();
    pending.get(thread.index())?.filter(|event| event.kind == EventKind::External || is_timed(event))
}
