//! Whom a signal, an arrival at a barrier, or a wake-up at a futex wakes: no step says so, what threads are about to do before and after it does.

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use crate::threads::ThreadSet;

/// The threads that wait to be woken.
pub(super) fn waiting(pending: &[Option<Event>]) -> ThreadSet {
    let waits = |event: &Event| {
        use EventKind::{Interrupted, WaitSpurious, WaitTimeout, Waiting};
        matches!(event.kind, Waiting | WaitTimeout { .. } | WaitSpurious { .. } | Interrupted { .. })
    };
    (0..).map(ThreadId).zip(pending).filter(|(_, event)| event.as_ref().is_some_and(waits)).map(|(thread, _)| thread).collect()
}

/// Those of them that wait no more.
pub(super) fn woken(waiting: &ThreadSet, pending: &[Option<Event>]) -> ThreadSet {
    let woken = |thread: &ThreadId| {
        let event = pending.get(thread.index()).and_then(Option::as_ref);
        event.is_some_and(|event| matches!(event.kind, EventKind::WaitReacquire | EventKind::BarrierLeave | EventKind::FutexReturn))
    };
    waiting.iter().filter(woken).collect()
}
