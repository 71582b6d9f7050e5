//! System calls that have to wait because another thread's came before: they could have come first.
//!
//! Two threads that put something where there is room for one thing: who comes second waits until a third thread takes it. That comes after the first one
//! and before the second, so no race between two steps tells that the second could have been the first. Locks have that too
//! (`History::overtaken`), but of those it is known who holds them.
//!
//! Either the second thread was about to make its call, and was kept from it (`stopped`), or it comes to it later, and the engine says
//! that a call has left nothing of what it waits for (`came_late`). Earlier calls that have done so are met when that one was reversed.

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::history::{History, Race, Remedy, Second};
use crate::strategy::Point;
use crate::threads::ThreadSet;

/// Reports the races of the last step with the calls of threads that were enabled before it and have to wait now.
pub(super) fn stopped(history: &History, last: usize, before: &ThreadSet, point: &Point<'_>, races: &mut Vec<Race>) {
    let (by, event) = history.step(last);
    if event.kind != EventKind::External {
        return;
    }
    for thread in before.difference(point.enabled).iter().filter(|&thread| thread != by) {
        if let Some(event) = waiting_call(point, thread) {
            races.push(Race { first: last, second: Second::Pending(thread, event, last + 1), remedy: Remedy::Reverse });
        }
    }
}

/// Reports the races of those who lack something with the last step that has left nothing of it.
pub(super) fn came_late(history: &mut History, lacking: &mut Vec<(ThreadId, u32)>, point: &Point<'_>, races: &mut Vec<Race>) {
    for (thread, what) in lacking.drain(..) {
        let Some(event) = waiting_call(point, thread) else { continue };
        if let Some(first) = history.emptied_by(thread, &event, what) {
            races.push(Race { first, second: Second::Pending(thread, event, history.len()), remedy: Remedy::Reverse });
        }
    }
}

/// The call that a thread has to wait for.
fn waiting_call(point: &Point<'_>, thread: ThreadId) -> Option<Event> {
    let waits = |event: &&Event| event.kind == EventKind::External && !point.enabled.contains(thread);
    point.pending.get(thread.index())?.as_ref().filter(waits).copied()
}
