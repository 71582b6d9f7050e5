//! Whom a signal, an arrival at a barrier, or a wake-up at a futex wakes, and from whom a step takes that it was interrupted: no step says so, what threads are
//! about to do before and after it does.

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

/// Who waits, and is to see to an interruption first.
#[derive(Debug, Default)]
pub(super) struct Interrupted {
    /// Whether threads of the program may interrupt each other: before each step they look whether they were, at a word that no code of the program names.
    possible: bool,
    /// Those who were to before the current step.
    before: ThreadSet,
}

impl Interrupted {
    /// A step is about to be taken.
    pub(super) fn step(&mut self, event: &Event, pending: &[Option<Event>]) {
        self.possible |= event.site.is_none() && event.kind.access().is_some();
        self.before = if self.possible { interrupted(pending) } else { ThreadSet::EMPTY };
    }

    /// It was taken: from whom it took the interruption, as what they wait for is there now. No later step tells of that.
    pub(super) fn freed(&mut self, pending: &[Option<Event>]) -> ThreadSet {
        let before = core::mem::take(&mut self.before);
        if before.is_empty() { before } else { before.difference(&interrupted(pending)) }
    }
}

fn interrupted(pending: &[Option<Event>]) -> ThreadSet {
    let is_interrupted = |event: &Option<Event>| matches!(event, Some(Event { kind: EventKind::Interrupted { .. }, .. }));
    (0..).map(ThreadId).zip(pending).filter(|(_, event)| is_interrupted(event)).map(|(thread, _)| thread).collect()
}
